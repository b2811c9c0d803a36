#include "node/facility_role.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "domain/private_event.hpp"
#include "gateway/nonce.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "node/clock_watch.hpp"
#include "node/journal_snapshots.hpp"
#include "node/limits.hpp"
#include "node/metrics.hpp"
#include "node/ports.hpp"

namespace corro::node {

namespace {

std::unique_ptr<facility_thread> thread_of(io::context& context, const configuration& c,
                                           gateway::command_queue& commands) {
    if (c.threading == threading_mode::inline_) return nullptr;
    return std::make_unique<facility_thread>(context, commands, c.busy_poll, segment_queue_capacity);
}

// Without a secret any local process could submit commands.
const configuration& listening_link(const configuration& c) {
    require_link_secret(c);
    return c;
}

}  // namespace

facility_role::facility_role(io::context& context, const configuration& c,
                             std::function<void(const std::string&)> noticed)
    : context_(context),
      clock_(context.runs_on().ticks()),
      configuration_(listening_link(c)),
      log_(c.event_log.directory.empty()
               ? nullptr
               : std::make_unique<telemetry::event_log>(context.runs_on(), c.event_log, c.instruments)),
      events_log_(log_ == nullptr ? nullptr : &log_->add_producer()),
      accounts_(account_directory_of(c)),
      shares_(accounts_),
      answers_(accounts_.sessions_capacity(), answer_options_of(c)),
      feed_(context, c, events_log_),
      life_(base::load_le<std::uint64_t>(gateway::make_nonce(context.runs_on()).data())),
      commands_(segment_queue_capacity),
      thread_(thread_of(context, c, commands_)),
      host_(facility_options_of(c, context.runs_on()), c.instruments, clock_, *this),
      gateways_(shares_.count()),
      noticed_(std::move(noticed)),
      watch_(context, [this](telemetry::metrics_page& page) { collect(page); }, [this] { return hindrance(); }) {
    gateway::set_copies(accounts_, answers_);
    host_.throttle(throttle_options_of(c), accounts_.sessions_capacity());
    host_.limit_open_orders(c.account_open_orders_max);
    // Events of the recovery have been logged before.
    watch_.open(c);
    telemetry::producer* const told_later = std::exchange(events_log_, nullptr);
    if (!c.journal_directory.empty()) {
        io::context& own = thread_ != nullptr ? thread_->context() : context_;
        journal_ = std::make_unique<host_journal>(own, context_, c);
        watch_.recover(own, *journal_, parts());
        disk_watch_ = std::make_unique<journal_watch>(context_, c, std::vector{journal_.get()}, log_.get());
        snapshots_ = std::make_unique<snapshot_maker>(context, std::make_unique<journal_snapshots>(c, *journal_),
                                                      c.snapshot_every, told_later);
    }
    const facility::facility* const state = &host_.state();
    const std::vector<host_journal*> journals =
        journal_ != nullptr ? std::vector{journal_.get()} : std::vector<host_journal*>();
    first_commands_ = adopt_accounts(accounts_, journals, std::span(&state, 1));
    for (std::uint32_t id = 1; id < host_.disconnect_cancels().size(); ++id) {
        const domain::account_id account = host_.disconnect_cancels()[id];
        if (account.value != 0) absent_sessions_.emplace(id, account);
    }
    if (journal_ == nullptr) host_.start_clock(context.wall_now(), c.clock_slew_ppm);
    if (thread_ != nullptr) host_.set_outlet(*thread_);
    events_log_ = told_later;
    for (const domain::instrument& i : host_.state().instruments()) instruments_.define(i);
    defined_.clear();
    for (const domain::instrument& i : host_.state().defined()) {
        defined_.push_back(i);
        if (log_ != nullptr) log_->list(i);
    }
    feed_.take_phases(host_.state());
    feed_.open(c);
    // Last, so that a facility with an open link has its journal and all of its ports.
    links_.emplace(context, c.link_listen, c.link_users);
    watch_.started();
}

facility_role::~facility_role() {
    if (thread_ != nullptr) thread_->stop();
}

io::task<void> facility_role::run() {
    io::task_scope journaling(context_);
    io::task_scope pumping(context_);
    if (disk_watch_ != nullptr) disk_watch_->start();
    if (thread_ != nullptr) {
        thread_->start(host_, journal_.get());
        pumping.spawn(follow_thread());
    } else {
        pumping.spawn(watch_clock(&host_));
        if (journal_ != nullptr) {
            journaling.spawn(journal_->run());
            journaling.spawn(follow_journal());
        }
    }
    io::task_scope saving(context_);
    if (snapshots_ != nullptr) saving.spawn(snapshots_->run());
    io::task_scope publishing(context_);
    publishing.spawn(feed_.run());
    say(telemetry::log_record_kind::started);
    if (!first_commands_.empty()) {
        const bool taken = co_await execute_own(std::move(first_commands_));
        static_cast<void>(taken);  // the next start executes them again
    }
    co_await serve_links();
    if (disk_watch_ != nullptr) disk_watch_->leave();
    feed_.close();
    co_await publishing.join();
    pumping.request_stop();
    co_await pumping.join();
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
    say(telemetry::log_record_kind::stopped);
}

void facility_role::say(telemetry::log_record_kind what) const {
    if (events_log_ == nullptr) return;
    const std::uint64_t sequence = thread_ != nullptr ? thread_->sequence() : host_.sequence();
    telemetry::log_record said(telemetry::component::venue, what, static_cast<std::int64_t>(sequence),
                               context_.wall_now());
    if (what == telemetry::log_record_kind::journal_failed) {
        said.severity = telemetry::severity::warning;
        said.number = static_cast<std::int64_t>(journal_->writer().durable_sequence());
    }
    events_log_->note(said);
}

void facility_role::collect(telemetry::metrics_page& page) const {
    add_metrics(feed_, page);
    add_metrics(host_, page);
    if (snapshots_ != nullptr) add_metrics(*snapshots_, page);
    if (journal_ != nullptr) add_metrics(*journal_, page);
    if (log_ != nullptr) add_metrics(*log_, page);
    if (thread_ != nullptr) add_metrics(*thread_, page);
    const auto absent = std::count(gateways_.begin(), gateways_.end(), nullptr);
    page.gauge("corro_gateways_linked", "Linked gateways.",
               static_cast<double>(gateways_.size() - static_cast<std::size_t>(absent)));
    page.counter("corro_links_cut_total", "Links closed because the gateway sent nothing or did not read.", links_cut_);
    page.counter("corro_links_refused_total",
                 "Connections to the link refused: another user, or no proof of the secret.",
                 links_refused_ + links_->refused_count());
    page.counter("corro_gone_sessions_cancelled_total",
                 "Cancels for sessions whose gateway had gone, or that did not log on again after a start.",
                 cancels_executed_);
}

io::task<reread_outcome> facility_role::reread(configuration changed) {
    reread_outcome outcome = look_at(accounts_, changed, configuration_.tables, host_.state().accounts_max());
    if (!outcome.problems.empty()) co_return outcome;
    std::vector<domain::command> commands = commands_for(accounts_, changed.accounts);
    for (const domain::command& c : commands) {
        ++(c.kind == domain::command_kind::define_account ? outcome.accounts_added : outcome.limits_changed);
    }
    if (!commands.empty()) {
        const bool taken = co_await execute_own(std::move(commands));
        if (!taken) outcome.problems.emplace_back("the journal does not accept accounts and limits now");
    }
    if (outcome.problems.empty() && outcome.accounts_added != 0 && journal_ != nullptr) {
        std::string problem = co_await journal_->write_owners(owners_with(accounts_, changed.accounts));
        if (!problem.empty()) outcome.problems.push_back(std::move(problem));
    }
    if (!outcome.problems.empty()) co_return outcome;
    accounts_.take(changed.accounts);
    for (const gateway::account& a : accounts_.accounts()) {
        if (!a.is_of_journal) shares_.add(a);
    }
    configuration_.accounts = changed.accounts;
    close_superseded_links();
    co_return outcome;
}

// False when the journal has not accepted all of them, or the venue ends.
io::task<bool> facility_role::execute_own(std::vector<domain::command> commands) {
    own_was_refused_ = false;
    for (const domain::command& c : commands) {
        const bool room = co_await wait_for_room();
        if (!room) co_return false;
        ++own_under_way_count_;
        pass_on(0, c, source_kind::account);
    }
    publish_progress();
    while (own_under_way_count_ != 0 || (delivered_count_ < own_emitted_count_ && !has_failed())) {
        progressed_.reset();
        const std::error_code stopped = co_await progressed_.wait();
        if (stopped) co_return false;
    }
    co_return !own_was_refused_;
}

// Closes links of gateways with an older file, because they would still accept removed keys. Their sessions are
// cancelled as if the gateway had died; it links again when it has the same accounts and keys.
void facility_role::close_superseded_links() {
    const link_greeting ours = greeting_of(configuration_);
    for (gateway_link* link : gateways_) {
        if (link == nullptr || link->taking == nullptr) continue;
        const std::string problem = mismatch(ours, link->greeting);
        if (problem.empty()) continue;
        if (noticed_)
            noticed_(fmt::format("the link to gateway \"{}\" ends: {}", link->greeting.gateway.data(), problem));
        ++links_refused_;
        link->taking->request_stop();
    }
}

void facility_role::close() noexcept {
    closing_ = true;
    links_->close();
    for (link_channel* unauthenticated_connection : unauthenticated_) unauthenticated_connection->close();
    for (gateway_link* link : gateways_) {
        if (link != nullptr && link->taking != nullptr) link->taking->request_stop();
    }
}

// Passes public events to the feed, and private ones to the answer log and the gateways.
std::size_t facility_role::accept(std::span<const domain::event> events) noexcept {
    delivered_count_ += events.size();
    if (events_log_ != nullptr) without_marks(events, [this](auto run) { events_log_->note(run); });
    for (const domain::event& event : events) {
        if (is_mark(event)) [[unlikely]]
            continue;
        if (domain::is_public(event.kind)) {
            if (domain::is_definition(event.kind)) take_definition(event);
            feed_.publish(event);
            continue;
        }
        answers_.append(event);
        notify_gateways(event);
    }
    return events.size();
}

// Sends a new instrument to all gateways, before any event about it. The facility may be on another thread.
void facility_role::take_definition(const domain::event& event) {
    if (!definitions_.take(event)) return;
    const domain::instrument* const made = instruments_.define(definitions_.get());
    if (made == nullptr) return;  // in a recovery, which takes over all of them at its end
    defined_.push_back(*made);
    for (gateway_link* link : gateways_) {
        if (link != nullptr && link->hears) link->channel.put_record(link_message::definition, *made);
    }
}

// Sends an event to the gateway of its session, and to those of sessions with a drop copy, once each.
void facility_role::notify_gateways(const domain::event& event) {
    std::uint64_t told = 0;
    const auto tell = [&](domain::session_id id) {
        const std::size_t gateway = shares_.gateway_of(id);
        if (gateway >= gateways_.size()) return;  // no gateway serves it
        if ((told >> gateway & 1U) != 0) return;
        told |= std::uint64_t{1} << gateway;
        gateway_link* const link = gateways_[gateway];
        if (link != nullptr && link->hears) link->channel.put_record(link_message::events, event);
    };
    tell(domain::session_of(event));
    if (event.kind == domain::event_kind::session_numbers_reset) return;  // drop copies have numbers of their own
    for (const domain::session_id copy : answers_.copies_of(domain::account_of(event))) tell(copy);
}

// Receives the outcome of the oldest submitted command.
void facility_role::executed(const executed_command& what) {
    const source from = under_way_.front();
    under_way_.pop_front();
    gateway_link* const link = gateways_[from.gateway];
    if (from.kind == source_kind::cancel && !what.refused) ++cancels_executed_;
    if (from.kind == source_kind::account) {
        --own_under_way_count_;
        own_emitted_count_ = what.emitted;
        own_was_refused_ = own_was_refused_ || what.refused;
    }
    // No gateway waits for it: the venue is torn down, or it is an own command.
    if (link == nullptr || !from.is_waited_for) return;
    --link->under_way_count;
    link->emitted_count = what.emitted;
    if (from.kind != source_kind::request) return;
    ++link->taken_count;
    if (what.refused) {
        look_at_journal();
        link->channel.put_record(link_message::turned_away, request_of(what));
    } else {
        answers_.note(request_of(what));
    }
}

// Inline: when the journal has progressed, releases events and executes commands that had to wait.
io::task<void> facility_role::follow_journal() {
    while (!journal_->ended()) {
        const std::error_code stopped = co_await journal_->writer().progressed().wait();
        if (stopped) co_return;
        journal_->forget_old_segments();
        publish_progress();
        look_at_journal();
        progressed_.set();
    }
}

// As in `exchange`. When the facility ends, the gateways lose their link and end their sessions; otherwise they refuse
// logons and requests with the reason.
void facility_role::look_at_journal() {
    if (failure_is_known_ || failure() == nullptr) return;
    failure_is_known_ = true;
    say(telemetry::log_record_kind::journal_failed);
    for (gateway_link* link : gateways_) {
        if (link == nullptr || !link->hears) continue;
        link->channel.put(link_message::journal_failed, {});
        link->channel.flush();
    }
    if (configuration_.ends_with_journal) close();
}

std::string facility_role::hindrance() const {
    if (failure() != nullptr) return "The journal has failed: " + *failure();
    if (journal_ != nullptr && journal_->stalled().count() != 0) return stall_message(*journal_);
    return closing_ ? "The facility closes." : "";
}

// Split: receives the host's events and the outcomes of commands.
io::task<void> facility_role::follow_thread() {
    while (true) {
        look_at_journal();
        if (thread_->drain(*this)) {
            publish_progress();
            progressed_.set();
            co_await io::yield();
            continue;
        }
        const std::error_code stopped = co_await thread_->bell().wait();
        if (stopped) co_return;
    }
}

// Releases events, and reports how many commands are answered.
void facility_role::publish_progress() {
    if (thread_ == nullptr) host_.release();
    for (gateway_link* link : gateways_) {
        if (link != nullptr) send_progress(*link);
    }
    feed_.flush();
}

}  // namespace corro::node
