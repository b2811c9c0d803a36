// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/reference_answers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <span>

#include "fix/codec/values.hpp"
#include "fix_gateway/answer_fields.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

using domain::instrument;
using domain::instrument_kind;

constexpr std::string_view exchange_symbol = "8";  ///< SecurityIDSource (22)

/// Text of a bounded size.
class short_text {
 public:
    void add(std::string_view text) noexcept {
        const std::size_t fits = std::min(text.size(), room_.size() - size_);
        std::copy_n(text.begin(), fits, room_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ += fits;
    }
    /// With leading zeros up to `digits`.
    void add(std::uint64_t number, std::size_t digits = 1) noexcept {
        std::array<char, 20> text{};
        const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
        const auto size = static_cast<std::size_t>(end - text.data());
        for (std::size_t i = size; i < digits; ++i) add("0");
        add(std::string_view(text.data(), size));
    }
    /// A price, with as few digits as possible.
    void add(domain::price_nano price) noexcept {
        const fix::decimal value = fix::shortened({price.value, nano_digits});
        // The magnitude of the smallest number does not fit the signed type.
        const auto bits = static_cast<std::uint64_t>(value.mantissa);
        const std::uint64_t magnitude = value.mantissa < 0 ? 0 - bits : bits;
        std::uint64_t unit = 1;
        for (unsigned i = 0; i < value.digits; ++i) unit *= 10;
        if (value.mantissa < 0) add("-");
        add(magnitude / unit);
        if (value.digits == 0) return;
        add(".");
        add(magnitude % unit, value.digits);
    }
    [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::string_view view() const noexcept { return {room_.data(), size_}; }

 private:
    std::array<char, 256> room_{};
    std::size_t size_ = 0;
};

void put(fix::message_writer& into, std::uint32_t tag, domain::price_nano price) noexcept {
    into.put(tag, fix::shortened({price.value, nano_digits}));
}

std::uint64_t quantity_max(const instrument& i) noexcept {
    return std::uint64_t{i.order_quantity_max.value} * i.lot_size;
}

std::string_view security_type(const instrument& i, fix_version version) noexcept {
    switch (i.kind) {
        case instrument_kind::future: return "FUT";
        case instrument_kind::option: return "OPT";
        case instrument_kind::spread: return version == fix_version::v4_2 ? "NONE" : "MLEG";
        case instrument_kind::spot: break;
    }
    return "NONE";
}

/// MaturityDate (541) with MaturityTime (1079), or MaturityMonthYear (200) with MaturityDay (205); in UTC.
void put_expiry(const instrument& i, fix_version version, fix::message_writer& into) noexcept {
    if (i.expiry.value <= 0) return;
    const std::chrono::sys_time<std::chrono::nanoseconds> at{std::chrono::nanoseconds(i.expiry.value)};
    const auto midnight = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day day{midnight};
    short_text month;
    month.add(static_cast<std::uint64_t>(static_cast<int>(day.year())), 4);
    month.add(static_cast<unsigned>(day.month()), 2);
    if (version == fix_version::v4_2) {
        into.put(tag::maturity_month_year, month.view());
        return into.put(tag::maturity_day, static_cast<unsigned>(day.day()));
    }
    month.add(static_cast<unsigned>(day.day()), 2);
    into.put(tag::maturity_date, month.view());
    if (version < fix_version::v5_0) return;
    const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(at - midnight)};
    short_text text;
    text.add(static_cast<std::uint64_t>(time.hours().count()), 2);
    text.add(":");
    text.add(static_cast<std::uint64_t>(time.minutes().count()), 2);
    text.add(":");
    text.add(static_cast<std::uint64_t>(time.seconds().count()), 2);
    text.add("Z");
    into.put(tag::maturity_time, text.view());
}

/// CFICode (461) has the right of an option in each version from 4.4 on; PutOrCall (201) is not in all of them.
void put_option(const instrument& i, fix_version version, fix::message_writer& into) noexcept {
    if (i.kind != instrument_kind::option) return;
    put(into, tag::strike_price, i.strike);
    if (version == fix_version::v4_4 || i.right == domain::option_right::none) return;
    into.put(tag::put_or_call, i.right == domain::option_right::call ? 1 : 0);
}

std::string_view cfi_code(const instrument& i) noexcept {
    if (i.kind == instrument_kind::future) return "FXXXXX";
    if (i.kind != instrument_kind::option) return {};
    switch (i.right) {
        case domain::option_right::call: return "OCXXXX";
        case domain::option_right::put: return "OPXXXX";
        case domain::option_right::none: break;
    }
    return "OXXXXX";
}

/// What an instrument is: the fields of the component Instrument.
void put_instrument(const instrument& i, fix_version version, fix::message_writer& into) noexcept {
    into.put(tag::symbol, i.name.view());
    into.put(tag::security_id, i.id.value);
    into.put(tag::security_id_source, exchange_symbol);
    if (version == fix_version::v5_0_sp && i.product.value != 0) into.put(tag::security_group, i.product.value);
    if (version != fix_version::v4_2 && !cfi_code(i).empty()) into.put(tag::cfi_code, cfi_code(i));
    into.put(tag::security_type, security_type(i, version));
    put_expiry(i, version, into);
    put_option(i, version, into);
    if (version >= fix_version::v5_0) put(into, tag::min_price_increment, i.tick_size);
}

/// The terms for which the version has fields, in the order of the component BaseTradingRules.
void put_rules(const instrument& i, fix_version version, fix::message_writer& into) noexcept {
    if (version == fix_version::v4_2) return;
    if (version == fix_version::v5_0_sp) {
        put(into, tag::low_limit_price, domain::to_nano(i, i.price_low));
        put(into, tag::high_limit_price, domain::to_nano(i, i.price_high));
        into.put(tag::max_trade_vol, quantity_max(i));
    }
    into.put(tag::round_lot, i.lot_size);
}

/// The other terms.
void put_terms_as_text(const instrument& i, fix_version version, fix::message_writer& into) noexcept {
    short_text text;
    if (version < fix_version::v5_0) {
        text.add("MinPriceIncrement=");
        text.add(i.tick_size);
    }
    if (version == fix_version::v4_2) {
        text.add(" RoundLot=");
        text.add(i.lot_size);
    }
    if (version < fix_version::v5_0_sp) {
        text.add(text.is_empty() ? "LowLimitPrice=" : " LowLimitPrice=");
        text.add(domain::to_nano(i, i.price_low));
        text.add(" HighLimitPrice=");
        text.add(domain::to_nano(i, i.price_high));
        text.add(" MaxTradeVol=");
        text.add(quantity_max(i));
    }
    if (!text.is_empty()) into.put(tag::text, text.view());
}

void put_legs(const instrument& i, const reference_directory& instruments, fix_version version,
              fix::message_writer& into) noexcept {
    const std::span<const domain::leg> legs = i.legs_used();
    if (legs.empty()) return;
    const bool is_before_4_4 = version == fix_version::v4_2;
    into.put(is_before_4_4 ? tag::no_related_sym : tag::no_legs, legs.size());
    for (const domain::leg& each : legs) {
        const instrument* const found = instruments.find(each.instrument);
        const std::string_view name = found != nullptr ? found->name.view() : std::string_view("[N/A]");
        const char side = each.side == domain::side::buy ? '1' : '2';
        if (is_before_4_4) {
            into.put(tag::underlying_symbol, name);
            into.put(tag::ratio_qty, each.ratio);
            into.put(tag::side, side);
        } else {
            into.put(tag::leg_symbol, name);
            into.put(tag::leg_security_id, each.instrument.value);
            into.put(tag::leg_security_id_source, exchange_symbol);
            into.put(tag::leg_ratio_qty, each.ratio);
            into.put(tag::leg_side, side);
        }
    }
}

/// SecurityReqID (320), and SecurityResponseID (322): the number of the request and of the part.
void put_ids(const reference_answer& a, fix::message_writer& into) noexcept {
    into.put(tag::security_req_id, a.id);
    short_text response;
    response.add(a.request);
    response.add("-");
    response.add(a.part);
    into.put(tag::security_response_id, response.view());
}

void begin_list(const reference_answer& a, std::size_t count, bool is_last, fix::message_writer& into) noexcept {
    put_ids(a, into);
    into.put(tag::security_request_result, static_cast<unsigned>(list_result::valid));
    into.put(tag::tot_no_related_sym, a.total);
    into.put(tag::last_fragment, is_last);
    into.put(tag::no_related_sym, count);
}

void put_listed(const reference_answer& a, const reference_directory& instruments, const instrument& i,
                fix::message_writer& into) noexcept {
    put_instrument(i, a.version, into);
    if (a.version == fix_version::v5_0_sp) {
        put_rules(i, a.version, into);
        put_legs(i, instruments, a.version, into);
    } else {
        put_legs(i, instruments, a.version, into);
        put_rules(i, a.version, into);
    }
    put_terms_as_text(i, a.version, into);
}

void begin_definition(const reference_answer& a, definition_result what, fix::message_writer& into) noexcept {
    put_ids(a, into);
    into.put(tag::security_response_type, static_cast<unsigned>(what));
    if (a.version == fix_version::v4_2) into.put(tag::tot_no_related_sym, a.total);
}

/// A phase in FIX.
struct phase_words {
    unsigned status;           ///< SecurityTradingStatus (326)
    unsigned status_4_2;       ///< the same in FIX 4.2, which has 1 to 20
    unsigned sub_session;      ///< TradingSessionSubID (625); 0: there is none
    std::string_view in_text;  ///< the venue's word
};

phase_words words_of(domain::trading_phase phase) noexcept {
    using domain::trading_phase;
    switch (phase) {
        case trading_phase::continuous: return {17, 17, 3, "continuous"};
        case trading_phase::halted: return {2, 2, 0, "halted"};
        case trading_phase::pre_open: return {21, 1, 1, "pre_open"};
        case trading_phase::opening_auction: return {22, 5, 2, "opening_auction"};
        case trading_phase::volatility_auction: return {5, 5, 0, "volatility_auction"};
        case trading_phase::closing_auction: return {5, 5, 4, "closing_auction"};
        case trading_phase::closed: break;
    }
    return {18, 18, 5, "closed"};
}

}  // namespace

