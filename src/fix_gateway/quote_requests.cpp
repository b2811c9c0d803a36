// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/quote_requests.hpp"

#include <cstddef>
#include <optional>

#include "fix_gateway/tags.hpp"
#include "wire/binary_codec.hpp"

namespace corro::fix_gateway {
namespace {

using domain::command;
using domain::command_kind;

// A message may ask for as much in one protocol as in the other.
static_assert(quote_entries_max == wire::mass_quote_max);

constexpr std::string_view place_rule =
    "QuoteSetID (302) and QuoteEntryID (299) of a MassQuote (i) are numbers from 1 to 99";
constexpr std::string_view too_many_entries = "A message has at most 6 quotes";

request_problem wrong_count(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::incorrect_group_count, .business_reason = 0, .text = {}};
}

void read_sides(request_reader& r, command& c) noexcept {
    domain::enter_quote& quote = c.enter_quote();
    r.instrument();
    r.quoted_side(tag::bid_px, tag::bid_size, quote.bid_price, quote.bid_quantity);
    r.quoted_side(tag::offer_px, tag::offer_size, quote.ask_price, quote.ask_quantity);
}

/// Where the entries of a message are: each begins with one tag, and the last one ends with the message.
struct entries_found {
    struct entry {
        fix::field_range fields;
        std::uint32_t set = 0;
        std::uint32_t number = 0;
    };
    std::array<entry, quote_entries_max> all;
    std::size_t count = 0;
    request_problem problem;
};

/// QuoteSetID (302), QuoteEntryID (299); 0: not a number from 1 to 99.
std::uint32_t place_of(std::string_view text) noexcept {
    const auto number = fix::unsigned_value(text);
    const bool is_sound = number && *number <= quote_place_max && text.front() != '0';
    return is_sound ? static_cast<std::uint32_t>(*number) : 0;
}

/// A field with the number of entries behind it.
class entry_count {
 public:
    explicit entry_count(std::uint32_t tag) noexcept : tag_(tag) {}

    [[nodiscard]] bool is_open() const noexcept { return expected_.has_value(); }
    /// The previous count must have been right.
    [[nodiscard]] request_problem begin(std::string_view text) noexcept {
        const request_problem before = check();
        expected_ = fix::unsigned_value(text);
        seen_ = 0;
        if (before.is_there()) return before;
        return expected_ ? request_problem{} : malformed(tag_);
    }
    void add() noexcept { ++seen_; }
    [[nodiscard]] request_problem check() const noexcept {
        return expected_ && *expected_ != seen_ ? wrong_count(tag_) : request_problem{};
    }

 private:
    std::uint32_t tag_;
    std::optional<std::uint64_t> expected_;
    std::uint64_t seen_ = 0;
};

/// The sets and entries of a MassQuote. Fields of a set between its entries have no meaning here.
entries_found find_quotes(const fix::field_index& message) noexcept {
    entries_found found;
    entry_count sets(tag::no_quote_sets);
    entry_count entries(tag::no_quote_entries);
    std::uint32_t set = 0;
    const auto fail = [&found](const request_problem& p) {
        if (!found.problem.is_there()) found.problem = p;
    };
    const auto end_entry = [&found](std::size_t at) {
        if (found.count != 0 && found.all[found.count - 1].fields.end == 0) found.all[found.count - 1].fields.end = at;
    };
    const std::span<const fix::field> fields = message.fields();
    for (std::size_t i = 0; i < fields.size() && !found.problem.is_there(); ++i) {
        const std::string_view value = message.value(fields[i]);
        switch (fields[i].tag) {
            case tag::no_quote_sets:
                if (sets.is_open()) fail(wrong_count(tag::no_quote_sets));
                fail(sets.begin(value));
                break;
            case tag::quote_set_id:
                end_entry(i);
                sets.add();
                set = place_of(value);
                if (set == 0) fail(other(place_rule));
                break;
            case tag::no_quote_entries:
                if (set == 0) fail(missing(tag::quote_set_id));
                fail(entries.begin(value));
                break;
            case tag::quote_entry_id: {
                end_entry(i);
                entries.add();
                const std::uint32_t number = place_of(value);
                if (number == 0) fail(other(place_rule));
                if (!entries.is_open()) fail(missing(tag::no_quote_entries));
                if (found.count == quote_entries_max) {
                    fail(other(too_many_entries));
                } else {
                    found.all[found.count++] = {.fields = {i, 0}, .set = set, .number = number};
                }
                break;
            }
            default: break;
        }
    }
    end_entry(fields.size());
    if (!sets.is_open()) fail(missing(tag::no_quote_sets));
    if (!entries.is_open()) fail(missing(tag::no_quote_entries));
    fail(sets.check());
    fail(entries.check());
    if (found.count == 0) fail(wrong_count(tag::no_quote_entries));
    return found;
}

/// The instruments of a QuoteCancel.
entries_found find_instruments(const fix::field_index& message) noexcept {
    entries_found found;
    const auto fail = [&found](const request_problem& p) {
        if (!found.problem.is_there()) found.problem = p;
    };
    entry_count entries(tag::no_quote_entries);
    if (const auto count = message.get(tag::no_quote_entries)) fail(entries.begin(*count));
    const std::span<const fix::field> fields = message.fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].tag != tag::symbol) continue;
        entries.add();
        if (found.count == quote_entries_max) {
            fail(other(too_many_entries));
        } else {
            found.all[found.count++] = {.fields = {i, i + 1}, .set = 0, .number = 0};
        }
    }
    fail(entries.check());
    if (found.count == 0) fail(missing(tag::symbol));
    return found;
}

