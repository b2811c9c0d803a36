// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/session_requests.hpp"

#include <array>

namespace corro::facility {

using domain::command;
using domain::command_kind;
using domain::reject_reason;

namespace {

/// Whether the request is about one order; a mass cancel and a query of all are not.
[[nodiscard]] bool is_about_one(const command& c) noexcept {
    return c.names_order() && (c.kind != command_kind::query_order || c.query_order().flags == 0);
}

}  // namespace

void session_requests::announce_name(const command& c) noexcept {
    if (!is_about_one(c)) return writer_.request_named(matching::engine::none);
    writer_.request_named(lookup_.find(c, c.named_order(), c.named_request()).slot);
}

void session_requests::query_order(const command& c) noexcept {
    const domain::query_order& wanted = c.query_order();
    last_query_ = {};
    if (wanted.flags == 0) {
        const auto [slot, unresolved] = lookup_.find(c, wanted.order, wanted.target_request);
        if (slot == order_lookup::none) return rejections_.refuse(c, unresolved);
        writer_.status(slot, domain::event_flag::last_of_request);
        return;
    }
    if ((wanted.flags & domain::query_flag::positions) != 0) return query_positions(c);
    const bool of_account = (wanted.flags & domain::query_flag::all_of_account) != 0;
    const auto known =
        static_cast<std::uint8_t>(domain::query_flag::behind | (of_account ? domain::query_flag::all_of_account
                                                                           : domain::query_flag::all_of_session));
    if ((wanted.flags & ~known) != 0 || wanted.flags == domain::query_flag::behind) {
        return rejections_.refuse(c, reject_reason::invalid_combination);
    }
    std::uint32_t behind = matching::engine::from_the_oldest;
    if ((wanted.flags & domain::query_flag::behind) != 0) {
        const bool is_open = engine_.is_open(wanted.order);
        behind = matching::engine::slot_of(wanted.order);
        if (!is_open || orders_[behind].account != c.account) {
            return rejections_.refuse(c, !is_open && engine_.was_issued(wanted.order) ? reject_reason::order_not_open
                                                                                      : reject_reason::unknown_order);
        }
    }
    std::uint32_t looks = 0;
    std::uint32_t told = 0;
    engine_.for_orders_behind(c.account.value, behind, [&](std::uint32_t slot, bool is_newest) {
        const bool is_wanted = of_account || orders_[slot].session == c.session;
        told += is_wanted ? 1 : 0;
        ++looks;
        const bool ends = !is_newest && (looks == domain::query_looks_max || told == domain::query_orders_max);
        std::uint8_t flags = ends ? domain::event_flag::more_behind : std::uint8_t{0};
        if (!is_wanted) flags |= domain::event_flag::only_a_place;
        if (is_wanted || ends) writer_.status(slot, flags);
        return !ends;
    });
    last_query_ = {looks, told};
    steps_ += looks;
    writer_.request_done({}, c.account);
}

// Books are in the order of their definitions. An answer that ends before the last book ends with the position there,
// flat or not, so that the next query can go on behind it.
void session_requests::query_positions(const command& c) noexcept {
    const domain::query_order& wanted = c.query_order();
    const bool is_behind = (wanted.flags & domain::query_flag::behind) != 0;
    if ((wanted.flags & ~(domain::query_flag::positions | domain::query_flag::behind)) != 0) {
        return rejections_.refuse(c, reject_reason::invalid_combination);
    }
    std::uint32_t begin = 0;
    std::uint32_t end = instruments_.count();
    if (is_behind || c.instrument.value != 0) {
        const std::uint32_t book = instruments_.book_of(c.instrument);
        if (book == instrument_table::none) return rejections_.refuse(c, reject_reason::unknown_instrument);
        begin = is_behind ? book + 1 : book;
        if (!is_behind) end = book + 1;
    }
    struct held {
        std::uint32_t book = 0;
        std::int64_t lots = 0;
    };
    std::array<held, domain::query_orders_max> told;
    std::uint32_t count = 0;
    std::uint32_t looks = 0;
    bool has_more = false;
    for (std::uint32_t book = begin; book != end && !has_more; ++book) {
        const std::uint32_t slot = positions_.find(c.account.value, book);
        const std::int64_t lots = slot == risk::positions::none ? 0 : positions_[slot].lots;
        ++looks;
        if (lots != 0) told[count++] = {book, lots};
        has_more = book + 1 != end && (looks == domain::query_looks_max || count == domain::query_orders_max);
        if (has_more && lots == 0) told[count++] = {book, 0};
    }
    writer_.positions_counted(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint8_t flags = i + 1 == count ? domain::event_flag::last_of_request : std::uint8_t{0};
        if (flags != 0 && has_more) flags |= domain::event_flag::more_behind;
        writer_.position(told[i].book, told[i].lots, flags);
    }
    last_query_ = {looks, count};
    steps_ += looks;
}

// The session's open orders stay. They forget their request numbers, which the new day uses again.
void session_requests::reset_session_numbers(const command& c) noexcept {
    engine_.for_orders_behind(c.account.value, matching::engine::from_the_oldest, [&](std::uint32_t slot, bool) {
        if (orders_[slot].session == c.session) orders_.forget_request(slot);
        ++steps_;
        return true;
    });
    writer_.numbers_reset(c.reset_session_numbers().day_begin);
}

}  // namespace corro::facility
