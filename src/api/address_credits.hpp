// SPDX-License-Identifier: Apache-2.0
// How many connections each address has, and the credits of its HTTP requests.
//
// Limits:  connections_max, connections_per_address_max, addresses_max.
// Threads: one context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "api/credits.hpp"
#include "api/limits.hpp"
#include "io/loop/timer.hpp"
#include "io/net/endpoint.hpp"

namespace corro::api {

class address_credits {
 public:
    /// @param per_address_max  Connections of one address.
    explicit address_credits(std::size_t per_address_max) noexcept : per_address_max_(per_address_max) {}
    address_credits(const address_credits&) = delete;
    address_credits& operator=(const address_credits&) = delete;

    /// Counts a connection. False if there are too many; then it is not counted.
    [[nodiscard]] bool begin(const io::endpoint& peer, io::steady_time now);
    /// Ends a connection that was counted.
    void end(const io::endpoint& peer) noexcept;
    /// Takes credits of an address that has a connection. False if it has too few.
    [[nodiscard]] bool take(const io::endpoint& peer, std::uint32_t cost, io::steady_time now) noexcept;

    [[nodiscard]] std::size_t connections_count() const noexcept { return connections_count_; }
    [[nodiscard]] std::size_t addresses_count() const noexcept { return addresses_.size(); }

 private:
    struct address {
        explicit address(io::steady_time now) noexcept : left(now) {}
        credits left;
        std::size_t connections_count = 0;
    };
    void forget_some(io::steady_time now);

    std::size_t per_address_max_;
    std::map<io::endpoint, address> addresses_;  ///< with port 0
    std::size_t connections_count_ = 0;
};

}  // namespace corro::api
