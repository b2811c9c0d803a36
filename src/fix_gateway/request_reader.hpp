// SPDX-License-Identifier: Apache-2.0
// Reads the fields of a request. What all requests of a FIX session have in common.
//
// Threads: one context. Cost: no allocation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "domain/command.hpp"
#include "domain/long_name.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/values.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/quote_names.hpp"
#include "fix_gateway/requests.hpp"
#include "fix_gateway/symbols.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {

inline constexpr std::string_view order_name_rule =
    "ClOrdID (11) and OrigClOrdID (41) have 1 to 63 characters, from space to ~ of ASCII";
static_assert(domain::long_name_characters_max == 63);

inline constexpr std::string_view name_taken_rule =
    "The account has another ClOrdID (11) with the same number in the venue: change a character";

inline constexpr std::string_view quote_id_rule =
    "QuoteID (117) is a number up to 9999999999999, or has up to 7 characters";

inline request_problem missing(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::required_tag_missing, .business_reason = 0, .text = {}};
}
inline request_problem out_of_range(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::value_out_of_range, .business_reason = 0, .text = {}};
}
inline request_problem malformed(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::incorrect_format, .business_reason = 0, .text = {}};
}
inline request_problem other(std::string_view text) noexcept {
    return {.tag = 0, .reason = fix::reject_reason::other, .business_reason = business_reason_other, .text = text};
}

/// PossResend (97).
inline constexpr request_problem possible_resend{
    .tag = 0,
    .reason = fix::reject_reason::other,
    .business_reason = business_reason_other,
    .text = "PossResend (97) is not taken: ask for the order's status instead"};

inline std::optional<domain::self_match_prevention> self_match_prevention_of(char code) noexcept {
    switch (code) {
        case '0': return domain::self_match_prevention::none;
        case '1': return domain::self_match_prevention::cancel_newest;
        case '2': return domain::self_match_prevention::cancel_resting;
        case '3': return domain::self_match_prevention::cancel_both;
        case '4': return domain::self_match_prevention::decrement;
        default: return std::nullopt;
    }
}

/// Reads fields into one command. The first problem counts, and what is read behind it does not matter.
class request_reader {
 public:
    request_reader(const fix::field_index& message, symbols& instruments, domain::command& into) noexcept
        : request_reader(message, {0, message.fields().size()}, instruments, into) {}
    /// Of an entry of a repeating group.
    request_reader(const fix::field_index& message, fix::field_range within, symbols& instruments,
                   domain::command& into) noexcept
        : message_(message), within_(within), symbols_(instruments), into_(into) {}

    [[nodiscard]] const request_problem& problem() const noexcept { return problem_; }

