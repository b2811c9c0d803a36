// SPDX-License-Identifier: Apache-2.0
#include "node/venue/metrics.hpp"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "node/venue/latency_tables.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::node {
namespace {

using telemetry::metrics_page;

/// Writes one sample for each reason that has occurred.
template <class Reason>
void add_rejects_by_reason(std::span<const std::uint64_t> counts, metrics_page& page, std::string_view name,
                           std::string_view help) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        const std::string reason(to_string(static_cast<Reason>(i)));
        page.counter(name, help, counts[i], {{"reason", reason}});
    }
}

}  // namespace

void add_metrics(const order_entry& side, metrics_page& page) {
    const gateway::gateway_statistics& s = side.statistics();
    page.gauge("corro_connections", "Current order entry connections.", s.connections_now);
    page.gauge("corro_sessions", "Sessions logged on now.", s.sessions_now);
    page.counter("corro_connections_total", "Order entry connections accepted.", s.connections_accepted);
    page.counter("corro_connections_refused_total",
                 "Order entry connections closed at once, because of too many sessions.", s.connections_refused);
    page.counter("corro_connections_turned_out_total",
                 "Order entry connections closed before a logon, to admit newer ones.", s.strangers_turned_out);
    page.counter("corro_logons_throttled_total", "Logons refused because the session had logged on too often.",
                 s.logons_throttled);
    page.counter("corro_handshake_steps_total", "Steps of TLS handshakes computed.", side.handshake_steps_count());
    page.counter("corro_logons_total", "Sessions opened.", s.logons);
    page.counter("corro_logons_refused_total", "Logons refused.", s.logons_refused);
    page.counter("corro_requests_total", "Requests submitted to the facility.", s.requests);
    page.counter("corro_answers_total", "Private messages delivered to sessions.", s.answers);
    page.counter("corro_answers_undelivered_total", "Private messages whose session was not connected.",
                 s.answers_undelivered);
    page.counter("corro_answers_resent_total", "Private messages resent to sessions that logged on again.",
                 s.answers_resent);
    page.counter("corro_session_rejects_total", "Messages refused by the session.", s.session_rejects);
    add_rejects_by_reason<wire::session_reject_reason>(s.session_rejects_by, page,
                                                       "corro_session_rejects_by_reason_total",
                                                       "Messages refused by the session, by reason.");
    add_rejects_by_reason<wire::logout_reason>(s.logons_refused_by, page, "corro_logons_refused_by_reason_total",
                                               "Logons refused, by reason.");
    add_rejects_by_reason<domain::reject_reason>(s.refusals_by, page, "corro_order_rejects_total",
                                                 "Orders and requests rejected by the facility, by reason.");
    page.counter("corro_requests_rejected_overloaded_total",
                 "Requests that the journal or the facility could not accept.", s.overloaded);
    page.counter("corro_cancels_on_disconnect_total", "Cancels on disconnect executed for lost connections.",
                 s.cancels_on_disconnect);
    page.counter("corro_cancels_after_start_total",
                 "Cancels on disconnect executed for sessions that did not log on again after a start.",
                 s.cancels_after_start);
    page.counter("corro_session_numbers_reset_total", "Sessions whose numbers were reset.", s.numbers_reset);
    page.counter("corro_sessions_cut_total", "Sessions disconnected, by reason.", s.days_ended,
                 {{"reason", "day ended"}});
    page.counter("corro_sessions_cut_total", "Sessions disconnected, by reason.", s.idle_cut, {{"reason", "idle"}});
    page.counter("corro_sessions_cut_total", "Sessions disconnected, by reason.", s.slow_cut, {{"reason", "slow"}});
    page.counter("corro_sessions_cut_total", "Sessions disconnected, by reason.", s.protocol_errors,
                 {{"reason", "protocol"}});
    const gateway::command_queue& queue = side.commands();
    page.gauge("corro_commands_waiting", "Commands in the queue to the facility, or outstanding.",
               static_cast<double>(queue.pushed_count() - queue.answered_count()));
    page.gauge("corro_commands_capacity", "Capacity of the queue to the facility, in commands.",
               static_cast<double>(gateway::command_queue_capacity));
    for (const auto& [kind, name] : timed_kinds) {
        for (std::size_t stage = 0; stage < timed_stages.size(); ++stage) {
            page.histogram("corro_request_seconds", "Time of sampled requests inside the venue, by kind and stage.",
                           side.latencies().stage(kind, stage), {{"kind", name}, {"stage", timed_stages[stage]}});
        }
    }
}

