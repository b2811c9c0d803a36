#include "facility/orders/session_requests.hpp"

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
