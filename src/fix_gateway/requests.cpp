#include "fix_gateway/requests.hpp"

#include <limits>
#include <optional>

#include "fix/codec/values.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

using domain::command;
using domain::command_kind;
using domain::reject_reason;

constexpr std::string_view name_rule =
    "ClOrdID (11) and OrigClOrdID (41) are numbers up to 9223372036854775807, or have up to 10 characters";

request_problem missing(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::required_tag_missing, .business_reason = 0, .text = {}};
}
request_problem out_of_range(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::value_out_of_range, .business_reason = 0, .text = {}};
}
request_problem malformed(std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = fix::reject_reason::incorrect_format, .business_reason = 0, .text = {}};
}
request_problem other(std::string_view text) noexcept {
    return {.tag = 0, .reason = fix::reject_reason::other, .business_reason = business_reason_other, .text = text};
}

/// Reads fields into one command. The first problem counts, and what is read behind it does not matter.
class reader {
 public:
    reader(const fix::field_index& message, symbols& instruments, command& into) noexcept
        : message_(message), symbols_(instruments), into_(into) {}

    [[nodiscard]] const request_problem& problem() const noexcept { return problem_; }

    void fail(const request_problem& p) noexcept {
        if (!problem_.is_there()) problem_ = p;
    }
    [[nodiscard]] bool has(std::uint32_t tag) const noexcept { return message_.find(tag) != nullptr; }
    [[nodiscard]] std::optional<std::string_view> required(std::uint32_t tag) noexcept {
        const auto value = message_.get(tag);
        if (!value) fail(missing(tag));
        return value;
    }
    /// A field of one character; nothing if it is absent.
    [[nodiscard]] std::optional<char> letter(std::uint32_t tag) noexcept {
        const auto value = message_.get(tag);
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
        if (!read) fail(other(name_rule));
        return read.value_or(domain::client_order_id{});
    }
    /// Symbol (55). An unknown one becomes the verdict.
    void instrument() noexcept {
        const auto value = required(tag::symbol);
        if (!value) return;
        instrument_ = symbols_.find(*value);
        if (instrument_ != nullptr) {
            into_.instrument = instrument_->id;
        } else {
            into_.set_verdict(reject_reason::unknown_instrument);
        }
    }
    [[nodiscard]] domain::price_ticks price(std::uint32_t tag) noexcept {
        const auto value = required(tag);
        const auto read = value ? fix::decimal_value(*value) : std::nullopt;
        if (value && !read) fail(malformed(tag));
        if (!read || instrument_ == nullptr) return {};
        const auto nano = nano_of(*read);
        if (!nano) {
            set_verdict(read->digits > 9 ? reject_reason::price_off_tick : reject_reason::invalid_price);
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
            set_verdict(reject_reason::quantity_off_lot);
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
    [[nodiscard]] domain::order_id order_id() noexcept {
        const auto value = required(tag::order_id);
        const auto read = value ? fix::unsigned_value(*value) : std::nullopt;
        if (value && read.value_or(0) == 0) fail(malformed(tag::order_id));
        return domain::order_id{read.value_or(0)};
    }

 private:
    void set_verdict(reject_reason reason) noexcept {
        if (into_.verdict() == reject_reason::none) into_.set_verdict(reason);
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

    const fix::field_index& message_;
    symbols& symbols_;
    command& into_;
    const domain::instrument* instrument_ = nullptr;
    request_problem problem_;
};

std::optional<domain::order_type> order_type_of(char code, bool has_offset) noexcept {
    switch (code) {
        case '1': return has_offset ? domain::order_type::market_protected : domain::order_type::market;
        case '2': return domain::order_type::limit;
        case '3': return domain::order_type::stop;
        case '4': return domain::order_type::stop_limit;
        case 'J': return domain::order_type::market_if_touched;
        case 'K': return domain::order_type::market_to_limit;
        default: return std::nullopt;
    }
}

std::optional<domain::time_in_force> time_in_force_of(char code) noexcept {
    switch (code) {
        case '0': return domain::time_in_force::day;
        case '1': return domain::time_in_force::gtc;
        case '2': return domain::time_in_force::at_the_open;
        case '3': return domain::time_in_force::ioc;
        case '4': return domain::time_in_force::fok;
        case '6': return domain::time_in_force::gtd;
        case '7': return domain::time_in_force::at_the_close;
        default: return std::nullopt;
    }
}

std::optional<domain::self_match_prevention> self_match_prevention_of(char code) noexcept {
    switch (code) {
        case '0': return domain::self_match_prevention::none;
        case '1': return domain::self_match_prevention::cancel_newest;
        case '2': return domain::self_match_prevention::cancel_resting;
        case '3': return domain::self_match_prevention::cancel_both;
        case '4': return domain::self_match_prevention::decrement;
        default: return std::nullopt;
    }
}

/// ExecInst (18): characters with spaces between them.
void read_instructions(const fix::field_index& message, reader& r, domain::enter_order& order) noexcept {
    for (const char code : message.get(tag::exec_inst).value_or(std::string_view())) {
        if (code == '6') {
            order.flags |= domain::order_flag::post_only;
        } else if (code != ' ') {
            r.fail(out_of_range(tag::exec_inst));
        }
    }
    if (r.flag(tag::reprices)) order.flags |= domain::order_flag::reprice;
    if (r.flag(tag::stays_on_disconnect)) order.flags |= domain::order_flag::stays;
    if (const auto code = r.letter(tag::self_match_prevention_instruction)) {
        const auto prevention = self_match_prevention_of(*code);
        if (!prevention) r.fail(out_of_range(tag::self_match_prevention_instruction));
        order.self_match_prevention = prevention.value_or(domain::self_match_prevention::none);
    }
    if (r.has(tag::self_match_prevention_id)) order.self_match_group = r.number(tag::self_match_prevention_id);
}

/// MaxFloor (111), or DisplayQty (1138).
std::optional<std::uint32_t> display_tag(const reader& r) noexcept {
    if (r.has(tag::display_qty)) return tag::display_qty;
    if (r.has(tag::max_floor)) return tag::max_floor;
    return std::nullopt;
}

void read_new_order(const fix::field_index& message, reader& r, command& c) noexcept {
    c.kind = command_kind::enter_order;
    domain::enter_order& order = c.enter_order();
    domain::order_terms& terms = c.order_terms();
    c.client_order = r.name(tag::cl_ord_id);
    r.instrument();
    if (!r.has(tag::side)) r.fail(missing(tag::side));
    terms.side = r.side().value_or(domain::side::buy);
    order.quantity = r.quantity(tag::order_qty);
    if (!r.has(tag::ord_type)) r.fail(missing(tag::ord_type));
    const bool has_offset = r.has(tag::protection_offset);
    const auto type = order_type_of(r.letter(tag::ord_type).value_or('2'), has_offset);
    if (!type) r.fail(out_of_range(tag::ord_type));
    terms.type = type.value_or(domain::order_type::limit);
    if (terms.type == domain::order_type::limit || terms.type == domain::order_type::stop_limit) {
        order.price = r.price(tag::price);
    } else if (terms.type == domain::order_type::market_protected) {
        order.price = r.price(tag::protection_offset);
    }
    if (terms.type == domain::order_type::stop || terms.type == domain::order_type::stop_limit ||
        terms.type == domain::order_type::market_if_touched) {
        order.trigger_price = r.price(tag::stop_px);
    }
    if (const auto code = r.letter(tag::time_in_force)) {
        const auto lasts = time_in_force_of(*code);
        if (!lasts) r.fail(out_of_range(tag::time_in_force));
        terms.time_in_force = lasts.value_or(domain::time_in_force::day);
    }
    if (terms.time_in_force == domain::time_in_force::gtd) order.expire_time = r.time(tag::expire_time);
    if (r.has(tag::min_qty)) order.minimum_quantity = r.quantity(tag::min_qty);
    if (const auto display = display_tag(r)) order.display_quantity = r.quantity(*display);
    read_instructions(message, r, order);
}

void read_replace(reader& r, command& c) noexcept {
    c.kind = command_kind::amend_order;
    domain::amend_order& amend = c.amend_order();
    r.named_order();
    r.instrument();
    static_cast<void>(r.side());
    amend.quantity = r.quantity(tag::order_qty);
    amend.price = r.has(tag::price) ? r.price(tag::price) : domain::no_price;  // an order with a limit refuses it
    if (r.flag(tag::amends_open_quantity)) amend.flags |= domain::amend_flag::open_quantity;
    if (r.has(tag::stop_px)) {
        amend.flags |= domain::amend_flag::trigger_price;
        amend.trigger_price = r.price(tag::stop_px);
    }
    if (const auto display = display_tag(r)) {
        amend.flags |= domain::amend_flag::display_quantity;
        amend.display_quantity = r.quantity(*display);
    }
}

void read_mass_cancel(reader& r, command& c) noexcept {
    c.kind = command_kind::cancel_orders;
    domain::cancel_orders& cancel = c.cancel_orders();
    c.request_name() = r.name(tag::cl_ord_id);
    if (!r.has(tag::mass_cancel_request_type)) r.fail(missing(tag::mass_cancel_request_type));
    const char type = r.letter(tag::mass_cancel_request_type).value_or('7');
    if (type != '1' && type != '7') r.fail(out_of_range(tag::mass_cancel_request_type));
    // A mass cancel names no order; the answer repeats this.
    c.client_order = domain::client_order_id{static_cast<std::uint64_t>(type - '0')};
    if (type == '1') r.instrument();
    if (const auto side = r.side()) {
        cancel.sides = *side == domain::side::buy ? domain::cancel_sides::buy : domain::cancel_sides::sell;
    }
}

}  // namespace

request_problem read_request(const fix::field_index& message, symbols& instruments, command& into) noexcept {
    into = command{};
    reader r(message, instruments, into);
    const std::string_view type = message.message_type();
    // Whether it was seen before cannot be known of an order that is not open any more.
    if (r.flag(tag::poss_resend)) return other("PossResend (97) is not taken: ask for the order's status instead");
    switch (type.size() == 1 ? type.front() : '\0') {
        case 'D': read_new_order(message, r, into); break;
        case 'F':
            into.kind = command_kind::cancel_order;
            r.named_order();
            r.instrument();
            static_cast<void>(r.side());
            break;
        case 'G': read_replace(r, into); break;
        case 'H':
            into.kind = command_kind::query_order;
            into.client_order = r.name(tag::cl_ord_id);
            // With a name the answer is told from those of other requests.
            into.request_name() = r.has(tag::ord_status_req_id) ? r.name(tag::ord_status_req_id) : into.client_order;
            break;
        case 'q': read_mass_cancel(r, into); break;
        default:
            return {.tag = 0,
                    .reason = fix::reject_reason::other,
                    .business_reason = business_reason_unsupported_type,
                    .text = "Unsupported message type"};
    }
    return r.problem();
}

}  // namespace corro::fix_gateway
