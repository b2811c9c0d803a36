// SPDX-License-Identifier: Apache-2.0
#include "rule_book/rule_market.hpp"

#include "rule_book/rule_names.hpp"

namespace corro::rule_book {
namespace {

domain::instrument plain_instrument() {
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"RULES"};
    i.price_low = domain::price_ticks{1};
    i.price_high = domain::price_ticks{1'000'000};
    i.order_quantity_max = domain::quantity_lots{10'000};
    i.product = domain::product_id{1};
    return i;
}

}  // namespace

rule_market::rule_market() : first_(plain_instrument()) {}

bool rule_market::define(const std::string& what, std::istringstream& words) {
    if (what == "auction") return static_cast<bool>(words >> first_.volatility_auction);
    if (what == "band") return static_cast<bool>(words >> first_.dynamic_band);
    if (what == "breaker") return define_breaker(words);
    return what == "matching" ? define_matching(words) : define_strategy(words);
}

std::vector<domain::instrument> rule_market::instruments() const {
    std::vector<domain::instrument> all;
    for (std::uint32_t id = 1; id < instruments_end; ++id) {
        const auto strategy = strategies_.find(id);
        if (id > 2 && strategies_.empty()) break;
        all.push_back(strategy == strategies_.end() ? first_ : strategy->second);
        all.back().id = domain::instrument_id{id};
    }
    return all;
}

bool rule_market::define_breaker(std::istringstream& words) {
    std::string window, halt;
    words >> first_.breaker_move >> window >> first_.breaker_window >> halt >> first_.breaker_halt;
    return static_cast<bool>(words) && window == "window" && halt == "halt";
}

bool rule_market::define_matching(std::istringstream& words) {
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
            m.account = account_named(letter);
        } else {
            return false;
        }
        if (!words) return false;
    }
    return domain::validate(p).empty();
}

bool rule_market::define_strategy(std::istringstream& words) {
    std::uint32_t id = 0;
    words >> id;
    domain::instrument strategy = plain_instrument();
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

}  // namespace corro::rule_book
