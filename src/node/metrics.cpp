#include "node/metrics.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace corro::node {
namespace {

using telemetry::metrics_page;

constexpr std::array<std::pair<domain::command_kind, std::string_view>, 4> timed_kinds{{
    {domain::command_kind::enter_order, "enter_order"},
    {domain::command_kind::amend_order, "amend_order"},
    {domain::command_kind::cancel_order, "cancel_order"},
    {domain::command_kind::enter_quote, "enter_quote"},
}};
constexpr std::array<std::string_view, 3> stages{"decode", "answer", "total"};

}  // namespace

void add_metrics(const order_entry_side& side, metrics_page& page) {
    const gateway::gateway_statistics& s = side.statistics();
    page.gauge("corro_connections", "Order-entry connections now.", s.connections_now);
    page.gauge("corro_sessions", "Sessions that are logged on now.", s.sessions_now);
    page.counter("corro_connections_total", "Order-entry connections accepted.", s.connections_accepted);
    page.counter("corro_connections_refused_total", "Order-entry connections closed at once: too many.",
                 s.connections_refused);
    page.counter("corro_logons_total", "Sessions opened.", s.logons);
    page.counter("corro_logons_refused_total", "Logons refused.", s.logons_refused);
    page.counter("corro_requests_total", "Requests passed on to the facility.", s.requests);
    page.counter("corro_answers_total", "Private messages put into a session's buffer.", s.answers);
    page.counter("corro_answers_undelivered_total", "Private messages whose session was not connected.",
                 s.answers_undelivered);
    page.counter("corro_answers_resent_total", "Private messages sent again to sessions that came back.",
                 s.answers_resent);
    page.counter("corro_session_rejects_total", "Messages refused by the session.", s.session_rejects);
    page.counter("corro_sessions_cut_total", "Sessions cut off, by reason.", s.idle_cut, {{"reason", "idle"}});
    page.counter("corro_sessions_cut_total", "Sessions cut off, by reason.", s.slow_cut, {{"reason", "slow"}});
    page.counter("corro_sessions_cut_total", "Sessions cut off, by reason.", s.protocol_errors,
                 {{"reason", "protocol"}});
    const gateway::command_queue& queue = side.commands();
    page.gauge("corro_commands_waiting", "Commands in the queue to the facility, or not answered yet.",
               static_cast<double>(queue.pushed_count() - queue.answered_count()));
    page.gauge("corro_commands_capacity", "Commands that the queue to the facility holds.",
               static_cast<double>(gateway::command_queue_capacity));
    for (const auto& [kind, name] : timed_kinds) {
        for (std::size_t stage = 0; stage < stages.size(); ++stage) {
            page.histogram("corro_request_seconds", "Time of sampled requests inside the venue, by kind and stage.",
                           side.latencies().stage(kind, stage), {{"kind", name}, {"stage", stages[stage]}});
        }
    }
}

void add_metrics(const market_data_side& side, metrics_page& page) {
    const market_data::distributor_statistics& s = side.distributor().statistics();
    page.gauge("corro_feed_subscribers", "Connections to feed, snapshots and depth now.", s.subscribers_now);
    page.counter("corro_feed_messages_total", "Messages published.", s.messages);
    page.counter("corro_feed_bytes_total", "Bytes published, before multiplication by subscribers.", s.bytes);
    page.counter("corro_feed_snapshots_total", "Snapshots sent.", s.snapshots);
    page.counter("corro_feed_depths_total", "Conflated pictures sent.", s.depths_sent);
    page.counter("corro_feed_cut_total", "Subscribers cut off, by reason.", s.slow_cut, {{"reason", "slow"}});
    page.counter("corro_feed_cut_total", "Subscribers cut off, by reason.", s.silent_cut, {{"reason", "silent"}});
    page.counter("corro_feed_cut_total", "Subscribers cut off, by reason.", s.protocol_errors,
                 {{"reason", "protocol"}});
    if (side.lines() == nullptr) return;
    const market_data::line_publisher_statistics& l = side.lines()->statistics();
    page.counter("corro_line_packets_total", "MoldUDP64 packets sent, before multiplication by lines.", l.packets);
    page.counter("corro_line_send_errors_total", "Packets that the system did not take.", l.send_errors);
    page.counter("corro_line_requests_total", "Requests for lost packets.", l.requests);
    page.counter("corro_line_messages_again_total", "Messages sent again on request.", l.messages_again);
}

}  // namespace corro::node
