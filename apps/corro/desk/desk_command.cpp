// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/desk_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "apps/corro/desk/vocabulary.hpp"
#include "domain/decimal.hpp"
#include "domain/definition.hpp"

namespace corro::app::desk {
namespace {

using domain::command;
using domain::order_type;
using domain::time_in_force;

using problem = std::unexpected<std::string>;

[[nodiscard]] const domain::instrument* find(std::span<const domain::instrument> all, std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [name](const domain::instrument& i) { return equal(i.name.view(), name); });
    return found == all.end() ? nullptr : &*found;
}

[[nodiscard]] const domain::instrument* find(std::span<const domain::instrument> all,
                                             std::optional<domain::instrument_id> id) {
    const auto found =
        std::find_if(all.begin(), all.end(), [id](const domain::instrument& i) { return id && i.id == *id; });
    return found == all.end() ? nullptr : &*found;
}

[[nodiscard]] std::expected<std::uint64_t, std::string> read_number(std::string_view word, std::string_view what) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || number == 0) {
        return problem(fmt::format("{}: expected a whole number above 0, found \"{}\"", what, word));
    }
    return number;
}

[[nodiscard]] std::expected<std::int64_t, std::string> read_decimal(std::string_view word, std::string_view what) {
    const domain::parsed_decimal read = domain::parse_decimal(word);
    if (!read.problem.empty()) return problem(fmt::format("{}: {}, found \"{}\"", what, read.problem, word));
    return read.nano;
}

/// Reads a quantity of the instrument, in lots.
[[nodiscard]] std::expected<domain::quantity_lots, std::string> read_lots(const domain::instrument& i,
                                                                          std::string_view word,
                                                                          std::string_view what) {
    const auto units = read_number(word, what);
    if (!units) return problem(units.error());
    if (*units <= INT64_MAX) {
        const auto lots = domain::to_lots(i, static_cast<std::int64_t>(*units));
        if (lots.reason == domain::reject_reason::none) return lots.value;
        if (lots.reason == domain::reject_reason::quantity_off_lot) {
            return problem(fmt::format("{}: {} trades in multiples of {}", what, i.name.view(), i.lot_size));
        }
    }
    return problem(fmt::format("{}: {} is above the largest quantity of an order", what, word));
}

/// Reads a price of the instrument, in ticks.
[[nodiscard]] std::expected<domain::price_ticks, std::string> read_price(const domain::instrument& i,
                                                                         std::string_view word, std::string_view what) {
    const auto nano = read_decimal(word, what);
    if (!nano) return problem(nano.error());
    const auto ticks = domain::to_ticks(i, domain::price_nano{*nano});
    if (ticks.reason == domain::reject_reason::price_off_tick) {
        return problem(fmt::format("{}: {} is not a multiple of the tick size, {}", what, word,
                                   domain::format_decimal(i.tick_size.value).view()));
    }
    if (ticks.reason != domain::reject_reason::none) return problem(fmt::format("{}: {} is out of range", what, word));
    return ticks.value;
}

/// Iterates over the words of one line.
class reader {
 public:
    explicit reader(std::vector<std::string_view> words) : words_(std::move(words)) {}
    [[nodiscard]] bool ended() const noexcept { return at_ == words_.size(); }
    [[nodiscard]] std::string_view peek() const noexcept { return ended() ? std::string_view{} : words_[at_]; }
    [[nodiscard]] std::string_view take() noexcept { return ended() ? std::string_view{} : words_[at_++]; }
    [[nodiscard]] bool take(std::string_view word) noexcept {
        const bool is_it = !ended() && equal(words_[at_], word);
        if (is_it) ++at_;
        return is_it;
    }

 private:
    std::vector<std::string_view> words_;
    std::size_t at_ = 0;
};

