// SPDX-License-Identifier: Apache-2.0
#include "api/order_changes.hpp"

#include <string>

#include "api/market_text.hpp"

namespace corro::api {
namespace {

void write_order_members(json_writer& out, const market& of, domain::order_id order, domain::price_ticks price,
                         std::uint64_t lots, std::uint64_t priority) {
    out.text(std::to_string(order.value));
    write_price(out, of.terms, price);
    out.number(amount_of(of.terms, lots));
    out.number(priority);
}

/// Calls `visit(level, order, priority)` for the orders of the best levels; ends when it returns false.
template <class Visit>
void for_each_order(const market& of, domain::side side, std::size_t depth, Visit visit) {
    for (const feed::image_level& level : of.orders.levels(side, depth)) {
        for (const feed::image_order& order : of.orders.orders_at(side, level.price)) {
            const std::uint64_t* const priority = of.priorities.find(order.order.value);
            if (!visit(level, order, priority == nullptr ? 0 : *priority)) return;
        }
    }
}

}  // namespace

void order_changes::take(const order_change& change) {
    const auto [place, is_first] = by_order_.try_emplace(change.order.value);
    if (is_first) place->second.was_there = !change.is_new;
    place->second.now = change;
}

std::size_t order_changes::write(json_writer& out, const market& of, domain::side side) const {
    std::size_t count = 0;
    out.list([&] {
        for (const auto& [id, each] : by_order_) {
            const order_change& now = each.now;
            if (now.side != side || (now.lots == 0 && !each.was_there)) continue;
            ++count;
            out.list([&] {
                if (now.lots == 0) {
                    out.text("delete");
                    out.text(std::to_string(id));
                } else {
                    out.text(each.was_there ? "change" : "new");
                    write_order_members(out, of, now.order, now.price, now.lots, now.priority);
                }
            });
        }
    });
    return count;
}

void write_new_orders(json_writer& out, const market& of, domain::side side) {
    out.list([&] {
        for_each_order(of, side, SIZE_MAX, [&](const auto& level, const auto& order, std::uint64_t priority) {
            out.list([&] {
                out.text("new");
                write_order_members(out, of, order.order, level.price, order.quantity.value, priority);
            });
            return true;
        });
    });
}

bool write_orders(json_writer& out, const market& of, domain::side side, std::size_t depth, std::size_t orders_max) {
    std::size_t count = 0;
    bool is_whole = true;
    out.list([&] {
        for_each_order(of, side, depth, [&](const auto& level, const auto& order, std::uint64_t priority) {
            is_whole = count++ < orders_max;
            if (is_whole) {
                out.list(
                    [&] { write_order_members(out, of, order.order, level.price, order.quantity.value, priority); });
            }
            return is_whole;
        });
    });
    return is_whole;
}

}  // namespace corro::api
