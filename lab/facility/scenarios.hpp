// The eight scenarios of the matching facility, as commands: canned, the same in every run, in cycles that leave the
// book as they found it, so that a run may repeat them as often as it likes.
//
// Every cycle is the same bytes: names and request numbers are free again when its orders are gone. The injector plays
// the order-entry gateways, so the account of a request stands in the upper half of its sequence number, where the
// protocol has nothing.
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
/// Accounts: who rests, who takes, whose orders fill the book.
inline constexpr std::uint32_t accounts_max = 8;
inline constexpr std::uint32_t orders_max = 1U << 16U;

struct scenario_step {
    domain::command command{};
    bool with_previous = false;    ///< leaves together with the command before it
    bool measured = false;         ///< a sample begins here
    std::uint32_t ends_after = 0;  ///< the sample's last message is the last one of the command so many steps later
};

struct scenario {
    int number = 0;
    bool filled = false;
    std::vector<scenario_step> fill;   ///< what fills the book, before anything is measured
    std::vector<scenario_step> cycle;  ///< what is repeated
    std::uint32_t messages = 0;        ///< derived messages of one sample
};

/// @param number  1 to scenarios_count.
[[nodiscard]] scenario make_scenario(int number, bool filled);

/// What the scenario does, from where to where it is measured: for the report.
[[nodiscard]] std::string scenario_text(int number);

/// The instruments that every scenario trades.
[[nodiscard]] std::vector<domain::instrument> scenario_instruments();

/// One command as bytes, appended.
void append_request(const domain::command& command, const domain::instrument& instrument, std::vector<std::byte>& to);

}  // namespace corro::lab