/// Adds one option to an order. Returns false if the word is not an option, and a sentence if its value is wrong.
[[nodiscard]] std::expected<bool, std::string> read_option(const domain::instrument& i, reader& words, command& c) {
    if (words.take("day")) {
        c.order_terms().time_in_force = time_in_force::day;
    } else if (words.take("gtc")) {
        c.order_terms().time_in_force = time_in_force::gtc;
    } else if (words.take("ioc")) {
        c.order_terms().time_in_force = time_in_force::ioc;
    } else if (words.take("fok")) {
        c.order_terms().time_in_force = time_in_force::fok;
    } else if (words.take("post")) {
        c.enter_order().flags |= domain::order_flag::post_only;
    } else if (words.take("stay")) {
        c.enter_order().flags |= domain::order_flag::stays;
    } else if (words.take("self")) {
        const std::string_view word = words.take();
        const auto known = std::ranges::find_if(prevention_words, [word](auto each) { return equal(each, word); });
        if (known == prevention_words.end()) {
            return problem(fmt::format("self: expected newest, resting, both or decrement, found \"{}\"", word));
        }
        c.enter_order().self_match_prevention =
            static_cast<domain::self_match_prevention>(known - prevention_words.begin() + 1);
    } else if (words.take("show")) {
        const auto lots = read_lots(i, words.take(), "show");
        if (!lots) return problem(lots.error());
        c.enter_order().display_quantity = *lots;
    } else if (words.take("min")) {
        const auto lots = read_lots(i, words.take(), "min");
        if (!lots) return problem(lots.error());
        c.enter_order().minimum_quantity = *lots;
    } else if (words.take("stop")) {
        const auto price = read_price(i, words.take(), "stop");
        if (!price) return problem(price.error());
        c.enter_order().trigger_price = *price;
        c.order_terms().type = c.order_terms().type == order_type::market ? order_type::stop : order_type::stop_limit;
    } else {
        return false;
    }
    return true;
}

[[nodiscard]] std::expected<request, std::string> parse_order(domain::side side, reader& words,
                                                              std::span<const domain::instrument> instruments,
                                                              std::optional<domain::instrument_id> selected) {
    const std::string_view quantity = words.take();
    if (quantity.empty()) return problem("how many? For example: buy 10 SYMBOL 100.25");
    const domain::instrument* i = find(instruments, words.peek());
    if (i != nullptr) {
        static_cast<void>(words.take());
    } else {
        i = find(instruments, selected);
        // A word that is neither a symbol nor a price nor "market" counts as an unknown symbol.
        const std::string_view next = words.peek();
        const bool is_price = equal(next, "market") || (!next.empty() && domain::parse_decimal(next).problem.empty());
        if (i == nullptr || (!next.empty() && !is_price)) {
            return problem(fmt::format("no instrument \"{}\"; press TAB for the names", next));
        }
    }
    command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = i->id;
    c.order_terms().side = side;
    const auto lots = read_lots(*i, quantity, "quantity");
    if (!lots) return problem(lots.error());
    c.enter_order().quantity = *lots;
    if (words.take("market")) {
        c.order_terms().type = order_type::market;
        c.order_terms().time_in_force = time_in_force::ioc;
    } else {
        if (words.ended()) return problem("at which price? A decimal, or: market");
        const auto price = read_price(*i, words.take(), "price");
        if (!price) return problem(price.error());
        c.enter_order().price = *price;
    }
    while (!words.ended()) {
        const std::string_view word = words.peek();
        const auto known = read_option(*i, words, c);
        if (!known) return problem(known.error());
        if (!*known) return problem(fmt::format("\"{}\" is not part of an order; see: help buy", word));
    }
    // A stop order waits, so it must not be IOC or FOK.
    if (c.order_terms().type == order_type::stop) c.order_terms().time_in_force = time_in_force::day;
    return order_ticket{c};
}

[[nodiscard]] std::expected<request, std::string> parse_change(reader& words) {
    change result;
    const auto number = read_number(words.take(), "amend");
    if (!number) return problem(number.error() + "; see: orders");
    result.number = *number;
    while (!words.ended()) {
        if (words.take("quantity")) {
            const auto units = read_number(words.take(), "quantity");
            if (!units) return problem(units.error());
            if (*units > INT64_MAX) return problem("quantity: above the largest quantity of an order");
            result.quantity = static_cast<std::int64_t>(*units);
        } else if (words.take("price")) {
            const auto nano = read_decimal(words.take(), "price");
            if (!nano) return problem(nano.error());
            result.price = domain::price_nano{*nano};
        } else {
            return problem(fmt::format("\"{}\": expected quantity UNITS or price PRICE", words.peek()));
        }
    }
    if (!result.quantity && !result.price) return problem("amend what? quantity UNITS, price PRICE, or both");
    return result;
}

