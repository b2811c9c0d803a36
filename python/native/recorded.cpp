// SPDX-License-Identifier: Apache-2.0
#include "native/recorded.hpp"

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "native/row_frames.hpp"
#include "recorded/formats/dbn.hpp"
#include "recorded/formats/itch.hpp"
#include "recorded/formats/lobster.hpp"
#include "recorded/recorded_reader.hpp"

namespace corro::python {
namespace {

namespace dbn = recorded::dbn;
namespace itch = recorded::itch;
namespace lobster = recorded::lobster;

/// Records between two calls of `interrupted`.
constexpr std::uint64_t records_at_a_time = 1U << 16U;

/// Opens a file and gives each record to `use`.
template <class Decoder, class Use>
void read_all(const std::string& path, const interruption& interrupted, Use&& use) {
    auto reader = recorded::recorded_reader<Decoder>::open(path);
    if (!reader) throw data_error(path + ": " + reader.error().message());
    for (std::uint64_t count = 1;; ++count) {
        const auto record = reader->next();
        if (!record) throw data_error(reader->explain(record.error()));
        if (!*record) return;
        use(**record);
        if (count % records_at_a_time == 0) interrupted();
    }
}

double price_of(domain::price_nano price) noexcept {
    return price == domain::no_price_nano ? std::numeric_limits<double>::quiet_NaN() : double_of_nano(price.value);
}

/// Codes of single characters of a file, in the order of `all`; -1 for another.
std::int8_t code_of(char value, std::string_view all) noexcept {
    const std::size_t at = all.find(value);
    return at == std::string_view::npos ? std::int8_t{-1} : static_cast<std::int8_t>(at);
}

std::vector<std::string> letters(std::string_view all) {
    std::vector<std::string> made;
    for (const char each : all) made.emplace_back(1, each);
    return made;
}

template <class Values>
void add(std::vector<column>& to, std::string name, Values& values, meaning what = meaning::number) {
    to.push_back({std::move(name), what, std::move(values), {}});
}

template <class Codes>
void add(std::vector<column>& to, std::string name, Codes& codes, std::vector<std::string> categories) {
    to.push_back({std::move(name), meaning::category, std::move(codes), std::move(categories)});
}

}  // namespace

frame_pointer read_dbn(const std::string& path, std::optional<std::uint32_t> instrument,
                       const interruption& interrupted) {
    constexpr std::string_view actions = "ACMRTFN";
    constexpr std::string_view sides = "ABN";
    std::vector<std::int64_t> event_time;
    std::vector<std::int64_t> receive_time;
    std::vector<std::uint32_t> publisher_id;
    std::vector<std::uint32_t> instrument_id;
    std::vector<std::int8_t> action;
    std::vector<std::int8_t> side;
    std::vector<double> price;
    std::vector<std::int64_t> size;
    std::vector<std::uint64_t> order_id;
    std::vector<std::uint8_t> flags;
    std::vector<std::uint8_t> channel_id;
    std::vector<std::int64_t> sequence;
    read_all<dbn::decoder>(path, interrupted, [&](const dbn::record& record) {
        if (record.type != dbn::record_type::market_by_order) return;
        const dbn::market_by_order r = record.as_market_by_order();
        if (instrument && r.header.instrument_id != *instrument) return;
        event_time.push_back(r.header.event_at.value);
        receive_time.push_back(r.received_at.value);
        publisher_id.push_back(r.header.publisher_id);
        instrument_id.push_back(r.header.instrument_id);
        action.push_back(code_of(static_cast<char>(r.action), actions));
        side.push_back(code_of(static_cast<char>(r.side), sides));
        price.push_back(price_of(r.price));
        size.push_back(signed_of(r.size));
        order_id.push_back(r.order_id);
        flags.push_back(r.flags);
        channel_id.push_back(r.channel_id);
        sequence.push_back(signed_of(r.sequence));
    });
    std::vector<column> columns;
    add(columns, "event_time", event_time, meaning::time);
    add(columns, "receive_time", receive_time, meaning::time);
    add(columns, "publisher_id", publisher_id);
    add(columns, "instrument_id", instrument_id);
    add(columns, "action", action, letters(actions));
    add(columns, "side", side, letters(sides));
    add(columns, "price", price);
    add(columns, "size", size);
    add(columns, "order_id", order_id);
    add(columns, "flags", flags);
    add(columns, "channel_id", channel_id);
    add(columns, "sequence", sequence);
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer read_dbn_definitions(const std::string& path, const interruption& interrupted) {
    std::vector<std::int64_t> event_time;
    std::vector<std::uint32_t> instrument_id;
    std::vector<std::int32_t> symbol;
    std::vector<std::int32_t> instrument_class;
    std::vector<std::int32_t> asset;
    std::vector<std::int32_t> exchange;
    std::vector<std::int32_t> currency;
    std::vector<double> tick_size;
    std::vector<std::int64_t> expiration;
    std::vector<double> strike_price;
    std::vector<double> low_limit_price;
    std::vector<double> high_limit_price;
    code_book symbols;
    code_book classes;
    code_book assets;
    code_book exchanges;
    code_book currencies;
    read_all<dbn::decoder>(path, interrupted, [&](const dbn::record& record) {
        if (record.type != dbn::record_type::instrument_definition) return;
        const dbn::instrument_definition d = record.as_instrument_definition();
        const auto letter = static_cast<char>(d.instrument_class);
        event_time.push_back(d.header.event_at.value);
        instrument_id.push_back(d.header.instrument_id);
        symbol.push_back(symbols.code_of(d.raw_symbol));
        instrument_class.push_back(classes.code_of(std::string_view(&letter, 1)));
        asset.push_back(assets.code_of(d.asset));
        exchange.push_back(exchanges.code_of(d.exchange));
        currency.push_back(currencies.code_of(d.currency));
        tick_size.push_back(price_of(d.min_price_increment));
        expiration.push_back(d.expiration.value);
        strike_price.push_back(price_of(d.strike_price));
        low_limit_price.push_back(price_of(d.low_limit_price));
        high_limit_price.push_back(price_of(d.high_limit_price));
    });
    std::vector<column> columns;
    add(columns, "event_time", event_time, meaning::time);
    add(columns, "instrument_id", instrument_id);
    add(columns, "symbol", symbol, symbols.take());
    add(columns, "instrument_class", instrument_class, classes.take());
    add(columns, "asset", asset, assets.take());
    add(columns, "exchange", exchange, exchanges.take());
    add(columns, "currency", currency, currencies.take());
    add(columns, "tick_size", tick_size);
    add(columns, "expiration", expiration, meaning::time);
    add(columns, "strike_price", strike_price);
    add(columns, "low_limit_price", low_limit_price);
    add(columns, "high_limit_price", high_limit_price);
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer read_lobster(const std::string& path, const interruption& interrupted) {
    std::vector<std::int64_t> time;
    std::vector<std::int8_t> event;
    std::vector<std::uint64_t> order_id;
    std::vector<std::int64_t> size;
    std::vector<double> price;
    std::vector<std::int8_t> side;
    std::vector<std::int8_t> halt;
    read_all<lobster::message_decoder>(path, interrupted, [&](const lobster::message& m) {
        const bool is_halt = m.type == lobster::event_type::trading_halt;
        time.push_back(m.since_midnight_ns);
        event.push_back(static_cast<std::int8_t>(static_cast<int>(m.type) - 1));
        order_id.push_back(m.order_id);
        size.push_back(signed_of(m.size));
        price.push_back(price_of(m.price));
        side.push_back(is_halt ? std::int8_t{-1} : static_cast<std::int8_t>(m.side));
        halt.push_back(is_halt ? static_cast<std::int8_t>(static_cast<int>(m.halt) + 1) : std::int8_t{-1});
    });
    std::vector<column> columns;
    add(columns, "time", time, meaning::duration);
    add(columns, "event", event,
        {"new_order", "partial_cancel", "deletion", "visible_execution", "hidden_execution", "cross_trade",
         "trading_halt"});
    add(columns, "order_id", order_id);
    add(columns, "size", size);
    add(columns, "price", price);
    add(columns, "side", side, side_names());
    add(columns, "halt", halt, {"halted", "quoting_resumes", "trading_resumes"});
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer read_lobster_book(const std::string& path, const interruption& interrupted) {
    struct side_columns {
        std::vector<double> price;
        std::vector<std::int64_t> size;
        void push(const lobster::quote& q) {
            price.push_back(price_of(q.price));
            size.push_back(signed_of(q.size));
        }
    };
    struct level_columns {
        side_columns ask;
        side_columns bid;
    };
    std::vector<level_columns> levels;
    read_all<lobster::book_decoder>(path, interrupted, [&](const lobster::book& book) {
        if (levels.empty()) levels.resize(book.levels.size());
        for (std::size_t i = 0; i < levels.size(); ++i) {
            levels[i].ask.push(book.levels[i].ask);
            levels[i].bid.push(book.levels[i].bid);
        }
    });
    std::vector<column> columns;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        add(columns, "ask_price_" + number, levels[i].ask.price);
        add(columns, "ask_size_" + number, levels[i].ask.size);
        add(columns, "bid_price_" + number, levels[i].bid.price);
        add(columns, "bid_size_" + number, levels[i].bid.size);
    }
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer read_itch(const std::string& path, const std::string& stock, const interruption& interrupted) {
    enum : std::int8_t { added, executed, cancelled, deleted, replaced, traded, crossed, broken };
    std::vector<std::int64_t> time;
    std::vector<std::int8_t> event;
    std::vector<std::int32_t> symbol;
    std::vector<std::uint64_t> order_id;
    std::vector<std::uint64_t> new_order_id;
    std::vector<std::int8_t> side;
    std::vector<std::int64_t> shares;
    std::vector<double> price;
    std::vector<std::uint64_t> match;
    code_book symbols;
    std::vector<std::int32_t> code_of_locate(65'536, -1);  // the number of a stock for the day, to its code
    const auto push = [&](const itch::message_header& h, std::int8_t what, std::uint64_t order, std::uint64_t count) {
        time.push_back(h.since_midnight_ns);
        event.push_back(what);
        symbol.push_back(code_of_locate[h.stock_locate]);
        order_id.push_back(order);
        new_order_id.push_back(0);
        side.push_back(-1);
        shares.push_back(signed_of(count));
        price.push_back(std::numeric_limits<double>::quiet_NaN());
        match.push_back(0);
    };
    const std::int32_t wanted = stock.empty() ? -1 : symbols.code_of(stock);
    const auto is_wanted = [&](const itch::message_header& h, std::string_view name = {}) {
        if (!name.empty() && code_of_locate[h.stock_locate] < 0) code_of_locate[h.stock_locate] = symbols.code_of(name);
        return wanted < 0 || code_of_locate[h.stock_locate] == wanted;
    };
    read_all<itch::decoder>(path, interrupted, [&](const itch::message& m) {
        switch (m.type) {
            case itch::message_type::stock_directory: {
                const itch::stock_directory d = m.as_stock_directory();
                if (wanted < 0 || d.stock == stock) code_of_locate[d.header.stock_locate] = symbols.code_of(d.stock);
                break;
            }
            case itch::message_type::add_order:
            case itch::message_type::add_order_attributed: {
                const itch::add_order o = m.as_add_order();
                if (wanted >= 0 && o.stock != stock) break;
                if (!is_wanted(o.header, o.stock)) break;
                push(o.header, added, o.order_reference, o.shares);
                side.back() = static_cast<std::int8_t>(o.side);
                price.back() = price_of(o.price);
                break;
            }
            case itch::message_type::order_executed:
            case itch::message_type::order_executed_with_price: {
                const itch::order_executed e = m.as_order_executed();
                if (!is_wanted(e.header)) break;
                push(e.header, executed, e.order_reference, e.shares);
                price.back() = price_of(e.price);
                match.back() = e.match_number;
                break;
            }
            case itch::message_type::order_cancel: {
                const itch::order_cancel c = m.as_order_cancel();
                if (is_wanted(c.header)) push(c.header, cancelled, c.order_reference, c.shares);
                break;
            }
            case itch::message_type::order_delete: {
                const itch::order_delete d = m.as_order_delete();
                if (is_wanted(d.header)) push(d.header, deleted, d.order_reference, 0);
                break;
            }
            case itch::message_type::order_replace: {
                const itch::order_replace r = m.as_order_replace();
                if (!is_wanted(r.header)) break;
                push(r.header, replaced, r.order_reference, r.shares);
                new_order_id.back() = r.new_order_reference;
                price.back() = price_of(r.price);
                break;
            }
            case itch::message_type::trade: {
                const itch::trade t = m.as_trade();
                if (wanted >= 0 && t.stock != stock) break;
                if (!is_wanted(t.header, t.stock)) break;
                push(t.header, traded, 0, t.shares);
                side.back() = static_cast<std::int8_t>(t.side);
                price.back() = price_of(t.price);
                match.back() = t.match_number;
                break;
            }
            case itch::message_type::cross_trade: {
                const itch::cross_trade t = m.as_cross_trade();
                if (wanted >= 0 && t.stock != stock) break;
                if (!is_wanted(t.header, t.stock)) break;
                push(t.header, crossed, 0, t.shares);
                price.back() = price_of(t.price);
                match.back() = t.match_number;
                break;
            }
            case itch::message_type::broken_trade: {
                const itch::broken_trade t = m.as_broken_trade();
                if (!is_wanted(t.header)) break;
                push(t.header, broken, 0, 0);
                match.back() = t.match_number;
                break;
            }
            case itch::message_type::system_event:
            case itch::message_type::trading_action: break;
        }
    });
    if (wanted >= 0 && time.empty()) {
        throw argument_error(path + ": has no message about the stock \"" + stock + "\"");
    }
    std::vector<column> columns;
    add(columns, "time", time, meaning::duration);
    add(columns, "event", event,
        {"added", "executed", "cancelled", "deleted", "replaced", "traded", "crossed", "broken"});
    add(columns, "stock", symbol, symbols.take());
    add(columns, "order_id", order_id);
    add(columns, "new_order_id", new_order_id);
    add(columns, "side", side, side_names());
    add(columns, "shares", shares);
    add(columns, "price", price);
    add(columns, "match", match);
    return std::make_shared<frame>(std::move(columns));
}

}  // namespace corro::python
