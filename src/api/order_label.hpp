// SPDX-License-Identifier: Apache-2.0
// What the API keeps in the client order id of an order, so that an order's terms survive the API: its label, how long
// it lasts, and whether it is post-only. The venue's journal has them, and no file of the API is needed.
//
// Layout, in bits of the number:
//
//     0 to 19   a counter, which keeps open orders of one label apart
//     20, 21    time in force
//     22        post-only
//     23 to 61  the label: 0 for none; up to six characters of the alphabet as a number of base 79; of any other text,
//               38 bits of its hash behind bit 38
//     62        always 1: ids of other clients are below
//     63        the order is a side of a quote
//
// Threads: any; pure functions. Source: docs/spec/api.md, "Labels".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/order_instructions.hpp"
#include "domain/types.hpp"

namespace corro::api {

/// The longest label that a request may have, in bytes.
inline constexpr std::size_t label_bytes_max = 64;
/// Counters are below it, and from 1.
inline constexpr std::uint32_t label_counter_end = 1U << 20U;

/// What a client order id contains.
struct order_mark {
    std::uint64_t label = 0;  ///< as `label_value`
    domain::time_in_force lasts = domain::time_in_force::gtc;
    bool post_only = false;
    bool is_quote = false;
    std::uint32_t counter = 1;
};

/// The number of a label; 0 for an empty one. Two long labels with the same hash have the same number.
[[nodiscard]] std::uint64_t label_value(std::string_view label) noexcept;
/// The label of a number; nothing is known of a long one but "#" and its number.
[[nodiscard]] std::string label_text(std::uint64_t value);
/// The number of a long label of which `label_text` has made this text; nothing of other texts.
[[nodiscard]] std::optional<std::uint64_t> long_label_value(std::string_view text) noexcept;

[[nodiscard]] domain::client_order_id id_of(const order_mark& mark) noexcept;
/// The mark of an id that the API has made; of another one, a mark without a label.
[[nodiscard]] order_mark mark_of(domain::client_order_id id) noexcept;

}  // namespace corro::api
