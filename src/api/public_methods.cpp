// SPDX-License-Identifier: Apache-2.0
#include "api/public_methods.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "api/credits.hpp"
#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "api/order_changes.hpp"
#include "base/assert.hpp"

namespace corro::api {
namespace {

using answer = std::expected<std::string, api_error>;

template <class Body>
std::string object_text(Body body) {
    std::string text;
    json_writer out(text);
    out.object([&] { body(out); });
    return text;
}

answer answer_test(const request& r) {
    if (r.text("expected_result") == "exception") return refuse(error_code::internal_server_error);
    return object_text([](json_writer& out) { out.member("version").text(api_version); });
}

answer answer_status(const public_state& state) {
    return object_text([&](json_writer& out) {
        out.member("locked").text(state.is_joined ? "false" : "true");
        out.member("locked_indices").list([] {});
    });
}

answer answer_currencies(const public_state& state) {
    std::set<std::uint32_t> products;
    state.markets->for_each([&](const market& m) { products.insert(m.terms.product.value); });
    std::string text;
    json_writer out(text);
    out.list([&] {
        for (const std::uint32_t product : products) {
            out.object([&] {
                out.member("currency").text(std::to_string(product));
                out.member("currency_long").text("Product " + std::to_string(product));
                out.member("coin_type").text("PRODUCT");
                out.member("fee_precision").number(std::int64_t{0});
            });
        }
    });
    return text;
}

/// Which instruments a request is about.
struct market_selection {
    std::optional<std::uint32_t> product;  ///< nothing: all
    std::string_view kind;                 ///< empty: all

    [[nodiscard]] bool contains(const market& m) const noexcept {
        return (!product || m.terms.product.value == *product) && (kind.empty() || kind_name(m.terms.kind) == kind);
    }
};

std::expected<market_selection, api_error> market_selection_of(const request& r) {
    market_selection s;
    const std::string_view kind = r.text("kind");
    if (kind != "any") s.kind = kind;
    const std::string_view currency = r.text("currency");
    if (currency.empty() || currency == "any") return s;
    std::uint32_t product = 0;
    const auto [end, error] = std::from_chars(currency.data(), currency.data() + currency.size(), product);
    if (error != std::errc() || end != currency.data() + currency.size()) {
        return std::unexpected(api_error(error_code::invalid_params, "currency", "expected: a product's number"));
    }
    s.product = product;
    return s;
}

answer answer_instruments(const request& r, const public_state& state) {
    const auto chosen = market_selection_of(r);
    if (!chosen) return std::unexpected(chosen.error());
    const bool expired = r.flag("expired");
    std::string text;
    json_writer out(text);
    out.list([&] {
        state.markets->for_each([&](const market& m) {
            if (chosen->contains(m) && m.is_settled == expired) write_instrument(out, m, state.currency);
        });
    });
    return text;
}

answer answer_instrument(const market& m, const public_state& state) {
    std::string text;
    json_writer out(text);
    write_instrument(out, m, state.currency);
    return text;
}

answer answer_book(const request& r, const market& m) {
    const auto depth = static_cast<std::size_t>(r.integer("depth", depth_default));
    return object_text([&](json_writer& out) {
        write_ticker_members(out, m);
        out.member("change_id").number(m.last_change);
        out.member("bids");
        write_levels(out, m, domain::side::buy, depth);
        out.member("asks");
        write_levels(out, m, domain::side::sell, depth);
    });
}

answer answer_orders(const request& r, const market& m) {
    const auto depth = static_cast<std::size_t>(r.integer("depth", depth_default));
    return object_text([&](json_writer& out) {
        out.member("instrument_name").text(m.terms.name.view());
        out.member("timestamp").number(m.time_ns / 1'000'000);
        out.member("change_id").number(m.last_order_change);
        bool is_whole = write_orders(out.member("bids"), m, domain::side::buy, depth, orders_per_answer_max);
        is_whole = write_orders(out.member("asks"), m, domain::side::sell, depth, orders_per_answer_max) && is_whole;
        out.member("has_more").boolean(!is_whole);
    });
}

answer answer_ticker(const market& m) {
    return object_text([&](json_writer& out) { write_ticker_members(out, m); });
}

struct found_trade {
    const market* of;
    const tape_entry* trade;
};

/// The bounds of a request for trades; both ends included.
struct trade_bounds {
    explicit trade_bounds(const request& r) noexcept
        : first_ms(r.integer("start_timestamp", 0)),
          last_ms(r.integer("end_timestamp", std::numeric_limits<std::int64_t>::max())),
          first(static_cast<std::uint64_t>(r.integer("start_seq", 0))),
          last(static_cast<std::uint64_t>(r.integer("end_seq", std::numeric_limits<std::int64_t>::max()))) {}

