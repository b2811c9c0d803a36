#include "client/replay/quote_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::client::replay {
namespace {

bool is_better(domain::side side, domain::price_ticks a, domain::price_ticks b) {
    return side == domain::side::buy ? a > b : a < b;
}

std::string row_name(std::size_t row) {
    return row == SIZE_MAX ? std::string("the quotes at the start") : fmt::format("row {}", row);
}

}  // namespace

quote_flow::quote_flow(const quote_recording& recording, difference_log& log) : recording_(recording), log_(log) {
    CORRO_ASSERT(!recording.messages.empty() && recording.messages.size() == recording.rows.size());
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
    const quote_row quotes = quotes_before_first();
    for (const domain::side side : {domain::side::buy, domain::side::sell}) place(side, quotes.of(side), before_first);
}

/// The book file shows the quotes after the first message; what that message did is undone.
quote_row quote_flow::quotes_before_first() const {
    quote_row quotes = recording_.rows.front();
    const quote_record& m = recording_.messages.front();
    if (!m.is_visible()) return quotes;
    quote& q = m.side == domain::side::buy ? quotes.bid : quotes.offer;
    if (m.action == quote_action::enter) {
        if (q.price == m.price && q.size > m.size) {
            q.size -= m.size;
        } else if (q.price == m.price) {
            q = {};
        }
    } else if (q.price == m.price) {
        q.size += m.size;
    } else {
        q = {m.price, m.size};
    }
    return quotes;
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
            if (level_is_gone(m)) bring_into_view();
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
        // What is missing here was executed against others: their messages leave less of them than the venue has.
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
    if (m.size < open) enter(0, m.side, m.price, open - m.size);  // somebody's, at the back
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

bool quote_flow::level_is_gone(const quote_record& m) const {
    return ledger_.at(m.side, m.price) == nullptr;
}

// --- What comes into view --------------------------------------------------------------------------------------------

void quote_flow::bring_into_view() {
    const domain::side side = recording_.messages[row_.row].side;
    const quote& q = recording_.rows[row_.row].of(side);
    ++facts_.taken_rows;
    row_.taken = side;
    count_memory(side, q);
    for (quote best = ledger_.best(side); best.price != domain::no_price; best = ledger_.best(side)) {
        if (q.price != domain::no_price && !is_better(side, best.price, q.price)) break;
        clear_level(side, best.price);
    }
    if (q.price == domain::no_price) return;
    clear_level(side, q.price);
    place(side, q, row_.row);
}

void quote_flow::count_memory(domain::side side, const quote& q) {
    const quote best = ledger_.best(side);
    if (best == q) {
        ++facts_.remembered;
    } else if (best.price == q.price) {
        ++facts_.remembered_price;
    } else if (best.price != domain::no_price &&
               (q.price == domain::no_price || is_better(side, best.price, q.price))) {
        ++facts_.vanished_better;
    } else {
        ++facts_.unknown_price;
    }
}

void quote_flow::place(domain::side side, const quote& q, std::size_t from) {
    if (q.price == domain::no_price) return;
    std::uint64_t rest = q.size;
    for (const auto& [name, lots] : named_while_best(side, q.price, from)) {
        const std::uint64_t placed = std::min(lots, rest);
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

/// The unannounced orders that messages after row `from` name at a price, for as long as it is the best: name to lots.
std::map<std::uint64_t, std::uint64_t> quote_flow::named_while_best(domain::side side, domain::price_ticks price,
                                                                    std::size_t from) const {
    std::map<std::uint64_t, std::uint64_t> named;
    std::vector<std::uint64_t> announced;
    const std::vector<std::size_t>& rows = visible_[static_cast<int>(side)];
    auto at = from == before_first ? rows.begin() : std::ranges::upper_bound(rows, from);
    for (; at != rows.end(); ++at) {
        const quote_record& m = recording_.messages[*at];
        if (m.price != price) break;
        if (m.action == quote_action::enter) {
            announced.push_back(m.order);
        } else if (std::ranges::find(announced, m.order) == announced.end()) {
            named[m.order] += m.size;
        }
        if (recording_.rows[*at].of(side).price != price) break;
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

}  // namespace corro::client::replay