void write_list(const reference_answer& a, const reference_directory& instruments, std::size_t first, std::size_t count,
                fix::message_writer& into) noexcept {
    begin_list(a, count, first + count == a.total, into);
    for (std::size_t i = 0; i < count; ++i) put_listed(a, instruments, instruments.at(first + i), into);
}

void write_list(const reference_answer& a, const reference_directory& instruments, const instrument& only,
                fix::message_writer& into) noexcept {
    begin_list(a, 1, true, into);
    put_listed(a, instruments, only, into);
}

void write_empty_list(const reference_answer& a, list_result why, fix::message_writer& into) noexcept {
    put_ids(a, into);
    into.put(tag::security_request_result, static_cast<unsigned>(why));
}

void write_definition(const reference_answer& a, definition_result what, const reference_directory& instruments,
                      const instrument& i, fix::message_writer& into) noexcept {
    begin_definition(a, what, into);
    put_instrument(i, a.version, into);
    put_terms_as_text(i, a.version, into);
    put_legs(i, instruments, a.version, into);
    if (a.version == fix_version::v5_0_sp) {
        into.put(tag::no_market_segments, 1);
        into.put(tag::market_id, a.market);
    }
    put_rules(i, a.version, into);
}

void write_no_definition(const reference_answer& a, definition_result why, std::string_view symbol,
                         std::string_view text, fix::message_writer& into) noexcept {
    begin_definition(a, why, into);
    if (!symbol.empty()) into.put(tag::symbol, symbol);
    if (!text.empty()) into.put(tag::text, text);
}

