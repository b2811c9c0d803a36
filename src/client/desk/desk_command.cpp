#include "client/desk/desk_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "domain/decimal.hpp"
#include "domain/definition.hpp"

namespace corro::client::desk {
namespace {

using domain::command;
using domain::order_type;
using domain::time_in_force;

[[nodiscard]] char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] bool equal(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

[[nodiscard]] bool begins(std::string_view word, std::string_view with) noexcept {
    return word.size() >= with.size() && equal(word.substr(0, with.size()), with);
}

[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const std::size_t size = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, size));
        line.remove_prefix(size);
    }
    return words;
}

struct verb {
    std::string_view word;
    std::string_view usage;
    std::string_view meaning;
};

constexpr std::array<verb, 15> verbs{{
    {"amend", "amend NUMBER [quantity UNITS] [price PRICE]",
     "Changes an order. Less quantity keeps its place in the queue; more, or another price, gives it up."},
    {"buy", "buy UNITS [SYMBOL] PRICE|market [day|gtc|ioc|fok] [post] [show UNITS] [min UNITS] [stop PRICE] [stay]",
     "Enters an order to buy. Without a symbol it is for the instrument that is shown. With \"stay\" it outlives a "
     "lost connection."},
    {"cancel", "cancel NUMBER | cancel all [SYMBOL]", "Cancels an order, or all, or all in one instrument."},
    {"define",
     "define ID SYMBOL like SYMBOL [expiry YYYY-MM-DD] [call STRIKE|put STRIKE] [low PRICE] [high PRICE] [legs "
     "SYMBOL...]",
     "Defines an instrument like another one, which begins closed. For operators."},
    {"fills", "fills", "Lists the last fills."},
    {"help", "help [WORD]", "Explains a word, or lists them all."},
    {"orders", "orders", "Lists the open orders."},
    {"phase", "phase PHASE [SYMBOL]", "Moves an instrument, or all, to another phase. For operators."},
    {"positions", "positions", "Lists what has been bought and sold since the desk was opened."},
    {"quit", "quit", "Leaves; the venue cancels the open orders if the session was opened so."},
    {"sell", "sell UNITS [SYMBOL] PRICE|market [day|gtc|ioc|fok] [post] [show UNITS] [min UNITS] [stop PRICE] [stay]",
     "Enters an order to sell."},
    {"show", "show SYMBOL", "Shows another instrument."},
    {"snapshot", "snapshot", "For operators: has the venue write a snapshot beside its journal while trading goes on."},
    {"status", "status [SYMBOL]",
     "For operators: how far the venue and its journal are, what waits, who is there, and an instrument's phase."},
    {"use", "use SYMBOL", "The same as show."},
}};

constexpr std::array<std::string_view, 10> order_words{"day", "fok",  "gtc",  "ioc",  "market",
                                                       "min", "post", "show", "stay", "stop"};

/// In the order of domain::trading_phase.
constexpr std::array<std::string_view, 7> phase_words{
    "continuous", "halted", "pre_open", "opening_auction", "volatility_auction", "closing_auction", "closed"};

constexpr std::array<std::string_view, 7> definition_words{"call", "expiry", "high", "legs", "like", "low", "put"};

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

/// A quantity of the instrument, in lots.
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
    return problem(fmt::format("{}: {} is more than an order can hold", what, word));
}

/// A price of the instrument, in ticks.
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

/// Walks over the words of one line.
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

/// Adds one option to an order; false when the word is none, a sentence when its value is wrong.
[[nodiscard]] std::expected<bool, std::string> read_option(const domain::instrument& i, reader& words, command& c) {
    if (words.take("day")) {
        c.time_in_force = time_in_force::day;
    } else if (words.take("gtc")) {
        c.time_in_force = time_in_force::gtc;
    } else if (words.take("ioc")) {
        c.time_in_force = time_in_force::ioc;
    } else if (words.take("fok")) {
        c.time_in_force = time_in_force::fok;
    } else if (words.take("post")) {
        c.flags |= domain::order_flag::post_only;
    } else if (words.take("stay")) {
        c.flags |= domain::order_flag::stays;
    } else if (words.take("show")) {
        const auto lots = read_lots(i, words.take(), "show");
        if (!lots) return problem(lots.error());
        c.display_quantity = *lots;
    } else if (words.take("min")) {
        const auto lots = read_lots(i, words.take(), "min");
        if (!lots) return problem(lots.error());
        c.minimum_quantity = *lots;
    } else if (words.take("stop")) {
        const auto price = read_price(i, words.take(), "stop");
        if (!price) return problem(price.error());
        c.trigger_price = *price;
        c.type = c.type == order_type::market ? order_type::stop : order_type::stop_limit;
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
        // What is neither a symbol nor a price nor "market" was meant to be a symbol.
        const std::string_view next = words.peek();
        const bool is_price = equal(next, "market") || (!next.empty() && domain::parse_decimal(next).problem.empty());
        if (i == nullptr || (!next.empty() && !is_price)) {
            return problem(fmt::format("no instrument \"{}\"; press TAB for the names", next));
        }
    }
    command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = i->id;
    c.side = side;
    const auto lots = read_lots(*i, quantity, "quantity");
    if (!lots) return problem(lots.error());
    c.quantity = *lots;
    if (words.take("market")) {
        c.type = order_type::market;
        c.time_in_force = time_in_force::ioc;
    } else {
        if (words.ended()) return problem("at which price? A decimal, or: market");
        const auto price = read_price(*i, words.take(), "price");
        if (!price) return problem(price.error());
        c.price = *price;
    }
    while (!words.ended()) {
        const std::string_view word = words.peek();
        const auto known = read_option(*i, words, c);
        if (!known) return problem(known.error());
        if (!*known) return problem(fmt::format("\"{}\" is no part of an order; see: help buy", word));
    }
    // A stop order waits, and what waits must last.
    if (c.type == order_type::stop) c.time_in_force = time_in_force::day;
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
            if (*units > INT64_MAX) return problem("quantity: more than an order can hold");
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

/// The first instant of a day, such as 2027-03-19.
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
    // The last year that nanoseconds in 64 bits reach as a whole is 2261.
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
            return problem(fmt::format("legs: at most {} can be named", domain::legs_defined_max));
        }
        d.legs[d.legs_count++] = leg->id;
        static_cast<void>(words.take());
    }
    if (d.legs_count == 0) return problem(fmt::format("legs: no instrument \"{}\"", words.peek()));
    return {};
}