[[nodiscard]] std::expected<request, std::string> parse_cancellation(reader& words,
                                                                     std::span<const domain::instrument> instruments) {
    cancellation result;
    if (words.take("all")) {
        if (words.ended()) return result;
        const domain::instrument* const i = find(instruments, words.peek());
        if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
        static_cast<void>(words.take());
        result.instrument = i->id;
    } else {
        const auto number = read_number(words.take(), "cancel");
        if (!number) return problem(number.error() + ", or: all");
        result.number = *number;
    }
    return result;
}

/// Reads a day such as 2027-03-19; returns its first instant.
[[nodiscard]] std::expected<domain::time_ns, std::string> read_day(std::string_view word) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    const auto part = [&](std::size_t from, std::size_t size, auto& into) {
        const char* const end = word.data() + from + size;
        const auto read = std::from_chars(word.data() + from, end, into);
        return read.ec == std::errc{} && read.ptr == end;
    };
    const bool is_form = word.size() == 10 && word[4] == '-' && word[7] == '-' && part(0, 4, year) &&
                         part(5, 2, month) && part(8, 2, day);
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
    // 2261 is the last year that 64 bits of nanoseconds cover completely.
    if (!is_form || !date.ok() || year < 1970 || year > 2261) {
        return problem(fmt::format("expiry: expected a day such as 2027-03-19, found \"{}\"", word));
    }
    const std::chrono::sys_time<std::chrono::nanoseconds> at{std::chrono::sys_days{date}};
    return domain::time_ns{at.time_since_epoch().count()};
}

[[nodiscard]] std::expected<void, std::string> read_legs(reader& words, std::span<const domain::instrument> instruments,
                                                         domain::definition& d) {
    d.given |= domain::definition_field::legs;
    for (const domain::instrument* leg = nullptr; (leg = find(instruments, words.peek())) != nullptr;) {
        if (d.legs_count == domain::legs_defined_max) {
            return problem(fmt::format("legs: at most {} are possible", domain::legs_defined_max));
        }
        d.legs[d.legs_count++] = leg->id;
        static_cast<void>(words.take());
    }
    if (d.legs_count == 0) return problem(fmt::format("legs: no instrument \"{}\"", words.peek()));
    return {};
}

/// Reads one difference of a definition. Returns a sentence if the word is not one.
[[nodiscard]] std::expected<void, std::string> read_difference(reader& words,
                                                               std::span<const domain::instrument> instruments,
                                                               domain::definition& d) {
    const std::string_view word = words.take();
    const auto read_price_into = [&](domain::price_nano& into, std::uint8_t field) -> std::expected<void, std::string> {
        const auto nano = read_decimal(words.take(), word);
        if (!nano) return problem(nano.error());
        into = domain::price_nano{*nano};
        d.given |= field;
        return {};
    };
    if (equal(word, "legs")) return read_legs(words, instruments, d);
    if (equal(word, "low")) return read_price_into(d.price_low, domain::definition_field::price_low);
    if (equal(word, "high")) return read_price_into(d.price_high, domain::definition_field::price_high);
    if (equal(word, "call") || equal(word, "put")) {
        d.right = equal(word, "call") ? domain::option_right::call : domain::option_right::put;
        return read_price_into(d.strike, domain::definition_field::option);
    }
    if (!equal(word, "expiry"))
        return problem(fmt::format("\"{}\" is not part of a definition; see: help define", word));
    const auto day = read_day(words.take());
    if (!day) return problem(day.error());
    d.expiry = *day;
    d.given |= domain::definition_field::expiry;
    return {};
}

