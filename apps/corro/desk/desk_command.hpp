// SPDX-License-Identifier: Apache-2.0
// The commands of the trading desk, such as "buy 10 ESZ6 5998.75 ioc": parsing, completion, help.
//
// A command is words and numbers in the order that the help shows, in upper or lower case. A line that does not parse
// completely sends nothing.
//
// Units: prices are the instrument's decimals, quantities its units, as on the wire.
// Threads: none of its own.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/command.hpp"
#include "domain/instrument.hpp"

namespace corro::app::desk {

/// A complete request without the numbers that the session assigns.
struct order_ticket {
    domain::command command;
};

/// Changes an own order. Members without a value stay as they are.
struct change {
    std::uint64_t number = 0;              ///< the order's number on the desk
    std::optional<std::int64_t> quantity;  ///< units, including filled ones
    std::optional<domain::price_nano> price;
};

/// Cancels one order, or all of an instrument, or all.
struct cancellation {
    std::uint64_t number = 0;  ///< 0: all
    std::optional<domain::instrument_id> instrument;
};

/// Asks for the state of an order, also of one that an earlier client of the session has entered.
struct order_question {
    std::uint64_t number = 0;  ///< the order's number on the desk
};

/// Shows another instrument.
struct selection {
    domain::instrument_id instrument{};
};

/// An operator's query for the venue's status, and for the phase of an instrument unless it is 0.
struct status_question {
    domain::instrument_id instrument{};
};

/// An operator's request for a snapshot.
struct snapshot_wish {};

enum class listing : std::uint8_t {
    orders,
    fills,
    positions,
    account_positions,  ///< as the venue has them
};

/// A request for the help about one word, or about all if `topic` is empty.
struct help_request {
    std::string topic;
};

struct leave {};

/// An empty line.
struct nothing {};

using request = std::variant<nothing, order_ticket, change, cancellation, order_question, selection, status_question,
                             snapshot_wish, listing, help_request, leave>;

/// Reads one line.
/// @param instruments  The venue's instruments.
/// @param selected     The one that is meant where none is named; may be none.
/// @return             What was asked for, or a sentence that says what was expected.
[[nodiscard]] std::expected<request, std::string> parse(std::string_view line,
                                                        std::span<const domain::instrument> instruments,
                                                        std::optional<domain::instrument_id> selected);

/// Returns the whole words that can complete the last word of `line`, in alphabetical order.
[[nodiscard]] std::vector<std::string> completions(std::string_view line,
                                                   std::span<const domain::instrument> instruments);

/// Returns `line` with its last word completed as far as all completions agree, and a space if only one is left.
[[nodiscard]] std::string complete(std::string_view line, std::span<const domain::instrument> instruments);

/// Returns lines of help about one word, or an overview. Empty for an unknown word.
[[nodiscard]] std::vector<std::string> help(std::string_view topic);

}  // namespace corro::app::desk