    void fail(const request_problem& p) noexcept {
        if (!problem_.is_there()) problem_ = p;
    }
    [[nodiscard]] bool has(std::uint32_t tag) const noexcept { return look(tag).has_value(); }
    [[nodiscard]] std::optional<std::string_view> required(std::uint32_t tag) noexcept {
        const auto value = look(tag);
        if (!value) fail(missing(tag));
        return value;
    }
    /// A field of one character; nothing if it is absent.
    [[nodiscard]] std::optional<char> letter(std::uint32_t tag) noexcept {
        const auto value = look(tag);
        if (!value) return std::nullopt;
        if (value->size() == 1) return value->front();
        fail(malformed(tag));
        return std::nullopt;
    }
    [[nodiscard]] bool flag(std::uint32_t tag) noexcept {
        const auto value = letter(tag);
        if (value && *value != 'Y' && *value != 'N') fail(malformed(tag));
        return value == 'Y';
    }
    [[nodiscard]] domain::client_order_id name(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        if (!value) return {};
        const auto read = order_name(*value);
        if (!read) fail(other(order_name_rule));
        return read.value_or(domain::client_order_id{});
    }
    /// QuoteID (117).
    [[nodiscard]] std::uint64_t quote() noexcept {
        const auto value = required(tag::quote_id);
        const auto read = value ? quote_id(*value) : std::nullopt;
        if (value && !read) fail(other(quote_id_rule));
        return read.value_or(0);
    }
    /// Symbol (55). An unknown one becomes the verdict.
    void instrument() noexcept {
        if (const auto value = required(tag::symbol)) set_instrument(symbols_.find(*value));
    }
    [[nodiscard]] domain::price_ticks price(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::decimal_value(*value) : std::nullopt;
        if (value && !read) fail(malformed(tag));
        if (!read || instrument_ == nullptr) return {};
        const auto nano = nano_of(*read);
        if (!nano) {
            set_verdict(read->digits > 9 ? domain::reject_reason::price_off_tick
                                         : domain::reject_reason::invalid_price);
            return {};
        }
        const auto [ticks, reason] = domain::to_ticks(*instrument_, domain::price_nano{*nano});
        set_verdict(reason);
        return ticks;
    }
    [[nodiscard]] domain::quantity_lots quantity(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::decimal_value(*value) : std::nullopt;
        if (value && !read) fail(malformed(tag));
        if (!read || instrument_ == nullptr) return {};
        const fix::decimal units = fix::shortened(*read);
        if (units.digits != 0) {
            set_verdict(domain::reject_reason::quantity_off_lot);
            return {};
        }
        const auto [lots, reason] = domain::to_lots(*instrument_, units.mantissa);
        set_verdict(reason);
        return lots;
    }
    [[nodiscard]] std::uint32_t number(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::unsigned_value(*value) : std::nullopt;
        if (value && (!read || *read > std::numeric_limits<std::uint32_t>::max())) fail(malformed(tag));
        return static_cast<std::uint32_t>(read.value_or(0));
    }
    /// A whole number that may be written as a decimal, such as a ratio.
    [[nodiscard]] std::uint32_t ratio(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::decimal_value(*value) : std::nullopt;
        const fix::decimal whole = fix::shortened(read.value_or(fix::decimal{}));
        if (value && (whole.digits != 0 || whole.mantissa <= 0 || whole.mantissa > 1'000'000)) fail(out_of_range(tag));
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(whole.mantissa, 0, 1'000'000));
    }
    [[nodiscard]] domain::time_ns time(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::timestamp_value(*value) : std::nullopt;
        if (value && !read) fail(malformed(tag));
        return domain::time_ns{read.value_or(0)};
    }
    [[nodiscard]] std::optional<domain::side> side() noexcept {
        const auto value = letter(tag::side);
        if (!value) return std::nullopt;
        if (value == '1') return domain::side::buy;
        if (value == '2') return domain::side::sell;
        fail(out_of_range(tag::side));
        return std::nullopt;
    }
    /// OrigClOrdID (41), or OrderID (37) without it, and the request's own ClOrdID (11).
    void named_order() noexcept {
        into_.request_name() = name(tag::cl_ord_id);
        if (has(tag::orig_cl_ord_id) || !has(tag::order_id)) {
            into_.client_order = name(tag::orig_cl_ord_id);
        } else {
            into_.named_order() = order_id();
        }
    }
    [[nodiscard]] domain::order_id order_id(std::uint32_t tag = tag::order_id) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::unsigned_value(*value) : std::nullopt;
        if (value && read.value_or(0) == 0) fail(malformed(tag));
        return domain::order_id{read.value_or(0)};
    }
    /// An instrument that was found in another way; nullptr: none was.
    void set_instrument(const domain::instrument* found) noexcept {
        instrument_ = found;
        if (found != nullptr) {
            into_.instrument = found->id;
        } else {
            into_.set_verdict(domain::reject_reason::unknown_instrument);
        }
    }
    /// Symbol (55), or another field with a symbol, without an effect.
    [[nodiscard]] const domain::instrument* find_instrument(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        return value ? symbols_.find(*value) : nullptr;
    }
    /// By its number; nullptr: there is none.
    [[nodiscard]] const domain::instrument* instrument_with(domain::instrument_id id) const noexcept {
        return symbols_.instruments().find(id);
    }
    /// One side of a quote. Without a size, or with size 0, it is withdrawn, and its price does not matter.
    void quoted_side(std::uint32_t price_tag, std::uint32_t size_tag, domain::price_ticks& price_into,
                     domain::quantity_lots& quantity_into) noexcept {
        const auto value = look(size_tag);
        if (!value) return;
        const auto size = fix::decimal_value(*value);
        if (!size) return fail(malformed(size_tag));
        if (size->mantissa == 0) return;
        price_into = price(price_tag);
        quantity_into = quantity(size_tag);
    }
    /// SelfMatchPreventionInstruction (2964).
    [[nodiscard]] domain::self_match_prevention self_match_prevention() noexcept {
        const auto code = letter(tag::self_match_prevention_instruction);
        const auto prevention = self_match_prevention_of(code.value_or('0'));
        if (!prevention) fail(out_of_range(tag::self_match_prevention_instruction));
        return prevention.value_or(domain::self_match_prevention::none);
    }

 private:
    void set_verdict(domain::reject_reason reason) noexcept {
        if (into_.verdict() == domain::reject_reason::none) into_.set_verdict(reason);
    }
    [[nodiscard]] static std::optional<std::int64_t> nano_of(const fix::decimal& read) noexcept {
        const fix::decimal value = fix::shortened(read);
        if (value.digits > 9) return std::nullopt;
        std::int64_t nano = value.mantissa;
        for (unsigned i = value.digits; i < 9; ++i) {
            if (__builtin_mul_overflow(nano, std::int64_t{10}, &nano)) return std::nullopt;
        }
        return nano;
    }

    [[nodiscard]] std::optional<std::string_view> look(std::uint32_t tag) const noexcept {
        if (within_.begin == 0) [[likely]]
            return message_.get(tag);
        const fix::field* const found = message_.find(tag, within_);
        return found != nullptr ? std::optional(message_.value(*found)) : std::nullopt;
    }

    const fix::field_index& message_;
    fix::field_range within_;
    symbols& symbols_;
    domain::command& into_;
    const domain::instrument* instrument_ = nullptr;
    request_problem problem_;
};

}  // namespace corro::fix_gateway
