#include "node/exchange.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "io/loop/after_events.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/clock_watch.hpp"
#include "node/journal_snapshots.hpp"
#include "node/limits.hpp"
#include "node/metrics.hpp"
#include "node/operator_answers.hpp"
#include "node/ports.hpp"

namespace corro::node {
namespace {

std::unique_ptr<facility_thread> thread_of(io::context& context, const configuration& c, order_entry_side& orders) {
    if (c.threading == threading_mode::inline_) return nullptr;
    return std::make_unique<facility_thread>(context, orders.commands(), c.busy_poll);
}

std::unique_ptr<telemetry::event_log> log_of(const io::context& context, const configuration& c) {
    if (c.event_log.directory.empty()) return nullptr;
    return std::make_unique<telemetry::event_log>(context.runs_on(), c.event_log, c.instruments);
}

}  // namespace

exchange::exchange(io::context& context, const configuration& c)
    : clock_(context.runs_on().ticks()),
      context_(context),
      log_(log_of(context, c)),
      events_log_(log_ == nullptr ? nullptr : &log_->add_producer()),
      orders_(context, c, clock_, events_log_, this),
      feed_(context, c, events_log_),
      edges_(&orders_, &feed_),
      thread_(thread_of(context, c, orders_)),
      host_(facility_options_of(c, context.runs_on()), c.instruments, clock_, edges_),
      ends_with_journal_(c.ends_with_journal),
      watch_(context, [this](telemetry::metrics_page& page) { collect(page); }, [this] { return hindrance(); }) {
    host_.throttle(throttle_options_of(c), orders_.sessions_capacity());
    host_.limit_open_orders(c.account_open_orders_max);
    watch_.open(c);
    if (!c.journal_directory.empty()) {
        io::context& own = thread_ != nullptr ? thread_->context() : context_;
        journal_ = std::make_unique<host_journal>(own, context_, c);
        watch_.recover(own, *journal_, parts());
        disk_watch_ = std::make_unique<journal_watch>(context_, c, std::vector{journal_.get()}, log_.get());
        snapshots_ = std::make_unique<snapshot_maker>(context_, std::make_unique<journal_snapshots>(c, *journal_),
                                                      c.snapshot_every, events_log_);
    }
    const facility::facility* const state = &host_.state();
    orders_.adopt_accounts(journal_ != nullptr ? std::vector{journal_.get()} : std::vector<host_journal*>(),
                           std::span(&state, 1));
    orders_.set_absent_sessions(host_.disconnect_cancels(), c.cancel_grace);
    if (journal_ == nullptr) host_.start_clock(context.wall_now(), c.clock_slew_ppm);
    feed_.take_phases(host_.state());
    if (thread_ != nullptr) host_.set_outlet(*thread_);
    for (const domain::instrument& i : host_.state().defined()) {
        orders_.define(i);
        if (log_ != nullptr) log_->list(i);
    }
    // Events of the recovery have been logged before.
    edges_.log_to(events_log_);
    feed_.open(c);
    // Last, because clients are served as soon as the ports are open.
    orders_.open(context, c);
    watch_.started();
}

exchange::~exchange() {
    if (thread_ != nullptr) thread_->stop();
}

io::task<void> exchange::run() {
    io::task_scope journaling(context_);
    io::task_scope pumping(context_);
    if (disk_watch_ != nullptr) disk_watch_->start();
    if (thread_ != nullptr) {
        thread_->start(host_, journal_.get());
        pumping.spawn(pump_split());
    } else {
        pumping.spawn(watch_clock(&host_));
        if (journal_ != nullptr) {
            journaling.spawn(journal_->run());
            journaling.spawn(follow_journal());
        }
        orders_.commands().set_direct_consumer(this);
        pumping.spawn(pump_inline());
    }
    io::task_scope saving(context_);
    if (snapshots_ != nullptr) saving.spawn(snapshots_->run());
    io::task_scope publishing(context_);
    publishing.spawn(feed_.run());
    say(telemetry::log_record_kind::started, host_.sequence());
    co_await orders_.run();
    if (disk_watch_ != nullptr) disk_watch_->leave();
    feed_.close();
    co_await publishing.join();
    pumping.request_stop();
    co_await pumping.join();
    orders_.commands().set_direct_consumer(nullptr);
    if (thread_ != nullptr) {
        thread_->stop();
    } else if (journal_ != nullptr) {
        journal_->close();
    }
    co_await journaling.join();
    saving.request_stop();
    co_await saving.join();
    if (disk_watch_ != nullptr) disk_watch_->stop();
    if (journal_ != nullptr) co_await journal_->save_last_snapshot(parts());
    co_await watch_.end();
    say(telemetry::log_record_kind::stopped, host_.sequence());
}

// Inline: a command is executed on the stack of its decoder. Its answers are then in the sessions' output buffers and
// are sent together with those of other sessions.
bool exchange::take(const domain::command& command) noexcept {
    if (!host_.has_room()) return false;
    domain::command own = command;
    execute(own);
    return true;
}

// Inline: the prefetch works because the host runs on this thread.
void exchange::expect(std::span<domain::prefetch_hint> coming) noexcept {
    host_.state().expect(coming);
    feed_.publisher().prefetch(coming);
}

void exchange::execute(domain::command& command) noexcept {
    ++taken_count_;
    if (!host_.execute(command)) [[unlikely]] {
        if (journal_ != nullptr) journal_->note_failure();
        look_at_journal();
        orders_.reject_overloaded(command);
        return;
    }
    if (host_.released_count() == host_.emitted_count()) orders_.answered(taken_count_);
}

// Inline: after the reads of a turn, executes the commands that had to wait, and then sends all answers.
io::task<void> exchange::pump_inline() {
    gateway::command_queue& commands = orders_.commands();
    domain::command command;
    while (true) {
        for (std::size_t i = 0; i < commands_batch_max && host_.has_room() && commands.try_pop(command); ++i) {
            execute(command);
        }
        if (journal_ != nullptr) marks_.note(taken_count_, host_.emitted_count());
        publish_progress();
        if (!commands.empty() && host_.has_room()) {
            co_await io::yield();
            continue;
        }
        const std::error_code stopped = co_await commands.filled().wait();
        if (stopped) co_return;
        co_await io::after_events();
    }
}

// Releases events, and reports how many commands are answered.
void exchange::publish_progress() noexcept {
    if (journal_ != nullptr) {
        host_.release();
        // Commands that wait for a failed journal are never answered, so nothing waits for them.
        orders_.answered(host_.failed() ? taken_count_ : marks_.answered(host_.released_count()));
    }
    edges_.flush();
}

// Inline: when the journal has progressed, releases events and executes commands that had to wait.
io::task<void> exchange::follow_journal() {
    while (!journal_->ended()) {
        const std::error_code stopped = co_await journal_->writer().progressed().wait();
        if (stopped) co_return;
        journal_->forget_old_segments();
        publish_progress();
        look_at_journal();
        orders_.commands().filled().set();
    }
}

// A failed journal is permanent: ends the venue or refuses all requests at once.
void exchange::look_at_journal() {
    if (failure_is_known_ || failure() == nullptr) return;
    failure_is_known_ = true;
    say(telemetry::log_record_kind::journal_failed, journal_->writer().durable_sequence());
    orders_.refuse_logons(gateway::end_reason::journal_failed);
    if (ends_with_journal_) close();
}

std::string exchange::hindrance() const {
    if (failure() != nullptr) return "The journal has failed: " + *failure();
    if (journal_ != nullptr && journal_->stalled().count() != 0) return stall_message(*journal_);
    return closing_ ? "The venue closes." : "";
}

// Split: receives the events of the host's thread.
io::task<void> exchange::pump_split() {
    while (true) {
        look_at_journal();
        if (thread_->drain(edges_, orders_)) {
            edges_.flush();
            co_await io::yield();
            continue;
        }
        const std::error_code stopped = co_await thread_->bell().wait();
        if (stopped) co_return;
    }
}

gateway::request_refusal exchange::ask(const gateway::admin_request& question) {
    orders_.deliver_admin_reply(
        answer_of(question, asked_of(host_, thread_.get(), journal_.get(), feed_, snapshots_.get())));
    return gateway::request_refusal::none;
}

void exchange::say(telemetry::log_record_kind what, std::uint64_t number) const {
    if (events_log_ == nullptr) return;
    telemetry::log_record said(telemetry::component::venue, what, static_cast<std::int64_t>(number),
                               context_.wall_now());
    if (what == telemetry::log_record_kind::journal_failed) said.severity = telemetry::severity::warning;
    events_log_->note(said);
}

void exchange::collect(telemetry::metrics_page& page) const {
    add_metrics(orders_, page);
    add_metrics(feed_, page);
    add_metrics(host_, page);
    if (snapshots_ != nullptr) {
        add_metrics(*snapshots_, page);
        add_metrics(*journal_, page);
    }
    if (thread_ != nullptr) add_metrics(*thread_, page);
    if (log_ != nullptr) add_metrics(*log_, page);
}

}  // namespace corro::node