[[nodiscard]] std::expected<request, std::string> parse_definition(reader& words,
                                                                   std::span<const domain::instrument> instruments) {
    domain::definition d;
    const auto id = read_number(words.take(), "id");
    if (!id) return problem(id.error());
    if (*id > domain::instruments_max) return problem(fmt::format("id: at most {}", domain::instruments_max));
    d.id = domain::instrument_id{static_cast<std::uint32_t>(*id)};
    const std::string_view name = words.take();
    if (name.empty() || name.size() > domain::symbol_size_max) {
        return problem(fmt::format("which name? At most {} characters", domain::symbol_size_max));
    }
    d.name = domain::symbol{name};
    if (!words.take("like")) return problem("like which instrument? For example: define 7 DEC like SEP");
    const domain::instrument* const like = find(instruments, words.peek());
    if (like == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
    d.like = like->id;
    static_cast<void>(words.take());
    while (!words.ended()) {
        if (const auto read = read_difference(words, instruments, d); !read) return problem(read.error());
    }
    return order_ticket{domain::command_of(d)};
}

[[nodiscard]] std::expected<request, std::string> parse_phase(reader& words,
                                                              std::span<const domain::instrument> instruments) {
    const std::string_view word = words.take();
    const auto known = std::find_if(phase_words.begin(), phase_words.end(),
                                    [word](std::string_view each) { return equal(each, word); });
    if (known == phase_words.end()) return problem(fmt::format("\"{}\" is not a phase; press TAB for the names", word));
    command c;
    c.kind = domain::command_kind::change_phase;
    c.change_phase().phase = static_cast<domain::trading_phase>(known - phase_words.begin());
    if (words.ended()) return order_ticket{c};
    const domain::instrument* const i = find(instruments, words.peek());
    if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
    static_cast<void>(words.take());
    c.instrument = i->id;
    return order_ticket{c};
}

[[nodiscard]] std::expected<request, std::string> parse_day(reader& words,
                                                            std::span<const domain::instrument> instruments) {
    command c;
    c.kind = domain::command_kind::new_trading_day;
    if (words.ended()) return order_ticket{c};
    const domain::instrument* const i = find(instruments, words.peek());
    if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
    static_cast<void>(words.take());
    c.instrument = i->id;
    return order_ticket{c};
}

[[nodiscard]] std::expected<domain::account_id, std::string> read_account(reader& words) {
    const auto number = read_number(words.take(), "account");
    if (!number) return problem(number.error());
    if (*number > UINT32_MAX) return problem(fmt::format("account: at most {}", UINT32_MAX));
    return domain::account_id{static_cast<std::uint32_t>(*number)};
}

[[nodiscard]] std::expected<request, std::string> parse_kill(reader& words, domain::switch_state state) {
    const auto account = read_account(words);
    if (!account) return problem(account.error());
    command c;
    c.kind = domain::command_kind::kill_switch;
    c.kill_switch().kill_scope = domain::kill_scope::account;
    c.kill_switch().state = state;
    c.kill_switch().other_account = *account;
    return order_ticket{c};
}

[[nodiscard]] std::expected<request, std::string> parse_clearing(reader& words,
                                                                 std::span<const domain::instrument> instruments) {
    const auto account = read_account(words);
    if (!account) return problem(account.error());
    command c;
    c.kind = domain::command_kind::cancel_orders;
    c.cancel_orders().scope = domain::cancel_scope::account;
    c.cancel_orders().other_account = *account;
    if (words.ended()) return order_ticket{c};
    const domain::instrument* const i = find(instruments, words.peek());
    if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
    static_cast<void>(words.take());
    c.instrument = i->id;
    return order_ticket{c};
}

[[nodiscard]] std::expected<request, std::string> parse_limits(reader& words) {
    const auto account = read_account(words);
    if (!account) return problem(account.error());
    command c;
    c.kind = domain::command_kind::set_limits;
    c.set_limits().other_account = *account;
    while (!words.ended()) {
        const std::string_view word = words.take();
        if (std::ranges::none_of(limit_words, [word](std::string_view each) { return equal(each, word); })) {
            return problem(fmt::format("\"{}\": expected order LOTS, position LOTS or open ORDERS", word));
        }
        const auto number = read_number(words.take(), word);
        if (!number) return problem(number.error());
        if (*number > UINT32_MAX) return problem(fmt::format("{}: at most {}", word, UINT32_MAX));
        const auto limit = static_cast<std::uint32_t>(*number);
        if (equal(word, "order")) c.set_limits().order_quantity_max = domain::quantity_lots{limit};
        if (equal(word, "position")) c.set_limits().position_max = domain::quantity_lots{limit};
        if (equal(word, "open")) c.set_limits().open_orders_max = limit;
    }
    return order_ticket{c};
}

[[nodiscard]] std::expected<request, std::string> parse_settlement(reader& words,
                                                                   std::span<const domain::instrument> instruments) {
    const domain::instrument* const i = find(instruments, words.peek());
    if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
    static_cast<void>(words.take());
    const auto price = read_price(*i, words.take(), "price");
    if (!price) return problem(price.error());
    command c;
    c.kind = domain::command_kind::settle_instrument;
    c.instrument = i->id;
    c.settle_instrument().price = *price;
    return order_ticket{c};
}

[[nodiscard]] std::expected<request, std::string> parse_rest(std::string_view word, reader& words,
                                                             std::span<const domain::instrument> instruments,
                                                             std::optional<domain::instrument_id> selected) {
    if (equal(word, "buy")) return parse_order(domain::side::buy, words, instruments, selected);
    if (equal(word, "sell")) return parse_order(domain::side::sell, words, instruments, selected);
    if (equal(word, "amend")) return parse_change(words);
    if (equal(word, "cancel")) return parse_cancellation(words, instruments);
    if (equal(word, "define")) return parse_definition(words, instruments);
    if (equal(word, "newday")) return parse_day(words, instruments);
    if (equal(word, "phase")) return parse_phase(words, instruments);
    if (equal(word, "kill")) return parse_kill(words, domain::switch_state::on);
    if (equal(word, "release")) return parse_kill(words, domain::switch_state::off);
    if (equal(word, "clear")) return parse_clearing(words, instruments);
    if (equal(word, "limits")) return parse_limits(words);
    if (equal(word, "settle")) return parse_settlement(words, instruments);
    if (equal(word, "orders")) return listing::orders;
    if (equal(word, "fills")) return listing::fills;
    if (equal(word, "positions") && equal(words.peek(), "account")) {
        static_cast<void>(words.take());
        return listing::account_positions;
    }
    if (equal(word, "positions")) return listing::positions;
    if (equal(word, "snapshot")) return snapshot_wish{};
    if (equal(word, "status") && words.ended()) return status_question{};
    if (equal(word, "quit") || equal(word, "exit")) return leave{};
    if (equal(word, "help")) {
        const std::string_view topic = words.take();
        if (!topic.empty() && help(topic).empty())
            return problem(fmt::format("no help about \"{}\"; see: help", topic));
        return help_request{std::string(topic)};
    }
    if (equal(word, "show") || equal(word, "use") || equal(word, "status")) {
        const domain::instrument* const i = find(instruments, words.peek());
        if (i == nullptr && equal(word, "status")) {
            if (const auto number = read_number(words.peek(), "status")) {
                static_cast<void>(words.take());
                return order_question{*number};
            }
        }
        if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
        static_cast<void>(words.take());
        if (equal(word, "status")) return status_question{i->id};
        return selection{i->id};
    }
    return problem(fmt::format("\"{}\" is not a command; see: help", word));
}

}  // namespace

std::expected<request, std::string> parse(std::string_view line, std::span<const domain::instrument> instruments,
                                          std::optional<domain::instrument_id> selected) {
    reader words(words_of(line));
    if (words.ended()) return nothing{};
    const std::string_view word = words.take();
    auto result = parse_rest(word, words, instruments, selected);
    if (result && !words.ended())
        return problem(fmt::format("unexpected word \"{}\"; see: help {}", words.peek(), word));
    return result;
}

}  // namespace corro::app::desk
