// SPDX-License-Identifier: Apache-2.0
// Order entry in a process of its own, with the facility at the other end of a link.
//
// It uses the same `order_entry` as a single process: commands leave over the link instead of a ring, and
// private events come back. Before it serves clients it has received the earlier answers of each session. When the
// link breaks, every session is logged out, and the clients log on again with their numbers when the facility is
// back: an outstanding request is either in the facility, and `next_request` is beyond it, or was never accepted.
//
// With several gateways each one serves only the accounts that name it.
//
// Threads: one context. Limits: the configuration's, node/links/link_messages.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/link_channel.hpp"
#include "node/links/link_handshake.hpp"
#include "node/venue/order_entry.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class gateway_role final : private gateway::admin_service {
 public:
    /// Opens no port yet.
    /// @param opened   Called with the TCP address whenever the ports are opened.
    /// @param noticed  Called with a sentence when a link fails for a possibly temporary reason, such as a facility
    ///                 that does not prove the secret; once for each reason.
    /// @throws configuration_error
    gateway_role(io::context& context, const configuration& configuration, std::function<void(io::endpoint)> opened,
                 std::function<void(const std::string&)> noticed = {});
    gateway_role(const gateway_role&) = delete;
    gateway_role& operator=(const gateway_role&) = delete;

    /// Serves while the facility is connected, until `close` or until the facility refuses this gateway permanently.
    /// Fails as `exchange` when a port cannot be opened.
    [[nodiscard]] io::task<void> run();

    /// Starts to shut down.
    void close() noexcept;

    /// Takes keys and new accounts from a configuration that was read again, and ends the sessions of removed keys.
    /// With new accounts the link ends, and the gateway links again when its facility has them too.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed);

    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return metrics_endpoint_; }

    /// Why the gateway ended by itself; empty otherwise.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
    [[nodiscard]] gateway::request_refusal ask(const gateway::admin_request& question) override;

    io::task<void> find_facility();
    io::task<void> serve_link(gateway::transport_stream stream);
    [[nodiscard]] std::exception_ptr open_orders(std::span<const std::byte> answers);
    io::task<bool> greet(link_channel* channel, std::vector<std::byte>* answers);
    void note_problem(std::string problem);
    void refused(std::string problem);
    void journal_cancel_on_disconnect(const noted_cancel& cancel);
    [[nodiscard]] bool is_the_same_venue(const link_greeting& theirs);
    io::task<void> serve_sessions(link_channel* channel);
    io::task<void> send_commands(link_channel* channel);
    io::task<void> receive(link_channel* channel);
    [[nodiscard]] bool take(const link_frame& frame);
    void forget_commands();
    void collect(telemetry::metrics_page& page) const;

    io::context& context_;
    const io::tick_clock& clock_;
    configuration configuration_;
    std::unique_ptr<telemetry::event_log> log_;  ///< nullptr without an event log
    telemetry::producer* events_log_;            ///< this thread's producer, or nullptr
    link_address facility_;
    std::function<void(io::endpoint)> opened_;
    std::function<void(const std::string&)> noticed_;
    std::string problem_;                  ///< the last reported one
    std::unique_ptr<order_entry> orders_;  ///< while linked
    link_channel* channel_ = nullptr;      ///< while sessions are served
    std::uint64_t taken_count_ = 0;        ///< commands of the queue that were sent over the link
    bool broken_ = false;                  ///< the link
    bool journal_has_failed_ = false;      ///< the facility's
    bool served_ = false;                  ///< whether every session has ended
    link_greeting known_facility_;         ///< of the last facility that it was linked to
    std::uint64_t facilities_refused_ = 0;
    std::uint64_t links_made_ = 0;
    std::uint64_t links_cut_ = 0;  ///< because the facility sent nothing
    telemetry::metrics_server metrics_;
    io::tcp_acceptor metrics_port_;
    std::optional<io::endpoint> metrics_endpoint_;
    io::task_scope* finding_ = nullptr;
    std::vector<domain::account_id> absent_sessions_;  ///< by session, from the facility's greeting
    std::vector<domain::instrument> defined_;          ///< while the venue ran, from the facility's greeting
    std::string failure_;
    bool closing_ = false;
};

}  // namespace corro::node
