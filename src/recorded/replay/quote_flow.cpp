// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/quote_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::recorded::replay {
namespace {

bool is_better(domain::side side, domain::price_ticks a, domain::price_ticks b) {
    return side == domain::side::buy ? a > b : a < b;
}

bool contains(quote_levels levels, domain::side side, domain::price_ticks price) {
    const auto at = std::ranges::lower_bound(
        levels, price, [&](domain::price_ticks a, domain::price_ticks b) { return is_better(side, a, b); },
        &quote::price);
    return at != levels.end() && at->price == price;
}

std::string row_name(std::size_t row) {
    return row == SIZE_MAX ? std::string("the quotes at the start") : fmt::format("row {}", row);
}

}  // namespace

quote_flow::quote_flow(const quote_recording& recording, difference_log& log) : recording_(recording), log_(log) {
    CORRO_ASSERT(!recording.messages.empty() && recording.messages.size() == recording.rows_count());
    for (std::size_t row = 0; row < recording.messages.size(); ++row) {
        const quote_record& m = recording.messages[row];
        if (m.is_visible()) visible_[static_cast<int>(m.side)].push_back(row);
    }
}

// --- Planning ------------------------------------------------------------------------------------------------------

plan_status quote_flow::plan(step& next) {
    if (awaits_execution_) return plan_status::waiting;
    planning_ = &next;
    row_ = {};
    if (!std::exchange(started_, true)) {
        start();
    } else if (std::exchange(must_bring_into_view_, false)) {
        row_.row = next_row_ - 1;
        row_.is_uncovering = true;
        bring_into_view();
    } else if (next_row_ < recording_.messages.size()) {
        row_.row = next_row_++;
        plan_row(recording_.messages[row_.row]);
    } else {
        close_bursts();
        return plan_status::finished;
    }
    next.number = next_step_++;
    next.time = row_.row == before_first ? domain::time_ns{} : recording_.messages[row_.row].time;
    steps_.push_back(std::move(row_));
    planning_ = nullptr;
    return plan_status::planned;
}

void quote_flow::start() {
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        initial_[static_cast<int>(side)] = levels_before_first(side);
        for (const quote& q : initial_[static_cast<int>(side)]) {
            place(side, q, named_while_in_view(side, q.price, before_first));
        }
    }
}

/// The book file has the levels after the first message, so the effect of that message is undone.
std::vector<quote> quote_flow::levels_before_first(domain::side side) const {
    const quote_levels after = recording_.levels(0, side);
    std::vector<quote> levels(after.begin(), after.end());
    const quote_record& m = recording_.messages.front();
    if (!m.is_visible() || m.side != side) return levels;
    const auto at = std::ranges::find_if(levels, [&](const quote& q) { return !is_better(side, q.price, m.price); });
    const bool is_there = at != levels.end() && at->price == m.price;
    if (m.action != quote_action::enter) {
        if (is_there) {
            at->size += m.size;
        } else {
            levels.insert(at, {m.price, m.size});
        }
    } else if (is_there && at->size > m.size) {
        at->size -= m.size;
    } else if (is_there) {
        levels.erase(at);
    }
    return levels;
}

void quote_flow::plan_row(const quote_record& m) {
    if (m.time != bursts_time_) close_bursts();
    bursts_time_ = m.time;
    ++facts_.messages[static_cast<std::size_t>(m.action)];
    if (m.action == quote_action::enter) {
        left_[m.order] = m.size;
    } else if (const auto left = left_.find(m.order); m.is_visible() && left != left_.end()) {
        left->second -= m.size;
    }
    switch (m.action) {
        case quote_action::enter: enter(m.order, m.side, m.price, m.size); break;
        case quote_action::reduce:
        case quote_action::remove:
            plan_change(m);
            if (something_comes_into_view(row_.row)) bring_into_view();
            break;
        case quote_action::execute: plan_execution(m); break;
        case quote_action::execute_hidden:
            facts_.hidden_lots += m.size;
            log_.add(cause::hidden_execution, m.size,
                     [&] { return difference{row_name(row_.row), fmt::format("{} lots", m.size)}; });
            break;
        case quote_action::cross:
        case quote_action::halt: break;
    }
}

