// SPDX-License-Identifier: Apache-2.0
#include "api/history_rows.hpp"

#include <limits>
#include <string_view>
#include <utility>

#include "api/arrow_stream.hpp"
#include "api/market_text.hpp"
#include "base/assert.hpp"
#include "domain/reject_reason.hpp"

namespace corro::api {
namespace {

using domain::event_kind;

std::string_view side_name(domain::side side) noexcept {
    return side == domain::side::buy ? "buy" : "sell";
}

std::string_view event_name(event_kind kind) noexcept {
    switch (kind) {
        case event_kind::order_entered: return "entered";
        case event_kind::order_amended: return "amended";
        case event_kind::order_cancelled: return "cancelled";
        case event_kind::order_executed: return "executed";
        default: return "rejected";
    }
}

row_table empty_table(history_table what) {
    using enum column_type;
    row_table t;
    t.columns = {{"sequence", integer}, {"time", time}};
    switch (what) {
        case history_table::trades:
            for (const auto& [name, type] : {std::pair("trade", integer), std::pair("price", decimal),
                                             std::pair("quantity", integer), std::pair("side", text)}) {
                t.columns.emplace_back(name, type);
            }
            break;
        case history_table::levels:
            for (const auto& [name, type] : {std::pair("side", text), std::pair("price", decimal),
                                             std::pair("quantity", integer), std::pair("orders", integer)}) {
                t.columns.emplace_back(name, type);
            }
            break;
        default:
            for (const auto& [name, type] :
                 {std::pair("event", text), std::pair("order", integer), std::pair("client_order", integer),
                  std::pair("side", text), std::pair("price", decimal), std::pair("quantity", integer),
                  std::pair("open", integer), std::pair("aggressor", boolean), std::pair("reason", text)}) {
                t.columns.emplace_back(name, type);
            }
    }
    return t;
}

/// Adds the cells of one row, in the order of the columns.
class row_adder {
 public:
    explicit row_adder(row_table& to) noexcept : to_(&to) {}
    template <class Cell>
    row_adder& operator()(Cell cell) {
        row_column& column = to_->columns[next_++];
        if constexpr (std::is_convertible_v<Cell, std::string_view>) {
            column.add(std::string_view(cell));
        } else {
            column.add(static_cast<std::int64_t>(cell));
        }
        return *this;
    }

 private:
    row_table* to_;
    std::size_t next_ = 0;
};

}  // namespace

history_rows::history_rows(const history_query& asked, const domain::instrument& of)
    : what_(asked.table), limit_(asked.limit), account_(asked.account), of_(of), table_(empty_table(asked.table)) {}

std::int64_t history_rows::price(domain::price_ticks ticks) const noexcept {
    return ticks == domain::no_price ? no_number : ticks.value * of_.tick_size.value;
}

std::int64_t history_rows::units(std::uint64_t lots) const noexcept {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(std::min(amount_of(of_, lots), most));
}

void history_rows::consume(std::span<const domain::event> events) noexcept {
    for (const domain::event& each : events) {
        if (full_after_) return;
        // A command's rows stay together: only its first row can be one too many.
        if (table_.rows_count() >= limit_ && each.command.value != command_) {
            full_after_ = command_;
            return;
        }
        take(each);
    }
}

void history_rows::take(const domain::event& e) {
    if (e.instrument != of_.id) return;
    switch (e.kind) {
        case event_kind::trade:
            if (what_ == history_table::trades) add_trade(e);
            break;
        case event_kind::level_changed:
            if (what_ == history_table::levels) add_level(e);
            break;
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_executed:
        case event_kind::order_rejected:
            if (what_ == history_table::orders) add_order(e);
            break;
        default: break;
    }
}

void history_rows::note(const domain::event& e) noexcept {
    command_ = e.command.value;
    last_time_ns_ = e.time.value;
}

void history_rows::add_trade(const domain::event& e) {
    note(e);
    row_adder add(table_);
    add(e.command.value)(e.time.value)(e.trade.trade.value)(price(e.trade.price))(units(e.trade.quantity.value));
    add(side_name(e.side));
}

void history_rows::add_level(const domain::event& e) {
    note(e);
    row_adder add(table_);
    add(e.command.value)(e.time.value)(side_name(e.side))(price(e.level.price))(units(e.level.quantity.value));
    add(e.level.orders_count);
}

void history_rows::add_order(const domain::event& e) {
    const bool is_fill = e.kind == event_kind::order_executed;
    if ((is_fill ? e.execution.account : e.order.account) != account_) return;
    note(e);
    row_adder add(table_);
    add(e.command.value)(e.time.value)(event_name(e.kind));
    if (is_fill) {
        add(e.execution.order.value)(e.execution.client_order.value)(side_name(e.side))(price(e.execution.price));
        add(units(e.execution.quantity.value))(units(e.execution.leaves.value));
    } else {
        const bool is_open = e.kind == event_kind::order_entered || e.kind == event_kind::order_amended;
        add(e.order.order.value)(e.order.client_order.value)(side_name(e.side))(price(e.order.price));
        add(units(e.order.quantity.value))(is_open ? units(e.order.quantity.value) : 0);
    }
    add((e.flags & domain::event_flag::aggressor) != 0 ? 1 : 0);
    add(e.reason == domain::reject_reason::none ? std::string_view() : domain::to_string(e.reason));
}

std::string text_of(const row_table& table, history_format format) {
    switch (format) {
        case history_format::csv: return csv_of(table);
        case history_format::arrow: return arrow_of(table);
        default: return json_of(table);
    }
}

}  // namespace corro::api
