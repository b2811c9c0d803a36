// SPDX-License-Identifier: Apache-2.0
// Test helper: a venue of three expiries and their spreads with implied matching, helpers to trade there, and the
// implied prices that its feed has published.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"

namespace corro::facility::testing {

/// Books in the order of the configuration. `spread` is March less June, `long_spread` March less September,
/// `late_spread` June less September, with its legs the other way round in the definition.
enum class implied_book : std::uint8_t { march, june, september, spread, long_spread, late_spread };

class implied_venue {
 public:
    static constexpr std::int64_t tick_nano = 10;
    static constexpr std::size_t books_count = 6;

    implied_venue() {
        for (std::uint32_t i = 0; i < books_count; ++i) {
            domain::instrument made = wide_instrument(11 + i);
            made.product = domain::product_id{1};
            made.tick_size = domain::price_nano{tick_nano};
            instruments_.push_back(made);
        }
        make_spread(implied_book::spread, implied_book::march, domain::side::buy, implied_book::june);
        make_spread(implied_book::long_spread, implied_book::march, domain::side::buy, implied_book::september);
        make_spread(implied_book::late_spread, implied_book::september, domain::side::sell, implied_book::june);
        rebuild();
    }
    void rebuild() {
        venue_ = std::make_unique<facility>(options(), instruments_, recorder_);
        said_.clear();
        sequence_ = 0;
    }
    [[nodiscard]] static facility_options options() {
        return {.orders_max = 4096, .accounts_max = 16, .positions_max = 256};
    }
    [[nodiscard]] std::vector<domain::instrument>& instruments() { return instruments_; }
    [[nodiscard]] facility& venue() { return *venue_; }
    [[nodiscard]] static domain::instrument_id id_of(implied_book book) {
        return domain::instrument_id{11 + static_cast<std::uint32_t>(book)};
    }

    std::vector<domain::event> apply(domain::command c) {
        c.sequence = domain::sequence_number{++sequence_};
        recorder_.events.clear();
        venue_->apply(c);
        for (const domain::event& e : recorder_.events) {
            if (e.kind == domain::event_kind::implied_top) said_[e.instrument.value] = e.top;
        }
        return recorder_.events;
    }
    [[nodiscard]] static domain::command order(std::uint32_t account, domain::side side, implied_book book,
                                               std::int64_t price, std::uint32_t quantity) {
        domain::command c = limit(account, side, price, quantity);
        c.instrument = id_of(book);
        return c;
    }
    std::vector<domain::event> enter(std::uint32_t account, domain::side side, implied_book book, std::int64_t price,
                                     std::uint32_t quantity) {
        return apply(order(account, side, book, price, quantity));
    }
    std::vector<domain::event> amend(std::uint32_t account, domain::order_id order, std::int64_t price,
                                     std::uint32_t total) {
        domain::command c = limit(account, domain::side::buy, price, total);
        c.kind = domain::command_kind::amend_order;
        c.amend_order().order = order;
        return apply(c);
    }
    std::vector<domain::event> quote(std::uint32_t account, implied_book book, std::int64_t bid, std::uint32_t bid_lots,
                                     std::int64_t ask, std::uint32_t ask_lots) {
        domain::command c = order(account, domain::side::buy, book, bid, bid_lots);
        c.kind = domain::command_kind::enter_quote;
        c.enter_quote().ask_price = domain::price_ticks{ask};
        c.enter_quote().ask_quantity = domain::quantity_lots{ask_lots};
        return apply(c);
    }
    std::vector<domain::event> cancel_all(std::uint32_t account, implied_book book) {
        domain::command c;
        c.kind = domain::command_kind::cancel_orders;
        c.account = domain::account_id{account};
        c.session = domain::session_id{account + 100};
        c.instrument = id_of(book);
        return apply(c);
    }
    std::vector<domain::event> change_phase(implied_book book, domain::trading_phase phase) {
        domain::command c;
        c.kind = domain::command_kind::change_phase;
        c.set_operator(true);
        c.instrument = id_of(book);
        c.change_phase().phase = phase;
        return apply(c);
    }

    [[nodiscard]] const std::vector<domain::event>& last() const { return recorder_.events; }
    [[nodiscard]] domain::top top(implied_book book) const { return venue_->top_of(id_of(book)); }
    [[nodiscard]] std::int64_t position(std::uint32_t account, implied_book book) const {
        return venue_->position_of(domain::account_id{account}, id_of(book));
    }
    /// The implied prices of a book as the feed has last published them: bid, offer.
    [[nodiscard]] std::string said_of(implied_book book) const {
        const auto found = said_.find(id_of(book).value);
        if (found == said_.end()) return "nothing";
        const auto text = [](domain::price_ticks price, domain::volume_lots quantity) {
            if (price == domain::no_price) return std::string("-");
            return std::to_string(price.value) + " x " + std::to_string(quantity.value);
        };
        const domain::top& t = found->second;
        return text(t.bid_price, t.bid_quantity) + " | " + text(t.ask_price, t.ask_quantity);
    }
    [[nodiscard]] const std::map<std::uint32_t, domain::top>& said() const { return said_; }

    [[nodiscard]] static std::vector<std::string> names(const std::vector<domain::event>& events) {
        std::vector<std::string> made;
        for (const domain::event& e : events) made.emplace_back(name_of(e.kind));
        return made;
    }
    [[nodiscard]] static std::vector<domain::event> find(const std::vector<domain::event>& events,
                                                         domain::event_kind kind) {
        std::vector<domain::event> made;
        for (const domain::event& e : events) {
            if (e.kind == kind) made.push_back(e);
        }
        return made;
    }
    /// One line per trade id: quantity and price in each book that it traded in.
    [[nodiscard]] static std::vector<std::string> fills(const std::vector<domain::event>& events) {
        std::vector<std::string> made;
        domain::trade_id before{};
        for (const domain::event& e : find(events, domain::event_kind::trade)) {
            const std::string text =
                std::to_string(e.trade.quantity.value) + " at " + std::to_string(e.trade.price.value);
            if (e.trade.trade == before) {
                made.back() += ", " + text;
            } else {
                made.push_back(text);
            }
            before = e.trade.trade;
        }
        return made;
    }
    [[nodiscard]] static domain::reject_reason reason_of(const std::vector<domain::event>& events) {
        return events.front().kind == domain::event_kind::order_rejected ? events.front().reason
                                                                         : domain::reject_reason::none;
    }
    [[nodiscard]] std::size_t count(domain::event_kind kind) const { return find(recorder_.events, kind).size(); }

 private:
    void make_spread(implied_book book, implied_book first, domain::side first_side, implied_book second) {
        domain::instrument& i = instruments_[static_cast<std::size_t>(book)];
        i.kind = domain::instrument_kind::spread;
        i.legs[0] = {id_of(first), 1, first_side};
        i.legs[1] = {id_of(second), 1, domain::opposite(first_side)};
        i.legs_count = 2;
        i.implied = true;
    }

    std::vector<domain::instrument> instruments_;
    recorder recorder_;
    std::unique_ptr<facility> venue_;
    std::map<std::uint32_t, domain::top> said_;
    std::uint64_t sequence_ = 0;
};

}  // namespace corro::facility::testing