/// One difference of a definition; a sentence when it is none.
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
        return problem(fmt::format("\"{}\" is no part of a definition; see: help define", word));
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
    if (known == phase_words.end()) return problem(fmt::format("\"{}\" is no phase; press TAB for the names", word));
    command c;
    c.kind = domain::command_kind::change_phase;
    c.phase = static_cast<domain::trading_phase>(known - phase_words.begin());
    if (words.ended()) return order_ticket{c};
    const domain::instrument* const i = find(instruments, words.peek());
    if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
    static_cast<void>(words.take());
    c.instrument = i->id;
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
    if (equal(word, "phase")) return parse_phase(words, instruments);
    if (equal(word, "orders")) return listing::orders;
    if (equal(word, "fills")) return listing::fills;
    if (equal(word, "positions")) return listing::positions;
    if (equal(word, "snapshot")) return snapshot_wish{};
    if (equal(word, "status") && words.ended()) return status_question{};
    if (equal(word, "quit")) return leave{};
    if (equal(word, "help")) {
        const std::string_view topic = words.take();
        if (!topic.empty() && help(topic).empty())
            return problem(fmt::format("no help about \"{}\"; see: help", topic));
        return help_request{std::string(topic)};
    }
    if (equal(word, "show") || equal(word, "use") || equal(word, "status")) {
        const domain::instrument* const i = find(instruments, words.peek());
        if (i == nullptr) return problem(fmt::format("no instrument \"{}\"; press TAB for the names", words.peek()));
        static_cast<void>(words.take());
        if (equal(word, "status")) return status_question{i->id};
        return selection{i->id};
    }
    return problem(fmt::format("\"{}\" is no command; see: help", word));
}

}  // namespace

std::expected<request, std::string> parse(std::string_view line, std::span<const domain::instrument> instruments,
                                          std::optional<domain::instrument_id> selected) {
    reader words(words_of(line));
    if (words.ended()) return nothing{};
    const std::string_view word = words.take();
    auto result = parse_rest(word, words, instruments, selected);
    if (result && !words.ended()) return problem(fmt::format("\"{}\" is too much; see: help {}", words.peek(), word));
    return result;
}

std::vector<std::string> completions(std::string_view line, std::span<const domain::instrument> instruments) {
    const auto words = words_of(line);
    const bool is_new_word = line.empty() || line.back() == ' ' || line.back() == '\t';
    const std::string_view begun = is_new_word || words.empty() ? std::string_view{} : words.back();
    const std::size_t position = words.size() - (is_new_word ? 0 : 1);
    std::vector<std::string> found;
    const auto offer = [&](std::string_view word) {
        if (begins(word, begun)) found.emplace_back(word);
    };
    const auto offer_symbols = [&] {
        for (const domain::instrument& i : instruments) offer(i.name.view());
    };
    if (position == 0 || (position == 1 && equal(words[0], "help"))) {
        for (const verb& v : verbs) offer(v.word);
    } else if (equal(words[0], "buy") || equal(words[0], "sell")) {
        if (position == 2) offer_symbols();
        if (position >= 2) {
            for (const std::string_view word : order_words) offer(word);
        }
    } else if (equal(words[0], "define")) {
        if (position >= 3) {
            for (const std::string_view word : definition_words) offer(word);
            offer_symbols();
        }
    } else if (equal(words[0], "phase")) {
        if (position == 1) {
            for (const std::string_view word : phase_words) offer(word);
        }
        if (position == 2) offer_symbols();
    } else if (equal(words[0], "amend")) {
        if (position >= 2) {
            offer("price");
            offer("quantity");
        }
    } else if (equal(words[0], "cancel")) {
        if (position == 1) offer("all");
        if (position == 2 && equal(words[1], "all")) offer_symbols();
    } else if (position == 1 && (equal(words[0], "show") || equal(words[0], "use") || equal(words[0], "status"))) {
        offer_symbols();
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string complete(std::string_view line, std::span<const domain::instrument> instruments) {
    const auto found = completions(line, instruments);
    std::string result(line);
    if (found.empty()) return result;
    std::string_view common = found.front();
    for (const std::string& word : found) {
        std::size_t same = 0;
        while (same < common.size() && same < word.size() && lower(common[same]) == lower(word[same])) ++same;
        common = common.substr(0, same);
    }
    const std::size_t begun = line.find_last_of(" \t");
    result.resize(begun == std::string_view::npos ? 0 : begun + 1);
    result += common;
    if (found.size() == 1) result += ' ';
    return result;
}

std::vector<std::string> help(std::string_view topic) {
    std::vector<std::string> lines;
    for (const verb& v : verbs) {
        if (topic.empty()) {
            lines.emplace_back(v.usage);
        } else if (equal(v.word, topic)) {
            lines.emplace_back(v.usage);
            lines.emplace_back(v.meaning);
        }
    }
    return lines;
}

}  // namespace corro::client::desk
