// SPDX-License-Identifier: Apache-2.0
// The eight scenarios of the matching facility as fixed commands. A cycle leaves the book unchanged, so a run can
// repeat it any number of times.
//
// Every cycle has the same bytes: names and request numbers are free again when its orders are closed. The injector
// acts as the order-entry gateways. It puts the account of a request into the upper half of its sequence number, which
// the protocol does not use.
//
// Units:   ticks and lots; account n speaks on session n.
// Threads: any.
// Source:  P4125R1, section 7.6; docs/spec/derived_messages.md, "The eight scenarios".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/instrument.hpp"

namespace corro::lab {

inline constexpr int scenarios_count = 8;
/// Markets that the eighth scenario quotes.
inline constexpr std::uint32_t markets_count = 100;
/// The accounts of resting orders, of aggressors, and of the orders that fill the book.
inline constexpr std::uint32_t accounts_max = 8;
inline constexpr std::uint32_t orders_max = 1U << 16U;

struct scenario_step {
    domain::command command{};
    bool with_previous = false;  ///< leaves together with the command before it
    bool measured = false;       ///< a sample begins here
    std::uint32_t ends_after =
        0;  ///< the sample's last message is the last one of the command this number of steps later
};

struct scenario {
    int number = 0;
    bool filled = false;
    std::vector<scenario_step> fill;   ///< commands that fill the book before the measurement
    std::vector<scenario_step> cycle;  ///< commands of one cycle
    std::uint32_t messages = 0;        ///< derived messages of one sample
};

/// @param number  1 to scenarios_count.
[[nodiscard]] scenario make_scenario(int number, bool filled);

/// Describes the scenario and its measured interval, for the report.
[[nodiscard]] std::string scenario_text(int number);

/// The instruments that every scenario trades.
[[nodiscard]] std::vector<domain::instrument> scenario_instruments();

/// One command as bytes, appended.
void append_request(const domain::command& command, const domain::instrument& instrument, std::vector<std::byte>& to);

}  // namespace corro::lab
