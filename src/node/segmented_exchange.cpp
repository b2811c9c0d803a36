#include "node/segmented_exchange.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "journal/segment_format.hpp"
#include "node/clock_watch.hpp"
#include "node/limits.hpp"
#include "node/metrics.hpp"
#include "node/operator_answers.hpp"
#include "node/ports.hpp"
#include "node/segment_recovery.hpp"
#include "node/segment_snapshots.hpp"

namespace corro::node {
namespace {

std::unique_ptr<telemetry::event_log> log_of(const io::context& context, const configuration& c) {
    if (c.event_log.directory.empty()) return nullptr;
    return std::make_unique<telemetry::event_log>(context.runs_on(), c.event_log, c.instruments);
}

bool is_refusal(const domain::command& command) noexcept {
    return command.verdict() == domain::reject_reason::request_lost;
}

}  // namespace

segmented_exchange::segmented_exchange(io::context& context, const configuration& c)
    : clock_(context.runs_on().ticks()),
      context_(context),
      log_(log_of(context, c)),
      events_log_(log_ == nullptr ? nullptr : &log_->add_producer()),
      orders_(context, c, clock_, events_log_, this),
      map_(c),
      merger_(c.segments.size(), orders_),
      watch_(context, [this](telemetry::metrics_page& page) { collect(page); }, [this] { return hindrance(); }) {
    watch_.open(c);
    for (std::size_t k = 0; k < c.segments.size(); ++k) {
        segments_.push_back(std::make_unique<segment>(context, configuration_of_segment(c, k), clock_, merger_,
                                                      events_log_, orders_.sessions_capacity()));
    }
    passed_.resize(std::size_t{orders_.sessions_count()} + 1);
    if (!c.journal_directory.empty()) {
        recovered_segments recovered = recover_segments(segments_, merger_, orders_, watch_);
        next_arrival_ = recovered.last_arrival + 1;
        refusals_ = std::move(recovered.refusals);
        for (const auto& s : segments_) {
            const std::span<const std::uint32_t> last = s->host.last_requests();
            for (std::size_t id = 0; id < passed_.size(); ++id) {
                passed_[id].request = std::max(passed_[id].request, last[id]);
            }
        }
        for (const domain::command& refusal : refusals_) {
            std::uint32_t& request = passed_[refusal.session.value].request;
            request = std::max(request, refusal.request());
        }
        std::vector<host_journal*> journals;
        for (const auto& s : segments_) journals.push_back(s->journal.get());
        disk_watch_ = std::make_unique<journal_watch>(context_, c, std::move(journals), log_.get());
        snapshots_ = std::make_unique<snapshot_maker>(
            context_, std::make_unique<segment_snapshots>(c, segments_, merger_), c.snapshot_every, events_log_);
    }
    std::vector<host_journal*> journals;
    std::vector<const facility::facility*> states;
    for (const auto& s : segments_) {
        if (s->journal != nullptr) journals.push_back(s->journal.get());
        states.push_back(&s->host.state());
    }
    orders_.adopt_accounts(std::move(journals), states);
    // A journal that ended before the others may lack a note that they have, or its end.
    for (const auto& s : segments_) orders_.set_absent_sessions(s->host.disconnect_cancels(), c.cancel_grace);
    merger_.skip_to(next_arrival_);
    first_request_ = next_arrival_ + refusals_.size();
    merger_.begin_counting(first_request_);
    for (const auto& s : segments_) {
        if (s->journal == nullptr) s->host.start_clock(context.wall_now(), c.clock_slew_ppm);
        if (s->thread != nullptr) s->host.set_outlet(*s->thread);
        s->feed.take_phases(s->host.state());
        // Events of the recovery have been logged before.
        s->edge.log_to(events_log_);
    }
    for (const auto& s : segments_) s->feed.open(s->own);
    // Last, because clients are served as soon as the ports are open.
    orders_.open(context, c);
    watch_.started();
}

segmented_exchange::~segmented_exchange() {
    for (const auto& s : segments_) {
        if (s->thread != nullptr) s->thread->stop();
    }
}

io::task<void> segmented_exchange::run() {
    io::task_scope journaling(context_);
    io::task_scope pumping(context_);
    if (disk_watch_ != nullptr) disk_watch_->start();
    io::task_scope publishing(context_);
    for (const auto& s : segments_) {
        if (s->thread != nullptr) {
            s->thread->start(s->host, s->journal.get());
            pumping.spawn(follow_thread(s.get()));
        } else {
            pumping.spawn(watch_clock(&s->host));
            if (s->journal != nullptr) {
                journaling.spawn(s->journal->run());
                journaling.spawn(follow_journal(s.get()));
            }
        }
        publishing.spawn(s->feed.run());
    }
    pumping.spawn(route_all());
    io::task_scope saving(context_);
    if (snapshots_ != nullptr) saving.spawn(make_snapshots());
    say(telemetry::log_record_kind::started);
    co_await orders_.run();
    if (disk_watch_ != nullptr) disk_watch_->leave();
    for (const auto& s : segments_) s->feed.close();
    co_await publishing.join();
    pumping.request_stop();
    co_await pumping.join();
    for (const auto& s : segments_) {
        if (s->thread != nullptr) {
            s->thread->stop();
        } else if (s->journal != nullptr) {
            s->journal->close();
        }
    }
    co_await journaling.join();
    saving.request_stop();
    co_await saving.join();
    if (disk_watch_ != nullptr) disk_watch_->stop();
    co_await save_last_snapshot();
    co_await watch_.end();
    say(telemetry::log_record_kind::stopped);
}

// The venue has stopped: the journals are sealed, and every answer is delivered. A partition whose journal has failed
// has state that is in no journal; there is then no moment to save.
io::task<void> segmented_exchange::save_last_snapshot() {
    bool is_saved = true;
    for (const auto& s : segments_) {
        const bool at_rest =
            s->journal != nullptr && !s->host.failed() && s->host.released_count() == s->host.emitted_count();
        if (!at_rest) co_return;
        is_saved = is_saved && s->host.sequence() == s->journal->snapshot_sequence();
    }
    // A snapshot before all rejects of lost requests would hide the rest from the next start.
    if (merger_.next_arrival() < first_request_) co_return;
    if (is_saved || merger_.next_arrival() != next_arrival_) co_return;
    co_await save_segments(segments_, &context_, &orders_.answers(), next_arrival_ - 1);
}

// Routes the commands of the gateways' queue, in order, to their partitions.
io::task<void> segmented_exchange::route_all() {
    gateway::command_queue& commands = orders_.commands();
    domain::command command;
    bool has_command = false;
    while (true) {
        // Rejects that wait for disk space when the venue closes are found again by the next start.
        if (failed_ != nullptr || (closing_ && has_command && is_refusal(command))) {
            forget_commands();
            has_command = false;
        }
        bool is_stuck = false;
        for (std::size_t i = 0; i < commands_batch_max && !is_stuck && failed_ == nullptr; ++i) {
            if (!has_command && !take_next(command)) break;
            has_command = !route(command);
            is_stuck = has_command;
        }
        for (const auto& s : segments_) {
            if (s->thread == nullptr) publish_progress(*s);
        }
        advance();
        flush();
        if (!is_stuck && !waits_for_refusals() && !(refusals_.empty() && commands.empty())) {
            co_await io::yield();
        } else if (co_await commands.filled().wait()) {
            co_return;  // stopped
        }
    }
}

// A snapshot before all rejects of lost requests would hide the rest from the next start.
io::task<void> segmented_exchange::make_snapshots() {
    while (merger_.next_arrival() < first_request_) {
        const std::error_code stopped = co_await io::sleep_for(snapshot_look_interval);
        if (stopped) co_return;
    }
    co_await snapshots_->run();
}

// The next command: first the rejects of requests that the start found to be lost. No other command is executed before
// all of them are durable, so that the next start can find the rest after a crash.
bool segmented_exchange::take_next(domain::command& into) {
    if (refusals_.empty()) return !waits_for_refusals() && orders_.commands().try_pop(into);
    into = refusals_.front();
    refusals_.pop_front();
    return true;
}

// The reject of a lost request may be in any journal that accepts cancels. It waits while none does: if it were
// refused, only the next start would try again.
std::optional<std::size_t> segmented_exchange::target_of(const domain::command& command) const noexcept {
    if (!is_refusal(command)) return map_.target_of(command);
    for (const auto& s : segments_) {
        if (s->thread == nullptr) {
            if (s->journal->writer().room() <= journal::journal_room::cancels_only) return s->index();
            continue;
        }
        // Commands in progress use disk space that the thread has not reported yet: with space for everything, half of
        // the distance to the operators' reserve may already be used.
        const std::uint64_t under_way = next_arrival_ - merger_.next_arrival();
        const std::uint64_t reserve = s->own.journal_segment_bytes / 4;
        const std::uint64_t most = reserve * 3 / 4 / 2 / journal::block_bytes(1);
        const journal::journal_room room = s->thread->room();
        if (room == journal::journal_room::everything && under_way <= most) return s->index();
        if (room == journal::journal_room::cancels_only && under_way == 0) return s->index();
    }
    return std::nullopt;
}

const std::string* segmented_exchange::failure() const noexcept {
    if (failed_ != nullptr) return failed_->journal->failure();
    for (const auto& s : segments_) {
        if (s->journal != nullptr && s->journal->failure() != nullptr) return s->journal->failure();
    }
    return nullptr;
}

// False when one of its partitions has no room for it. `filled` is set when there is room again.
bool segmented_exchange::route(domain::command& command) {
    const std::optional<std::size_t> target = target_of(command);
    if (!target) return false;
    if (*target != segment_map::all) {
        if (!has_room(*target)) return false;
        note_place(command);
        command.set_arrival(next_arrival_++, 0);
        pass_on(command, *target);
        return true;
    }
    for (std::size_t k = 0; k < segments_.size(); ++k) {
        if (!has_room(k)) return false;
    }
    note_place(command);
    command.set_arrival(next_arrival_++, static_cast<std::uint8_t>(segments_.size()));
    for (std::size_t k = 0; k < segments_.size(); ++k) pass_on(command, k);
    return true;
}

// Records the session's previous submitted request in a command, so that a start finds requests lost between the two.
void segmented_exchange::note_place(domain::command& command) noexcept {
    if (command.kind == domain::command_kind::reset_session_numbers && command.session.value < passed_.size()) {
        passed_[command.session.value] = {};
    }
    if (command.request() == 0 || is_refusal(command) || command.session.value >= passed_.size()) return;
    passed_request& last = passed_[command.session.value];
    if (command.request() != last.request) last.legs_count = 0;
    command.set_request_place(last.legs_count++, last.request);
    last.request = command.request();
}

bool segmented_exchange::has_room(std::size_t index) noexcept {
    segment& s = *segments_[index];
    if (s.thread != nullptr) return s.commands.has_room();
    return s.host.has_room() && merger_.has_room(index);
}

void segmented_exchange::pass_on(domain::command command, std::size_t index) {
    segment& s = *segments_[index];
    segment_map::enter_segment(command, index);
    if (s.thread != nullptr) {
        const bool taken = s.commands.try_push(command);
        CORRO_ASSERT(taken, "the queue had room, and only this thread fills it");
        return;
    }
    const bool taken = s.host.execute(command);
    merger_.executed(index, executed_command(command, s.host.emitted_count(), !taken));
    advance();
}

// Inline: releases the events of durable commands.
void segmented_exchange::publish_progress(segment& s) {
    s.host.release();
    if (s.host.failed()) end_by_failure(s);
}

void segmented_exchange::advance() {
    if (failed_ == nullptr) merger_.advance();
}

// A command that waited for the failed journal may or may not be in its file, and only the next start can find out.
// Later answers could get other numbers then, so none is sent any more, and the venue ends. Closing sessions do not
// wait: the next start has their answers and finds the lost requests.
void segmented_exchange::end_by_failure(const segment& s) noexcept {
    if (failed_ != nullptr) return;
    failed_ = &s;
    orders_.close();
    orders_.commands().filled().set();
}

void segmented_exchange::forget_commands() noexcept {
    gateway::command_queue& commands = orders_.commands();
    domain::command command;
    while (commands.try_pop(command)) continue;
    refusals_.clear();
    orders_.answered(commands.pushed_count());
}

// Inline: when the journal has progressed, releases events and executes commands that had to wait.
io::task<void> segmented_exchange::follow_journal(segment* s) {
    while (!s->journal->ended()) {
        const std::error_code stopped = co_await s->journal->writer().progressed().wait();
        if (stopped) co_return;
        s->journal->forget_old_segments();
        publish_progress(*s);
        advance();
        flush();
        orders_.commands().filled().set();
    }
}

// Split: receives the partition's events and outcomes. Other partitions' answers may have waited for them.
io::task<void> segmented_exchange::follow_thread(segment* s) {
    while (true) {
        const bool any = s->thread->drain(s->edge);
        if (s->edge.has_failed()) end_by_failure(*s);
        advance();
        s->is_held_back = !merger_.has_room(s->index());
        // Its journal may have space now for waiting rejects.
        if (merger_.next_arrival() < first_request_) orders_.commands().filled().set();
        if (any) {
            for (const auto& other : segments_) {
                if (other->is_held_back && merger_.has_room(other->index())) other->thread->bell().set();
            }
            flush();
            orders_.commands().filled().set();
            co_await io::yield();
            continue;
        }
        const std::error_code stopped = co_await s->thread->bell().wait();
        if (stopped) co_return;
    }
}

void segmented_exchange::flush() noexcept {
    orders_.flush();
    for (const auto& s : segments_) s->feed.flush();
}

// Every partition replies with its status. A snapshot concerns the whole venue, and the first partition replies for
// all.
gateway::request_refusal segmented_exchange::ask(const gateway::admin_request& question) {
    for (const auto& s : segments_) {
        gateway::admin_reply answer =
            answer_of(question, asked_of(s->host, s->thread.get(), s->journal.get(), s->feed, snapshots_.get()));
        answer.venue.segment = static_cast<std::uint8_t>(s->index());
        answer.venue.segments_count = static_cast<std::uint8_t>(segments_.size());
        orders_.deliver_admin_reply(answer);
        if (question.wish == gateway::admin_request_kind::snapshot) break;
    }
    return gateway::request_refusal::none;
}

void segmented_exchange::say(telemetry::log_record_kind what) const {
    if (events_log_ == nullptr) return;
    std::uint64_t commands = 0;
    for (const auto& s : segments_) commands += s->host.sequence();
    events_log_->note({telemetry::component::venue, what, static_cast<std::int64_t>(commands), context_.wall_now()});
}

void segmented_exchange::collect(telemetry::metrics_page& page) const {
    add_metrics(orders_, page);
    std::vector<const segment*> all;
    for (const auto& s : segments_) all.push_back(s.get());
    add_metrics(all, page);
    if (snapshots_ != nullptr) add_metrics(*snapshots_, page);
    for (const segment* s : all) {
        page.gauge("corro_segment_answers_waiting",
                   "Private messages of a segment that wait for answers of other segments.",
                   static_cast<double>(merger_.waiting_count(s->index())), {{"segment", s->name()}});
    }
    if (log_ != nullptr) add_metrics(*log_, page);
}

}  // namespace corro::node
