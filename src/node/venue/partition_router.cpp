// SPDX-License-Identifier: Apache-2.0
#include "node/venue/partition_router.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "journal/segment_format.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

bool rejects_lost_request(const domain::command& command) noexcept {
    return command.verdict() == domain::reject_reason::request_lost;
}

}  // namespace

/// Converts ids of orders and trades to those of the venue, publishes public events and passes private ones to the
/// merger.
class partition_router::sink final : public partition_sink {
 public:
    sink(std::size_t index, market_data_server& feed, partition_router& router) noexcept
        : index_(index), feed_(feed), router_(router) {}

    /// Takes all events.
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        std::array<domain::event, 64> named;
        for (std::span<const domain::event> rest = events; !rest.empty();) {
            const std::span<domain::event> piece = std::span(named).first(std::min(rest.size(), named.size()));
            std::copy_n(rest.begin(), piece.size(), piece.begin());
            for (domain::event& e : piece) {
                if (is_progress_marker(e)) [[unlikely]]
                    continue;
                partition_map::leave_partition(e, index_);
                if (!domain::is_public(e.kind)) continue;
                if (domain::is_definition(e.kind) && definition_.take(e)) [[unlikely]]
                    router_.define(index_, definition_.get());
                feed_.publish(e);
            }
            log(piece);
            router_.merger_.accept(index_, piece);
            rest = rest.subspan(piece.size());
        }
        return events.size();
    }
    void executed(const executed_command& what) override { router_.merger_.executed(index_, what); }
    [[nodiscard]] bool has_room() const noexcept override { return router_.merger_.has_room(index_); }

 private:
    std::size_t index_;
    market_data_server& feed_;
    partition_router& router_;
    domain::definition_reader definition_;
};

partition_router::partition_router(const configuration& c, outcome_sink& answers,
                                   std::function<void(const domain::instrument&)> defined)
    : map_(c), merger_(c.partitions.size(), answers), defined_(std::move(defined)) {}

std::unique_ptr<partition_sink> partition_router::make_sink(std::size_t index, market_data_server& feed) {
    return std::make_unique<sink>(index, feed, *this);
}

void partition_router::begin(std::span<const std::unique_ptr<partition>> partitions, std::uint64_t last_arrival,
                             std::deque<domain::command> refusals) {
    partitions_ = partitions;
    next_arrival_ = last_arrival + 1;
    refusals_ = std::move(refusals);
    for (const auto& p : partitions_) {
        const std::span<const std::uint32_t> last = p->host.last_requests();
        passed_.resize(std::max(passed_.size(), last.size()));
        for (std::size_t id = 0; id < last.size(); ++id) {
            passed_[id].request = std::max(passed_[id].request, last[id]);
        }
        for (const domain::instrument& i : p->host.state().instruments()) instruments_.define(i);
        for (const domain::instrument& i : p->host.state().defined()) map_.define(i.id, p->index());
    }
    for (const domain::command& refusal : refusals_) {
        std::uint32_t& request = passed_[refusal.session.value].request;
        request = std::max(request, refusal.request());
    }
    merger_.skip_to(next_arrival_);
    first_request_ = next_arrival_ + refusals_.size();
    merger_.begin_counting(first_request_);
}

partition_router::refusals_state partition_router::submit_refusals() {
    for (std::size_t i = 0; i < commands_batch_max && !refusals_.empty(); ++i) {
        const std::optional<std::size_t> target = target_of_refusal();
        if (!target || !submit_to(refusals_.front(), *target)) return refusals_state::stuck;
        refusals_.pop_front();
    }
    if (!refusals_.empty()) return refusals_state::more;
    return owes_refusals() ? refusals_state::waiting : refusals_state::answered;
}

// The reject of a lost request may be in any journal that accepts cancels. It waits while none does: if it were
// refused, only the next start would try again.
std::optional<std::size_t> partition_router::target_of_refusal() const noexcept {
    for (const auto& p : partitions_) {
        if (p->thread == nullptr) {
            if (p->journal->writer().room() <= journal::journal_room::cancels_only) return p->index();
            continue;
        }
        // Commands in progress use disk space that the thread has not reported yet: with space for everything, half of
        // the distance to the operators' reserve may already be used.
        const std::uint64_t under_way = next_arrival_ - merger_.next_arrival();
        const std::uint64_t reserve = p->own.journal_segment_bytes / 4;
        const std::uint64_t most = reserve * 3 / 4 / 2 / journal::block_bytes(1);
        const journal::journal_room room = p->thread->room();
        if (room == journal::journal_room::everything && under_way <= most) return p->index();
        if (room == journal::journal_room::cancels_only && under_way == 0) return p->index();
    }
    return std::nullopt;
}

