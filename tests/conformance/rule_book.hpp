// Reads and plays the rule scenarios of tests/conformance/matching: text that a person can read as the rule book.
//
// A file has a title, then three parts. `given` and `when` hold one command per line, `then` what is said because of
// `when` and how the book looks afterwards:
//
//     title: An order that trades in part keeps its place
//     given
//       A sells 5 at 100 as a
//       B sells 5 at 100 as b
//     when
//       C buys 2 at 100 as c
//       C buys 4 at 100 as d
//     then
//       trade 2 at 100: c with a
//       trade 3 at 100: d with a
//       trade 1 at 100: d with b
//       bids: none
//       asks: b 4 at 100
//
// Accounts are capital letters, orders have names. Behind `buys N` or `sells N` may stand, in any order: `at P`,
// `as NAME`, `market`, `to-limit`, `within N` (protected market), `stop T`, `stop-limit T`, `if-touched T`, `ioc`,
// `fok`, `post-only`, `repricing`, `showing N`, `minimum N`, `prevent newest|resting|both|decrement`. Further commands
// are `A amends NAME to N at P`, `A cancels NAME`, `A cancels all` and `A cancels all buys|sells`; behind the last two
// may stand `with quotes` or `quotes only`.
//
// `A quotes 5 at 99 and 5 at 101` enters a quote; `none` instead of `N at P` is a side without quantity. Its sides are
// called `A's bid` and `A's ask`; `A cancels bid` and `A amends bid to N at P` try to change one as if it were an
// order. `A allows 3 fills in 100 ms`, `A allows 20 lots in 100 ms` or both (`3 fills 20 lots in 100 ms`) sets the
// protection of A's quotes, `A resets` lets A quote again. `time passes 50 ms` moves the clock, which otherwise stands.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"

namespace corro::conformance {

struct rule {
    std::string title;
    std::vector<std::string> given, when, then;
};

/// The scenario in a text, or what is wrong with it.
struct reading {
    rule what;
    std::string problem;
};

[[nodiscard]] inline reading read_rule(std::istream& in) {
    reading r;
    std::vector<std::string>* part = nullptr;
    for (std::string line; std::getline(in, line);) {
        const std::size_t first = line.find_first_not_of(' ');
        if (first == std::string::npos || line[first] == '#') continue;
        line = line.substr(first);
        if (line.starts_with("title: ")) {
            r.what.title = line.substr(7);
        } else if (line == "given") {
            part = &r.what.given;
        } else if (line == "when") {
            part = &r.what.when;
        } else if (line == "then") {
            part = &r.what.then;
        } else if (part == nullptr) {
            r.problem = "a line before the first part: " + line;
        } else {
            part->push_back(line);
        }
    }
    if (r.what.title.empty()) r.problem = "there is no title";
    if (r.what.when.empty() || r.what.then.empty()) r.problem = "`when` or `then` is missing";
    return r;
}

/// Plays commands on a venue of one instrument and writes down what happens.
class player final : facility::event_consumer {
 public:
    player() : venue_({.orders_max = 64, .accounts_max = 32, .positions_max = 64}, instruments(), *this) {}

    /// Executes a line. Returns what is wrong with it, or an empty text.
    [[nodiscard]] std::string play(const std::string& line) {
        std::istringstream words(line);
        std::string who, verb;
        words >> who >> verb;
        if (who == "time" && verb == "passes") {
            std::int64_t ms = 0;
            std::string unit;
            words >> ms >> unit;
            now_ms_ += ms;
            return words && unit == "ms" && ms > 0 ? "" : "not understood: " + line;
        }
        if (who.size() != 1 || who[0] < 'A' || who[0] > 'Z') return "no account: " + line;
        domain::command c;
        c.sequence = domain::sequence_number{++sequence_};
        c.account = domain::account_id{static_cast<std::uint32_t>(who[0] - 'A')};
        c.session = domain::session_id{c.account.value};
        c.instrument = domain::instrument_id{1};
        c.time = domain::time_ns{now_ms_ * 1'000'000};
        const bool sound = verb == "buys" || verb == "sells" ? enter(words, verb == "buys", c)
                           : verb == "amends"                ? amend(words, c)
                           : verb == "cancels"               ? cancel(words, c)
                           : verb == "quotes"                ? quote(words, c)
                           : verb == "allows"                ? allow(words, c)
                           : verb == "resets"                ? reset(c)
                                                             : false;
        if (!sound) return "not understood: " + line;
        venue_.apply(c);
        return {};
    }
    /// What was said since the last call, then the book.
    [[nodiscard]] std::vector<std::string> facts() {
        std::vector<std::string> all = std::move(said_);
        said_.clear();
        struct lister final : facility::book_visitor {
            std::string bids, asks;
            const player* owner = nullptr;
            void visit_level(domain::side, const domain::level&) override {}
            void visit_order(domain::side side, const facility::resting_order& o) override {
                std::string& to = side == domain::side::buy ? bids : asks;
                to += (to.empty() ? "" : ", ") + owner->name_of(o.order) + " " + std::to_string(o.open.value) + " at " +
                      std::to_string(o.price.value);
            }
        } list;
        list.owner = this;
        venue_.visit_book(domain::instrument_id{1}, list);
        all.push_back("bids: " + (list.bids.empty() ? "none" : list.bids));
        all.push_back("asks: " + (list.asks.empty() ? "none" : list.asks));
        return all;
    }

