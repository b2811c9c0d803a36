// SPDX-License-Identifier: Apache-2.0
// All connections to the market data of a venue: how many may connect, from which address, and what they did.
//
// Knows neither streams nor messages. Each kind of subscriber enters its connections here, so that one limit holds for
// all of them.
//
// Threads: one context. Limits: subscribers_max, subscribers_per_address_max; market_data/limits.hpp.
// Cost:    nothing per message; leaving searches the list of connections.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/admission.hpp"
#include "io/net/endpoint.hpp"
#include "market_data/limits.hpp"
#include "market_data/subscriber.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/log_record.hpp"

namespace corro::market_data {

struct registry_options {
    registry_options() noexcept {}

    std::uint32_t subscribers_max = market_data::subscribers_max;
    std::uint32_t subscribers_per_address_max = market_data::subscribers_per_address_max;
    telemetry::producer* log = nullptr;  ///< of the registry's thread; outlives the registry; nullptr: no log
};

/// Counts since the registry was made.
struct subscriber_statistics {
    std::uint64_t logins = 0;
    std::uint64_t logins_rejected = 0;
    std::uint64_t snapshots = 0;            ///< begun to be sent
    std::uint64_t snapshots_made = 0;       ///< several subscribers may get the same one
    std::uint64_t depths_sent = 0;          ///< conflated pictures sent, counted per subscriber
    std::uint64_t connections_refused = 0;  ///< closed at once, because too many have logged in
    std::uint64_t evicted = 0;              ///< closed before their login, to admit newer ones
    std::uint64_t slow_cut = 0;
    std::uint64_t silent_cut = 0;
    std::uint64_t protocol_errors = 0;
    std::uint32_t subscribers_now = 0;
};

class subscriber_registry {
 public:
    subscriber_registry(io::context& context, const registry_options& options);
    subscriber_registry(const subscriber_registry&) = delete;
    subscriber_registry& operator=(const subscriber_registry&) = delete;
    /// @pre Every subscriber has left (asserted).
    ~subscriber_registry();

    /// Enters a connection when it is accepted, and evicts another one if necessary. False when there is no place, or
    /// when the registry is closed; the connection is then to be closed.
    /// @param from  The peer's address; nullopt for this machine.
    [[nodiscard]] bool enter(subscriber& newcomer, const std::optional<io::endpoint>& from);
    /// Its login is accepted, from message `first` on. @pre It has entered and logs in (asserted).
    void accept(subscriber& known, std::uint64_t first);
    /// It was too far behind by `lag_bytes`.
    void cut_slow(subscriber& known, std::uint64_t lag_bytes);
    /// Its connection has ended. @pre It has entered (asserted).
    void leave(subscriber& gone);
    /// Ends every subscriber in order, and admits no more.
    void close() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

    [[nodiscard]] subscriber_statistics& counts() noexcept { return statistics_; }
    [[nodiscard]] const subscriber_statistics& statistics() const noexcept { return statistics_; }

 private:
    void log(telemetry::log_record_kind what, std::uint64_t number) const noexcept;

    io::context& context_;
    telemetry::producer* log_;
    io::admission admission_;
    std::vector<subscriber*> subscribers_;
    subscriber_statistics statistics_;
    bool is_closed_ = false;
};

/// Limits of an admission without authentication.
[[nodiscard]] io::admission_options admission_of(std::uint32_t all, std::uint32_t per_address) noexcept;

}  // namespace corro::market_data
