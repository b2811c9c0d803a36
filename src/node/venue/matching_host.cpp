// SPDX-License-Identifier: Apache-2.0
#include "node/venue/matching_host.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

/// The kind of the request that the command is, or has the text of a name for.
domain::command_kind kind_of_request(const domain::command& command) noexcept {
    if (command.kind != domain::command_kind::name_order) return command.kind;
    return static_cast<domain::command_kind>(command.name_order().request_kind);
}

/// Commands that can only remove orders, now or when their session has ended.
bool only_closes(const domain::command& command) noexcept {
    switch (command.kind) {
        case domain::command_kind::cancel_order:
        case domain::command_kind::cancel_orders:
        case domain::command_kind::cancel_on_disconnect: return true;
        // Without it a session could not log on to cancel orders.
        case domain::command_kind::reset_session_numbers:
        case domain::command_kind::count_messages: return true;
        case domain::command_kind::name_order:
            return kind_of_request(command) == domain::command_kind::cancel_order ||
                   kind_of_request(command) == domain::command_kind::cancel_orders;
        case domain::command_kind::kill_switch: return command.kill_switch().state == domain::switch_state::on;
        default: return false;
    }
}

/// Commands of the venue's own, which cause no event.
bool is_silent(domain::command_kind kind) noexcept {
    return kind == domain::command_kind::cancel_on_disconnect || kind == domain::command_kind::define_account ||
           kind == domain::command_kind::set_account_limits;
}

/// An operator's commands that stop trading.
bool is_emergency_reserve(const domain::command& command) noexcept {
    return only_closes(command) || command.kind == domain::command_kind::change_phase;
}

/// The gateway's commands at the logon and the end of a session.
bool is_of_connection(const domain::command& command) noexcept {
    return command.request() == 0 && command.session.value != 0 &&
           (command.kind == domain::command_kind::cancel_orders ||
            command.kind == domain::command_kind::cancel_on_disconnect);
}

std::int64_t ns_of(std::chrono::system_clock::time_point wall) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(wall.time_since_epoch()).count();
}

}  // namespace

matching_host::matching_host(const facility::facility_options& options, std::span<const domain::instrument> instruments,
                             const io::tick_clock& clock, event_sink& sink)
    : clock_(clock),
      sink_(&sink),
      start_ticks_(clock.now_ticks()),
      backlog_(backlog_events_max, options.touch),
      facility_(options, instruments, *this) {}

void matching_host::start_clock(std::chrono::system_clock::time_point wall, std::uint32_t slew_ppm,
                                domain::time_ns not_before) noexcept {
    time_.begin(elapsed_ns(), ns_of(wall), std::max(last_ns_, not_before.value), slew_ppm);
    clock_offset_ns_.store(time_.offset_ns(), std::memory_order_relaxed);
}

void matching_host::update_clock(std::chrono::system_clock::time_point wall) noexcept {
    if (CORRO_DEFECT(time_follows_clock_at_once)) time_.begin(elapsed_ns(), ns_of(wall), 0, 0);
    time_.look(elapsed_ns(), ns_of(wall));
    clock_offset_ns_.store(time_.offset_ns(), std::memory_order_relaxed);
}

void matching_host::set_sink(event_sink& sink) noexcept {
    CORRO_ASSERT(backlog_.empty());
    sink_ = &sink;
}

bool matching_host::has_room() const noexcept {
    if (failed()) return true;
    if (backlog_.size() >= backlog_events_max / 2) return false;
    return journal_ == nullptr || (journal_->has_buffer() && !journal_->space_is_being_made());
}

void matching_host::replay(const domain::command& command) noexcept {
    CORRO_ASSERT(command.sequence.value == sequence_ + 1, "the journal must not have gaps");
    sequence_ = command.sequence.value;
    if (!CORRO_DEFECT(time_goes_back)) last_ns_ = command.time.value;
    static_cast<void>(throttle_.judge(command));  // the command has its verdict already; only counts it
    note(command);
    apply(command);
}