void quote_flow::plan_change(const quote_record& m) {
    const domain::client_order_id id = ledger_.find_name(m.order);
    if (id == domain::client_order_id{}) {
        log_.add(cause::record_names_nobody, m.size,
                 [&] { return difference{row_name(row_.row), fmt::format("order {} is not at the venue", m.order)}; });
        return;
    }
    const std::uint32_t open = ledger_.find(id)->open;
    if (m.size < open && m.action == quote_action::reduce) {
        reduce_to(id, open - m.size);
        return;
    }
    if (m.size != open) {
        log_.add(cause::quantity_unannounced, m.size > open ? m.size - open : open - m.size, [&] {
            return difference{row_name(row_.row),
                              fmt::format("order {}: {} lots are deleted, the venue has {}", m.order, m.size, open)};
        });
    }
    plan_removal(m, id);
}

void quote_flow::plan_removal(const quote_record& m, domain::client_order_id id) {
    const std::uint32_t open = ledger_.find(id)->open;
    if (m.size > open) {
        // The missing lots were executed against other orders: their messages leave less of them than the venue has.
        std::uint32_t missing = m.size - open;
        const quote_ledger::level* const at = ledger_.at(m.side, m.price);
        for (const domain::client_order_id other : at == nullptr ? quote_ledger::level{} : quote_ledger::level{*at}) {
            const quote_ledger::order& o = *ledger_.find(other);
            const auto left = left_.find(o.name);
            if (missing == 0) break;
            if (other == id || o.name == 0 || left == left_.end()) continue;
            const auto stays = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left->second, 0, o.open));
            const std::uint32_t taken = std::min(missing, o.open - stays);
            if (taken == 0) continue;
            missing -= taken;
            reduce_to(other, o.open - taken);
        }
    }
    cancel(id);
    if (m.size < open) enter(0, m.side, m.price, open - m.size);  // anonymous, at the back
}

void quote_flow::plan_execution(const quote_record& m) {
    facts_.executed_lots += m.size;
    planning_->requests.push_back({.kind = domain::command_kind::enter_order,
                                   .side = domain::opposite(m.side),
                                   .time_in_force = domain::time_in_force::ioc,
                                   .client_order = domain::client_order_id{next_client_order_++},
                                   .price = m.price,
                                   .quantity = domain::quantity_lots{m.size}});
    row_.rests.push_back(0);
    awaits_execution_ = true;
}

// --- What comes into view --------------------------------------------------------------------------------------------

quote_levels quote_flow::levels_before(std::size_t row, domain::side side) const {
    return row == 0 ? quote_levels(initial_[static_cast<int>(side)]) : recording_.levels(row - 1, side);
}

/// Whether a removal or execution uncovers a level: one that the row before did not show, or the message's own level
/// where the record has orders and the venue has none left.
bool quote_flow::something_comes_into_view(std::size_t row) const {
    const quote_record& m = recording_.messages[row];
    if (ledger_.at(m.side, m.price) == nullptr) return true;
    const quote_levels before = levels_before(row, m.side);
    return std::ranges::any_of(recording_.levels(row, m.side), [&](const quote& q) {
        return q.price != m.price && !contains(before, m.side, q.price);
    });
}

void quote_flow::bring_into_view() {
    const quote_record& m = recording_.messages[row_.row];
    const quote_levels before = levels_before(row_.row, m.side);
    const quote_levels now = recording_.levels(row_.row, m.side);
    // Orders that were out of view, would be in view now, but are not shown, have been cancelled out of view.
    bool vanished = false;
    if (before.size() >= recording_.depth) {
        const domain::price_ticks end = now.size() < recording_.depth ? domain::no_price : now.back().price;
        for (const domain::price_ticks price : ledger_.prices_between(m.side, before.back().price, end)) {
            if (contains(now, m.side, price)) continue;
            clear_level(m.side, price);
            row_.taken = m.side;
            vanished = true;
        }
    }
    bool came = vanished;
    for (const quote& q : now) {
        const bool is_lost = q.price == m.price && ledger_.at(m.side, m.price) == nullptr;
        if (!is_lost && contains(before, m.side, q.price)) continue;
        bring_level_into_view(m.side, q, vanished);
        came = true;
    }
    if (came) ++facts_.taken_rows;
}

void quote_flow::bring_level_into_view(domain::side side, const quote& q, bool vanished) {
    count_memory(ledger_.size_at(side, q.price), q, vanished);
    const later_uses named = named_while_in_view(side, q.price, row_.row);
    if (may_stay(side, q, named)) {
        ++facts_.kept;
        return;
    }
    row_.taken = side;
    clear_level(side, q.price);
    place(side, q, named);
}

