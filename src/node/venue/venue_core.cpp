// SPDX-License-Identifier: Apache-2.0
#include "node/venue/venue_core.hpp"

#include "node/recovery/journal_watch.hpp"
#include "node/venue/metrics.hpp"
#include "node/venue/operator_answers.hpp"

namespace corro::node {

std::unique_ptr<telemetry::event_log> make_event_log(const io::context& context, const configuration& c) {
    if (c.event_log.directory.empty()) return nullptr;
    return std::make_unique<telemetry::event_log>(context.runs_on(), c.event_log, c.instruments);
}

venue_core::venue_core(io::context& where, const configuration& c)
    : context(where),
      clock(where.runs_on().ticks()),
      settings(c),
      log(make_event_log(where, c)),
      log_end(log == nullptr ? nullptr : &log->add_producer()) {}

void venue_core::make_partitions(command_source& from) {
    source = &from;
    const configuration& c = settings;
    if (c.partitions.empty()) {
        partitions.push_back(
            std::make_unique<partition>(context, c, clock, log_end, from.sessions_capacity(), from.queue_of_thread(),
                                        [&from](market_data_server& feed) { return from.make_sink(feed); }));
        return;
    }
    router = std::make_unique<partition_router>(c, from.merged_sink(),
                                                [this](const domain::instrument& i) { source->define(i); });
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        partitions.push_back(std::make_unique<partition>(
            context, configuration_of_partition(c, k), clock, log_end, from.sessions_capacity(), nullptr,
            [this, k](market_data_server& feed) { return router->make_sink(k, feed); }));
    }
}

void venue_core::release() {
    if (router != nullptr) {
        router->release();
    } else if (first().thread == nullptr) {
        first().host.release();
    }
}

void venue_core::publish_progress() {
    release();
    source->report_progress();
    flush_feeds();
}

const std::string* venue_core::failure() const noexcept {
    if (router != nullptr && router->failed() != nullptr) return router->failed()->journal->failure();
    for (const auto& p : partitions) {
        if (p->journal != nullptr && p->journal->failure() != nullptr) return p->journal->failure();
    }
    return nullptr;
}

bool venue_core::has_failed() const noexcept {
    if (router != nullptr) return router->failed() != nullptr;
    return first().thread != nullptr ? first().sink->has_ended() : first().host.failed();
}

// With several partitions, the venue ends when a failure stops the answers.
void venue_core::inspect_journals() {
    if (failure_is_known) return;
    const partition* const failed = router != nullptr ? router->failed() : &first();
    if (failed == nullptr || failed->journal == nullptr || failed->journal->failure() == nullptr) return;
    failure_is_known = true;
    record(telemetry::log_record_kind::journal_failed, failed->journal->writer().durable_sequence());
    if (router == nullptr) source->refuse_after_failure();
    if (router != nullptr || settings.ends_with_journal) source->close();
}

std::string venue_core::not_ready_reason() const {
    if (failure() != nullptr) return "The journal has failed: " + *failure();
    for (const auto& p : partitions) {
        if (p->journal != nullptr && p->journal->stalled().count() != 0) return stall_message(*p->journal);
    }
    return is_closing || has_failed() ? "The venue closes." : "";
}

void venue_core::close() noexcept {
    is_closing = true;
    source->close();
}

void venue_core::reply(const gateway::admin_request& question,
                       const std::function<void(const gateway::admin_reply&)>& to) {
    for (const auto& p : partitions) {
        gateway::admin_reply answer =
            answer_of(question, asked_of(p->host, p->thread.get(), p->journal.get(), p->feed, snapshots.get()));
        answer.venue.partition = static_cast<std::uint8_t>(p->index());
        answer.venue.partitions_count = static_cast<std::uint8_t>(partitions.size());
        to(answer);
        if (question.wish == gateway::admin_request_kind::snapshot) break;
    }
}

std::uint64_t venue_core::commands_count() const noexcept {
    std::uint64_t count = 0;
    for (const auto& p : partitions) count += p->host.sequence();
    return count;
}

void venue_core::record(telemetry::log_record_kind what, std::uint64_t number) const {
    if (log_end == nullptr) return;
    telemetry::log_record said(telemetry::component::venue, what, static_cast<std::int64_t>(number),
                               context.wall_now());
    if (what == telemetry::log_record_kind::journal_failed) said.severity = telemetry::severity::warning;
    log_end->note(said);
}

void venue_core::collect(telemetry::metrics_page& page) const {
    source->collect(page);
    std::vector<const partition*> all;
    for (const auto& p : partitions) all.push_back(p.get());
    add_metrics(all, page);
    if (router != nullptr) {
        for (const partition* p : all) {
            page.gauge("corro_partition_answers_waiting",
                       "Private messages of a partition that wait for answers of other partitions.",
                       static_cast<double>(router->merger().waiting_count(p->index())), {{"partition", p->name()}});
        }
    }
    if (snapshots != nullptr) add_metrics(*snapshots, page);
    if (log != nullptr) add_metrics(*log, page);
}

}  // namespace corro::node