void matching_host::apply(const domain::command& command) noexcept {
    facility_.apply(command);
    if (command.kind != domain::command_kind::query_order) [[likely]]
        return;
    const facility::query_cost cost = facility_.last_query();
    throttle_.charge(command, cost.answers_count, cost.looks_count);
}

bool matching_host::execute(domain::command& command) noexcept {
    CORRO_ASSERT(has_room(), "has_room must be checked before a command is executed");
    const std::int64_t now_ns = std::max(last_ns_, time_.at(elapsed_ns()));
    command.sequence = domain::sequence_number{sequence_ + 1};
    command.time = domain::time_ns{now_ns};
    // A request with a verdict of the decoder counts as well, as in a replay.
    const domain::reject_reason throttled = throttle_.judge(command);
    if (throttled != domain::reject_reason::none) command.set_verdict(throttled);
    if (open_orders_max_ != 0 && command.verdict() == domain::reject_reason::none &&
        facility_.opens_beyond(command, open_orders_max_)) [[unlikely]]
        command.set_verdict(domain::reject_reason::open_orders_limit);
    if (nameless_count_ != 0 && lacks_name(command)) [[unlikely]]
        return false;
    if (journal_ != nullptr && !append_to_journal(command)) [[unlikely]] {
        if (command.kind == domain::command_kind::name_order) note_without_name(command);
        return false;
    }
    sequence_ = command.sequence.value;
    last_ns_ = now_ns;
    note(command);
    apply(command);
    if (journal_ != nullptr && is_silent(command.kind)) [[unlikely]]
        emit_progress_marker(command);
    return true;
}

// After a crash there must be no cancel for a session whose logout was acknowledged. So its note counts as answered
// only when it is in the journal, although it causes no event.
void matching_host::emit_progress_marker(const domain::command& command) noexcept {
    domain::event mark;
    mark.kind = {};
    mark.command = command.sequence;
    mark.time = command.time;
    consume({&mark, 1});
}

void matching_host::note(const domain::command& command) noexcept {
    if (command.session.value >= last_requests_.size()) return;
    if (command.kind == domain::command_kind::cancel_on_disconnect) [[unlikely]] {
        const bool is_wanted = command.cancel_on_disconnect().state == domain::switch_state::on;
        set_disconnect_cancel(command.session, is_wanted ? command.account : domain::account_id{});
    }
    std::uint32_t& last = last_requests_[command.session.value];
    if (command.kind == domain::command_kind::reset_session_numbers) [[unlikely]]
        last = 0;
    last = std::max(last, command.request());
}

void matching_host::transfer(base::archive& a) {
    const std::uint32_t count = a.count(last_requests_.size(), UINT32_MAX);
    for (std::uint32_t i = 0; i < count && !a.failed(); ++i) {
        std::uint32_t last = i < last_requests_.size() ? last_requests_[i] : 0;
        a.value(last);
        if (i < last_requests_.size()) last_requests_[i] = last;
    }
    throttle_.transfer(a);
}

bool matching_host::save(base::byte_sink& sink) {
    CORRO_ASSERT(backlog_.empty(), "events that wait for the journal cannot be in a snapshot");
    if (!facility_.save(sink)) return false;
    base::archive a(sink);
    transfer(a);
    return a.finish();
}

std::error_code matching_host::load(base::byte_source& source) {
    CORRO_ASSERT(sequence_ == 0, "only an unused host can be loaded");
    if (const std::error_code error = facility_.load(source)) return error;
    const std::vector<std::uint32_t> no_requests(last_requests_.size());
    const risk::throttle no_counts = throttle_;
    base::archive a(source);
    transfer(a);
    if (!a.finish()) {
        last_requests_ = no_requests;
        throttle_ = no_counts;
        facility_.clear();
        return facility::snapshot_errc::damaged;
    }
    if (CORRO_DEFECT(throttle_forgotten)) throttle_ = no_counts;
    const facility::snapshot_position position = facility_.position();
    sequence_ = position.sequence.value;
    last_ns_ = position.time.value;
    return {};
}