void add_metrics(const recovery_progress& progress, metrics_page& page) {
    const auto value = [](const std::atomic<std::uint64_t>& of) {
        return static_cast<double>(of.load(std::memory_order_relaxed));
    };
    page.gauge("corro_recovery_bytes", "Bytes of the journal read by the recovery.", value(progress.bytes));
    page.gauge("corro_recovery_bytes_total",
               "Bytes of the journal after the newest snapshot, which the recovery must read.",
               value(progress.bytes_total));
    page.gauge("corro_recovery_commands", "Commands replayed by the recovery.", value(progress.commands));
}

void add_metrics(const snapshot_maker& maker, metrics_page& page) {
    const snapshot_statistics& s = maker.statistics();
    page.counter("corro_snapshots_made_total", "Snapshots written beside the journal while the venue ran.", s.made);
    page.counter("corro_snapshots_failed_total", "Snapshots that failed.", s.failed);
    page.gauge("corro_snapshot_seconds", "Duration of the last snapshot, which is made on a thread of its own.",
               std::chrono::duration<double>(s.last_duration).count());
}

namespace {

/// One journal and its label.
struct labelled_journal {
    const host_journal* journal;
    std::vector<telemetry::label> labels;
};

void add_journals(std::span<const labelled_journal> journals, metrics_page& page) {
    for (const labelled_journal& each : journals) {
        page.gauge("corro_journal_durable_command",
                   "The last command that the journal has stored as its mode promises.",
                   static_cast<double>(each.journal->writer().durable_sequence()), each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.gauge("corro_journal_up",
                   "1 while the journal accepts commands or waits for disk space; 0 when it has failed.",
                   each.journal->failure() == nullptr ? 1 : 0, each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.gauge("corro_journal_stalled_seconds",
                   "How long the journal's disk has not responded; 0 when it responds.",
                   std::chrono::duration<double>(each.journal->stalled()).count(), each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.gauge("corro_journal_free_bytes", "Free bytes on the journal's file system.",
                   static_cast<double>(each.journal->free_bytes()), each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.counter("corro_journal_syncs_total", "Syncs of the journal.", each.journal->writer().syncs().count,
                     each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.gauge("corro_journal_sync_seconds_total", "Total duration of the journal's syncs.",
                   std::chrono::duration<double>(each.journal->writer().syncs().total).count(), each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.gauge("corro_journal_sync_seconds_max", "Duration of the journal's slowest sync.",
                   std::chrono::duration<double>(each.journal->writer().syncs().longest).count(), each.labels);
    }
    for (const labelled_journal& each : journals) {
        page.gauge("corro_snapshot_command", "The last command in the newest snapshot; 0 when there is none.",
                   static_cast<double>(each.journal->snapshot_sequence()), each.labels);
    }
}

/// One feed and its label.
struct labelled_feed {
    const market_data_server* side;
    std::vector<telemetry::label> labels;
};

/// A counter of all feeds: the samples of one metric must be consecutive.
template <class Value>
void count(std::span<const labelled_feed> feeds, metrics_page& page, std::string_view name, std::string_view help,
           Value&& value, std::span<const telemetry::label> more = {}) {
    for (const labelled_feed& each : feeds) {
        std::vector<telemetry::label> labels = each.labels;
        labels.insert(labels.end(), more.begin(), more.end());
        page.counter(name, help, value(*each.side), labels);
    }
}

void add_feeds(std::span<const labelled_feed> feeds, metrics_page& page) {
    using statistics = market_data_statistics;
    const auto member = [](auto what) {
        return [what](const market_data_server& side) -> std::uint64_t { return side.statistics().*what; };
    };
    for (const labelled_feed& each : feeds) {
        page.gauge("corro_feed_subscribers", "Current connections to feed, snapshots and depth.",
                   each.side->statistics().subscribers_now, each.labels);
    }
    count(feeds, page, "corro_feed_messages_total", "Messages published.", member(&statistics::messages));
    count(feeds, page, "corro_feed_bytes_total", "Bytes published, before multiplication by subscribers.",
          member(&statistics::bytes));
    count(feeds, page, "corro_feed_snapshots_total", "Snapshots sent.", member(&statistics::snapshots));
    count(feeds, page, "corro_feed_snapshots_made_total", "Snapshots made; several subscribers may get the same one.",
          member(&statistics::snapshots_made));
    count(feeds, page, "corro_feed_turned_out_total", "Connections closed before a login, to admit newer ones.",
          member(&statistics::evicted));
    count(feeds, page, "corro_feed_connections_refused_total",
          "Connections closed at once, because of too many subscribers.", member(&statistics::connections_refused));
    count(feeds, page, "corro_feed_depths_total", "Conflated pictures sent.", member(&statistics::depths_sent));
    const std::array<std::pair<std::string_view, std::uint64_t statistics::*>, 3> cuts{
        {{"slow", &statistics::slow_cut},
         {"silent", &statistics::silent_cut},
         {"protocol", &statistics::protocol_errors}}};
    for (const auto& [reason, what] : cuts) {
        const std::array<telemetry::label, 1> label{{{"reason", reason}}};
        count(feeds, page, "corro_feed_cut_total", "Subscribers disconnected, by reason.", member(what), label);
    }
    std::vector<labelled_feed> lines;
    for (const labelled_feed& each : feeds) {
        if (each.side->lines() != nullptr) lines.push_back(each);
    }
    using line_statistics = market_data::line_publisher_statistics;
    const auto line_member = [](auto what) {
        return [what](const market_data_server& side) -> std::uint64_t { return side.lines()->statistics().*what; };
    };
    count(lines, page, "corro_line_packets_total", "MoldUDP64 packets sent, before multiplication by lines.",
          line_member(&line_statistics::packets));
    count(lines, page, "corro_line_send_errors_total", "Packets that the system did not send.",
          line_member(&line_statistics::send_errors));
    count(lines, page, "corro_line_requests_total", "Retransmission requests.",
          line_member(&line_statistics::requests));
    count(lines, page, "corro_line_requests_over_limit_total",
          "Retransmission requests not answered in full, because of too many in the window.",
          line_member(&line_statistics::requests_over_limit));
    count(lines, page, "corro_line_messages_again_total", "Messages retransmitted.",
          line_member(&line_statistics::messages_again));
}

}  // namespace

void add_metrics(const market_data_server& side, metrics_page& page) {
    const labelled_feed feed{&side, {}};
    add_feeds({&feed, 1}, page);
}

void add_metrics(std::span<const partition* const> partitions, metrics_page& page) {
    const auto labels_of = [&](const partition& p) {
        std::vector<telemetry::label> labels;
        if (p.is_of_several()) labels.push_back({"partition", p.name()});
        return labels;
    };
    std::vector<labelled_feed> feeds;
    for (const partition* p : partitions) feeds.push_back({&p->feed, labels_of(*p)});
    add_feeds(feeds, page);
    std::vector<labelled_journal> journals;
    for (const partition* p : partitions) {
        if (p->journal != nullptr) journals.push_back({p->journal.get(), labels_of(*p)});
    }
    add_journals(journals, page);
    for (const partition* p : partitions) {
        page.gauge("corro_clock_offset_seconds", "How far venue time is ahead of the wall clock.",
                   std::chrono::duration<double>(p->host.clock_offset()).count(), labels_of(*p));
    }
    for (const partition* p : partitions) {
        if (p->thread == nullptr) continue;
        page.gauge("corro_events_waiting", "Events in the ring from the facility's thread.",
                   static_cast<double>(p->thread->waiting_count()), labels_of(*p));
    }
    for (const partition* p : partitions) {
        if (p->thread == nullptr) continue;
        page.gauge("corro_events_capacity", "Capacity of the ring from the facility's thread, in events.",
                   static_cast<double>(event_ring_capacity), labels_of(*p));
    }
}

void add_metrics(const telemetry::event_log& log, metrics_page& page) {
    const telemetry::event_log_statistics counts = log.statistics();
    page.counter("corro_event_log_events_total", "Events written to the event log.", counts.events);
    page.counter("corro_event_log_lost_total", "Events lost because the event log's ring was full.", counts.lost);
}

}  // namespace corro::node
