// Limits of the facility.
#pragma once

#include <cstdint>

namespace corro::facility {

/// Events that wait in the facility before they are handed over. One command may cause more; then it hands over in
/// several batches. Small enough to stay in the first-level cache, large enough for a sweep of ten orders.
inline constexpr std::uint32_t events_buffered_max = 128;

/// Private events that may follow a command's last public one before the feed is told of the command's end by one more
/// top_of_book.
inline constexpr std::uint32_t private_run_max = 64;

/// Sessions whose kill switch may be thrown at a time; whoever needs more throws the switches of their accounts.
inline constexpr std::uint32_t sessions_killed_max = 1024;

/// Accounts that may be defined while a venue runs, over all of its starts; and the last number of a session, as in
/// gateway::account_directory. A definition is compared with all before it.
inline constexpr std::uint32_t accounts_defined_max = 4096;
inline constexpr std::uint32_t account_sessions_max = 1U << 20U;

/// How often an order may hold what it shows at a time. Each part shown can be one fill of one aggressor.
inline constexpr std::uint32_t display_parts_max = 256;

/// Steps that one incoming order takes at implied prices, each of which looks at every triangle of its book; with the
/// largest number of them some hundred microseconds. What is left of the order is cancelled.
inline constexpr std::uint32_t implied_steps_max = 1024;

/// Levels that would trade in an auction, both sides together, up to which its indicative price is worked out after
/// each command that changes them: some microseconds for a command that changes them all. Beyond, the last price stands
/// until fewer do; the uncross itself looks at all.
inline constexpr std::uint32_t indicative_levels_max = 1024;

}  // namespace corro::facility