    [[nodiscard]] bool contain(const tape_entry& t) const noexcept {
        const std::int64_t ms = t.time_ns / 1'000'000;
        return ms >= first_ms && ms <= last_ms && t.trade >= first && t.trade <= last;
    }

    std::int64_t first_ms;
    std::int64_t last_ms;
    std::uint64_t first;
    std::uint64_t last;
};

std::string trades_text(const request& r, std::vector<found_trade> all) {
    const bool oldest_first = r.text("sorting") == "asc";
    std::ranges::sort(all, [&](const found_trade& a, const found_trade& b) {
        const found_trade& early = oldest_first ? a : b;
        const found_trade& late = oldest_first ? b : a;
        return early.trade->time_ns != late.trade->time_ns ? early.trade->time_ns < late.trade->time_ns
                                                           : early.trade->trade < late.trade->trade;
    });
    const auto count = static_cast<std::size_t>(r.integer("count", 10));
    const bool has_more = all.size() > count;
    if (has_more) all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
    return object_text([&](json_writer& out) {
        out.member("trades").list([&] {
            for (const found_trade& each : all) write_trade(out, each.of->terms, *each.trade);
        });
        out.member("has_more").boolean(has_more);
    });
}

/// Adds the trades of an instrument that can be in the answer, and one more if there is one.
void add_trades(const request& r, const market& m, const trade_bounds& bounds, std::vector<found_trade>& all) {
    std::size_t room = static_cast<std::size_t>(r.integer("count", 10)) + 1;
    const auto add = [&](const tape_entry& each) {
        if (room == 0 || !bounds.contain(each)) return;
        all.push_back(found_trade{&m, &each});
        --room;
    };
    if (r.text("sorting") == "asc") {
        std::ranges::for_each(m.trades, add);
    } else {
        std::for_each(m.trades.rbegin(), m.trades.rend(), add);
    }
}

answer answer_currency_trades(const request& r, const public_state& state) {
    const auto chosen = market_selection_of(r);
    if (!chosen) return std::unexpected(chosen.error());
    std::vector<found_trade> all;
    const trade_bounds bounds(r);
    state.markets->for_each([&](const market& m) {
        if (chosen->contains(m)) add_trades(r, m, bounds, all);
    });
    return trades_text(r, std::move(all));
}

/// Methods with the parameter `instrument_name`.
answer answer_about_one(const request& r, const public_state& state) {
    const market* const m = state.markets->find(r.text("instrument_name"));
    if (m == nullptr) return refuse(error_code::invalid_instrument, "instrument_name");
    switch (r.method->id) {
        case method_id::get_instrument: return answer_instrument(*m, state);
        case method_id::get_order_book: return answer_book(r, *m);
        case method_id::orders_by_instrument: return answer_orders(r, *m);
        case method_id::ticker: return answer_ticker(*m);
        case method_id::last_trades_by_instrument: {
            std::vector<found_trade> all;
            add_trades(r, *m, trade_bounds(r), all);
            return trades_text(r, std::move(all));
        }
        default: CORRO_ASSERT(false, "the method is about one instrument"); return refuse(error_code::bad_request);
    }
}

}  // namespace

std::uint32_t cost_of(const request& r, const market_view& markets) noexcept {
    const market* const of =
        r.method->id == method_id::get_order_book ? markets.find(r.text("instrument_name")) : nullptr;
    if (of == nullptr) return r.method->cost;
    const auto depth = static_cast<std::size_t>(r.integer("depth", depth_default));
    return r.method->cost + levels_cost(std::min(of->levels[0].size(), depth) + std::min(of->levels[1].size(), depth));
}

std::uint32_t frame_snapshot_cost(const market_view& markets, domain::instrument_id of) noexcept {
    const market* const found = markets.find(of);
    if (found == nullptr) return request_cost;
    return request_cost + levels_cost(found->levels[0].size() + found->levels[1].size());
}

std::expected<std::string, api_error> answer_public(const request& r, const public_state& state) {
    switch (r.method->id) {
        case method_id::hello:
        case method_id::test: return answer_test(r);
        case method_id::get_time: return std::to_string(state.now_ms);
        case method_id::status: return answer_status(state);
        case method_id::latencies: return state.latencies == nullptr ? "[]" : state.latencies->text();
        default: break;
    }
    // A book that may be old is not shown.
    if (!state.is_joined) return refuse(error_code::system_maintenance);
    switch (r.method->id) {
        case method_id::get_currencies: return answer_currencies(state);
        case method_id::get_instruments: return answer_instruments(r, state);
        case method_id::last_trades_by_currency: return answer_currency_trades(r, state);
        default: return answer_about_one(r, state);
    }
}

}  // namespace corro::api