bool partition_router::try_submit(domain::command& command) {
    if (!pending_.empty()) [[unlikely]]
        forget_answered_definitions();
    const std::size_t target = map_.target_of(command);
    if (command.kind == domain::command_kind::define_instrument && command.is_operator()) [[unlikely]] {
        if (!may_define(command, target)) return false;
    }
    return submit_to(command, target);
}

// An id whose definition was rejected belongs to no partition.
void partition_router::forget_answered_definitions() {
    std::erase_if(pending_, [this](const pending_definition& p) {
        if (p.arrival >= merger_.next_arrival()) return false;
        if (instruments_.find(p.id) == nullptr) map_.forget(p.id);
        return true;
    });
}

// Gives a definition its reason, if its id or name is one of another partition. False when it must wait.
bool partition_router::may_define(domain::command& command, std::size_t target) {
    const domain::definition d = domain::definition_of(command);
    for (const pending_definition& p : pending_) {
        if (p.partition != target && (p.id == d.id || p.name == d.name)) return false;
    }
    if (!has_room(target)) return false;
    if (command.verdict() != domain::reject_reason::none) return true;
    if (map_.find(d.id).value_or(target) != target) {
        command.set_verdict(domain::reject_reason::instrument_exists);
    } else if (is_name_elsewhere(d.name, target)) {
        command.set_verdict(domain::reject_reason::name_taken);
    } else if (d.id.value != 0 && d.id.value <= domain::instruments_max) {
        pending_.push_back({d.id, d.name, target, next_arrival_});
        map_.define(d.id, target);
    }
    return true;
}

bool partition_router::is_name_elsewhere(const domain::symbol& name, std::size_t target) const noexcept {
    bool is_elsewhere = false;
    instruments_.for_each([&](const domain::instrument& i) {
        is_elsewhere = is_elsewhere || (i.name == name && map_.find(i.id) != target);
    });
    return is_elsewhere;
}

bool partition_router::submit_to(domain::command& command, std::size_t target) {
    if (target != partition_map::all) {
        if (!has_room(target)) return false;
        note_place(command);
        command.set_arrival(next_arrival_++, 0);
        pass_on(command, target);
        return true;
    }
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        if (!has_room(k)) return false;
    }
    note_place(command);
    command.set_arrival(next_arrival_++, static_cast<std::uint8_t>(partitions_.size()));
    for (std::size_t k = 0; k < partitions_.size(); ++k) pass_on(command, k);
    return true;
}

// Records the session's previous submitted request in a command, so that a start finds requests lost between the two.
void partition_router::note_place(domain::command& command) noexcept {
    if (command.kind == domain::command_kind::reset_session_numbers && command.session.value < passed_.size()) {
        passed_[command.session.value] = {};
    }
    if (command.request() == 0 || rejects_lost_request(command) || command.session.value >= passed_.size()) return;
    passed_request& last = passed_[command.session.value];
    if (command.request() != last.request) last.legs_count = 0;
    command.set_request_place(last.legs_count++, last.request);
    last.request = command.request();
}

bool partition_router::has_room(std::size_t index) noexcept {
    partition& p = *partitions_[index];
    if (p.thread != nullptr) return p.own_commands->has_room();
    return p.host.has_room() && merger_.has_room(index);
}

void partition_router::pass_on(domain::command command, std::size_t index) {
    partition& p = *partitions_[index];
    partition_map::enter_partition(command, index);
    if (p.thread != nullptr) {
        const bool taken = p.own_commands->try_push(command);
        CORRO_ASSERT(taken, "the queue had room, and only this thread fills it");
        return;
    }
    const bool taken = p.host.execute(command);
    merger_.executed(index, executed_command(command, p.host.emitted_count(), !taken));
    advance();
}

void partition_router::release() {
    for (const auto& p : partitions_) {
        if (p->thread != nullptr) continue;
        p->host.release();
        if (p->host.failed() && failed_ == nullptr) failed_ = p.get();
    }
    advance();
}

// Other partitions' answers may have waited for those of this one.
bool partition_router::drain(partition& from) {
    const bool any = from.thread->drain(*from.sink);
    if (from.sink->has_ended() && failed_ == nullptr) failed_ = &from;
    advance();
    from.is_held_back = !merger_.has_room(from.index());
    for (const auto& other : partitions_) {
        if (any && other->is_held_back && merger_.has_room(other->index())) other->thread->bell().set();
    }
    return any;
}

void partition_router::advance() {
    if (failed_ == nullptr || CORRO_DEFECT(merged_after_failure)) merger_.advance();
}

// In a recovery nothing is known yet; `begin` takes over all of them.
void partition_router::define(std::size_t index, const domain::definition& d) {
    if (partitions_.empty()) return;
    const domain::instrument* const made = instruments_.define(d);
    if (made == nullptr) return;
    map_.define(made->id, index);
    defined_(*made);
}

}  // namespace corro::node
