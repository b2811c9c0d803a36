// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/requests.hpp"

#include <algorithm>
#include <optional>

#include "fix/codec/frame.hpp"
#include "fix/codec/values.hpp"
#include "fix_gateway/multileg_request.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/positions.hpp"
#include "fix_gateway/quote_requests.hpp"
#include "fix_gateway/request_reader.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

using domain::command;
using domain::command_kind;

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

/// ExecInst (18): characters with spaces between them.
void read_instructions(const fix::field_index& message, request_reader& r, domain::enter_order& order) noexcept {
    for (const char code : message.get(tag::exec_inst).value_or(std::string_view())) {
        if (code == '6') {
            order.flags |= domain::order_flag::post_only;
        } else if (code != ' ') {
            r.fail(out_of_range(tag::exec_inst));
        }
    }
    if (r.flag(tag::reprices)) order.flags |= domain::order_flag::reprice;
    if (r.flag(tag::stays_on_disconnect)) order.flags |= domain::order_flag::stays;
    order.self_match_prevention = r.self_match_prevention();
    if (r.has(tag::self_match_prevention_id)) order.self_match_group = r.number(tag::self_match_prevention_id);
}

/// MaxFloor (111), or DisplayQty (1138).
std::optional<std::uint32_t> display_tag(const request_reader& r) noexcept {
    if (r.has(tag::display_qty)) return tag::display_qty;
    if (r.has(tag::max_floor)) return tag::max_floor;
    return std::nullopt;
}

