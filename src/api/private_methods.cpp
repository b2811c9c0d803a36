// SPDX-License-Identifier: Apache-2.0
#include "api/private_methods.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "api/operator_methods.hpp"
#include "api/private_text.hpp"
#include "base/assert.hpp"
#include "wire/binary_codec.hpp"

namespace corro::api {
namespace {

using answer = std::expected<std::string, api_error>;

std::optional<domain::order_id> order_id_of(const request& r) {
    const std::string_view text = r.text("order_id");
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size() || id == 0) return std::nullopt;
    return domain::order_id{id};
}

/// Which instruments a request is about.
struct selection {
    std::optional<std::uint32_t> instrument;
    std::optional<std::uint32_t> product;

    [[nodiscard]] bool contains(const domain::instrument& in) const noexcept {
        return (!instrument || in.id.value == *instrument) && (!product || in.product.value == *product);
    }
};

// Of `instrument_name`. An instrument that is missing while the feeds are not connected may be there soon.
api_error unknown_instrument(const private_caller& by) {
    return by.is_joined ? api_error(error_code::invalid_instrument, "instrument_name", "unknown_instrument")
                        : api_error(error_code::system_maintenance);
}

std::expected<selection, api_error> selection_of(const request& r, const private_caller& by) {
    selection s;
    if (const std::string_view name = r.text("instrument_name"); !name.empty()) {
        const market* const found = by.markets->find(name);
        if (found == nullptr) return std::unexpected(unknown_instrument(by));
        s.instrument = found->terms.id.value;
    }
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

std::string order_text(const account& of, const own_order& order) {
    std::string text;
    json_writer out(text);
    const domain::instrument* const in = of.find(order.instrument);
    write_order(out, order, in == nullptr ? domain::instrument() : *in);
    return text;
}

/// {"order": ..., "trades": [...]}
std::string order_and_trades(const account& of, const outcome& result) {
    std::string text;
    json_writer out(text);
    out.object([&] {
        const own_order* const order = of.orders().find(result.order);
        out.member("order");
        if (order == nullptr) {
            out.null();
        } else {
            out.raw(order_text(of, *order));
        }
        out.member("trades").list([&] {
            for (const own_trade& each : result.trades) {
                const domain::instrument* const in = of.find(each.instrument);
                if (in != nullptr) write_own_trade(out, each, *in);
            }
        });
    });
    return text;
}

std::expected<domain::price_ticks, api_error> price_of_text(std::string_view text, const domain::instrument& in) {
    const std::optional<std::int64_t> nano = scaled_integer(text, 9);
    const auto ticks =
        nano ? domain::to_ticks(in, domain::price_nano{*nano})
             : domain::conversion<domain::price_ticks>{.value = {}, .reason = domain::reject_reason::price_off_tick};
    if (ticks.reason == domain::reject_reason::none) return ticks.value;
    api_error error = error_of(ticks.reason);
    error.param = "price";
    return std::unexpected(std::move(error));
}

std::expected<domain::quantity_lots, api_error> lots_of_text(std::string_view text, std::string_view name,
                                                             const domain::instrument& in) {
    const std::optional<std::int64_t> units = scaled_integer(text, 0);
    const auto lots = units ? domain::to_lots(in, *units)
                            : domain::conversion<domain::quantity_lots>{
                                  .value = {}, .reason = domain::reject_reason::invalid_quantity};
    if (lots.reason == domain::reject_reason::none) return lots.value;
    api_error error = error_of(lots.reason);
    error.param = name;
    return std::unexpected(std::move(error));
}

std::expected<domain::price_ticks, api_error> price_of_param(const request& r, const domain::instrument& in) {
    return price_of_text(r.text("price"), in);
}

std::expected<domain::quantity_lots, api_error> lots_of_param(const request& r, std::string_view name,
                                                              const domain::instrument& in) {
    return lots_of_text(r.text(name), name, in);
}

/// A new order, and what its client order id contains.
struct new_order {
    domain::command command;
    order_mark mark;
};

std::expected<new_order, api_error> order_of(const request& r, const domain::instrument& in, domain::side side,
                                             bool stays) {
    new_order made;
    domain::command& c = made.command;
    c.kind = domain::command_kind::enter_order;
    c.instrument = in.id;
    domain::enter_order& order = c.enter_order();
    c.order_terms().side = side;
    const auto lots = lots_of_param(r, "amount", in);
    if (!lots) return std::unexpected(lots.error());
    order.quantity = *lots;
    const std::string_view type = r.text("type");
    const bool is_market = type == "market";
    const bool needs_price = !is_market && type != "market_limit";
    if (is_market) c.order_terms().type = domain::order_type::market;
    if (type == "market_limit") c.order_terms().type = domain::order_type::market_to_limit;
    if (needs_price) {
        if (r.text("price").empty())
            return std::unexpected(api_error(error_code::invalid_params, "price", "is missing"));
        const auto price = price_of_param(r, in);
        if (!price) return std::unexpected(price.error());
        order.price = *price;
    }
    const std::string_view lasts = r.text("time_in_force");
    made.mark.lasts = is_market ? domain::time_in_force::ioc : domain::time_in_force::gtc;
    if (!lasts.empty()) made.mark.lasts = *lasting_of(lasts);
    c.order_terms().time_in_force = made.mark.lasts;
    if (!r.text("max_show").empty()) {
        const auto shown = lots_of_param(r, "max_show", in);
        if (!shown) return std::unexpected(shown.error());
        if (shown->value < lots->value) order.display_quantity = *shown;
    }
    made.mark.post_only = r.flag("post_only");
    if (made.mark.post_only) {
        order.flags |= domain::order_flag::post_only;
        if (!r.flag("reject_post_only")) order.flags |= domain::order_flag::reprice;
    }
    if (r.flag("reduce_only")) {
        return std::unexpected(api_error(error_code::unsupported_arg_combination, "reduce_only", "is not supported"));
    }
    // Only an order that may rest can stay.
    if (stays && domain::is_lasting(made.mark.lasts)) order.flags |= domain::order_flag::stays;
    const std::string_view label = r.text("label");
    if (label.size() > label_bytes_max) {
        return std::unexpected(api_error(error_code::invalid_params, "label", "expected: at most 64 bytes"));
    }
    made.mark.label = label_value(label);
    return made;
}

io::task<answer> enter(const request* r, account* of, const private_caller* by, domain::side side) {
    const market* const m = by->markets->find(r->text("instrument_name"));
    if (m == nullptr) co_return std::unexpected(unknown_instrument(*by));
    const domain::instrument in = m->terms;
    const auto order = order_of(*r, in, side, !by->cancels_on_disconnect);
    if (!order) co_return std::unexpected(order.error());
    const outcome result = co_await of->enter(order->command, order->mark);
    if (by->cancels_on_disconnect && by->entered != nullptr && result.order.value != 0) {
        by->entered->push_back(result.order);
    }
    if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    co_return order_and_trades(*of, result);
}

io::task<answer> edit(const request* r, account* of) {
    const auto id = order_id_of(*r);
    if (!id) co_return refuse(error_code::invalid_order_id, "order_id");
    const own_order* const order = of->orders().find(*id);
    if (order == nullptr) co_return refuse(error_code::order_not_found, "order_id");
    const domain::instrument* const in = of->find(order->instrument);
    if (in == nullptr) co_return refuse(error_code::order_not_found, "order_id");
    // The amount of an edit contains what the order has traded.
    if (order->misses_fills) {
        co_return refuse(error_code::unavailable, "order_id",
                         "what the order has traded is not known: cancel it, and enter another one");
    }
    domain::command c;
    c.kind = domain::command_kind::amend_order;
    c.payload.amend_order = domain::amend_order();
    c.instrument = order->instrument;
    c.amend_order().order = *id;
    c.amend_order().price = order->price;
    const auto lots = lots_of_param(*r, "amount", *in);
    if (!lots) co_return std::unexpected(lots.error());
    c.amend_order().quantity = *lots;
    if (!r->text("price").empty()) {
        const auto price = price_of_param(*r, *in);
        if (!price) co_return std::unexpected(price.error());
        c.amend_order().price = *price;
    }
    outcome result = co_await of->request(c);
    if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    result.order = *id;
    co_return order_and_trades(*of, result);
}

domain::command cancel_of(const own_order& order) {
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.payload.cancel_order = domain::cancel_order();
    c.instrument = order.instrument;
    c.cancel_order().order = order.id;
    return c;
}

io::task<answer> cancel(const request* r, account* of) {
    const auto id = order_id_of(*r);
    if (!id) co_return refuse(error_code::invalid_order_id, "order_id");
    const own_order* const order = of->orders().find(*id);
    if (order == nullptr) co_return refuse(error_code::order_not_found, "order_id");
    const outcome result = co_await of->request(cancel_of(*order));
    if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    const own_order* const now = of->orders().find(*id);
    if (now == nullptr) co_return refuse(error_code::order_not_found, "order_id");
    co_return order_text(*of, *now);
}

/// All open orders of the session, or those of an instrument or a product.
io::task<answer> cancel_many(const request* r, account* of, const private_caller* by) {
    const auto chosen = selection_of(*r, *by);
    if (!chosen) co_return std::unexpected(chosen.error());
    domain::command c;
    c.kind = domain::command_kind::cancel_orders;
    c.payload.cancel_orders = domain::cancel_orders();
    c.cancel_orders().scope = domain::cancel_scope::session;
    c.cancel_orders().flags = domain::cancel_flag::quotes_too;
    if (r->method->id == method_id::cancel_quotes) c.cancel_orders().flags |= domain::cancel_flag::quotes_only;
    if (chosen->instrument) c.instrument = domain::instrument_id{*chosen->instrument};
    if (chosen->product) c.cancel_orders().product = domain::product_id{*chosen->product};
    const outcome result = co_await of->request(c);
    const bool is_nothing =
        result.what == outcome::kind::refused && result.reason == domain::reject_reason::nothing_to_cancel;
    if (is_nothing) co_return "0";
    if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    co_return std::to_string(result.cancelled_count);
}

io::task<answer> cancel_by_label(const request* r, account* of, const private_caller* by) {
    const auto chosen = selection_of(*r, *by);
    if (!chosen) co_return std::unexpected(chosen.error());
    // A label, or what the API answers in place of a long one.
    const std::uint64_t label = label_value(r->text("label"));
    const std::optional<std::uint64_t> long_label = long_label_value(r->text("label"));
    std::vector<domain::order_id> ids;
    of->orders().for_each_open([&](const own_order& each) {
        const domain::instrument* const in = of->find(each.instrument);
        const std::uint64_t has = each.mark().label;
        const bool is_one = has == label || has == long_label;
        if (is_one && in != nullptr && chosen->contains(*in)) ids.push_back(each.id);
    });
    std::uint32_t count = 0;
    for (const domain::order_id id : ids) {
        const own_order* const order = of->orders().find(id);
        if (order == nullptr || order->state != own_state::open) continue;
        const outcome result = co_await of->request(cancel_of(*order));
        if (result.what == outcome::kind::done) ++count;
        const bool ends_here = result.what == outcome::kind::unavailable || result.what == outcome::kind::not_taken ||
                               result.what == outcome::kind::timed_out;
        if (ends_here) {
            co_return std::unexpected(*problem_of(result));
        }
    }
    co_return std::to_string(count);
}

/// A side of a quote; one that is missing has no lots, and the quote withdraws it.
struct quote_side {
    domain::price_ticks price{};
    domain::quantity_lots lots{};
};

std::expected<quote_side, api_error> side_of(const json_value& quote, std::string_view name,
                                             const domain::instrument& in) {
    const json_value* const side = quote.find(name);
    if (side == nullptr || side->kind == json_kind::null) return quote_side();
    const auto refused = [name](std::string why) {
        return std::unexpected(api_error(error_code::invalid_params, std::string(name), std::move(why)));
    };
    if (side->kind != json_kind::object) return refused("expected: an object");
    const json_value* const price = side->find("price");
    const json_value* const amount = side->find("amount");
    const bool has_amount = amount != nullptr && amount->kind == json_kind::number;
    if (!has_amount) return refused("amount: expected: a number");
    if (scaled_integer(amount->text, 9) == 0) return quote_side();
    if (price == nullptr || price->kind != json_kind::number) return refused("price: expected: a number");
    quote_side made;
    const auto lots = lots_of_text(amount->text, name, in);
    if (!lots) return std::unexpected(lots.error());
    made.lots = *lots;
    const auto ticks = price_of_text(price->text, in);
    if (!ticks) return std::unexpected(ticks.error());
    made.price = *ticks;
    return made;
}

std::expected<domain::command, api_error> quote_of(const json_value& quote, const private_caller& by) {
    const json_value* const name = quote.find("instrument_name");
    if (name == nullptr || name->kind != json_kind::text) {
        return std::unexpected(api_error(error_code::invalid_params, "instrument_name", "is missing"));
    }
    const market* const m = by.markets->find(name->text);
    if (m == nullptr) return std::unexpected(unknown_instrument(by));
    const auto bid = side_of(quote, "bid", m->terms);
    if (!bid) return std::unexpected(bid.error());
    const auto ask = side_of(quote, "ask", m->terms);
    if (!ask) return std::unexpected(ask.error());
    domain::command c;
    c.kind = domain::command_kind::enter_quote;
    c.payload.enter_quote = domain::enter_quote();
    c.instrument = m->terms.id;
    c.enter_quote().bid_price = bid->price;
    c.enter_quote().bid_quantity = bid->lots;
    c.enter_quote().ask_price = ask->price;
    c.enter_quote().ask_quantity = ask->lots;
    return c;
}

/// A quote that was not sent.
struct bad_quote {
    std::string instrument_name;
    api_error error;
};

void write_quote_error(json_writer& out, std::string_view instrument_name, const api_error& error) {
    out.object([&] {
        out.member("instrument_name").text(instrument_name);
        out.member("code").number(std::int64_t{static_cast<std::int32_t>(error.code)});
        out.member("message").text(describe(error.code).message);
        out.member("reason").text(error.reason);
    });
}

/// {"success_count": ..., "quotes": [...], "errors": [...], "trades": [...]}
std::string quotes_text(const account& of, const outcome& result, const std::vector<bad_quote>& not_sent) {
    const auto for_each_that = [&](bool stands, auto write) {
        for (const quote_result& each : result.quotes) {
            const domain::instrument* const in = of.find(each.instrument);
            const bool is_one = in != nullptr && (each.reason == domain::reject_reason::none) == stands;
            if (is_one) write(each, *in);
        }
    };
    const auto count = std::ranges::count(result.quotes, domain::reject_reason::none, &quote_result::reason);
    std::string text;
    json_writer out(text);
    out.object([&] {
        out.member("success_count").number(std::int64_t{count});
        out.member("quotes").list([&] {
            for_each_that(true, [&](const quote_result& each, const domain::instrument& in) {
                out.object([&] {
                    out.member("instrument_name").text(in.name.view());
                    out.member("bid_amount").number(amount_of(in, each.bid_lots));
                    out.member("ask_amount").number(amount_of(in, each.ask_lots));
                });
            });
        });
        out.member("errors").list([&] {
            for (const bad_quote& each : not_sent) write_quote_error(out, each.instrument_name, each.error);
            for_each_that(false, [&](const quote_result& each, const domain::instrument& in) {
                write_quote_error(out, in.name.view(), error_of(each.reason));
            });
        });
        out.member("trades").list([&] {
            for (const own_trade& each : result.trades) {
                const domain::instrument* const in = of.find(each.instrument);
                if (in != nullptr) write_own_trade(out, each, *in);
            }
        });
    });
    return text;
}

io::task<answer> mass_quote(const request* r, account* of, const private_caller* by) {
    const std::vector<json_value>& given = r->params.find("quotes")->items;
    if (given.empty() || given.size() > wire::mass_quote_max) {
        co_return refuse(error_code::invalid_params, "quotes", "expected: 1 to 6");
    }
    std::vector<domain::command> quotes;
    std::vector<bad_quote> not_sent;
    std::vector<std::string_view> names;
    for (const json_value& each : given) {
        auto made = quote_of(each, *by);
        // A quote that cannot be read, or a moment at which no instrument is known, is of the whole request.
        const bool is_of_all = !made && (made.error().code == error_code::invalid_params ||
                                         made.error().code == error_code::system_maintenance);
        if (is_of_all) co_return std::unexpected(std::move(made.error()));
        const std::string_view name = each.find("instrument_name")->text;
        if (std::ranges::find(names, name) != names.end()) {
            co_return refuse(error_code::invalid_params, "quotes", "an instrument occurs twice");
        }
        names.push_back(name);
        if (made) {
            quotes.push_back(*made);
        } else {
            not_sent.push_back(bad_quote{std::string(name), std::move(made.error())});
        }
    }
    const std::string_view label = r->text("quote_id");
    if (label.size() > label_bytes_max) {
        co_return refuse(error_code::invalid_params, "quote_id", "expected: at most 64 bytes");
    }
    order_mark mark;
    mark.label = label_value(label);
    if (by->cancels_on_disconnect && by->quoted != nullptr) {
        for (const domain::command& each : quotes) {
            if (std::ranges::find(*by->quoted, each.instrument) == by->quoted->end()) {
                by->quoted->push_back(each.instrument);
            }
        }
    }
    outcome result;
    if (!quotes.empty()) {
        result = co_await of->quote(std::move(quotes), mark);
        if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    }
    co_return quotes_text(*of, result, not_sent);
}

/// Sets the limits of the account's quotes, or lets it quote again.
io::task<answer> change_protection(const request* r, account* of) {
    domain::command c;
    if (r->method->id == method_id::reset_mmp) {
        c.kind = domain::command_kind::reset_protection;
        c.payload.set_protection = domain::set_protection();
    } else {
        c.kind = domain::command_kind::set_protection;
        c.payload.set_protection = domain::set_protection();
        c.set_protection().window_ms = static_cast<std::uint32_t>(r->integer("interval", 1) * 1'000);
        c.set_protection().fills_max = static_cast<std::uint32_t>(r->integer("fills_limit", 0));
        c.set_protection().quantity_max =
            domain::quantity_lots{static_cast<std::uint32_t>(r->integer("quantity_limit", 0))};
    }
    const outcome result = co_await of->request(c);
    if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    co_return "\"ok\"";
}

/// Nothing if all answers of the key's session are known.
std::optional<api_error> missing_answers(const account& of) {
    if (!of.is_incomplete()) return std::nullopt;
    return api_error(error_code::unavailable, {},
                     "the venue keeps earlier answers of the session no longer (order_entry.session_answers_kept)");
}

answer protection(const account& of) {
    if (of.orders().protection() == nullptr) {
        if (auto problem = missing_answers(of)) return std::unexpected(std::move(*problem));
    }
    std::string text;
    json_writer out(text);
    if (of.orders().protection() == nullptr) {
        out.null();
    } else {
        write_protection(out, *of.orders().protection());
    }
    return text;
}

answer open_orders(const request& r, const account& of, const private_caller& by) {
    const auto chosen = selection_of(r, by);
    if (!chosen) return std::unexpected(chosen.error());
    std::string text;
    json_writer out(text);
    std::size_t count = 0;
    out.list([&] {
        of.orders().for_each_open([&](const own_order& each) {
            const domain::instrument* const in = of.find(each.instrument);
            if (in == nullptr || !chosen->contains(*in) || ++count > open_orders_per_answer_max) return;
            write_order(out, each, *in);
        });
    });
    return text;
}

answer order_state(const request& r, const account& of) {
    const auto id = order_id_of(r);
    if (!id) return refuse(error_code::invalid_order_id, "order_id");
    const own_order* const order = of.orders().find(*id);
    if (order == nullptr) return refuse(error_code::order_not_found, "order_id");
    return order_text(of, *order);
}

answer own_trades(const request& r, const account& of, const private_caller& by) {
    const auto chosen = selection_of(r, by);
    if (!chosen) return std::unexpected(chosen.error());
    std::optional<domain::order_id> only;
    if (r.method->id == method_id::user_trades_by_order) {
        only = order_id_of(r);
        if (!only) return refuse(error_code::invalid_order_id, "order_id");
    }
    const std::int64_t first_ms = r.integer("start_timestamp", 0);
    const std::int64_t last_ms = r.integer("end_timestamp", std::numeric_limits<std::int64_t>::max());
    std::vector<const own_trade*> found;
    for (const own_trade& each : of.orders().trades()) {
        const std::int64_t ms = each.time_ns / 1'000'000;
        const domain::instrument* const in = of.find(each.instrument);
        const bool fits = in != nullptr && chosen->contains(*in) && (!only || each.order == *only);
        if (fits && ms >= first_ms && ms <= last_ms) found.push_back(&each);
    }
    if (r.text("sorting") != "asc") std::ranges::reverse(found);
    const auto count = static_cast<std::size_t>(r.integer("count", 10));
    const bool has_more = found.size() > count;
    if (has_more) found.resize(count);
    std::string text;
    json_writer out(text);
    const auto write_all = [&] {
        out.list([&] {
            for (const own_trade* each : found) write_own_trade(out, *each, *of.find(each->instrument));
        });
    };
    if (only) {
        write_all();
        return text;
    }
    out.object([&] {
        out.member("trades");
        write_all();
        out.member("has_more").boolean(has_more);
    });
    return text;
}

answer positions(const request& r, const account& of, const private_caller& by) {
    const auto chosen = selection_of(r, by);
    if (!chosen) return std::unexpected(chosen.error());
    if (auto problem = missing_answers(of)) return std::unexpected(std::move(*problem));
    std::string text;
    json_writer out(text);
    out.list([&] {
        for (const auto& [id, each] : of.orders().positions()) {
            const domain::instrument* const in = of.find(domain::instrument_id{id});
            if (in != nullptr && chosen->contains(*in)) write_position(out, each, *in);
        }
    });
    return text;
}

answer position(const request& r, const account& of, const private_caller& by) {
    const market* const m = by.markets->find(r.text("instrument_name"));
    if (m == nullptr) return std::unexpected(unknown_instrument(by));
    if (auto problem = missing_answers(of)) return std::unexpected(std::move(*problem));
    const auto found = of.orders().positions().find(m->terms.id.value);
    std::string text;
    json_writer out(text);
    write_position(out, found == of.orders().positions().end() ? own_position() : found->second, m->terms);
    return text;
}

}  // namespace

std::optional<api_error> problem_of(const outcome& result) {
    switch (result.what) {
        case outcome::kind::done: return std::nullopt;
        case outcome::kind::refused: return error_of(result.reason);
        case outcome::kind::unavailable: return api_error(error_code::retry, {}, "the request was not sent");
        case outcome::kind::not_taken:
            return api_error(
                error_code::retry, {},
                std::string("the venue did not take the request: ").append(wire::to_string(result.not_taken_because)));
        case outcome::kind::timed_out: break;
    }
    return api_error(error_code::timed_out, {}, "the venue has not answered; ask for the order's state");
}

std::expected<authenticated, api_error> answer_auth(const request& r, authentication& keys, std::int64_t now_ms,
                                                    io::steady_time now) {
    const std::string_view grant = r.text("grant_type");
    token_pair tokens;
    if (grant == "refresh_token") {
        auto again = keys.refresh(r.text("refresh_token"), now);
        if (!again) return std::unexpected(api_error(error_code::invalid_token));
        tokens = std::move(*again);
    } else {
        account* of = nullptr;
        if (grant == "client_credentials") {
            of = keys.by_secret(r.text("client_id"), r.text("client_secret"));
        } else {
            signed_credentials with;
            with.client_id = r.text("client_id");
            with.timestamp = r.text("timestamp");
            with.nonce = r.text("nonce");
            with.data = r.text("data");
            with.signature = r.text("signature");
            const auto signed_by = keys.by_signature(with, now_ms);
            if (!signed_by) return std::unexpected(signed_by.error());
            of = *signed_by;
        }
        if (of == nullptr) return std::unexpected(api_error(error_code::invalid_credentials));
        tokens = keys.issue(*of, now);
    }
    authenticated done;
    done.of = tokens.of;
    json_writer out(done.result);
    out.object([&] {
        out.member("access_token").text(tokens.access);
        out.member("expires_in").number(std::int64_t{access_token_life.count()});
        out.member("refresh_token").text(tokens.refresh);
        out.member("scope").text("trade:read_write account:read");
        out.member("token_type").text("bearer");
    });
    return done;
}

io::task<std::expected<std::string, api_error>> answer_private(const request* r, account* of,
                                                               const private_caller* by) {
    if (!of->has_logged_on()) co_return refuse(error_code::system_maintenance);
    if (is_for_operators(r->method->id)) co_return co_await answer_operator(r, of, by);
    switch (r->method->id) {
        case method_id::buy: co_return co_await enter(r, of, by, domain::side::buy);
        case method_id::sell: co_return co_await enter(r, of, by, domain::side::sell);
        case method_id::edit: co_return co_await edit(r, of);
        case method_id::cancel: co_return co_await cancel(r, of);
        case method_id::cancel_all:
        case method_id::cancel_all_by_instrument:
        case method_id::cancel_quotes:
        case method_id::cancel_all_by_currency: co_return co_await cancel_many(r, of, by);
        case method_id::cancel_by_label: co_return co_await cancel_by_label(r, of, by);
        case method_id::open_orders:
        case method_id::open_orders_by_instrument:
        case method_id::open_orders_by_currency: co_return open_orders(*r, *of, *by);
        case method_id::mass_quote: co_return co_await mass_quote(r, of, by);
        case method_id::set_mmp_config:
        case method_id::reset_mmp: co_return co_await change_protection(r, of);
        case method_id::get_mmp_config: co_return protection(*of);
        case method_id::order_state: co_return order_state(*r, *of);
        case method_id::user_trades_by_instrument:
        case method_id::user_trades_by_currency:
        case method_id::user_trades_by_order: co_return own_trades(*r, *of, *by);
        case method_id::positions: co_return positions(*r, *of, *by);
        case method_id::position: co_return position(*r, *of, *by);
        default:
            CORRO_ASSERT(false, "the method must be one of an account's");
            co_return refuse(error_code::bad_request);
    }
}

}  // namespace corro::api