/// All but the last command of a message are marked, so that the last answer completes the request.
void mark_more(request_commands& all) noexcept {
    for (std::size_t i = 0; i + 1 < all.count; ++i) all.commands[i].enter_quote().flags = domain::quote_flag::more;
}

request_problem read_mass_quote(const fix::field_index& message, symbols& instruments,
                                request_commands& into) noexcept {
    command whole;
    request_reader r(message, instruments, whole);
    const std::uint64_t id = r.quote();
    const domain::self_match_prevention prevention = r.self_match_prevention();
    if (r.problem().is_there()) return r.problem();
    const entries_found found = find_quotes(message);
    if (found.problem.is_there()) return found.problem;
    into.count = found.count;
    for (std::size_t i = 0; i < found.count; ++i) {
        command& c = into.commands[i];
        c = command{};
        c.kind = command_kind::enter_quote;
        c.client_order = quote_name(id, found.all[i].set, found.all[i].number);
        c.enter_quote().self_match_prevention = prevention;
        request_reader entry(message, found.all[i].fields, instruments, c);
        read_sides(entry, c);
        if (entry.problem().is_there()) return entry.problem();
    }
    mark_more(into);
    return {};
}

request_problem read_quote_cancel(const fix::field_index& message, symbols& instruments,
                                  request_commands& into) noexcept {
    command& first = into.commands.front();
    first = command{};
    request_reader r(message, instruments, first);
    const std::uint64_t id = r.quote();
    if (!r.has(tag::quote_cancel_type)) r.fail(missing(tag::quote_cancel_type));
    const char type = r.letter(tag::quote_cancel_type).value_or('4');
    if (type != '1' && type != '4') r.fail(out_of_range(tag::quote_cancel_type));
    if (r.problem().is_there()) return r.problem();
    if (type == '4') {
        into.count = 1;
        first.kind = command_kind::cancel_orders;
        first.request_name() = quote_name(id, quote_request::cancel_all);
        first.cancel_orders().flags = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
        return {};
    }
    const entries_found found = find_instruments(message);
    if (found.problem.is_there()) return found.problem;
    into.count = found.count;
    for (std::size_t i = 0; i < found.count; ++i) {
        command& c = into.commands[i];
        c = command{};
        c.kind = command_kind::enter_quote;  // without a quantity
        c.client_order = quote_name(id, quote_request::cancel);
        request_reader entry(message, found.all[i].fields, instruments, c);
        entry.instrument();
    }
    mark_more(into);
    return {};
}

}  // namespace

void read_quote(request_reader& r, command& c) noexcept {
    c.kind = command_kind::enter_quote;
    const std::uint64_t id = r.quote();
    c.client_order = quote_name(id, quote_request::quote);
    c.enter_quote().self_match_prevention = r.self_match_prevention();
    read_sides(r, c);
}

void read_set_protection(request_reader& r, command& c) noexcept {
    c.kind = command_kind::set_protection;
    c.client_order = quote_name(0, quote_request::protection);
    domain::set_protection& limits = c.set_protection();
    if (r.has(tag::protection_fills_max)) limits.fills_max = r.number(tag::protection_fills_max);
    if (r.has(tag::protection_lots_max)) {
        limits.quantity_max = domain::quantity_lots{r.number(tag::protection_lots_max)};
    }
    if (r.has(tag::protection_window)) limits.window_ms = r.number(tag::protection_window);
}

void read_reset_protection(command& c) noexcept {
    c.kind = command_kind::reset_protection;
    c.client_order = quote_name(0, quote_request::protection);
}

request_problem read_quotes(const fix::field_index& message, symbols& instruments, request_commands& into) noexcept {
    into.count = 0;
    if (message.get(tag::poss_resend) == "Y") return possible_resend;
    return message.message_type() == "Z" ? read_quote_cancel(message, instruments, into)
                                         : read_mass_quote(message, instruments, into);
}

}  // namespace corro::fix_gateway
