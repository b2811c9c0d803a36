// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "domain/allocation.hpp"
#include "domain/decimal.hpp"
#include "domain/instrument.hpp"
#include "node/configuration/configuration_parts.hpp"

namespace corro::node {
namespace {

domain::allocation_policy read_allocation(table_reader& r) {
    r.knows({"algorithm", "fifo_percent", "lead_market_makers", "levelling", "pro_rata_minimum", "top_maximum",
             "top_minimum"});
    domain::allocation_policy p;
    const std::string algorithm = r.text("algorithm");
    static constexpr std::string_view letters = "ACFKOQST";
    if (algorithm.size() != 1 || !letters.contains(algorithm[0])) {
        r.fail("algorithm", "expected one of: A, C, F, K, O, Q, S, T");
    }
    p.algorithm = static_cast<domain::match_algorithm>(algorithm[0]);
    const auto lots = [&](std::string_view key) {
        return static_cast<std::uint32_t>(r.number(key, 0, 0, domain::order_quantity_lots_max));
    };
    p.fifo_percent = static_cast<std::uint32_t>(r.number("fifo_percent", 0, 0, 100));
    p.levels = r.flag("levelling", false);
    p.top_minimum = lots("top_minimum");
    p.top_maximum = lots("top_maximum");
    p.pro_rata_minimum = lots("pro_rata_minimum");
    std::size_t makers_count = 0;
    r.tables("lead_market_makers", p.makers.size(), [&](table_reader& maker) {
        maker.knows({"account", "percent"});
        domain::lead_market_maker& m = p.makers[makers_count++];
        m.account = domain::account_id{static_cast<std::uint32_t>(maker.number("account", 1, gateway::account_id_max))};
        m.percent = static_cast<std::uint32_t>(maker.number("percent", 1, 100));
    });
    if (const auto problem = domain::validate(p); !problem.empty()) r.fail("algorithm", std::string(problem));
    return p;
}

/// Reads an option's terms and a strategy's legs.
void read_terms(table_reader& r, domain::instrument& i) {
    static constexpr std::array<std::string_view, 3> rights{"", "call", "put"};
    const auto* right = std::find(rights.begin(), rights.end(), r.text("right", ""));
    if (right == rights.end()) r.fail("right", "expected one of: call, put");
    i.right = static_cast<domain::option_right>(right - rights.begin());
    if (r.has("strike")) i.strike = domain::price_nano{r.decimal("strike")};
    i.expiry = r.time("expiry");
    i.implied = r.flag("implied", false);
    r.tables("legs", domain::legs_max, [&](table_reader& leg) {
        leg.knows({"instrument", "ratio", "side"});
        domain::leg& l = i.legs[i.legs_count++];
        l.instrument =
            domain::instrument_id{static_cast<std::uint32_t>(leg.number("instrument", 1, domain::instruments_max))};
        l.ratio = static_cast<std::uint32_t>(leg.number("ratio", 1, 1, domain::leg_ratio_max));
        const std::string side = leg.text("side");
        if (side != "buy" && side != "sell") leg.fail("side", "expected one of: buy, sell");
        l.side = side == "buy" ? domain::side::buy : domain::side::sell;
    });
}

domain::instrument read_instrument(table_reader& r) {
    r.knows({"breaker_halt_ms",
             "breaker_move",
             "breaker_window_ms",
             "dynamic_band",
             "expiry",
             "id",
             "implied",
             "kind",
             "legs",
             "lot_size",
             "matching",
             "order_quantity_max",
             "price_high",
             "price_low",
             "product",
             "right",
             "strike",
             "symbol",
             "tick_size",
             "volatility_auction_ms"});
    domain::instrument i;
    i.id = domain::instrument_id{static_cast<std::uint32_t>(r.number("id", 1, domain::instruments_max))};
    const std::string name = r.text("symbol");
    if (name.empty() || name.size() > domain::symbol_size_max) {
        r.fail("symbol", fmt::format("expected 1 to {} characters", domain::symbol_size_max));
    }
    if (!is_printable(name)) r.fail("symbol", printable_expected);
    i.name = domain::symbol{name};
    i.product = domain::product_id{static_cast<std::uint32_t>(r.number("product", 0, 0, UINT32_MAX))};
    static constexpr std::array<std::string_view, 4> kinds{"future", "option", "spread", "spot"};
    const std::string kind = r.text("kind", "future");
    const auto* found = std::find(kinds.begin(), kinds.end(), kind);
    if (found == kinds.end()) r.fail("kind", "expected one of: future, option, spread, spot");
    i.kind = static_cast<domain::instrument_kind>(found - kinds.begin());
    i.tick_size = domain::price_nano{r.decimal("tick_size")};
    if (i.tick_size.value <= 0) r.fail("tick_size", "expected a positive decimal");
    i.lot_size = static_cast<std::uint32_t>(r.number("lot_size", 1, 1, UINT32_MAX));
    const auto band = [&](std::string_view key, domain::price_ticks otherwise) {
        if (!r.has(key)) return otherwise;
        const auto ticks = domain::to_ticks(i, domain::price_nano{r.decimal(key)});
        if (ticks.reason != domain::reject_reason::none) {
            r.fail(key, fmt::format("is not a price of this instrument: {}", domain::to_string(ticks.reason)));
        }
        return ticks.value;
    };
    // Without a band: the largest price that both the venue's ticks and 64 bits of billionths can hold.
    const std::int64_t reach = std::min(domain::price_ticks_max, (INT64_MAX - 1) / i.tick_size.value);
    i.price_low = band("price_low", domain::price_ticks{-reach});
    i.price_high = band("price_high", domain::price_ticks{reach});
    read_terms(r, i);
    // Without a limit: the largest order in the strategy and in each of its legs.
    std::uint32_t lots_max = domain::order_quantity_lots_max;
    for (const domain::leg& l : i.legs_used()) lots_max = std::min(lots_max, domain::order_quantity_lots_max / l.ratio);
    i.order_quantity_max = domain::quantity_lots{
        static_cast<std::uint32_t>(r.number("order_quantity_max", lots_max, 1, domain::order_quantity_lots_max))};
    const auto distance = [&](std::string_view key) {
        const domain::price_ticks ticks = band(key, domain::price_ticks{0});
        if (ticks.value < 0) r.fail(key, "expected a distance, found a negative price");
        return ticks.value;
    };
    constexpr std::uint64_t milliseconds_max = 1ULL << 40;
    const auto duration = [&](std::string_view key) {
        return static_cast<std::int64_t>(r.number(key, 0, 0, milliseconds_max)) * 1'000'000;
    };
    i.dynamic_band = distance("dynamic_band");
    i.breaker_move = distance("breaker_move");
    i.breaker_window = duration("breaker_window_ms");
    i.breaker_halt = duration("breaker_halt_ms");
    i.volatility_auction = duration("volatility_auction_ms");
    r.table("matching", [&](table_reader& matching) { i.allocation = read_allocation(matching); });
    if (const auto problem = domain::validate(i); !problem.empty()) r.fail("id", std::string(problem));
    return i;
}

}  // namespace

void read_instruments(const toml::table& root, const std::string& file, configuration& c) {
    std::set<std::uint32_t> instrument_ids;
    std::set<std::string> symbols;
    read_array(root, "instrument", file, [&](table_reader& r) {
        c.instruments.push_back(read_instrument(r));
        if (!instrument_ids.insert(c.instruments.back().id.value).second) r.fail("id", "is used twice");
        if (!symbols.emplace(c.instruments.back().name.view()).second) r.fail("symbol", "is used twice");
    });
    std::size_t index = 0;
    read_array(root, "instrument", file, [&](table_reader& r) {
        const auto problem = domain::validate_legs(c.instruments[index++], c.instruments);
        if (!problem.empty()) r.fail("legs", std::string(problem));
    });
}

}  // namespace corro::node
