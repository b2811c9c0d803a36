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
// `fok`, `post-only`, `repricing`, `staying`, `showing N`, `minimum N`, `prevent newest|resting|both|decrement`, `group
// N`, `until T` (good till then), `in 2` (the second instrument, of the same product). Further commands are `A amends
// NAME to N at P` (behind which may stand `open`, `trigger T`, `showing N`, `account B`), `A asks for NAME`, `A asks
// for all`, `A cancels NAME`, `A cancels all`, `A cancels all buys|sells` (behind the last two may stand `with quotes`
// or `quotes only`) and `A kills account|session`; `A loses connection` is what the venue does for a session that asked
// for it.
//
// `A quotes 5 at 99 and 5 at 101` (`in 2`) enters a quote; `none` instead of `N at P` is a side without quantity. Its
// sides are called `A's bid` and `A's ask`; `A cancels bid` and `A amends bid to N at P` try to change one as if it
// were an order. `A allows 3 fills in 100 ms`, `A allows 20 lots in 100 ms` or both (`3 fills 20 lots in 100 ms`) sets
// the protection of A's quotes, `A resets` lets A quote again. `time passes 50 ms` moves the clock, which otherwise
// stands.
//
// An order may be `day`, `at-the-open` or `at-the-close`. `operator begins pre-open|opening|volatility|closing` lets an
// auction collect (`until T`), `operator closes` ends the day, `operator settles at P` the instrument. Behind each of
// these, and behind `halts` and `resumes`, may stand `in 2`.
//
// `operator` may stand for the account in `operator limits A` (with `size N`, `position N`, `orders N`, `notional N`,
// `firm N`), `operator halts` (`until T`), `operator resumes`, `operator kills|releases account A|session A|firm N`.
// `time T` is the time of the commands that follow. Before the first command `band N` and `breaker N window T halt T`
// add a dynamic price band or a circuit breaker to the instruments, `auction N` a volatility auction of that length,
// and `matching X` names their matching algorithm; behind it may stand `fifo N`, `levelling`, `top N to N` (0 for no
// bound), `minimum N` and `maker A N` for each maker.
//
// Likewise before the first command, `strategy 3 buys 1 of 1 and sells 2 of 2` makes instrument 3 a strategy of those
// legs (any number of them, joined by `and`; behind the last may stand `implied`). Then what is said ends with the
// books of all instruments that have orders (`bids of 3: ...`), with what was last said to be implied in them (`implied
// bids of 3: 10 at -5`) and with what everybody owns (`A owns -5 of 2`). An implied fill is `implied trade 3 at 100: d
// with b at 105 and s at -5`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
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
class player final : public facility::event_consumer {
 public:
    /// Executes a line. Returns what is wrong with it, or an empty text.
    [[nodiscard]] std::string play(const std::string& line) {
        std::istringstream words(line);
        std::string who, verb;
        words >> who;
        if (who == "band" || who == "auction" || who == "breaker" || who == "matching") {
            return !venue_ && define(who, words) ? std::string() : "not understood: " + line;
        }
        if (who == "strategy") return !venue_ && define_strategy(words) ? std::string() : "not understood: " + line;
        words >> verb;
        if (who == "time" && verb == "passes") {
            std::int64_t ms = 0;
            std::string unit;
            words >> ms >> unit;
            time_ += ms * 1'000'000;
            return words && unit == "ms" && ms > 0 ? "" : "not understood: " + line;
        }
        if (who == "time") return std::istringstream(verb) >> time_ ? std::string() : "no time: " + line;
        if (who == "operator") return operate(words, verb) ? std::string() : "not understood: " + line;
        if (who.size() != 1 || who[0] < 'A' || who[0] > 'Z') return "no account: " + line;
        domain::command c;
        c.account = domain::account_id{static_cast<std::uint32_t>(who[0] - 'A')};
        c.session = domain::session_id{c.account.value};
        c.instrument = domain::instrument_id{1};
        const bool sound = verb == "buys" || verb == "sells" ? enter(words, verb == "buys", c)
                           : verb == "amends"                ? amend(words, c)
                           : verb == "cancels"               ? cancel(words, c)
                           : verb == "asks"                  ? ask(words, c)
                           : verb == "quotes"                ? quote(words, c)
                           : verb == "allows"                ? allow(words, c)
                           : verb == "resets"                ? reset(c)
                           : verb == "loses"                 ? lose_connection(words, c)
                           : verb == "kills"                 ? kill_own(words, c)
                                                             : false;
        if (!sound) return "not understood: " + line;
        apply(c);
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
        };
        const auto list = [&](std::uint32_t instrument, const std::string& of, bool even_empty) {
            lister side_lists;
            side_lists.owner = this;
            venue().visit_book(domain::instrument_id{instrument}, side_lists);
            const auto say = [&](const char* name, const std::string& orders) {
                if (even_empty || !orders.empty()) all.push_back(name + of + ": " + (orders.empty() ? "none" : orders));
            };
            say("bids", side_lists.bids);
            say("asks", side_lists.asks);
        };
        list(1, "", true);
        if (strategies_.empty()) return all;
        for (std::uint32_t i = 2; i < instruments_end; ++i) list(i, " of " + std::to_string(i), false);
        for (const auto& [instrument, top] : implied_) {
            const std::string of = instrument == 1 ? ": " : " of " + std::to_string(instrument) + ": ";
            const auto say = [&](const char* side, domain::price_ticks price, domain::volume_lots lots) {
                if (price == domain::no_price) return;
                all.push_back(side + of + std::to_string(lots.value) + " at " + std::to_string(price.value));
            };
            say("implied bids", top.bid_price, top.bid_quantity);
            say("implied asks", top.ask_price, top.ask_quantity);
        }
        for (std::uint32_t account = 0; account < 26; ++account) {
            for (std::uint32_t i = 1; i < instruments_end; ++i) {
                const auto lots = venue().position_of(domain::account_id{account}, domain::instrument_id{i});
                if (lots == 0) continue;
                all.push_back(std::string{static_cast<char>('A' + account)} + " owns " + std::to_string(lots) + " of " +
                              std::to_string(i));
            }
        }
        return all;
    }

 private:
    facility::facility& venue() {
        if (!venue_) {
            std::vector<domain::instrument> all;
            for (std::uint32_t id = 1; id < instruments_end; ++id) {
                const auto strategy = strategies_.find(id);
                if (id > 2 && strategy == strategies_.end() && strategies_.empty()) break;
                all.push_back(strategy == strategies_.end() ? first_ : strategy->second);
                all.back().id = domain::instrument_id{id};
            }
            venue_ = std::make_unique<facility::facility>(
                facility::facility_options{.orders_max = 64, .accounts_max = 32, .positions_max = 64}, all, *this);
        }
        return *venue_;
    }
    void apply(domain::command& c) {
        c.sequence = domain::sequence_number{++sequence_};
        c.time = domain::time_ns{time_};
        venue().apply(c);
    }
    bool define(const std::string& what, std::istringstream& words) {
        if (what == "auction") return static_cast<bool>(words >> first_.volatility_auction);
        if (what == "band") return static_cast<bool>(words >> first_.dynamic_band);
        if (what == "matching") return define_matching(words);
        std::string window, halt;
        words >> first_.breaker_move >> window >> first_.breaker_window >> halt >> first_.breaker_halt;
        return static_cast<bool>(words) && window == "window" && halt == "halt";
    }
    bool define_matching(std::istringstream& words) {
        domain::allocation_policy& p = first_.allocation;
        char letter = 0;
        std::string word, between;
        words >> letter;
        p.algorithm = static_cast<domain::match_algorithm>(letter);
        std::size_t makers_count = 0;
        while (words >> word) {
            if (word == "levelling") {
                p.levels = true;
            } else if (word == "fifo") {
                words >> p.fifo_percent;
            } else if (word == "minimum") {
                words >> p.pro_rata_minimum;
            } else if (word == "top") {
                words >> p.top_minimum >> between >> p.top_maximum;
            } else if (word == "maker" && makers_count < p.makers.size()) {
                domain::lead_market_maker& m = p.makers[makers_count++];
                words >> letter >> m.percent;
                m.account = domain::account_id{static_cast<std::uint32_t>(letter - 'A')};
            } else {
                return false;
            }
            if (!words) return false;
        }
        return domain::validate(p).empty();
    }
    bool define_strategy(std::istringstream& words) {
        std::uint32_t id = 0;
        words >> id;
        domain::instrument strategy = instrument();
        strategy.kind = domain::instrument_kind::spread;
        strategy.price_low = domain::price_ticks{-1'000'000};
        std::string verb, of, then = "and";
        for (; then == "and"; then.clear(), words >> then) {
            domain::leg leg;
            if (strategy.legs_count == domain::legs_max) return false;
            if (!(words >> verb >> leg.ratio >> of >> leg.instrument.value) || of != "of") return false;
            if (verb != "buys" && verb != "sells") return false;
            leg.side = verb == "buys" ? domain::side::buy : domain::side::sell;
            strategy.legs[strategy.legs_count++] = leg;
        }
        strategy.implied = then == "implied";
        strategies_[id] = strategy;
        return id > 2 && id < instruments_end;
    }
    bool operate(std::istringstream& words, const std::string& verb) {
        domain::command c;
        c.is_operator = 1;
        c.account = domain::account_id{31};
        c.session = domain::session_id{31};
        std::string word, name;
        if (verb == "halts" || verb == "resumes") {
            c.kind = domain::command_kind::change_phase;
            c.phase = verb == "halts" ? domain::trading_phase::halted : domain::trading_phase::continuous;
            if (!take_phase_words(words, c)) return false;
        } else if (verb == "begins" || verb == "closes") {
            const std::map<std::string, domain::trading_phase> phases{
                {"pre-open", domain::trading_phase::pre_open},
                {"opening", domain::trading_phase::opening_auction},
                {"volatility", domain::trading_phase::volatility_auction},
                {"closing", domain::trading_phase::closing_auction}};
            c.kind = domain::command_kind::change_phase;
            c.phase = domain::trading_phase::closed;
            if (verb == "begins") {
                if (!(words >> name) || !phases.contains(name)) return false;
                c.phase = phases.at(name);
            }
            if (!take_phase_words(words, c)) return false;
        } else if (verb == "settles") {
            c.kind = domain::command_kind::settle_instrument;
            if (!(words >> word >> c.price.value) || word != "at" || !take_phase_words(words, c)) return false;
        } else if (verb == "limits") {
            c.kind = domain::command_kind::set_limits;
            if (!(words >> name) || name.size() != 1) return false;
            c.other_account = domain::account_id{static_cast<std::uint32_t>(name[0] - 'A')};
            while (words >> word) {
                std::uint32_t number = 0;
                words >> number;
                if (!words) return false;
                if (word == "size")
                    c.quantity = domain::quantity_lots{number};
                else if (word == "position")
                    c.position_max = domain::quantity_lots{number};
                else if (word == "orders")
                    c.open_orders_max = number;
                else if (word == "notional")
                    c.notional_max = number;
                else if (word == "firm")
                    c.firm = number;
                else
                    return false;
            }
        } else if (verb == "kills" || verb == "releases") {
            c.kind = domain::command_kind::kill_switch;
            c.state = verb == "kills" ? domain::switch_state::on : domain::switch_state::off;
            words >> word >> name;
            if (!words) return false;
            if (word == "firm") {
                c.kill_scope = domain::kill_scope::firm;
                c.firm = static_cast<std::uint32_t>(std::stoul(name));
            } else {
                c.kill_scope = word == "session" ? domain::kill_scope::session : domain::kill_scope::account;
                c.other_account = domain::account_id{static_cast<std::uint32_t>(name[0] - 'A')};
                if (word == "session") c.other_session = domain::session_id{c.other_account.value};
            }
        } else {
            return false;
        }
        apply(c);
        return true;
    }
    static bool take_phase_words(std::istringstream& words, domain::command& c) {
        c.instrument = domain::instrument_id{1};
        for (std::string word; words >> word;) {
            if (word == "until") {
                words >> c.resume_time.value;
            } else if (word == "in") {
                words >> c.instrument.value;
            } else {
                return false;
            }
            if (!words) return false;
        }
        return true;
    }
    static bool kill_own(std::istringstream& words, domain::command& c) {
        std::string scope;
        words >> scope;
        c.kind = domain::command_kind::kill_switch;
        c.state = domain::switch_state::on;
        c.instrument = {};
        c.kill_scope = scope == "session" ? domain::kill_scope::session : domain::kill_scope::account;
        c.other_account = c.account;
        if (scope == "session") c.other_session = c.session;
        return scope == "session" || scope == "account";
    }
    static domain::instrument instrument() {
        domain::instrument i;
        i.id = domain::instrument_id{1};
        i.name = domain::symbol{"RULES"};
        i.price_low = domain::price_ticks{1};
        i.price_high = domain::price_ticks{1'000'000};
        i.order_quantity_max = domain::quantity_lots{10'000};
        i.product = domain::product_id{1};
        return i;
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
            } else if (word == "day") {
                c.time_in_force = domain::time_in_force::day;
            } else if (word == "at-the-open") {
                c.time_in_force = domain::time_in_force::at_the_open;
            } else if (word == "at-the-close") {
                c.time_in_force = domain::time_in_force::at_the_close;
            } else if (word == "ioc") {
                c.time_in_force = domain::time_in_force::ioc;
            } else if (word == "fok") {
                c.time_in_force = domain::time_in_force::fok;
            } else if (word == "post-only") {
                c.flags |= domain::order_flag::post_only;
            } else if (word == "repricing") {
                c.flags |= domain::order_flag::post_only | domain::order_flag::reprice;
            } else if (word == "staying") {
                c.flags |= domain::order_flag::stays;
            } else if (word == "showing") {
                sound = with(c.display_quantity);
            } else if (word == "minimum") {
                sound = with(c.minimum_quantity);
            } else if (word == "until") {
                c.time_in_force = domain::time_in_force::gtd;
                sound = with(c.expire_time);
            } else if (word == "group") {
                sound = static_cast<bool>(words >> c.self_match_group);
            } else if (word == "in") {
                sound = with(c.instrument);
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
        if (!words || to != "to" || at != "at") return false;
        for (std::string word; words >> word;) {
            if (word == "open") {
                c.flags |= domain::amend_flag::open_quantity;
            } else if (word == "trigger") {
                c.flags |= domain::amend_flag::trigger_price;
                words >> c.trigger_price.value;
            } else if (word == "showing") {
                c.flags |= domain::amend_flag::display_quantity;
                words >> c.display_quantity.value;
            } else if (word == "account") {
                c.flags |= domain::amend_flag::account;
                words >> word;
                c.other_account = domain::account_id{static_cast<std::uint32_t>(word[0] - 'A')};
            } else {
                return false;
            }
            if (!words) return false;
        }
        return find(name, c);
    }
    bool cancel(std::istringstream& words, domain::command& c) {
        std::string name, sides;
        words >> name >> sides;
        c.kind = domain::command_kind::cancel_order;
        if (name != "all") return find(name, c);
        c.kind = domain::command_kind::cancel_orders;
        c.request = 1;  // a client's; without a number it would be the venue's own
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
    bool lose_connection(std::istringstream& words, domain::command& c) {
        std::string what;
        c.kind = domain::command_kind::cancel_orders;
        c.flags = domain::cancel_flag::quotes_too | domain::cancel_flag::all_but_staying;
        c.scope = domain::cancel_scope::session;
        return static_cast<bool>(words >> what) && what == "connection";
    }
    bool ask(std::istringstream& words, domain::command& c) {
        std::string about, name;
        if (!(words >> about >> name) || about != "for") return false;
        c.kind = domain::command_kind::query_order;
        c.instrument = {};
        if (name != "all") return find(name, c);
        c.flags = domain::query_flag::all_of_account;
        return true;
    }
    bool quote(std::istringstream& words, domain::command& c) {
        c.kind = domain::command_kind::enter_quote;
        c.client_order = domain::client_order_id{quotes_from + c.account.value};
        std::string between, mode;
        if (!quote_side(words, c.price, c.quantity)) return false;
        if (!(words >> between) || between != "and" || !quote_side(words, c.ask_price, c.ask_quantity)) return false;
        for (std::string word; words >> word;) {
            if (word == "prevent") {
                c.self_match_prevention = domain::self_match_prevention::cancel_resting;
                if (!(words >> mode) || mode != "resting") return false;
            } else if (word != "in" || !(words >> c.instrument.value)) {
                return false;
            }
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
            case event_kind::implied_top: implied_[e.instrument.value] = e.top; break;
            case event_kind::order_executed:
                if (e.execution.client_order.value < quotes_from) {
                    ids_[e.execution.client_order.value] = e.execution.order;
                }
                if ((e.flags & domain::event_flag::implied) != 0) {
                    write_implied(e, name(e.execution.client_order, e.execution.account, e.execution.order));
                    break;
                }
                // In an auction nobody is the aggressor: the buyer is named first.
                if ((e.flags & domain::event_flag::aggressor) != 0 || aggressor_.empty()) {
                    aggressor_ = name(e.execution.client_order, e.execution.account, e.execution.order);
                } else {
                    said_.push_back("trade " + std::to_string(e.execution.quantity.value) + " at " +
                                    std::to_string(e.execution.price.value) + ": " + aggressor_ + " with " +
                                    name(e.execution.client_order, e.execution.account, e.execution.order));
                    aggressor_.clear();
                }
                break;
            case event_kind::leg_capture:
                said_.push_back("leg: " + std::string{static_cast<char>('A' + e.leg_fill.account.value)} +
                                (e.side == domain::side::buy ? " buys " : " sells ") +
                                std::to_string(e.leg_fill.quantity.value) + " of " +
                                std::to_string(e.instrument.value) + " at " +
                                std::to_string(e.leg_fill.price / first_.tick_size.value));
                break;
            case event_kind::order_status: said_.push_back(terms("has open")); break;
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
            case event_kind::request_done: said_.emplace_back("done"); break;
            case event_kind::phase_changed:
                said_.push_back(
                    "instrument " + std::to_string(e.instrument.value) +
                    phase_names[static_cast<std::size_t>(e.phase.phase)] +
                    (e.phase.resume_time.value == 0 ? "" : " until " + std::to_string(e.phase.resume_time.value)) +
                    because);
                break;
            case event_kind::auction_indicative: said_.push_back("would trade " + auction_of(e.auction)); break;
            case event_kind::auction_ended: said_.push_back("auction trades " + auction_of(e.auction)); break;
            case event_kind::trade_capture:
                if (e.capture.order.value != 0) break;
                said_.push_back(std::string{static_cast<char>('A' + e.capture.account.value)} +
                                (e.side == domain::side::sell ? "'s long " : "'s short ") +
                                std::to_string(e.capture.quantity.value) + " settled at " +
                                std::to_string(e.capture.price.value));
                break;
            case event_kind::instrument_settled:
                said_.push_back("instrument " + std::to_string(e.instrument.value) + " settled at " +
                                std::to_string(e.settlement.price.value));
                break;
            default: break;
        }
    }
    /// Three of these are one fill: who took, and his two partners.
    void write_implied(const domain::event& e, const std::string& name) {
        const std::string price = std::to_string(e.execution.price.value);
        if (aggressor_.empty()) {
            aggressor_ = name;
            said_.push_back("implied trade " + std::to_string(e.execution.quantity.value) + " at " + price + ": " +
                            name);
            return;
        }
        const bool is_last = said_.back().find(" with ") != std::string::npos;
        said_.back() += (is_last ? " and " : " with ") + name + " at " + price;
        if (is_last) aggressor_.clear();
    }
    [[nodiscard]] static std::string auction_of(const domain::auction_state& a) {
        if (a.price == domain::no_price) return "nothing";
        std::string text = std::to_string(a.volume.value) + " at " + std::to_string(a.price.value);
        if (a.imbalance > 0) text += ", " + std::to_string(a.imbalance) + " more bid";
        if (a.imbalance < 0) text += ", " + std::to_string(-a.imbalance) + " more offered";
        return text;
    }

    static constexpr std::array<const char*, 7> phase_names{
        " trades", " halted", " in pre-open", " in opening auction", " in volatility auction", " in closing auction",
        " closed"};

    /// Client order ids from here on are of quotes; orders count up from 1.
    static constexpr std::uint64_t quotes_from = 1'000'000;

    std::map<std::uint64_t, std::string> quote_sides_;  // order id to name
    std::uint64_t sequence_ = 0;
    std::int64_t time_ = 0;
    std::uint64_t entries_ = 0;
    std::map<std::uint64_t, std::string> names_;    // client order id to name
    std::map<std::string, std::uint64_t> numbers_;  // and back
    std::map<std::uint64_t, domain::order_id> ids_;
    std::string aggressor_;
    std::map<std::uint32_t, domain::top> implied_;  // as last said, by instrument
    std::vector<std::string> said_;
    domain::instrument first_ = instrument();
    static constexpr std::uint32_t instruments_end = 8;
    std::map<std::uint32_t, domain::instrument> strategies_;
    std::unique_ptr<facility::facility> venue_;  ///< made by the first command
};

/// How a rule ends: its facts, or what is wrong with its lines.
struct ending {
    std::vector<std::string> facts;
    std::string problem;
};

[[nodiscard]] inline ending play(const rule& r) {
    player venue;
    ending end;
    const auto play_part = [&](const std::vector<std::string>& part) {
        for (const std::string& line : part) {
            if (end.problem.empty()) end.problem = venue.play(line);
        }
    };
    play_part(r.given);
    // What the given part caused is not asked about.
    if (end.problem.empty() && !r.given.empty()) static_cast<void>(venue.facts());
    play_part(r.when);
    if (end.problem.empty()) end.facts = venue.facts();
    return end;
}

}  // namespace corro::conformance
