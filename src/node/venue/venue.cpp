// SPDX-License-Identifier: Apache-2.0
#include "node/venue/venue.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/limits.hpp"
#include "node/recovery/journal_snapshots.hpp"
#include "node/recovery/partition_recovery.hpp"
#include "node/recovery/partition_snapshots.hpp"
#include "node/venue/clock_watch.hpp"
#include "node/venue/metrics.hpp"

namespace corro::node {

venue::venue(io::context& context, const configuration& c, order_entry_place place,
             std::function<void(const std::string&)> noticed)
    : core_(context, c),
      watch_(
          context, [this](telemetry::metrics_page& page) { core_.collect(page); },
          [this] { return core_.not_ready_reason(); }) {
    if (place == order_entry_place::here) {
        auto made = std::make_unique<local_order_entry>(core_);
        local_ = made.get();
        source_ = std::move(made);
    } else {
        auto made = std::make_unique<linked_order_entry>(core_, std::move(noticed));
        linked_ = made.get();
        source_ = std::move(made);
    }
    core_.make_partitions(*source_);
}

venue::~venue() {
    for (const auto& p : core_.partitions) {
        if (p->thread != nullptr) p->thread->stop();
    }
}

std::optional<io::endpoint> venue::retransmission_endpoint() const noexcept {
    const market_data::line_publisher* const lines = core_.first().feed.lines();
    return lines == nullptr ? std::nullopt : lines->retransmission_endpoint();
}

const market_data::line_publisher_statistics* venue::line_statistics() const noexcept {
    const market_data::line_publisher* const lines = core_.first().feed.lines();
    return lines == nullptr ? nullptr : &lines->statistics();
}

io::task<void> venue::start() {
    if (core_.log != nullptr) co_await core_.log->start();
    watch_.open(core_.settings);
    std::exception_ptr failed;
    try {
        if (!core_.settings.journal_directory.empty()) co_await recover();
        begin();
        co_await open();
    } catch (...) {
        failed = std::current_exception();
    }
    if (failed) {
        co_await watch_.end();
        std::rethrow_exception(failed);
    }
    watch_.started();
}

io::task<void> venue::recover() {
    const configuration& c = core_.settings;
    const std::span<const std::unique_ptr<partition>> all(core_.partitions);
    if (core_.router == nullptr) {
        co_await recover_partition(all, &source_->answers(), &watch_.progress());
        core_.snapshots = std::make_unique<snapshot_maker>(
            core_.context, std::make_unique<journal_snapshots>(c, *core_.first().journal), c.snapshot_every,
            core_.log_end);
    } else {
        recovered_partitions found;
        co_await recover_partitions(all, &core_.router->merger(), &source_->answers(), &watch_.progress(), &found);
        last_arrival_ = found.last_arrival;
        refusals_ = std::move(found.refusals);
        core_.snapshots = std::make_unique<snapshot_maker>(
            core_.context, std::make_unique<partition_snapshots>(c, all, core_.router->merger()), c.snapshot_every,
            core_.log_end);
    }
    std::vector<host_journal*> journals;
    for (const auto& p : all) journals.push_back(p->journal.get());
    disk_watch_ = std::make_unique<journal_watch>(core_.context, c, std::move(journals), core_.log.get());
}

io::task<void> venue::stop() {
    co_await watch_.end();
}

// Takes over the recovered state.
void venue::begin() {
    std::vector<host_journal*> journals;
    std::vector<const facility::facility*> states;
    for (const auto& p : core_.partitions) {
        if (p->journal != nullptr) journals.push_back(p->journal.get());
        states.push_back(&p->host.state());
    }
    source_->begin(std::move(journals), states);
    if (core_.router != nullptr) core_.router->begin(core_.partitions, last_arrival_, std::move(refusals_));
    for (const auto& p : core_.partitions) {
        if (p->journal == nullptr) p->host.start_clock(core_.context.wall_now(), core_.settings.clock_slew_ppm);
        if (p->thread != nullptr) p->host.set_sink(*p->thread);
        p->feed.take_phases(p->host.state());
        for (const domain::instrument& i : p->host.state().defined()) {
            source_->define(i);
            if (core_.log != nullptr) core_.log->list(i);
        }
        // Events of the recovery have been logged before.
        p->sink->log_to(core_.log_end);
    }
}

// Order entry last, because clients are served as soon as its ports are open.
io::task<void> venue::open() {
    for (const auto& p : core_.partitions) p->feed.open(p->own);
    co_await source_->open();
}

io::task<void> venue::run() {
    io::task_scope journaling(core_.context);
    io::task_scope pumping(core_.context);
    io::task_scope publishing(core_.context);
    core_.record(telemetry::log_record_kind::started, core_.commands_count());
    if (disk_watch_ != nullptr) disk_watch_->start();
    for (const auto& p : core_.partitions) {
        if (p->thread != nullptr) {
            p->thread->start(p->host, p->journal.get());
            pumping.spawn(follow_thread(p.get()));
        } else {
            pumping.spawn(watch_clock(&p->host));
            if (p->journal != nullptr) {
                journaling.spawn(p->journal->run());
                journaling.spawn(follow_journal(p.get()));
            }
        }
        publishing.spawn(p->feed.run());
    }
    io::task_scope saving(core_.context);
    if (core_.snapshots != nullptr) saving.spawn(make_snapshots());
    co_await source_->run();
    if (disk_watch_ != nullptr) disk_watch_->leave();
    pumping.request_stop();
    co_await pumping.join();
    for (const auto& p : core_.partitions) {
        if (p->thread != nullptr) {
            p->thread->stop();
        } else if (p->journal != nullptr) {
            p->journal->close();
        }
    }
    co_await journaling.join();
    // When the journal of one partition has failed, those of others may have made commands durable until here.
    for (const auto& p : core_.partitions) p->feed.close();
    co_await publishing.join();
    saving.request_stop();
    co_await saving.join();
    if (disk_watch_ != nullptr) disk_watch_->stop();
    co_await save_last_snapshot();
    co_await watch_.end();
    core_.record(telemetry::log_record_kind::stopped, core_.commands_count());
}

// Inline: when a journal has progressed, releases events, and commands that had to wait are submitted.
io::task<void> venue::follow_journal(partition* p) {
    while (!p->journal->ended()) {
        const std::error_code stopped = co_await p->journal->writer().progressed().wait();
        if (stopped) co_return;
        p->journal->forget_old_segments();
        core_.publish_progress();
        core_.inspect_journals();
        source_->resume();
    }
}

// Split: receives a facility's events and the outcomes of its commands.
io::task<void> venue::follow_thread(partition* p) {
    while (true) {
        core_.inspect_journals();
        const bool any = core_.router != nullptr ? core_.router->drain(*p) : source_->drain(*p->thread);
        if (any) {
            source_->report_progress();
            core_.flush_feeds();
            source_->resume();
            co_await io::yield();
            continue;
        }
        // Its journal may have space now for waiting rejects of lost requests.
        if (core_.router != nullptr && core_.router->owes_refusals()) source_->resume();
        const std::error_code stopped = co_await p->thread->bell().wait();
        if (stopped) co_return;
    }
}

// A snapshot before all rejects of lost requests would hide the rest from the next start.
io::task<void> venue::make_snapshots() {
    while (core_.router != nullptr && core_.router->owes_refusals()) {
        const std::error_code stopped = co_await io::sleep_for(snapshot_look_interval);
        if (stopped) co_return;
    }
    co_await core_.snapshots->run();
}

// The venue has stopped: the journals are sealed, and every answer is delivered. A partition whose journal has failed
// has state that is in no journal; there is then no moment to save.
io::task<void> venue::save_last_snapshot() {
    partition_router* const router = core_.router.get();
    if (router == nullptr) {
        partition& only = core_.first();
        if (only.journal != nullptr) co_await only.journal->save_last_snapshot(only.parts(source_->answers()));
        co_return;
    }
    bool is_saved = true;
    for (const auto& p : core_.partitions) {
        const bool at_rest =
            p->journal != nullptr && !p->host.failed() && p->host.released_count() == p->host.emitted_count();
        if (!at_rest) co_return;
        is_saved = is_saved && p->host.sequence() == p->journal->snapshot_sequence();
    }
    // A snapshot before all rejects of lost requests would hide the rest from the next start.
    if (router->owes_refusals() || is_saved || !router->is_idle()) co_return;
    co_await save_partitions(core_.partitions, &core_.context, &source_->answers(), router->last_arrival());
}

}  // namespace corro::node
