// SPDX-License-Identifier: Apache-2.0
// Differences between venue and recording: every difference has a cause, every cause is counted, some examples
// are kept.
//
// Limits: difference_examples_max examples per cause.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "recorded/replay/limits.hpp"

namespace corro::recorded::replay {

/// Causes of differences. The first group is explained: the records show the reason, and the book agrees afterwards.
/// The second group is not explained.
enum class cause : std::uint8_t {
    reporting_order_refreshed,  ///< same fills; the record lists a refreshed iceberg last at its price
    reporting_order_filled,     ///< same fills; the record lists a wholly filled order last at its price
    trade_without_aggressor,    ///< a trade outside the auction whose aggressor the records do not name
    book_replaced,              ///< a later file starts from a book that the earlier one did not lead to
    hidden_execution,           ///< against an order that was not displayed
    same_time_rows_swapped,     ///< executions of one instant, listed in another order
    same_time_priority,         ///< executions of one instant, against the priority that the messages imply
    younger_order_first,        ///< a younger order executed while older volume stands at its price
    quantity_unannounced,       ///< a deletion of more or less than the messages left of the order

    auction_differs,      ///< another price or quantity, or another order filled, in the opening auction
    fill_differs,         ///< other resting orders, prices or quantities than recorded
    remainder_differs,    ///< another open quantity than recorded
    unexpected_fill,      ///< an order traded that did not trade in the recording
    request_refused,      ///< the venue rejected a request that the recording accepted
    book_differs,         ///< orders, quantities or queue order of the book
    quotes_differ,        ///< price or quantity of a level in view
    record_names_nobody,  ///< a record changes an order that is not in the recorded book
    feed_contradicts,     ///< the public feed contradicts itself

    count
};

inline constexpr std::size_t causes_count = static_cast<std::size_t>(cause::count);

/// A number of billionths as the shortest decimal, such as "4800.25".
[[nodiscard]] std::string decimal_of(std::int64_t nano);

/// The printed name of the cause.
[[nodiscard]] std::string_view to_string(cause c) noexcept;

/// Whether nothing in the recording explains the cause.
[[nodiscard]] constexpr bool is_unexplained(cause c) noexcept {
    return c >= cause::auction_differs;
}

struct difference {
    std::string where;  ///< which records or rows
    std::string what;
};

class difference_log {
 public:
    /// `examples_max` of each cause are kept; at most difference_examples_max. `tick` is for showing prices.
    explicit difference_log(std::size_t examples_max = 5,
                            domain::price_nano tick = domain::price_nano{1'000'000'000}) noexcept;

    /// Counts a difference and, up to the limit, keeps the result of `describe()`.
    template <class Describe>
    void add(cause c, std::uint64_t lots, Describe&& describe) {
        entry& e = entries_[static_cast<std::size_t>(c)];
        ++e.count;
        e.lots += lots;
        if (e.examples.size() < examples_max_) e.examples.push_back(std::forward<Describe>(describe)());
    }

    [[nodiscard]] std::uint64_t count(cause c) const noexcept { return at(c).count; }
    [[nodiscard]] std::uint64_t lots(cause c) const noexcept { return at(c).lots; }
    [[nodiscard]] const std::vector<difference>& examples(cause c) const noexcept { return at(c).examples; }
    [[nodiscard]] std::uint64_t unexplained_count() const noexcept;

    /// A price as a decimal, such as "4800.25".
    [[nodiscard]] std::string price(domain::price_ticks ticks) const;

 private:
    struct entry {
        std::uint64_t count = 0;
        std::uint64_t lots = 0;
        std::vector<difference> examples;
    };
    [[nodiscard]] const entry& at(cause c) const noexcept { return entries_[static_cast<std::size_t>(c)]; }

    std::size_t examples_max_;
    domain::price_nano tick_;
    std::array<entry, causes_count> entries_;
};

}  // namespace corro::recorded::replay
