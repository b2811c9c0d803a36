// SPDX-License-Identifier: Apache-2.0
// A client of market data by FIX: one connection, from accept to the end.
//
// Sessions last as long as their connections: numbers begin at 1, and nothing is sent again.
//
// Threads: the publisher's context. Limits: fix_market_data/limits.hpp.
// Source:  docs/spec/fix_market_data.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fix/net/application.hpp"
#include "fix/net/connection.hpp"
#include "fix/session/message_store.hpp"
#include "fix/session/session.hpp"
#include "fix_market_data/distribution.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "market_data/subscriber.hpp"
#include "market_data/subscriber_registry.hpp"

namespace corro::fix_market_data {

/// What the sessions of a server share.
struct session_surroundings {
    io::context& context;
    const std::string& comp_id;  ///< of the venue
    std::chrono::milliseconds blocked_max;
    distribution& among;
    market_data::subscriber_registry& registry;
    const market_data::feed_publisher& publisher;
    io::auto_event& work;  ///< of the task that takes turns
};

class market_data_session final : public market_data::subscriber, private fix::application, private outlet {
 public:
    /// `around` outlives the session.
    market_data_session(const session_surroundings& around, io::tcp_stream stream);

    /// The peer's address; nothing for a connection that has ended already.
    [[nodiscard]] const std::optional<io::endpoint>& origin() const noexcept { return origin_; }

    /// Waits for a Logon to this venue. Without one in time, the session is refused.
    /// @suspend Until then. @cancel Ends it.
    [[nodiscard]] io::task<void> wait_for_logon();
    /// Serves the connection until it ends. @pre A Logon has come.
    /// @suspend Until then. @cancel Not observed: use `log_out`.
    [[nodiscard]] io::task<void> talk();
    /// Begins the end with a Logout.
    void log_out(std::string_view text);
    /// Cuts the connection if it has had no room for too long.
    void check_room();

 private:
    [[nodiscard]] static io::task<bool> logon_arrives(market_data_session* s);
    [[nodiscard]] bool read_names();

    std::string on_logon(fix::session& on) override;
    void on_active(fix::session& on, fix::instant now) override;
    void on_message(fix::session& on, fix::instant now) override;
    void on_written(fix::session& on) override;
    void on_end(fix::session& on) override;

    fix::session& session() noexcept override { return *session_; }
    fix::instant now() const noexcept override { return fix::moment_on(around_.context); }
    bool has_room() noexcept override;
    void flush() noexcept override;
    void give_up() noexcept override;

    void cut_slow(std::uint64_t bytes);

    const session_surroundings& around_;
    std::optional<io::endpoint> origin_;
    io::transport_stream stream_;
    std::string received_;
    fix::memory_store store_;
    std::unique_ptr<fix::session> session_;
    std::optional<fix::connection> connection_;
    std::optional<client_subscriptions> subscriptions_;
    /// Since when it has had no room for what changes; nothing: it has room.
    std::optional<std::chrono::steady_clock::time_point> blocked_since_;
};

}  // namespace corro::fix_market_data
