// SPDX-License-Identifier: Apache-2.0
// What `corro proxy` does to the connections that pass through it: its commands as data, and the change of an order
// that makes the venue refuse it.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace corro::app::desk {

/// Each piece of both directions arrives later by a time between these two; the order of the bytes stays.
struct delay_wish {
    std::chrono::milliseconds least{0};
    std::chrono::milliseconds most{0};
    friend bool operator==(const delay_wish&, const delay_wish&) = default;
};

enum class link_wish : std::uint8_t {
    hold,   ///< nothing passes, and the connections stay
    go,     ///< ends `hold`
    cut,    ///< ends all connections, as a program that leaves
    reset,  ///< ends all connections, as a machine that has forgotten them
    close,  ///< new connections are refused
    open,   ///< ends `close`
    status,
    help,
    quit,
};

/// What is wrong about a spoiled order.
enum class spoiled_part : std::uint8_t { quantity, price, instrument };

/// The next orders that clients enter are changed so that the venue refuses them.
struct spoil_wish {
    std::uint32_t count = 0;
    spoiled_part part = spoiled_part::quantity;
    friend bool operator==(const spoil_wish&, const spoil_wish&) = default;
};

using disturbance = std::variant<delay_wish, link_wish, spoil_wish>;

/// Reads a command, such as "delay 50 250" or "spoil 2 price".
/// @error  A sentence that says what is wrong.
[[nodiscard]] std::expected<disturbance, std::string> parse_disturbance(std::string_view line);

/// All commands, a line each.
[[nodiscard]] const std::vector<std::string>& disturbance_help();

/// The bytes of one client on their way to the venue, with spoiled orders where they are wished.
///
/// Messages of Corro Binary and of FIX are found in the bytes; other protocols pass unchanged. An order is changed,
/// never removed: the venue answers it, with the numbers that the client expects. Limits: keeps at most the longest
/// message of the protocol.
class order_spoiler {
 public:
    /// @param wanted  How many orders are still to be spoiled. Each that is spoiled reduces the count. Must outlive
    /// this.
    explicit order_spoiler(spoil_wish* wanted) noexcept : wanted_(wanted) {}

    /// Appends to `out` what the venue gets. The begin of a message that is not complete waits for the rest.
    void pass(std::span<const std::byte> bytes, std::vector<std::byte>& out);
    /// The client has ended: appends what waits.
    void finish(std::vector<std::byte>& out);

    [[nodiscard]] std::uint64_t spoiled_count() const noexcept { return spoiled_count_; }

 private:
    enum class protocol : std::uint8_t { unknown, binary, fix, other };

    [[nodiscard]] protocol recognised() const noexcept;
    [[nodiscard]] std::size_t pass_binary(std::span<std::byte> pending, std::vector<std::byte>& out);
    [[nodiscard]] std::size_t pass_fix(std::span<const std::byte> pending, std::vector<std::byte>& out);
    [[nodiscard]] bool spoil_fix(std::string_view message, std::size_t body_begin, std::size_t body_end,
                                 std::vector<std::byte>& out);
    void count_one() noexcept;

    spoil_wish* wanted_;
    protocol speaks_ = protocol::unknown;
    std::vector<std::byte> pending_;
    std::uint64_t spoiled_count_ = 0;
};

}  // namespace corro::app::desk