 private:
    static std::vector<domain::instrument> instruments() {
        domain::instrument i;
        i.id = domain::instrument_id{1};
        i.name = domain::symbol{"RULES"};
        i.price_low = domain::price_ticks{1};
        i.price_high = domain::price_ticks{1'000'000};
        i.order_quantity_max = domain::quantity_lots{10'000};
        return {i};
    }
    bool enter(std::istringstream& words, bool buys, domain::command& c) {
        using domain::order_type;
        c.side = buys ? domain::side::buy : domain::side::sell;
        c.time_in_force = domain::time_in_force::gtc;
        c.client_order = domain::client_order_id{++entries_};
        names_[entries_] = "order " + std::to_string(entries_);
        if (!(words >> c.quantity.value)) return false;
        for (std::string word; words >> word;) {
            std::int64_t number = 0;
            const auto with = [&](auto& into) {
                words >> number;
                into = std::remove_reference_t<decltype(into)>{static_cast<decltype(into.value)>(number)};
                return static_cast<bool>(words);
            };
            const auto waits = [&](order_type type) {
                c.type = type;
                return with(c.trigger_price);
            };
            bool sound = true;
            if (word == "at") {
                sound = with(c.price);
            } else if (word == "as") {
                words >> names_[entries_];
                numbers_[names_[entries_]] = entries_;
            } else if (word == "market") {
                c.type = order_type::market;
            } else if (word == "to-limit") {
                c.type = order_type::market_to_limit;
            } else if (word == "within") {
                c.type = order_type::market_protected;
                sound = with(c.price);
            } else if (word == "stop") {
                sound = waits(order_type::stop);
            } else if (word == "stop-limit") {
                sound = waits(order_type::stop_limit);
            } else if (word == "if-touched") {
                sound = waits(order_type::market_if_touched);
            } else if (word == "ioc") {
                c.time_in_force = domain::time_in_force::ioc;
            } else if (word == "fok") {
                c.time_in_force = domain::time_in_force::fok;
            } else if (word == "post-only") {
                c.flags |= domain::order_flag::post_only;
            } else if (word == "repricing") {
                c.flags |= domain::order_flag::post_only | domain::order_flag::reprice;
            } else if (word == "showing") {
                sound = with(c.display_quantity);
            } else if (word == "minimum") {
                sound = with(c.minimum_quantity);
            } else if (word == "prevent") {
                std::string mode;
                words >> mode;
                const std::map<std::string, domain::self_match_prevention> modes{
                    {"newest", domain::self_match_prevention::cancel_newest},
                    {"resting", domain::self_match_prevention::cancel_resting},
                    {"both", domain::self_match_prevention::cancel_both},
                    {"decrement", domain::self_match_prevention::decrement}};
                sound = modes.contains(mode);
                if (sound) c.self_match_prevention = modes.at(mode);
            } else {
                sound = false;
            }
            if (!sound) return false;
        }
        return true;
    }
    bool amend(std::istringstream& words, domain::command& c) {
        std::string name, to, at;
        c.kind = domain::command_kind::amend_order;
        words >> name >> to >> c.quantity.value >> at >> c.price.value;
        return static_cast<bool>(words) && to == "to" && at == "at" && find(name, c);
    }
    bool cancel(std::istringstream& words, domain::command& c) {
        std::string name, sides;
        words >> name >> sides;
        c.kind = domain::command_kind::cancel_order;
        if (name != "all") return find(name, c);
        c.kind = domain::command_kind::cancel_orders;
        c.sides = sides == "buys"    ? domain::cancel_sides::buy
                  : sides == "sells" ? domain::cancel_sides::sell
                                     : domain::cancel_sides::both;
        if (c.sides != domain::cancel_sides::both) words >> sides;
        std::string quotes;
        words >> quotes;
        if (sides == "with" && quotes == "quotes") c.flags = domain::cancel_flag::quotes_too;
        if (sides == "quotes" && quotes == "only") {
            c.flags = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
        }
        return true;
    }
    bool quote(std::istringstream& words, domain::command& c) {
        c.kind = domain::command_kind::enter_quote;
        c.client_order = domain::client_order_id{quotes_from + c.account.value};
        std::string between, prevent, mode;
        if (!quote_side(words, c.price, c.quantity)) return false;
        if (!(words >> between) || between != "and" || !quote_side(words, c.ask_price, c.ask_quantity)) return false;
        if (words >> prevent) {
            if (prevent != "prevent" || !(words >> mode) || mode != "resting") return false;
            c.self_match_prevention = domain::self_match_prevention::cancel_resting;
        }
        return true;
    }
    static bool quote_side(std::istringstream& words, domain::price_ticks& price, domain::quantity_lots& quantity) {
        std::string first, at;
        if (!(words >> first)) return false;
        if (first == "none") return true;
        std::istringstream(first) >> quantity.value;
        return (words >> at >> price.value) && at == "at" && quantity.value != 0;
    }
    static bool allow(std::istringstream& words, domain::command& c) {
        c.kind = domain::command_kind::set_protection;
        c.instrument = {};
        std::uint32_t number = 0;
        std::string what, ms;
        while (words >> number >> what) {
            if (what == "fills") c.fills_max = number;
            if (what == "lots") c.quantity = domain::quantity_lots{number};
            if (what != "fills" && what != "lots") return false;
            if (words >> std::ws && words.peek() == 'i') break;
        }
        words.clear();
        return (words >> what >> c.window_ms >> ms) && what == "in" && ms == "ms";
    }
    static bool reset(domain::command& c) {
        c.kind = domain::command_kind::reset_protection;
        c.instrument = {};
        return true;
    }
    /// By order id, so that an order which is closed by now can be named too.
    bool find(const std::string& name, domain::command& c) const {
        if (name == "bid" || name == "ask") {
            const std::string side = std::string{static_cast<char>('A' + c.account.value)} + "'s " + name;
            for (const auto& [id, known] : quote_sides_) {
                if (known == side) c.order = domain::order_id{id};
            }
            return c.order.value != 0;
        }
        const auto number = numbers_.find(name);
        if (number == numbers_.end()) return false;
        const auto id = ids_.find(number->second);
        if (id == ids_.end()) return false;
        c.order = id->second;
        return true;
    }
    [[nodiscard]] std::string name_of(domain::order_id id) const {
        if (const auto quote = quote_sides_.find(id.value); quote != quote_sides_.end()) return quote->second;
        for (const auto& [number, known] : ids_) {
            if (known == id) return names_.at(number);
        }
        return "?";
    }
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) write_down(e);
    }
    void write_down(const domain::event& e) {
        using domain::event_kind;
        const std::string because =
            e.reason == domain::reject_reason::none ? "" : ", " + std::string(domain::to_string(e.reason));
        const auto name = [&](domain::client_order_id client_order, domain::account_id account, domain::order_id id) {
            if (client_order.value < quotes_from) return names_.at(client_order.value);
            const std::string side = e.side == domain::side::buy ? "'s bid" : "'s ask";
            return quote_sides_[id.value] = std::string{static_cast<char>('A' + account.value)} + side;
        };
        const auto terms = [&](const char* verb) {
            return name(e.order.client_order, e.order.account, e.order.order) + " " + verb + " " +
                   std::to_string(e.order.quantity.value) +
                   (e.order.price == domain::no_price ? "" : " at " + std::to_string(e.order.price.value)) + because;
        };
        switch (e.kind) {
            case event_kind::order_entered:
                if (e.order.client_order.value < quotes_from) ids_[e.order.client_order.value] = e.order.order;
                said_.push_back(terms("entered"));
                break;
            case event_kind::order_amended: said_.push_back(terms("amended")); break;
            case event_kind::order_cancelled: said_.push_back(terms("cancelled")); break;
            case event_kind::order_rejected: said_.push_back("rejected" + because); break;
            case event_kind::order_executed:
                if (e.execution.client_order.value < quotes_from) {
                    ids_[e.execution.client_order.value] = e.execution.order;
                }
                if ((e.flags & domain::event_flag::aggressor) != 0) {
                    aggressor_ = name(e.execution.client_order, e.execution.account, e.execution.order);
                } else {
                    said_.push_back("trade " + std::to_string(e.execution.quantity.value) + " at " +
                                    std::to_string(e.execution.price.value) + ": " + aggressor_ + " with " +
                                    name(e.execution.client_order, e.execution.account, e.execution.order));
                }
                break;
            case event_kind::quote_entered:
                said_.push_back(std::string{static_cast<char>('A' + e.quote.account.value)} + "'s quote stands with " +
                                std::to_string(e.quote.bid_quantity.value) + " and " +
                                std::to_string(e.quote.ask_quantity.value));
                break;
            case event_kind::protection_changed:
                said_.push_back(std::string{static_cast<char>('A' + e.protection.account.value)} +
                                "'s protection: " + std::to_string(e.protection.fills) + " fills, " +
                                std::to_string(e.protection.quantity.value) + " lots" + because);
                break;
            default: break;
        }
    }

    /// Client order ids from here on are of quotes; orders count up from 1.
    static constexpr std::uint64_t quotes_from = 1'000'000;

    std::int64_t now_ms_ = 0;
    std::map<std::uint64_t, std::string> quote_sides_;  // order id to name
    std::uint64_t sequence_ = 0;
    std::uint64_t entries_ = 0;
    std::map<std::uint64_t, std::string> names_;    // client order id to name
    std::map<std::string, std::uint64_t> numbers_;  // and back
    std::map<std::uint64_t, domain::order_id> ids_;
    std::string aggressor_;
    std::vector<std::string> said_;
    facility::facility venue_;
};

}  // namespace corro::conformance