/// Whether the venue's orders at a level may be those of the record: they add up to its size, they include the orders
/// that later messages name, with enough lots, and no unnamed order is before an executed one.
bool quote_flow::may_stay(domain::side side, const quote& q, const later_uses& named) const {
    const quote_ledger::level* const at = ledger_.at(side, q.price);
    if (at == nullptr || ledger_.size_at(side, q.price) != q.size) return false;
    std::size_t found = 0;
    bool unnamed_before = false;
    for (const domain::client_order_id id : *at) {
        const quote_ledger::order& o = *ledger_.find(id);
        const auto use = named.find(o.name);
        if (use == named.end()) {
            unnamed_before = true;
            continue;
        }
        if (o.open < use->second.lots || (use->second.is_executed && unnamed_before)) return false;
        ++found;
    }
    return found == named.size();
}

void quote_flow::count_memory(std::uint64_t size_there, const quote& q, bool vanished) {
    if (vanished) {
        ++facts_.vanished_better;
    } else if (size_there == q.size) {
        ++facts_.remembered;
    } else if (size_there != 0) {
        ++facts_.remembered_price;
    } else {
        ++facts_.unknown_price;
    }
}

void quote_flow::place(domain::side side, const quote& q, const later_uses& named) {
    std::uint64_t rest = q.size;
    for (const auto& [name, use] : named) {
        const std::uint64_t placed = std::min(use.lots, rest);
        if (placed == 0) break;
        enter(name, side, q.price, static_cast<std::uint32_t>(placed));
        left_.try_emplace(name, static_cast<std::int64_t>(placed));
        ++facts_.placed_named;
        rest -= placed;
    }
    if (rest == 0) return;
    enter(0, side, q.price, static_cast<std::uint32_t>(rest));
    ++facts_.placed_anonymous;
}

/// The orders that rest at a price after row `from` and that messages name, for as long as the level stays in view.
quote_flow::later_uses quote_flow::named_while_in_view(domain::side side, domain::price_ticks price,
                                                       std::size_t from) const {
    later_uses named;
    std::vector<std::uint64_t> announced;
    const std::vector<std::size_t>& rows = visible_[static_cast<int>(side)];
    auto at = from == before_first ? rows.begin() : std::ranges::upper_bound(rows, from);
    for (; at != rows.end(); ++at) {
        const quote_record& m = recording_.messages[*at];
        if (m.price == price) {
            if (m.action == quote_action::enter) {
                announced.push_back(m.order);
            } else if (std::ranges::find(announced, m.order) == announced.end()) {
                later_use& use = named[m.order];
                use.lots += m.size;
                use.is_executed |= m.action == quote_action::execute;
            }
        }
        if (!contains(recording_.levels(*at, side), side, price)) break;
    }
    return named;
}

// --- Requests --------------------------------------------------------------------------------------------------------

void quote_flow::enter(std::uint64_t name, domain::side side, domain::price_ticks price, std::uint32_t size) {
    const domain::client_order_id id{next_client_order_++};
    planning_->requests.push_back({.kind = domain::command_kind::enter_order,
                                   .side = side,
                                   .client_order = id,
                                   .price = price,
                                   .quantity = domain::quantity_lots{size}});
    row_.rests.push_back(size);
    ledger_.add(id, {.name = name, .side = side, .price = price, .open = size});
}

void quote_flow::cancel(domain::client_order_id id) {
    planning_->requests.push_back({.kind = domain::command_kind::cancel_order, .client_order = id});
    row_.rests.push_back(0);
    ledger_.set_open(id, 0);
}

void quote_flow::reduce_to(domain::client_order_id id, std::uint32_t open) {
    if (open == 0) {
        cancel(id);
        return;
    }
    const quote_ledger::order& o = *ledger_.find(id);
    planning_->requests.push_back({.kind = domain::command_kind::amend_order,
                                   .client_order = id,
                                   .price = o.price,
                                   .quantity = domain::quantity_lots{o.filled + open}});
    row_.rests.push_back(open);
    ledger_.set_open(id, open);
}

void quote_flow::clear_level(domain::side side, domain::price_ticks price) {
    const quote_ledger::level* const at = ledger_.at(side, price);
    if (at == nullptr) return;
    for (const domain::client_order_id id : quote_ledger::level{*at}) cancel(id);
}

}  // namespace corro::recorded::replay
