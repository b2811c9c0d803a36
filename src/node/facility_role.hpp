// The facility in a process of its own: host, journal and market data, and a link over which a gateway's process brings
// commands and takes private events.
//
// It keeps the answer log, which is a function of the journal like the feed; a gateway that connects gets it, and then
// everything from there on, so that gateways can die and come back. When one dies, the facility cancels for the
// sessions that had asked for that, before it serves the next.
//
// Threads: one context. Limits: the configuration's, node/link_messages.hpp; one gateway at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/tsc_clock.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "io/context.hpp"
#include "io/endpoint.hpp"
#include "io/event.hpp"
#include "io/scope.hpp"
#include "io/task.hpp"
#include "node/answer_marks.hpp"
#include "node/configuration.hpp"
#include "node/event_outlet.hpp"
#include "node/host_journal.hpp"
#include "node/link_channel.hpp"
#include "node/market_data_side.hpp"
#include "node/matching_host.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class facility_role final : private event_outlet {
 public:
    /// Opens the link and the ports of market data, and recovers what the journal holds.
    /// @throws As `exchange`.
    facility_role(io::context& context, const configuration& configuration);
    facility_role(const facility_role&) = delete;
    facility_role& operator=(const facility_role&) = delete;

    /// Serves until `close`; ends when everything that was taken is answered.
    [[nodiscard]] io::task<void> run();

    /// Begins to leave.
    void close() noexcept;

    [[nodiscard]] std::string link_address() const { return links_.address(); }
    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_.feed_endpoint(); }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return feed_.snapshot_endpoint(); }
    /// Nothing when metrics are not served.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return metrics_endpoint_; }
    [[nodiscard]] const host_journal* journal() const noexcept { return journal_.get(); }
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return host_.sequence(); }
    [[nodiscard]] std::uint64_t state_hash() const { return host_.state().state_hash(); }
    [[nodiscard]] const market_data::distributor_statistics& feed_statistics() const noexcept {
        return feed_.distributor().statistics();
    }
    /// Sessions that were cancelled for because their gateway died.
    [[nodiscard]] std::uint64_t wills_executed() const noexcept { return wills_executed_; }

 private:
    std::size_t accept(std::span<const domain::event> events) noexcept override;
    io::task<void> serve_links();
    io::task<void> serve_link(gateway::transport_stream stream);
    io::task<bool> greet(link_channel* channel);
    void welcome(link_channel& channel);
    io::task<void> take_commands(link_channel* channel);
    io::task<bool> execute_all(link_channel* channel, link_frame frame);
    io::task<bool> wait_for_room();
    io::task<void> execute_wills();
    io::task<void> settle();
    io::task<void> follow_journal();
    io::task<void> save_last_snapshot();
    void publish_progress();
    void collect(telemetry::metrics_page& page) const;
    void say(telemetry::happening_kind what) const;
    [[nodiscard]] venue_parts parts() noexcept {
        venue_parts p;
        p.host = &host_;
        p.answers = &answers_;
        p.feed = &feed_;
        return p;
    }

    io::context& context_;
    base::tsc_clock clock_;
    configuration configuration_;
    std::unique_ptr<telemetry::event_log> log_;  ///< when there is one
    telemetry::producer* events_log_;            ///< this thread's end of it, or nullptr
    gateway::account_directory accounts_;
    gateway::answer_log answers_;
    market_data_side feed_;
    link_acceptor links_;
    matching_host host_;
    std::unique_ptr<host_journal> journal_;
    telemetry::metrics_server metrics_;
    io::tcp_acceptor metrics_port_;
    std::optional<io::endpoint> metrics_endpoint_;

    link_channel* gateway_ = nullptr;   ///< who gets the private events
    bool gateway_is_there_ = false;     ///< until its wills are executed
    io::task_scope* taking_ = nullptr;  ///< reads the gateway's commands
    answer_marks marks_;                ///< of this link, and so the next two
    std::uint64_t taken_count_ = 0;
    std::uint64_t answered_count_ = 0;
    std::map<std::uint32_t, domain::command> wills_;  ///< by session
    std::uint64_t wills_executed_ = 0;
    std::uint64_t links_cut_ = 0;  ///< because they fell silent
    io::manual_event progressed_;  ///< the journal has
    bool closing_ = false;
};

}  // namespace corro::node
