// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <type_traits>

#include "rule_book/rule_commands.hpp"

namespace corro::rule_book {
namespace {

/// Reads a word without a parameter. False for another word.
bool take_plain_word(const std::string& word, domain::command& c) {
    using domain::order_type;
    using domain::time_in_force;
    const std::map<std::string, order_type> types{{"market", order_type::market},
                                                  {"to-limit", order_type::market_to_limit}};
    const std::map<std::string, time_in_force> times{{"day", time_in_force::day},
                                                     {"at-the-open", time_in_force::at_the_open},
                                                     {"at-the-close", time_in_force::at_the_close},
                                                     {"ioc", time_in_force::ioc},
                                                     {"fok", time_in_force::fok}};
    if (const auto type = types.find(word); type != types.end()) {
        c.order_terms().type = type->second;
    } else if (const auto time = times.find(word); time != times.end()) {
        c.order_terms().time_in_force = time->second;
    } else if (word == "post-only") {
        c.enter_order().flags |= domain::order_flag::post_only;
    } else if (word == "repricing") {
        c.enter_order().flags |= domain::order_flag::post_only | domain::order_flag::reprice;
    } else if (word == "staying") {
        c.enter_order().flags |= domain::order_flag::stays;
    } else {
        return false;
    }
    return true;
}

/// Reads a word with a number after it. False for another word, or without a number.
bool take_number(const std::string& word, std::istringstream& words, domain::command& c) {
    using domain::order_type;
    std::int64_t number = 0;
    const auto with = [&](auto& into) {
        words >> number;
        into = std::remove_reference_t<decltype(into)>{static_cast<decltype(into.value)>(number)};
        return static_cast<bool>(words);
    };
    const auto waits = [&](order_type type) {
        c.order_terms().type = type;
        return with(c.enter_order().trigger_price);
    };
    if (word == "at") return with(c.enter_order().price);
    if (word == "stop") return waits(order_type::stop);
    if (word == "stop-limit") return waits(order_type::stop_limit);
    if (word == "if-touched") return waits(order_type::market_if_touched);
    if (word == "showing") return with(c.enter_order().display_quantity);
    if (word == "minimum") return with(c.enter_order().minimum_quantity);
    if (word == "in") return with(c.instrument);
    if (word == "group") return static_cast<bool>(words >> c.enter_order().self_match_group);
    if (word == "request") {
        words >> number;
        c.set_request(static_cast<std::uint32_t>(number));
        return static_cast<bool>(words);
    }
    if (word == "within") {
        c.order_terms().type = order_type::market_protected;
        return with(c.enter_order().price);
    }
    if (word == "until") {
        c.order_terms().time_in_force = domain::time_in_force::gtd;
        return with(c.enter_order().expire_time);
    }
    return false;
}

bool take_prevention(std::istringstream& words, domain::command& c) {
    const std::map<std::string, domain::self_match_prevention> modes{
        {"newest", domain::self_match_prevention::cancel_newest},
        {"resting", domain::self_match_prevention::cancel_resting},
        {"both", domain::self_match_prevention::cancel_both},
        {"decrement", domain::self_match_prevention::decrement}};
    std::string mode;
    words >> mode;
    const auto found = modes.find(mode);
    if (found == modes.end()) return false;
    c.enter_order().self_match_prevention = found->second;
    return true;
}

bool enter(std::istringstream& words, bool buys, domain::command& c, rule_names& names) {
    c.order_terms().side = buys ? domain::side::buy : domain::side::sell;
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.client_order = names.next_order();
    if (!(words >> c.enter_order().quantity.value)) return false;
    for (std::string word; words >> word;) {
        if (word == "as") {
            words >> word;
            names.name_last_order(word);
        } else if (word == "prevent") {
            if (!take_prevention(words, c)) return false;
        } else if (!take_plain_word(word, c) && !take_number(word, words, c)) {
            return false;
        }
    }
    return true;
}

bool amend(std::istringstream& words, domain::command& c, rule_names& names) {
    std::string name, to, at;
    c.kind = domain::command_kind::amend_order;
    words >> name >> to >> c.amend_order().quantity.value >> at >> c.amend_order().price.value;
    if (!words || to != "to" || at != "at") return false;
    for (std::string word; words >> word;) {
        if (word == "open") {
            c.amend_order().flags |= domain::amend_flag::open_quantity;
        } else if (word == "trigger") {
            c.amend_order().flags |= domain::amend_flag::trigger_price;
            words >> c.amend_order().trigger_price.value;
        } else if (word == "showing") {
            c.amend_order().flags |= domain::amend_flag::display_quantity;
            words >> c.amend_order().display_quantity.value;
        } else if (word == "account") {
            c.amend_order().flags |= domain::amend_flag::account;
            words >> word;
            c.amend_order().other_account = account_named(word[0]);
        } else if (word == "as") {
            words >> word;
            c.request_name() = names.request_name(word);
        } else {
            return false;
        }
        if (!words) return false;
    }
    return names.find(name, c);
}

bool cancel(std::istringstream& words, domain::command& c, rule_names& names) {
    std::string name, sides;
    words >> name >> sides;
    c.kind = domain::command_kind::cancel_order;
    if (name == "request") return static_cast<bool>(std::istringstream(sides) >> c.cancel_order().target_request);
    if (name == "name") {
        c.client_order = names.number_of(sides);
        return c.client_order.value != 0;
    }
    if (sides == "as") {
        words >> sides;
        c.request_name() = names.request_name(sides);
    }
    if (name != "all") return names.find(name, c);
    c.kind = domain::command_kind::cancel_orders;
    c.set_request(1);  // a client's request; 0 would mark a command of the venue
    c.cancel_orders().sides = sides == "buys"    ? domain::cancel_sides::buy
                              : sides == "sells" ? domain::cancel_sides::sell
                                                 : domain::cancel_sides::both;
    if (c.cancel_orders().sides != domain::cancel_sides::both) words >> sides;
    std::string quotes;
    words >> quotes;
    if (sides == "with" && quotes == "quotes") c.cancel_orders().flags = domain::cancel_flag::quotes_too;
    if (sides == "quotes" && quotes == "only") {
        c.cancel_orders().flags = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
    }
    return true;
}

bool lose_connection(std::istringstream& words, domain::command& c) {
    std::string what;
    c.kind = domain::command_kind::cancel_orders;
    c.cancel_orders().flags = domain::cancel_flag::quotes_too | domain::cancel_flag::all_but_staying;
    c.cancel_orders().scope = domain::cancel_scope::session;
    return static_cast<bool>(words >> what) && what == "connection";
}

bool ask(std::istringstream& words, domain::command& c, const rule_names& names) {
    std::string about, name;
    if (!(words >> about >> name) || about != "for") return false;
    c.kind = domain::command_kind::query_order;
    c.instrument = {};
    if (name != "all") return names.find(name, c);
    c.query_order().flags = domain::query_flag::all_of_account;
    if (!(words >> about)) return true;
    c.query_order().flags |= domain::query_flag::behind;
    return about == "behind" && (words >> name) && names.find(name, c);
}

bool quote_side(std::istringstream& words, domain::price_ticks& price, domain::quantity_lots& quantity) {
    std::string first, at;
    if (!(words >> first)) return false;
    if (first == "none") return true;
    std::istringstream(first) >> quantity.value;
    return (words >> at >> price.value) && at == "at" && quantity.value != 0;
}

bool quote(std::istringstream& words, domain::command& c) {
    c.kind = domain::command_kind::enter_quote;
    c.client_order = rule_names::quote_of(c.account);
    std::string between, mode;
    if (!quote_side(words, c.enter_quote().bid_price, c.enter_quote().bid_quantity)) return false;
    if (!(words >> between) || between != "and" ||
        !quote_side(words, c.enter_quote().ask_price, c.enter_quote().ask_quantity))
        return false;
    for (std::string word; words >> word;) {
        if (word == "prevent") {
            c.enter_quote().self_match_prevention = domain::self_match_prevention::cancel_resting;
            if (!(words >> mode) || mode != "resting") return false;
        } else if (word != "in" || !(words >> c.instrument.value)) {
            return false;
        }
    }
    return true;
}

bool allow(std::istringstream& words, domain::command& c) {
    c.kind = domain::command_kind::set_protection;
    c.instrument = {};
    std::uint32_t number = 0;
    std::string what, ms;
    while (words >> number >> what) {
        if (what == "fills") c.set_protection().fills_max = number;
        if (what == "lots") c.set_protection().quantity_max = domain::quantity_lots{number};
        if (what != "fills" && what != "lots") return false;
        if (words >> std::ws && words.peek() == 'i') break;
    }
    words.clear();
    return (words >> what >> c.set_protection().window_ms >> ms) && what == "in" && ms == "ms";
}

bool reset(domain::command& c) {
    c.kind = domain::command_kind::reset_protection;
    c.instrument = {};
    return true;
}

bool begin_numbers_again(std::istringstream& words, domain::command& c) {
    std::string its, numbers, again;
    c.kind = domain::command_kind::reset_session_numbers;
    c.instrument = {};
    return (words >> its >> numbers >> again) && its == "its" && numbers == "numbers" && again == "again";
}

bool kill_own(std::istringstream& words, domain::command& c) {
    std::string scope;
    words >> scope;
    c.kind = domain::command_kind::kill_switch;
    c.kill_switch().state = domain::switch_state::on;
    c.instrument = {};
    c.kill_switch().kill_scope = scope == "session" ? domain::kill_scope::session : domain::kill_scope::account;
    c.kill_switch().other_account = c.account;
    if (scope == "session") c.kill_switch().other_session = c.session;
    return scope == "session" || scope == "account";
}

}  // namespace

bool read_client_command(const std::string& verb, std::istringstream& words, domain::command& c, rule_names& names) {
    c.session = domain::session_id{c.account.value};
    c.instrument = domain::instrument_id{1};
    if (verb == "buys" || verb == "sells") return enter(words, verb == "buys", c, names);
    if (verb == "amends") return amend(words, c, names);
    if (verb == "cancels") return cancel(words, c, names);
    if (verb == "asks") return ask(words, c, names);
    if (verb == "quotes") return quote(words, c);
    if (verb == "allows") return allow(words, c);
    if (verb == "resets") return reset(c);
    if (verb == "loses") return lose_connection(words, c);
    if (verb == "begins") return begin_numbers_again(words, c);
    return verb == "kills" && kill_own(words, c);
}

}  // namespace corro::rule_book