void matching_host::note_without_name(const domain::command& name) noexcept {
    if (name.session.value >= connections_.size()) return;
    connection_commands& c = connections_[name.session.value];
    if (!c.nameless) ++nameless_count_;
    c.nameless = kind_of_request(name);
}

// A request whose name was refused is refused, too, even if the journal has room again: its answers would have a number
// for a name.
bool matching_host::lacks_name(const domain::command& command) noexcept {
    if (command.session.value >= connections_.size()) return false;
    connection_commands& c = connections_[command.session.value];
    if (c.nameless != kind_of_request(command)) return false;
    const bool is_name = command.kind == domain::command_kind::name_order;
    if (!is_name && command.request() == 0) return false;
    if (!is_name) {
        c.nameless.reset();
        --nameless_count_;
    }
    return true;
}

// A note that ends a cancel on disconnect is refused when the cancel is missing, so that the next start still finds it.
bool matching_host::append_to_journal(const domain::command& command) noexcept {
    if (!is_of_connection(command) || command.session.value >= connections_.size()) [[likely]] {
        return journal_takes(command) && journal_->append(command);
    }
    connection_commands& c = connections_[command.session.value];
    const bool is_cancel = command.kind == domain::command_kind::cancel_orders;
    const bool ends = !is_cancel && command.cancel_on_disconnect().state == domain::switch_state::off;
    if (ends && c.missed_cancel && !CORRO_DEFECT(missed_cancel_ended)) return false;
    const bool taken = journal_takes(command) && journal_->append(command);
    // A session that logs on again gets the state of its orders.
    if (is_cancel || taken) c.missed_cancel = is_cancel && !taken;
    return taken;
}

bool matching_host::may_use_reserve(domain::session_id session) noexcept {
    if (session.value >= connections_.size()) return false;
    connection_commands& c = connections_[session.value];
    const std::uint64_t segment = journal_->extents_count();
    if (c.segment != segment) c.taken_count = 0;
    c.segment = segment;
    return c.taken_count++ < connection_commands_max;
}

bool matching_host::journal_takes(const domain::command& command) noexcept {
    switch (journal_->room()) {
        case journal::journal_room::everything: return true;
        case journal::journal_room::cancels_only: return only_closes(command) || CORRO_DEFECT(reserve_open_to_orders);
        case journal::journal_room::operators_only:
            if (is_of_connection(command)) return may_use_reserve(command.session);
            return command.is_operator() && is_emergency_reserve(command);
        case journal::journal_room::none: break;
    }
    return false;
}

std::uint64_t matching_host::releasable_sequence() const noexcept {
    if (CORRO_DEFECT(answers_before_durable)) return sequence_;
    return journal_ != nullptr ? journal_->durable_sequence() : std::numeric_limits<std::uint64_t>::max();
}

void matching_host::consume(std::span<const domain::event> events) noexcept {
    emitted_count_ += events.size();
    std::size_t taken = 0;
    if (backlog_.empty() && sequence_ <= releasable_sequence()) [[likely]] {
        taken = sink_->accept(events);
        if (taken == events.size()) [[likely]]
            return;
    }
    if (CORRO_DEFECT(answers_dropped_behind_disk) && backlog_.size() > 32) return;
    backlog_.push(events.subspan(taken));
}

void matching_host::release() noexcept {
    const std::uint64_t last = releasable_sequence();
    while (!backlog_.empty()) {
        std::span<const domain::event> oldest = backlog_.front();
        if (oldest.back().command.value > last) {
            const auto first_kept = std::partition_point(
                oldest.begin(), oldest.end(), [last](const domain::event& e) { return e.command.value <= last; });
            oldest = oldest.first(static_cast<std::size_t>(first_kept - oldest.begin()));
        }
        if (oldest.empty()) return;
        const std::size_t taken = sink_->accept(oldest);
        backlog_.pop(taken);
        if (taken != oldest.size()) return;
    }
}

}  // namespace corro::node
