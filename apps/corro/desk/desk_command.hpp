// What a person types at the trading desk: "buy 10 ESZ6 5998.75 ioc", read into a request, completed, explained.
//
// The language is words and numbers, in the order of the help; symbols and words are not told apart by case. Nothing is
// sent that was not understood completely.
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

/// A request that is complete but for the numbers that the session gives it.
struct order_ticket {
    domain::command command;
};

/// Changes an order of one's own; what is not named stays.
struct change {
    std::uint64_t number = 0;              ///< of the order, as the desk shows it
    std::optional<std::int64_t> quantity;  ///< units, counting what has been filled
    std::optional<domain::price_nano> price;
};

/// Cancels one order, or all of an instrument, or all.
struct cancellation {
    std::uint64_t number = 0;  ///< 0: all
    std::optional<domain::instrument_id> instrument;
};

/// Shows another instrument.
struct selection {
    domain::instrument_id instrument{};
};

/// An operator asks how the venue is, and which phase an instrument is in unless it is 0.
struct status_question {
    domain::instrument_id instrument{};
};

/// An operator asks for a snapshot.
struct snapshot_wish {};

enum class listing : std::uint8_t { orders, fills, positions };

/// The explanation of one word, or of all when `topic` is empty.
struct help_request {
    std::string topic;
};

struct leave {};

/// Nothing was typed.
struct nothing {};

using request = std::variant<nothing, order_ticket, change, cancellation, selection, status_question, snapshot_wish,
                             listing, help_request, leave>;

/// Reads one line.
/// @param instruments  The venue's.
/// @param selected     The one that is meant where none is named; may be none.
/// @return             What was asked for, or a sentence that says what was expected.
[[nodiscard]] std::expected<request, std::string> parse(std::string_view line,
                                                        std::span<const domain::instrument> instruments,
                                                        std::optional<domain::instrument_id> selected);

/// The words that may continue the last, unfinished word of `line`: whole words, in alphabetical order.
[[nodiscard]] std::vector<std::string> completions(std::string_view line,
                                                   std::span<const domain::instrument> instruments);

/// `line` with its last word continued as far as all completions agree, and a space if only one is left.
[[nodiscard]] std::string complete(std::string_view line, std::span<const domain::instrument> instruments);

/// Lines of help: about one word, or an overview. Empty for an unknown word.
[[nodiscard]] std::vector<std::string> help(std::string_view topic);

}  // namespace corro::app::desk