void read_new_order(const fix::field_index& message, symbols& instruments, request_reader& r, command& c) noexcept {
    c.kind = command_kind::enter_order;
    domain::enter_order& order = c.enter_order();
    domain::order_terms& terms = c.order_terms();
    c.client_order = r.name(tag::cl_ord_id);
    if (message.message_type() == "AB") {
        read_strategy(message, instruments, r);
    } else {
        r.instrument();
    }
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

void read_replace(request_reader& r, command& c) noexcept {
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

void read_mass_cancel(request_reader& r, command& c) noexcept {
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

void read_status_request(request_reader& r, command& c) noexcept {
    c.kind = command_kind::query_order;
    c.client_order = r.name(tag::cl_ord_id);
    // With a name the answer is told from those of other requests.
    c.request_name() = r.has(tag::ord_status_req_id) ? r.name(tag::ord_status_req_id) : c.client_order;
}

void read_mass_status_request(request_reader& r, command& c) noexcept {
    c.kind = command_kind::query_order;
    c.request_name() = r.name(tag::mass_status_req_id);
    if (!r.has(tag::mass_status_req_type)) r.fail(missing(tag::mass_status_req_type));
    if (r.letter(tag::mass_status_req_type).value_or('7') != '7') r.fail(out_of_range(tag::mass_status_req_type));
    c.query_order().flags = domain::query_flag::all_of_account;
    if (!r.has(tag::behind_order_id)) return;
    c.query_order().flags |= domain::query_flag::behind;
    c.query_order().order = r.order_id(tag::behind_order_id);
}

constexpr request_problem unsupported_type{.tag = 0,
                                           .reason = fix::reject_reason::other,
                                           .business_reason = business_reason_unsupported_type,
                                           .text = "Unsupported Message Type"};

/// Of a type that neither the standard has nor a user may define.
constexpr request_problem invalid_type{
    .tag = 0, .reason = fix::reject_reason::invalid_message_type, .business_reason = 0, .text = "Invalid MsgType"};

/// One letter or digit, two capital letters, or letters and digits behind a U.
bool may_be_type(std::string_view type) noexcept {
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto is_usual = [&](char c) { return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (type.size() == 1 || type.starts_with('U')) return std::ranges::all_of(type, is_usual);
    return type.size() == 2 && std::ranges::all_of(type, is_capital);
}

/// The type as a number: its characters.
constexpr unsigned code_of(std::string_view type) noexcept {
    if (type.empty() || type.size() > 2) return 0;
    const auto character = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(type[i])); };
    return type.size() == 1 ? character(0) : character(0) << 8U | character(1);
}

}  // namespace

request_problem read_request(const fix::field_index& message, symbols& instruments, fix_version version,
                             domain::command& into, bool takes_resends) noexcept {
    into = command{};
    request_reader r(message, instruments, into);
    // Whether it was seen before cannot be known of an order that is not open any more.
    const bool is_taken = takes_resends && message.message_type() == "D";
    if (r.flag(tag::poss_resend) && !is_taken) return possible_resend;
    const bool is_before_4_4 = version == fix_version::v4_2;
    switch (code_of(message.message_type())) {
        case code_of("AB"):
            if (is_before_4_4) return unsupported_type;
            [[fallthrough]];
        case code_of("D"): read_new_order(message, instruments, r, into); break;
        case code_of("F"):
            into.kind = command_kind::cancel_order;
            r.named_order();
            r.instrument();
            static_cast<void>(r.side());
            break;
        case code_of("G"): read_replace(r, into); break;
        case code_of("H"): read_status_request(r, into); break;
        case code_of("AF"):
            if (is_before_4_4) return unsupported_type;
            read_mass_status_request(r, into);
            break;
        case code_of("AN"):
            if (is_before_4_4) return unsupported_type;
            read_positions_request(r, into);
            break;
        case code_of("q"):
            if (is_before_4_4) return unsupported_type;
            read_mass_cancel(r, into);
            break;
        case code_of("S"): read_quote(r, into); break;
        case code_of("U1"): read_set_protection(r, into); break;
        case code_of("U2"): read_reset_protection(into); break;
        default: return may_be_type(message.message_type()) ? unsupported_type : invalid_type;
    }
    return r.problem();
}

request_texts texts_of(const fix::field_index& message, const domain::command& request) noexcept {
    request_texts found;
    for (const std::uint32_t of :
         {tag::cl_ord_id, tag::orig_cl_ord_id, tag::ord_status_req_id, tag::mass_status_req_id, tag::pos_req_id}) {
        const auto text = message.get(of);
        const auto name = text ? order_name(*text) : std::nullopt;
        if (!name || !domain::is_long_name(*name)) continue;
        // A message may have fields that its type does not use.
        const bool is_own = request.may_have_name() && *name == request.request_name();
        const bool is_there = found.count != 0 && found.texts[0] == *text;
        if ((!is_own && *name != request.client_order) || is_there || found.count == found.texts.size()) continue;
        found.texts[found.count++] = *text;
    }
    return found;
}

bool read_prefetch_hint(std::string_view received, const fix::frame_result& frame, symbols& instruments,
                        domain::prefetch_hint& into) noexcept {
    constexpr std::string_view type_field = "35=D|";
    const std::string_view body = received.substr(0, frame.body_end).substr(frame.body_begin);
    if (body.size() < type_field.size() || body[type_field.size() - 1] != fix::soh) return false;
    const char type = body[type_field.size() - 2];
    if (type != 'D' && type != 'F' && type != 'G') return false;
    into.enters = type == 'D';
    const std::string_view name_field = into.enters ? "11=" : "41=";
    bool has_name = false;
    bool has_instrument = into.enters;
    for (std::size_t at = 0; at < body.size() && !(has_name && has_instrument);) {
        const std::size_t end = body.find(fix::soh, at);
        const std::string_view field = body.substr(at, end - at);
        at = end + 1;
        if (field.starts_with(name_field)) {
            const auto name = order_name(field.substr(name_field.size()));
            if (!name) return false;
            into.client_order = *name;
            has_name = true;
        } else if (field.starts_with("34=")) {
            into.request = static_cast<std::uint32_t>(fix::unsigned_value(field.substr(3)).value_or(0));
        } else if (!has_instrument && field.starts_with("55=")) {
            const domain::instrument* const found = instruments.find(field.substr(3));
            if (found == nullptr) return false;
            into.instrument = found->id;
            has_instrument = true;
        }
    }
    return has_name;
}

}  // namespace corro::fix_gateway
