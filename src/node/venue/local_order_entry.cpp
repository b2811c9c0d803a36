// SPDX-License-Identifier: Apache-2.0
#include "node/venue/local_order_entry.hpp"

#include <system_error>
#include <utility>

#include "base/defect.hpp"
#include "io/loop/after_events.hpp"
#include "io/loop/yield.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/limits.hpp"
#include "node/venue/metrics.hpp"

namespace corro::node {

local_order_entry::local_order_entry(venue_core& core)
    : core_(core), orders_(core.context, core.settings, core.clock, core.log_end, this), merged_(orders_) {}

std::unique_ptr<partition_sink> local_order_entry::make_sink(market_data_server& feed) {
    auto made = std::make_unique<event_router<order_entry>>(orders_, feed);
    router_ = made.get();
    return made;
}

void local_order_entry::begin(std::vector<host_journal*> journals, std::span<const facility::facility* const> states) {
    if (core_.router == nullptr) only_ = &core_.first();
    orders_.adopt_accounts(std::move(journals), states);
    // A journal that ended before the others may lack a note that they have, or its end.
    for (const auto& p : core_.partitions) {
        orders_.set_absent_sessions(p->host.disconnect_cancels(), core_.settings.cancel_grace);
    }
}

io::task<void> local_order_entry::open() {
    orders_.open(core_.context, core_.settings);
    co_return;
}

io::task<void> local_order_entry::run() {
    io::task_scope pumping(core_.context);
    if (only_ == nullptr) {
        pumping.spawn(route_commands());
        // A session that logged on before these rejects would be promised answers that they push out of the log.
        if (!CORRO_DEFECT(lost_requests_rejected_late)) {
            static_cast<void>(co_await io::with_timeout(past_requests_patience, wait_for_refusals()));
        }
    } else if (only_->thread == nullptr) {
        orders_.commands().set_direct_consumer(this);
        pumping.spawn(execute_commands());
    }
    co_await orders_.run();
    pumping.request_stop();
    co_await pumping.join();
    orders_.commands().set_direct_consumer(nullptr);
}

void local_order_entry::close() noexcept {
    is_closing_ = true;
    orders_.close();
    refusals_settled_.set();
    // Rejects of lost requests may be waiting for disk space.
    if (core_.router != nullptr) orders_.commands().filled().set();
}

// One partition on this thread.
bool local_order_entry::take(const domain::command& command) noexcept {
    if (!only_->host.has_room()) return false;
    domain::command own = command;
    execute(own);
    return true;
}

// The prefetch works because the host runs on this thread.
void local_order_entry::expect(std::span<domain::prefetch_hint> coming) noexcept {
    only_->host.state().expect(coming);
    only_->feed.publisher().prefetch(coming);
}

void local_order_entry::execute(domain::command& command) noexcept {
    ++taken_count_;
    matching_host& host = only_->host;
    if (!host.execute(command)) [[unlikely]] {
        if (only_->journal != nullptr) only_->journal->note_failure();
        core_.inspect_journals();
        orders_.reject_overloaded(command);
        return;
    }
    if (host.released_count() == host.emitted_count()) orders_.answered(taken_count_);
}

// One partition on this thread: after the reads of a turn, executes the commands that had to wait, and then sends all
// answers.
io::task<void> local_order_entry::execute_commands() {
    gateway::command_queue& commands = orders_.commands();
    matching_host& host = only_->host;
    domain::command command;
    while (true) {
        for (std::size_t i = 0; i < commands_batch_max && host.has_room() && commands.try_pop(command); ++i) {
            execute(command);
        }
        if (only_->journal != nullptr) {
            progress_.note(taken_count_, host.emitted_count());
            host.release();
        }
        report_progress();
        only_->feed.flush();
        if (!commands.empty() && host.has_room()) {
            co_await io::yield();
            continue;
        }
        const std::error_code stopped = co_await commands.filled().wait();
        if (stopped) co_return;
        co_await io::after_events();
    }
}

// Several partitions: routes the commands of the queue, in order.
io::task<void> local_order_entry::route_commands() {
    gateway::command_queue& commands = orders_.commands();
    partition_router& router = *core_.router;
    using state = partition_router::refusals_state;
    domain::command command;
    bool has_command = false;
    while (true) {
        const state refusals = router.submit_refusals();
        // Rejects that wait for disk space when the venue closes are found again by the next start.
        if (router.failed() != nullptr || (is_closing_ && refusals == state::stuck)) forgets_commands_ = true;
        if (forgets_commands_) forget_commands();
        has_command = has_command && !forgets_commands_;
        if (refusals == state::answered || router.refusals_wait_for_space() || forgets_commands_) {
            refusals_settled_.set();
        }
        bool is_stuck = refusals == state::waiting || refusals == state::stuck;
        for (std::size_t i = 0; i < commands_batch_max && refusals == state::answered && !is_stuck; ++i) {
            if (!has_command && !commands.try_pop(command)) break;
            has_command = !router.try_submit(command);
            is_stuck = has_command;
        }
        core_.publish_progress();
        if (!is_stuck && (refusals == state::more || !commands.empty())) {
            co_await io::yield();
        } else if (co_await commands.filled().wait()) {
            co_return;  // stopped
        }
    }
}

// Until the rejects of lost requests are answered, or have to wait for disk space.
io::task<void> local_order_entry::wait_for_refusals() {
    static_cast<void>(co_await refusals_settled_.wait());
}

// These commands are never answered, so closing sessions do not wait for them.
void local_order_entry::forget_commands() noexcept {
    gateway::command_queue& commands = orders_.commands();
    domain::command command;
    while (commands.try_pop(command)) continue;
    core_.router->drop_refusals();
    orders_.answered(commands.pushed_count());
}

void local_order_entry::report_progress() {
    if (only_ == nullptr) {
        if (!forgets_commands_) orders_.answered(core_.router->answered_count());
    } else if (only_->thread == nullptr && only_->journal != nullptr) {
        // Commands that wait for a failed journal are never answered, so nothing waits for them.
        const bool has_failed = only_->host.failed();
        orders_.answered(has_failed ? taken_count_ : progress_.answered(only_->host.released_count()));
    }
    orders_.flush();
}

gateway::request_refusal local_order_entry::ask(const gateway::admin_request& question) {
    core_.reply(question, [this](const gateway::admin_reply& answer) { orders_.deliver_admin_reply(answer); });
    return gateway::request_refusal::none;
}

void local_order_entry::collect(telemetry::metrics_page& page) const {
    add_metrics(orders_, page);
}

}  // namespace corro::node
