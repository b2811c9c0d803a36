// SPDX-License-Identifier: Apache-2.0
#include "api/private_text.hpp"

#include <array>
#include <string>

#include "api/market_text.hpp"
#include "api/time_units.hpp"

namespace corro::api {
namespace {

struct named_lasting {
    domain::time_in_force lasts;
    std::string_view name;
};
constexpr std::array lastings{
    named_lasting{domain::time_in_force::gtc, "good_til_cancelled"},
    named_lasting{domain::time_in_force::day, "good_til_day"},
    named_lasting{domain::time_in_force::ioc, "immediate_or_cancel"},
    named_lasting{domain::time_in_force::fok, "fill_or_kill"},
};

std::string_view state_name(own_state state) noexcept {
    switch (state) {
        case own_state::open: return "open";
        case own_state::filled: return "filled";
        case own_state::cancelled: return "cancelled";
        case own_state::rejected: return "rejected";
    }
    return "open";
}

std::string_view direction_name(domain::side side) noexcept {
    return side == domain::side::buy ? "buy" : "sell";
}

/// The average price of the fills, in billionths, rounded towards zero.
void write_average(json_writer& out, const own_order& order, const domain::instrument& in) {
    if (order.filled == 0) return out.number(std::int64_t{0});
    // Whole ticks first, so that the product stays small; then the part of a tick.
    const std::uint64_t whole = order.filled_nominal / order.filled;
    const std::uint64_t rest = order.filled_nominal % order.filled;
    const auto tick = static_cast<std::uint64_t>(in.tick_size.value);
    std::uint64_t part = 0;
    const bool overflows = __builtin_mul_overflow(rest, tick, &part);
    part = overflows ? rest * (tick / order.filled) : part / order.filled;
    const auto nano = static_cast<std::int64_t>(whole * tick + part);
    out.decimal(order.nominal_is_negative ? -nano : nano);
}

}  // namespace

std::string_view lasting_name(domain::time_in_force lasts) noexcept {
    for (const named_lasting& each : lastings) {
        if (each.lasts == lasts) return each.name;
    }
    return {};
}

std::optional<domain::time_in_force> lasting_of(std::string_view name) noexcept {
    for (const named_lasting& each : lastings) {
        if (each.name == name) return each.lasts;
    }
    return std::nullopt;
}

void write_order(json_writer& out, const own_order& order, const domain::instrument& in) {
    const order_mark mark = order.mark();
    const bool is_market = order.price == domain::no_price;
    out.object([&] {
        out.member("order_id").text(std::to_string(order.id.value));
        out.member("order_state").text(state_name(order.state));
        out.member("order_type").text(is_market ? "market" : "limit");
        out.member("instrument_name").text(in.name.view());
        out.member("direction").text(direction_name(order.side));
        out.member("price");
        if (is_market) {
            out.text("market_price");
        } else {
            write_price(out, in, order.price);
        }
        out.member("amount").number(amount_of(in, order.total));
        out.member("filled_amount").number(amount_of(in, order.filled));
        out.member("average_price");
        write_average(out, order, in);
        out.member("time_in_force").text(lasting_name(mark.lasts));
        out.member("post_only").boolean(mark.post_only);
        out.member("reduce_only").boolean(false);
        out.member("replaced").boolean(order.was_replaced);
        if (order.misses_fills) out.member("fills_missing").boolean(true);
        out.member("label").text(label_text(mark.label));
        if (mark.is_quote) out.member("quote").boolean(true);
        out.member("creation_timestamp").number(order.created_ns / ns_per_ms);
        out.member("last_update_timestamp").number(order.updated_ns / ns_per_ms);
        if (order.reason != domain::reject_reason::none) {
            out.member("cancel_reason").text(domain::to_string(order.reason));
        }
        out.member("api").boolean(true);
        out.member("web").boolean(false);
    });
}

void write_own_trade(json_writer& out, const own_trade& trade, const domain::instrument& in) {
    const order_mark mark = mark_of(trade.client_order);
    out.object([&] {
        out.member("trade_id").text(std::to_string(trade.trade));
        out.member("trade_seq").number(trade.trade);
        out.member("order_id").text(std::to_string(trade.order.value));
        out.member("instrument_name").text(in.name.view());
        out.member("direction").text(direction_name(trade.side));
        out.member("price").decimal(trade.price_nano);
        out.member("amount").number(amount_of(in, trade.lots));
        out.member("timestamp").number(trade.time_ns / ns_per_ms);
        out.member("liquidity").text(trade.is_taker ? "T" : "M");
        out.member("state").text(state_name(trade.order_state));
        out.member("label").text(label_text(mark.label));
        out.member("post_only").boolean(mark.post_only);
        out.member("reduce_only").boolean(false);
        out.member("fee").number(std::int64_t{0});
        out.member("mark_price").null();
        out.member("index_price").null();
    });
}

void write_position(json_writer& out, const own_position& position, const domain::instrument& in) {
    const std::uint64_t lots = position.lots < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(position.lots)
                                                 : static_cast<std::uint64_t>(position.lots);
    const auto amount = static_cast<std::int64_t>(amount_of(in, lots));
    out.object([&] {
        out.member("instrument_name").text(in.name.view());
        out.member("kind").text(kind_name(in.kind));
        out.member("direction").text(position.lots == 0 ? "zero" : position.lots < 0 ? "sell" : "buy");
        out.member("size").number(position.lots < 0 ? -amount : amount);
        out.member("bought").number(amount_of(in, position.bought));
        out.member("sold").number(amount_of(in, position.sold));
    });
}

void write_protection(json_writer& out, const domain::protection& limits) {
    out.object([&] {
        out.member("interval").number(std::uint64_t{limits.window_ms / 1'000});
        out.member("fills_limit").number(std::uint64_t{limits.fills_max});
        out.member("quantity_limit").number(std::uint64_t{limits.quantity_max.value});
    });
}

api_error error_of(domain::reject_reason reason) {
    using domain::reject_reason;
    error_code code = error_code::other_reject;
    switch (reason) {
        case reject_reason::unknown_instrument: code = error_code::invalid_instrument; break;
        case reject_reason::invalid_quantity:
        case reject_reason::quantity_off_lot:
        case reject_reason::order_size_limit: code = error_code::invalid_amount; break;
        case reject_reason::invalid_price: code = error_code::invalid_price; break;
        case reject_reason::price_off_tick: code = error_code::price_wrong_tick; break;
        case reject_reason::price_outside_band:
        case reject_reason::price_outside_dynamic_band: code = error_code::price_not_allowed; break;
        case reject_reason::unknown_order: code = error_code::order_not_found; break;
        case reject_reason::order_not_open: code = error_code::not_open_order; break;
        case reject_reason::would_take_liquidity: code = error_code::post_only_reject; break;
        case reject_reason::instrument_closed:
        case reject_reason::instrument_settled:
        case reject_reason::instrument_halted:
        case reject_reason::not_in_this_phase: code = error_code::book_closed; break;
        case reject_reason::throttled:
        case reject_reason::flooded: code = error_code::too_many_requests; break;
        case reject_reason::killed:
        case reject_reason::not_authorised: code = error_code::locked_by_admin; break;
        case reject_reason::invalid_combination:
        case reject_reason::invalid_order_type:
        case reject_reason::invalid_time_in_force: code = error_code::unsupported_arg_combination; break;
        case reject_reason::request_lost: code = error_code::retry; break;
        default: break;
    }
    return api_error(code, {}, std::string(domain::to_string(reason)));
}

}  // namespace corro::api
