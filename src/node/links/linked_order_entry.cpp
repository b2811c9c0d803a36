// SPDX-License-Identifier: Apache-2.0
#include "node/links/linked_order_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/defect.hpp"
#include "domain/private_event.hpp"
#include "gateway/nonce.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "gateway/session/disconnect_cancel.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/limits.hpp"
#include "node/links/linked_instrument.hpp"
#include "node/venue/metrics.hpp"

namespace corro::node {

namespace {

// Without a secret any local process could submit commands.
const configuration& listening_link(const configuration& c) {
    require_link_secret(c);
    return c;
}

}  // namespace

std::size_t linked_order_entry::merged_answers_of_links::accept(std::span<const domain::event> events) noexcept {
    for (const domain::event& event : events) to_.deliver(event);
    return events.size();
}

void linked_order_entry::merged_answers_of_links::executed(const executed_command& what) {
    // Neither commands of the recovery nor rejects of lost requests were submitted here.
    if (to_.has_begun_ && !to_.core_.router->is_refusal(what.arrival)) to_.executed(what);
}

linked_order_entry::linked_order_entry(venue_core& core, std::function<void(const std::string&)> noticed)
    : core_(core),
      configuration_(listening_link(core.settings)),
      accounts_(account_directory_of(core.settings)),
      shares_(accounts_),
      answers_(accounts_.sessions_capacity(), answer_options_of(core.settings)),
      merged_(*this),
      process_id_(base::load_le<std::uint64_t>(gateway::make_nonce(core.context.runs_on()).data())),
      gateways_(shares_.count()),
      noticed_(std::move(noticed)) {
    gateway::set_receivers(accounts_, answers_);
}

std::unique_ptr<partition_sink> linked_order_entry::make_sink(market_data_server& feed) {
    auto made = std::make_unique<event_router<linked_order_entry>>(*this, feed);
    router_ = made.get();
    return made;
}

void linked_order_entry::begin(std::vector<host_journal*> journals, std::span<const facility::facility* const> states) {
    first_commands_ = adopt_accounts(accounts_, journals, states);
    for (const auto& p : core_.partitions) {
        const std::span<const domain::account_id> cancels = p->host.disconnect_cancels();
        for (std::uint32_t id = 1; id < cancels.size(); ++id) {
            if (cancels[id].value != 0) absent_sessions_.emplace(id, cancels[id]);
        }
        for (const domain::instrument& i : p->host.state().instruments()) instruments_.define(i);
    }
    recovered_count_ = core_.first().host.emitted_count();
    has_begun_ = true;
}

io::task<void> linked_order_entry::open() {
    links_ = co_await link_acceptor::open(&core_.context, configuration_.link_listen,
                                          place_of(configuration_, "link.listen"), configuration_.link_users);
}

io::task<void> linked_order_entry::run() {
    io::task_scope starting(core_.context);
    starting.spawn(submit_first_commands());
    // A session that logged on before these rejects would be promised answers that they push out of the log.
    static_cast<void>(co_await io::with_timeout(past_requests_patience, wait_for_refusals()));
    co_await serve_links();
    starting.request_stop();
    co_await starting.join();
}

void linked_order_entry::close() noexcept {
    closing_ = true;
    refusals_settled_.set();
    if (links_) links_->close();
    for (link_channel* channel : unauthenticated_) channel->close();
    for (gateway_link* link : gateways_) {
        if (link != nullptr && link->taking != nullptr) link->taking->request_stop();
    }
    progressed_.set();
}

void linked_order_entry::collect(telemetry::metrics_page& page) const {
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

io::task<reread_outcome> linked_order_entry::reread(configuration changed) {
    const std::uint32_t accounts_max = core_.first().host.state().accounts_max();
    reread_outcome outcome = look_at(accounts_, changed, configuration_.tables, accounts_max);
    if (!outcome.problems.empty()) co_return outcome;
    std::vector<domain::command> commands = commands_for(accounts_, changed.accounts);
    for (const domain::command& c : commands) {
        ++(c.kind == domain::command_kind::define_account ? outcome.accounts_added : outcome.limits_changed);
    }
    if (!commands.empty()) {
        const bool taken = co_await execute_own(std::move(commands));
        if (!taken) outcome.problems.emplace_back("the journal does not accept accounts and limits now");
    }
    if (outcome.problems.empty() && outcome.accounts_added != 0) {
        const std::vector<session_owner> owners = owners_with(accounts_, changed.accounts);
        for (const auto& p : core_.partitions) {
            if (p->journal == nullptr) continue;
            std::string problem = co_await p->journal->write_owners(owners);
            if (!problem.empty()) outcome.problems.push_back(std::move(problem));
        }
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

// --- Answers ---------------------------------------------------------------------------------------------------------

void linked_order_entry::deliver(const domain::event& event) {
    answers_.append(event);
    notify_gateways(event);
}

// The facility may be on another thread, so its instruments cannot be read.
void linked_order_entry::define(const domain::event& event) {
    if (!has_begun_ || !definition_.take(event)) return;
    const domain::instrument* const made = instruments_.define(definition_.get());
    if (made != nullptr) define(*made);
}

// Sends a new instrument to all gateways, before any event about it.
void linked_order_entry::define(const domain::instrument& instrument) {
    const domain::instrument made = instrument;
    instruments_.define(made);
    defined_.push_back(made);
    const linked_instrument bytes = to_linked(made);
    for (gateway_link* link : gateways_) {
        if (link != nullptr && link->hears) link->channel.put_record(link_message::definition, bytes);
    }
}

// Sends an event to the gateway of its session, and to those of sessions with a drop copy, once each.
void linked_order_entry::notify_gateways(const domain::event& event) {
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
    // Drop copies have numbers of their own.
    const bool is_about_numbers =
        event.kind == domain::event_kind::session_numbers_reset || event.kind == domain::event_kind::messages_counted;
    if (is_about_numbers) return;
    for (const domain::session_id copy : answers_.copies_of(domain::account_of(event))) tell(copy);
}

void linked_order_entry::executed(const executed_command& what) {
    const submitted from = under_way_.front();
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
        core_.inspect_journals();
        link->channel.put_record(link_message::overloaded, request_of(what));
    }
    // A request to all partitions may be refused by some of them only.
    if (CORRO_DEFECT(request_not_noted_for_gateways)) return;
    if (!what.refused || what.copies != 0) answers_.note(request_of(what));
}

std::uint64_t linked_order_entry::delivered_count() const noexcept {
    if (core_.router != nullptr) return 0;  // an outcome comes after all events of its command
    const partition& only = core_.first();
    return only.thread != nullptr ? recovered_count_ + only.thread->drained_count() : only.host.released_count();
}

void linked_order_entry::report_progress() {
    for (gateway_link* link : gateways_) {
        if (link != nullptr) send_progress(*link);
    }
}

// Sends the number of the gateway's answered commands, unless its unread backlog shows that it is dead.
void linked_order_entry::send_progress(gateway_link& link) {
    if (link.marked_count != link.taken_count) link.progress.note(link.taken_count, link.emitted_count);
    link.marked_count = link.taken_count;
    // Commands that wait for a failed journal are never answered, so nothing waits for them.
    const std::uint64_t answered = core_.has_failed() ? link.taken_count : link.progress.answered(delivered_count());
    if (link.hears) {
        if (answered != link.answered_count) link.channel.put_record(link_message::answered, answered);
        link.channel.flush();
        if (link.channel.waiting_bytes() > link.waiting_bytes_max) {
            ++links_cut_;
            link.hears = false;
            link.channel.close();
        }
    }
    link.answered_count = answered;
}

// When the venue ends with its journal, the gateways lose their link and end their sessions; otherwise they refuse
// logons and requests with the reason.
void linked_order_entry::refuse_after_failure() {
    for (gateway_link* link : gateways_) {
        if (link == nullptr || !link->hears) continue;
        link->channel.put(link_message::journal_failed, {});
        link->channel.flush();
    }
}

// --- Commands --------------------------------------------------------------------------------------------------------

// Before any gateway's: the rejects of lost requests, and accounts and limits of the configuration.
io::task<void> linked_order_entry::submit_first_commands() {
    if (core_.router != nullptr) co_await submit_refusals();
    refusals_settled_.set();
    if (!first_commands_.empty()) {
        const bool taken = co_await execute_own(std::move(first_commands_));
        static_cast<void>(taken);  // the next start executes them again
    }
    is_starting_ = false;
    progressed_.set();
}

io::task<void> linked_order_entry::submit_refusals() {
    using state = partition_router::refusals_state;
    while (!core_.has_failed()) {
        const state now = core_.router->submit_refusals();
        if (now == state::answered) co_return;
        if (closing_ && now == state::stuck) {
            // The next start finds them again.
            core_.router->drop_refusals();
            drops_refusals_ = true;
            co_return;
        }
        core_.publish_progress();
        if (core_.router->refusals_wait_for_space()) refusals_settled_.set();
        if (now == state::more) {
            co_await io::yield();
            continue;
        }
        if (!core_.router->owes_refusals()) continue;
        progressed_.reset();
        const std::error_code stopped = co_await progressed_.wait();
        if (stopped) co_return;
    }
}

// Until the rejects of lost requests are answered, or have to wait for disk space.
io::task<void> linked_order_entry::wait_for_refusals() {
    static_cast<void>(co_await refusals_settled_.wait());
}

// Whether no command is executed any more.
bool linked_order_entry::gives_up() const noexcept {
    return core_.router != nullptr && (core_.has_failed() || drops_refusals_);
}

// Whether the only partition takes a command.
bool linked_order_entry::has_room() noexcept {
    partition& only = core_.first();
    return only.thread != nullptr ? only.own_commands->has_room() : only.host.has_room();
}

// Submits a command. False when it must wait.
bool linked_order_entry::try_submit(std::size_t gateway, const domain::command& command, source_kind kind) {
    partition_router* const router = core_.router.get();
    if (kind == source_kind::request && is_starting_) return false;
    if (router == nullptr ? !has_room() : gives_up() || router->owes_refusals()) return false;
    gateway_link* const link = gateways_[gateway];
    under_way_.push_back({gateway, kind, link != nullptr});
    if (link != nullptr) ++link->under_way_count;
    domain::command own = command;
    if (router != nullptr) {
        // On this thread its outcome comes before the call returns.
        if (router->try_submit(own)) return true;
        under_way_.pop_back();
        if (link != nullptr) --link->under_way_count;
        return false;
    }
    partition& only = core_.first();
    if (only.thread != nullptr) {
        const bool taken = only.own_commands->try_push(own);
        CORRO_ASSERT(taken, "the queue had room, and only this thread fills it");
        return true;
    }
    const bool taken = only.host.execute(own);
    if (!taken && only.journal != nullptr) only.journal->note_failure();
    executed(executed_command(own, only.host.emitted_count(), !taken));
    return true;
}

// False when stopped, or when no command is executed any more.
io::task<bool> linked_order_entry::wait_for_progress() {
    if (gives_up()) co_return false;
    progressed_.reset();
    const std::error_code stopped = co_await progressed_.wait();
    co_return !stopped && !gives_up();
}

// Waits until the command is submitted. False as `wait_for_progress`.
io::task<bool> linked_order_entry::submit(std::size_t gateway, domain::command command, source_kind kind) {
    if (try_submit(gateway, command, kind)) co_return true;
    core_.publish_progress();
    while (!try_submit(gateway, command, kind)) {
        const bool goes_on = co_await wait_for_progress();
        if (!goes_on) co_return false;
    }
    co_return true;
}

// False when the journal has not accepted all of them, or the venue ends.
io::task<bool> linked_order_entry::execute_own(std::vector<domain::command> commands) {
    own_was_refused_ = false;
    for (const domain::command& c : commands) {
        ++own_under_way_count_;
        const bool was_submitted = co_await submit(0, c, source_kind::account);
        if (!was_submitted) {
            --own_under_way_count_;
            co_return false;
        }
    }
    core_.publish_progress();
    while (own_under_way_count_ != 0 || (delivered_count() < own_emitted_count_ && !core_.has_failed())) {
        const bool goes_on = co_await wait_for_progress();
        if (!goes_on) co_return false;
    }
    co_return !own_was_refused_;
}

// The gateway is gone: executes its cancels on disconnect.
io::task<void> linked_order_entry::execute_cancels(gateway_link* link) {
    while (!link->cancels.empty() && !CORRO_DEFECT(gateway_gone_cancels_nothing)) {
        const auto [session, account] = *link->cancels.begin();
        link->cancels.erase(link->cancels.begin());
        const bool done = co_await execute_cancel(link->gateway, session, account);
        if (!done) co_return;
    }
}

// False as `wait_for_progress`.
io::task<bool> linked_order_entry::execute_cancel(std::size_t gateway, std::uint32_t session,
                                                  domain::account_id account) {
    const domain::command cancel = gateway::cancel_of_session(domain::session_id{session}, account);
    bool done = co_await submit(gateway, cancel, source_kind::cancel);
    if (done) done = co_await end_cancel(gateway, session, account);
    co_return done;
}

// Records that the cancel is done. If the session has logged on again, it has recorded a new one.
io::task<bool> linked_order_entry::end_cancel(std::size_t gateway, std::uint32_t session, domain::account_id account) {
    const domain::command note =
        gateway::cancel_on_disconnect_command(domain::session_id{session}, account, domain::switch_state::off);
    core_.publish_progress();
    while (true) {
        const gateway_link* const link = gateways_[gateway];
        if (link != nullptr && link->cancels.contains(session)) co_return true;
        if (try_submit(gateway, note, source_kind::note)) break;
        const bool goes_on = co_await wait_for_progress();
        if (!goes_on) co_return false;
    }
    core_.publish_progress();
    co_return true;
}

// Cancels for sessions that were connected when the facility died and have not logged on again.
io::task<void> linked_order_entry::cancel_absent_sessions() {
    if (absent_sessions_.empty()) co_return;
    const std::error_code stopped = co_await io::sleep_for(configuration_.cancel_grace);
    if (stopped) co_return;
    core_.publish_progress();
    while (!absent_sessions_.empty()) {
        const auto [session, account] = *absent_sessions_.begin();
        const std::size_t serving = shares_.gateway_of(domain::session_id{session});
        const std::size_t gateway = serving < gateways_.size() ? serving : 0;
        // Not removed before it is submitted: new orders of a session that logs on while this waits are not cancelled.
        bool goes_on = true;
        if (try_submit(gateway, gateway::cancel_of_session(domain::session_id{session}, account),
                       source_kind::cancel)) {
            absent_sessions_.erase(absent_sessions_.begin());
            goes_on = co_await end_cancel(gateway, session, account);
        } else {
            goes_on = co_await wait_for_progress();
        }
        if (!goes_on) co_return;
    }
}

// Waits until all accepted commands of this gateway are answered, independent of other gateways.
io::task<void> linked_order_entry::settle(gateway_link* link) {
    core_.publish_progress();
    const auto is_settled = [&] {
        if (gives_up()) return true;
        return link->under_way_count == 0 && (delivered_count() >= link->emitted_count || core_.has_failed());
    };
    while (!is_settled()) {
        progressed_.reset();
        const std::error_code stopped = co_await progressed_.wait();
        if (stopped) co_return;
    }
}

}  // namespace corro::node
