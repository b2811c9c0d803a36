// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "domain/definition.hpp"
#include "rule_book/rule_commands.hpp"

namespace corro::rule_book {
namespace {

/// The words behind a command for an instrument. Only a phase can end by itself.
bool take_phase_words(std::istringstream& words, domain::command& c) {
    c.instrument = domain::instrument_id{1};
    for (std::string word; words >> word;) {
        if (word == "until" && c.kind == domain::command_kind::change_phase) {
            words >> c.change_phase().resume_time.value;
        } else if (word == "in") {
            words >> c.instrument.value;
        } else {
            return false;
        }
        if (!words) return false;
    }
    return true;
}

bool set_limits(std::istringstream& words, domain::command& c,
                domain::command_kind kind = domain::command_kind::set_limits) {
    std::string name;
    c.kind = kind;
    if (!(words >> name) || name.size() != 1) return false;
    c.set_limits().other_account = account_named(name[0]);
    std::uint32_t number = 0;
    for (std::string word; words >> word;) {
        if (!(words >> number)) return false;
        if (word == "size") {
            c.set_limits().order_quantity_max = domain::quantity_lots{number};
        } else if (word == "position") {
            c.set_limits().position_max = domain::quantity_lots{number};
        } else if (word == "orders") {
            c.set_limits().open_orders_max = number;
        } else if (word == "notional") {
            c.set_limits().notional_max = number;
        } else if (word == "firm") {
            c.set_limits().firm = number;
        } else {
            return false;
        }
    }
    return true;
}

/// Reads a change of the configuration: `adds A with 2 sessions from 5`, `reads limits A orders 1`.
bool read_account(std::istringstream& words, domain::command& c) {
    std::string limits;
    return (words >> limits) && limits == "limits" && set_limits(words, c, domain::command_kind::set_account_limits);
}

bool add_account(std::istringstream& words, domain::command& c) {
    std::string name, with, sessions, from;
    c.kind = domain::command_kind::define_account;
    if (!(words >> name) || name.size() != 1) return false;
    c.define_account().other_account = account_named(name[0]);
    return (words >> with >> c.define_account().sessions_count >> sessions >> from >>
            c.define_account().first_session.value) &&
           from == "from";
}

bool switch_off_or_on(std::istringstream& words, bool kills, domain::command& c) {
    std::string scope, name;
    c.kind = domain::command_kind::kill_switch;
    c.kill_switch().state = kills ? domain::switch_state::on : domain::switch_state::off;
    if (!(words >> scope >> name)) return false;
    if (scope == "firm") {
        c.kill_switch().kill_scope = domain::kill_scope::firm;
        c.kill_switch().firm = static_cast<std::uint32_t>(std::stoul(name));
        return true;
    }
    c.kill_switch().kill_scope = scope == "session" ? domain::kill_scope::session : domain::kill_scope::account;
    c.kill_switch().other_account = account_named(name[0]);
    if (scope == "session") c.kill_switch().other_session = domain::session_id{c.kill_switch().other_account.value};
    return true;
}

bool change_phase(std::istringstream& words, domain::trading_phase to, domain::command& c) {
    c.kind = domain::command_kind::change_phase;
    c.change_phase().phase = to;
    return take_phase_words(words, c);
}

bool begin_auction(std::istringstream& words, domain::command& c) {
    const std::map<std::string, domain::trading_phase> phases{{"pre-open", domain::trading_phase::pre_open},
                                                              {"opening", domain::trading_phase::opening_auction},
                                                              {"volatility", domain::trading_phase::volatility_auction},
                                                              {"closing", domain::trading_phase::closing_auction}};
    std::string name;
    words >> name;
    const auto to = phases.find(name);
    return to != phases.end() && change_phase(words, to->second, c);
}

bool settle(std::istringstream& words, domain::command& c) {
    std::string at;
    c.kind = domain::command_kind::settle_instrument;
    return (words >> at >> c.settle_instrument().price.value) && at == "at" && take_phase_words(words, c);
}

bool start_day(std::istringstream& words, domain::command& c) {
    std::string day;
    c.kind = domain::command_kind::new_trading_day;
    return (words >> day) && day == "day" && take_phase_words(words, c);
}

bool define(std::istringstream& words, domain::command& c) {
    domain::definition d;
    std::string name, word;
    if (!(words >> d.id.value >> word >> name) || word != "as") return false;
    if (!(words >> word >> d.like.value) || word != "like") return false;
    d.name = domain::symbol(name);
    while (words >> word) {
        std::int64_t price = 0;
        if (word == "legs") {
            d.given |= domain::definition_field::legs;
            while (d.legs_count < d.legs.size() && words >> d.legs[d.legs_count].value) ++d.legs_count;
            words.clear();
        } else if ((word == "low" || word == "high") && words >> price) {
            (word == "low" ? d.price_low : d.price_high) = domain::price_nano{price * 1'000'000'000};
            d.given |= word == "low" ? domain::definition_field::price_low : domain::definition_field::price_high;
        } else {
            return false;
        }
    }
    const domain::command made = domain::command_of(d);
    const domain::command asked = std::exchange(c, made);
    c.account = asked.account;
    c.session = asked.session;
    c.set_operator(asked.is_operator());
    return true;
}

}  // namespace

bool read_operator_command(const std::string& verb, std::istringstream& words, domain::command& c) {
    c.set_operator(true);
    c.account = domain::account_id{31};
    c.session = domain::session_id{31};
    if (verb == "halts") return change_phase(words, domain::trading_phase::halted, c);
    if (verb == "resumes") return change_phase(words, domain::trading_phase::continuous, c);
    if (verb == "closes") return change_phase(words, domain::trading_phase::closed, c);
    if (verb == "begins") return begin_auction(words, c);
    if (verb == "settles") return settle(words, c);
    if (verb == "starts") return start_day(words, c);
    if (verb == "defines") return define(words, c);
    if (verb == "limits") return set_limits(words, c);
    if (verb == "reads") return read_account(words, c);
    if (verb == "adds") return add_account(words, c);
    return (verb == "kills" || verb == "releases") && switch_off_or_on(words, verb == "kills", c);
}

}  // namespace corro::rule_book
