// SPDX-License-Identifier: Apache-2.0
#include "api/market_text.hpp"

#include "api/time_units.hpp"

#include <limits>
#include <string>

namespace corro::api {
namespace {

/// The time at which an instrument without an end expires, as bots of such APIs expect it: the year 3000.
constexpr std::int64_t never_ms = 32'503'708'800'000;

std::string_view state_name(const market& of) noexcept {
    if (of.is_settled) return "closed";
    switch (of.phase) {
        case domain::trading_phase::continuous: return "open";
        case domain::trading_phase::halted: return "halted";
        case domain::trading_phase::pre_open: return "pre_open";
        case domain::trading_phase::opening_auction: return "opening_auction";
        case domain::trading_phase::volatility_auction: return "volatility_auction";
        case domain::trading_phase::closing_auction: return "closing_auction";
        case domain::trading_phase::closed: return "closed";
    }
    return "closed";
}

void write_best(json_writer& out, const market& of, domain::side side, std::string_view price_name,
                std::string_view amount_name) {
    const level_map& levels = of.side(side);
    out.member(price_name);
    if (levels.empty()) {
        out.null();
    } else {
        write_price(out, of.terms, price_of(side, levels.begin()->first));
    }
    out.member(amount_name).number(levels.empty() ? 0 : amount_of(of.terms, levels.begin()->second));
}

}  // namespace

std::uint64_t amount_of(const domain::instrument& i, std::uint64_t lots) noexcept {
    std::uint64_t amount = 0;
    const bool overflows = __builtin_mul_overflow(lots, std::uint64_t{i.lot_size}, &amount);
    return overflows ? std::numeric_limits<std::uint64_t>::max() : amount;
}

std::string_view kind_name(domain::instrument_kind kind) noexcept {
    switch (kind) {
        case domain::instrument_kind::future: return "future";
        case domain::instrument_kind::option: return "option";
        case domain::instrument_kind::spread: return "spread";
        case domain::instrument_kind::spot: return "spot";
    }
    return "future";
}

void write_price(json_writer& out, const domain::instrument& i, domain::price_ticks price) {
    if (price == domain::no_price) {
        out.null();
    } else {
        out.decimal(domain::to_nano(i, price).value);
    }
}

void write_instrument(json_writer& out, const market& of, std::string_view currency) {
    const domain::instrument& i = of.terms;
    out.object([&] {
        out.member("instrument_name").text(i.name.view());
        out.member("instrument_id").number(std::uint64_t{i.id.value});
        out.member("kind").text(kind_name(i.kind));
        out.member("instrument_type").text("linear");
        out.member("base_currency").text(std::to_string(i.product.value));
        out.member("quote_currency").text(currency);
        out.member("counter_currency").text(currency);
        out.member("settlement_currency").text(currency);
        out.member("settlement_period").text(i.expiry.value == 0 ? "perpetual" : "month");
        out.member("tick_size").decimal(i.tick_size.value);
        out.member("tick_size_steps").list([] {});
        out.member("min_trade_amount").number(std::uint64_t{i.lot_size});
        out.member("contract_size").number(std::uint64_t{i.lot_size});
        out.member("expiration_timestamp").number(i.expiry.value == 0 ? never_ms : i.expiry.value / ns_per_ms);
        out.member("creation_timestamp").number(std::int64_t{0});
        out.member("maker_commission").number(std::int64_t{0});
        out.member("taker_commission").number(std::int64_t{0});
        if (i.kind == domain::instrument_kind::option) {
            out.member("option_type").text(i.right == domain::option_right::put ? "put" : "call");
            out.member("strike").decimal(i.strike.value);
        }
        if (i.legs_count != 0) {
            out.member("legs").list([&] {
                for (const domain::leg& each : i.legs_used()) {
                    out.object([&] {
                        out.member("instrument_id").number(std::uint64_t{each.instrument.value});
                        out.member("direction").text(each.side == domain::side::buy ? "buy" : "sell");
                        out.member("ratio").number(std::uint64_t{each.ratio});
                    });
                }
            });
        }
        out.member("is_active").boolean(!of.is_settled);
    });
}

void write_ticker_members(json_writer& out, const market& of) {
    const domain::instrument& i = of.terms;
    out.member("instrument_name").text(i.name.view());
    out.member("timestamp").number(of.time_ns / ns_per_ms);
    out.member("state").text(state_name(of));
    write_best(out, of, domain::side::buy, "best_bid_price", "best_bid_amount");
    write_best(out, of, domain::side::sell, "best_ask_price", "best_ask_amount");
    write_price(out.member("last_price"), i, of.prices.last);
    write_price(out.member("min_price"), i, i.price_low);
    write_price(out.member("max_price"), i, i.price_high);
    out.member("open_interest").number(amount_of(i, of.volumes.open_interest.value));
    if (of.implied.bid_price != domain::no_price || of.implied.ask_price != domain::no_price) {
        write_price(out.member("implied_bid_price"), i, of.implied.bid_price);
        out.member("implied_bid_amount").number(amount_of(i, of.implied.bid_quantity.value));
        write_price(out.member("implied_ask_price"), i, of.implied.ask_price);
        out.member("implied_ask_amount").number(amount_of(i, of.implied.ask_quantity.value));
    }
    out.member("mark_price").null();
    out.member("index_price").null();
    out.member("settlement_price").null();
    out.member("stats").object([&] {
        out.member("volume").number(amount_of(i, of.volumes.volume.value));
        write_price(out.member("high"), i, of.prices.high);
        write_price(out.member("low"), i, of.prices.low);
        out.member("price_change").null();
    });
}

void write_levels(json_writer& out, const market& of, domain::side side, std::size_t depth) {
    out.list([&] {
        std::size_t count = 0;
        for (const auto& [rank, lots] : of.side(side)) {
            if (count++ == depth) break;
            out.list([&] {
                write_price(out, of.terms, price_of(side, rank));
                out.number(amount_of(of.terms, lots));
            });
        }
    });
}

void write_trade(json_writer& out, const domain::instrument& i, const tape_entry& trade) {
    out.object([&] {
        out.member("trade_seq").number(trade.trade);
        out.member("trade_id").text(std::to_string(trade.trade));
        out.member("timestamp").number(trade.time_ns / ns_per_ms);
        out.member("tick_direction").number(std::int64_t{trade.direction});
        write_price(out.member("price"), i, trade.price);
        out.member("mark_price").null();
        out.member("index_price").null();
        out.member("instrument_name").text(i.name.view());
        out.member("direction").text(trade.side == domain::side::buy ? "buy" : "sell");
        out.member("amount").number(amount_of(i, trade.quantity));
    });
}

}  // namespace corro::api
