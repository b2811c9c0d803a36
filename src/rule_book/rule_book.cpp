// SPDX-License-Identifier: Apache-2.0
#include "rule_book/rule_book.hpp"

#include <istream>
#include <sstream>

#include "rule_book/rule_commands.hpp"

namespace corro::rule_book {
namespace {

/// The orders of a book, best first.
struct order_lister final : facility::book_visitor {
    explicit order_lister(const rule_names& of) : names(of) {}
    void visit_level(domain::side, const domain::level&) override {}
    void visit_order(domain::side side, const facility::resting_order& o) override {
        std::string& to = side == domain::side::buy ? bids : asks;
        to += (to.empty() ? "" : ", ") + names.name_of_order(o.order) + " " + std::to_string(o.open.value) + " at " +
              std::to_string(o.price.value);
    }

    const rule_names& names;
    std::string bids, asks;
};

}  // namespace

reading read_rule(std::istream& in) {
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

std::string player::play(const std::string& line) {
    std::istringstream words(line);
    std::string who, verb;
    words >> who;
    const auto unless = [&](bool sound) { return sound ? std::string() : "not understood: " + line; };
    if (rule_market::is_definition(who)) return unless(!venue_ && market_.define(who, words));
    if (who == "time") return unless(set_time(words));
    words >> verb;
    domain::command c;
    if (who == "operator") {
        if (!read_operator_command(verb, words, c)) return unless(false);
    } else {
        if (who.size() != 1 || who[0] < 'A' || who[0] > 'Z') return "no account: " + line;
        c.account = account_named(who[0]);
        if (!read_client_command(verb, words, c, names_)) return unless(false);
    }
    apply(c);
    return {};
}

bool player::set_time(std::istringstream& words) {
    std::string word, unit;
    words >> word;
    if (word != "passes") return static_cast<bool>(std::istringstream(word) >> time_);
    std::int64_t ms = 0;
    words >> ms >> unit;
    time_ += ms * 1'000'000;
    return words && unit == "ms" && ms > 0;
}

facility::facility& player::venue() {
    if (!venue_) {
        facts_.count_in(market_.tick_size());
        venue_ = std::make_unique<facility::facility>(
            facility::facility_options{
                .orders_max = 64, .accounts_max = 32, .positions_max = 64, .instruments_reserved = 2},
            market_.instruments(), *this);
    }
    return *venue_;
}

void player::apply(domain::command& c) {
    c.sequence = domain::sequence_number{++sequence_};
    c.time = domain::time_ns{time_};
    venue().apply(c);
}

void player::consume(std::span<const domain::event> events) noexcept {
    for (const domain::event& e : events) facts_.write_down(e);
}

std::vector<std::string> player::facts() {
    std::vector<std::string> all = facts_.take();
    list_orders(1, all);
    if (!market_.has_strategies()) return all;
    for (std::uint32_t i = 2; i < rule_market::instruments_end; ++i) list_orders(i, all);
    list_implied(all);
    list_positions(all);
    return all;
}

/// For the first instrument an empty side is listed too.
void player::list_orders(std::uint32_t instrument, std::vector<std::string>& to) {
    order_lister lists(names_);
    venue().visit_book(domain::instrument_id{instrument}, lists);
    const std::string of = instrument == 1 ? ": " : " of " + std::to_string(instrument) + ": ";
    const auto say = [&](const char* name, const std::string& orders) {
        if (instrument == 1 || !orders.empty()) to.push_back(name + of + (orders.empty() ? "none" : orders));
    };
    say("bids", lists.bids);
    say("asks", lists.asks);
}

void player::list_implied(std::vector<std::string>& to) const {
    for (const auto& [instrument, top] : facts_.implied()) {
        const std::string of = instrument == 1 ? ": " : " of " + std::to_string(instrument) + ": ";
        const auto say = [&](const char* side, domain::price_ticks price, domain::volume_lots lots) {
            if (price == domain::no_price) return;
            to.push_back(side + of + std::to_string(lots.value) + " at " + std::to_string(price.value));
        };
        say("implied bids", top.bid_price, top.bid_quantity);
        say("implied asks", top.ask_price, top.ask_quantity);
    }
}

void player::list_positions(std::vector<std::string>& to) {
    for (std::uint32_t account = 0; account < 26; ++account) {
        for (std::uint32_t i = 1; i < rule_market::instruments_end; ++i) {
            const auto lots = venue().position_of(domain::account_id{account}, domain::instrument_id{i});
            if (lots == 0) continue;
            to.push_back(name_of(domain::account_id{account}) + " owns " + std::to_string(lots) + " of " +
                         std::to_string(i));
        }
    }
}

ending play(const rule& r) {
    player venue;
    ending end;
    const auto play_part = [&](const std::vector<std::string>& part) {
        for (const std::string& line : part) {
            if (end.problem.empty()) end.problem = venue.play(line);
        }
    };
    play_part(r.given);
    // The facts of the `given` part are dropped.
    if (end.problem.empty() && !r.given.empty()) static_cast<void>(venue.facts());
    play_part(r.when);
    if (end.problem.empty()) end.facts = venue.facts();
    return end;
}

}  // namespace corro::rule_book