void write_session_status(std::string_view id, std::string_view session, session_state state,
                          fix::message_writer& into) noexcept {
    constexpr unsigned unknown_session = 1;
    into.put(tag::unsolicited_indicator, false);
    into.put(tag::trad_ses_req_id, id);
    into.put(tag::trading_session_id, session);
    into.put(tag::trad_ses_status, static_cast<unsigned>(state));
    if (state == session_state::no_such_session) into.put(tag::trad_ses_status_rej_reason, unknown_session);
    if (state == session_state::halted) into.put(tag::text, "The journal does not take new orders");
}

void write_status(std::string_view id, std::string_view symbol, const instrument* i,
                  std::optional<domain::trading_phase> phase, fix_version version, fix::message_writer& into) noexcept {
    constexpr unsigned unknown = 20;
    into.put(tag::security_status_req_id, id);
    if (i != nullptr) {
        put_instrument(*i, version, into);
    } else {
        into.put(tag::symbol, symbol);
    }
    if (!phase) return into.put(tag::security_trading_status, unknown);
    const phase_words words = words_of(*phase);
    if (version == fix_version::v4_2) return into.put(tag::security_trading_status, words.status_4_2);
    if (words.sub_session != 0) into.put(tag::trading_session_sub_id, words.sub_session);
    into.put(tag::security_trading_status, words.status);
    into.put(tag::text, words.in_text);
}

}  // namespace corro::fix_gateway
