// SPDX-License-Identifier: Apache-2.0
// What a protocol with order states, as FIX, says in an answer beside the event: how much of the order has been filled,
// and by which names the request and its order are known.
//
// Details are a function of the events of the venue, like the numbers of answers: the same journal gives the same
// details.
//
// Units: lots; ticks times lots.
// Threads: one. Cost: one look-up per fill, and per message of an order that is partly filled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/flat_map.hpp"
#include "domain/event.hpp"
#include "domain/types.hpp"

namespace corro::gateway {

/// Bits of `answer_details::texts`. A message has the text of a name if it was known when the answer was given, so that
/// it is the same message whenever it is sent again.
namespace text_of {
inline constexpr std::uint8_t name = 1;            ///< answer_details::name
inline constexpr std::uint8_t of_order = 2;        ///< answer_details::of_order
inline constexpr std::uint8_t order_of_event = 4;  ///< the event's, if it is neither
}  // namespace text_of

/// As large as an event, so that the answer log keeps both in the same way.
struct answer_details {
    domain::client_order_id name{};      ///< of the request that is answered; otherwise that of the order
    domain::client_order_id of_order{};  ///< the order's before the request; 0: the request had no name of its own
    std::int64_t value = 0;              ///< of the fills: price times quantity, summed; stays at its limits
    domain::quantity_lots filled{};      ///< of the order, this event included
    std::uint8_t request_kind = 0;       ///< domain::command_kind of the request with a name; 0: none
    std::uint8_t is_foreign = 0;         ///< the copy of an answer to a session of another protocol, with its names
    std::uint8_t texts = 0;              ///< text_of: names in this answer whose texts are known
    std::byte unused{};
    std::uint32_t orders_count = 0;  ///< request_done of a query of all orders: how many it has named
    std::array<std::byte, 28> reserved{};
};
static_assert(sizeof(answer_details) == sizeof(domain::event));

/// The fills of open orders.
class order_fills {
 public:
    struct totals {
        std::int64_t value = 0;
        std::uint32_t lots = 0;
        std::uint32_t reserved = 0;
    };

    /// Takes a private event. @return  The order's fills, this one included.
    totals take(const domain::event& e);

    [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
    template <class F>
    void for_each(F&& f) const {
        open_.for_each(f);
    }
    void clear() noexcept;
    void load(domain::order_id order, const totals& t) { open_.try_insert(order.value, t); }

 private:
    base::flat_map<totals> open_;  ///< partly filled orders, by id
    domain::order_id closed_{};    ///< the order that was closed last: a second message about that may follow
    totals closed_totals_;
};

}  // namespace corro::gateway
