// SPDX-License-Identifier: Apache-2.0
#include "fix_trading/fix_orders.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/assert.hpp"
#include "domain/reject_reason.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_trading {
namespace {

namespace tag = fix_gateway::tag;
using domain::command_kind;
using domain::event_kind;

constexpr std::uint8_t nano_digits = 9;
/// Answered requests are dropped when they are this many.
constexpr std::size_t answered_kept_max = 256;

bool is_for_positions(const domain::command& c) noexcept {
    return c.kind == command_kind::query_order && (c.query_order().flags & domain::query_flag::positions) != 0;
}

/// MsgType (35) of a request; empty: there is none.
std::string_view message_type_of(const domain::command& c) noexcept {
    switch (c.kind) {
        case command_kind::enter_order: return "D";
        case command_kind::amend_order: return "G";
        case command_kind::cancel_order: return "F";
        case command_kind::query_order: return is_for_positions(c) ? "AN" : "H";
        case command_kind::cancel_orders: return "q";
        default: return {};
    }
}

char letter_of(domain::order_type type) noexcept {
    switch (type) {
        case domain::order_type::limit: return '2';
        case domain::order_type::market:
        case domain::order_type::market_protected: return '1';
        case domain::order_type::market_to_limit: return 'K';
        case domain::order_type::stop: return '3';
        case domain::order_type::stop_limit: return '4';
        case domain::order_type::market_if_touched: return 'J';
    }
    return '2';
}

char letter_of(domain::time_in_force lasts) noexcept {
    switch (lasts) {
        case domain::time_in_force::day: return '0';
        case domain::time_in_force::gtc: return '1';
        case domain::time_in_force::at_the_open: return '2';
        case domain::time_in_force::ioc: return '3';
        case domain::time_in_force::fok: return '4';
        case domain::time_in_force::gtd: return '6';
        case domain::time_in_force::at_the_close: return '7';
    }
    return '0';
}

void put_price(fix::message_writer& into, std::uint32_t tag, const domain::instrument& i, domain::price_ticks price) {
    into.put(tag, fix::shortened({domain::to_nano(i, price).value, nano_digits}));
}

void put_lots(fix::message_writer& into, std::uint32_t tag, const domain::instrument& i, domain::quantity_lots lots) {
    into.put(tag, std::uint64_t{lots.value} * i.lot_size);
}

void write_new_order(const domain::command& c, const domain::instrument& i, fix::message_writer& into) {
    const domain::enter_order& order = c.enter_order();
    const domain::order_terms& terms = c.order_terms();
    using domain::order_type;
    into.put(tag::side, terms.side == domain::side::buy ? '1' : '2');
    put_lots(into, tag::order_qty, i, order.quantity);
    into.put(tag::ord_type, letter_of(terms.type));
    if (terms.type == order_type::limit || terms.type == order_type::stop_limit) {
        put_price(into, tag::price, i, order.price);
    } else if (terms.type == order_type::market_protected) {
        put_price(into, tag::protection_offset, i, order.price);
    }
    if (terms.type == order_type::stop || terms.type == order_type::stop_limit ||
        terms.type == order_type::market_if_touched) {
        put_price(into, tag::stop_px, i, order.trigger_price);
    }
    into.put(tag::time_in_force, letter_of(terms.time_in_force));
    if (terms.time_in_force == domain::time_in_force::gtd) {
        into.put_time(tag::expire_time, order.expire_time.value, fix::time_precision::nanoseconds);
    }
    if (order.minimum_quantity.value != 0) put_lots(into, tag::min_qty, i, order.minimum_quantity);
    if (order.display_quantity.value != 0) put_lots(into, tag::max_floor, i, order.display_quantity);
    if ((order.flags & domain::order_flag::post_only) != 0) into.put(tag::exec_inst, '6');
    if ((order.flags & domain::order_flag::reprice) != 0) into.put(tag::reprices, true);
    if ((order.flags & domain::order_flag::stays) != 0) into.put(tag::stays_on_disconnect, true);
    if (order.self_match_prevention != domain::self_match_prevention::none) {
        into.put(tag::self_match_prevention_instruction, static_cast<unsigned>(order.self_match_prevention));
    }
    if (order.self_match_group != 0) into.put(tag::self_match_prevention_id, order.self_match_group);
}

void write_replace(const domain::command& c, const domain::instrument& i, fix::message_writer& into) {
    const domain::amend_order& amend = c.amend_order();
    put_lots(into, tag::order_qty, i, amend.quantity);
    if (amend.price != domain::no_price) put_price(into, tag::price, i, amend.price);
    if ((amend.flags & domain::amend_flag::open_quantity) != 0) into.put(tag::amends_open_quantity, true);
    if ((amend.flags & domain::amend_flag::trigger_price) != 0) put_price(into, tag::stop_px, i, amend.trigger_price);
    if ((amend.flags & domain::amend_flag::display_quantity) != 0) {
        put_lots(into, tag::max_floor, i, amend.display_quantity);
    }
}

void write_positions_question(const domain::command& c, const domain::instrument* i, std::uint64_t name,
                              std::int64_t time, fix::message_writer& into) {
    const bool is_behind = (c.query_order().flags & domain::query_flag::behind) != 0;
    if (i != nullptr && !is_behind) into.put(tag::symbol, i->name.view());
    into.put_time(tag::transact_time, time, fix::time_precision::milliseconds);
    into.put(tag::pos_req_id, name);
    into.put(tag::pos_req_type, 0);
    if (i != nullptr && is_behind) into.put(tag::behind_symbol, i->name.view());
}

/// The reason whose words these are; none for others.
domain::reject_reason reason_of(std::string_view text) {
    static const std::unordered_map<std::string_view, domain::reject_reason> known = [] {
        std::unordered_map<std::string_view, domain::reject_reason> made;
        for (unsigned value = 1; value < 256; ++value) {
            const auto reason = static_cast<domain::reject_reason>(value);
            made.try_emplace(domain::to_string(reason), reason);
        }
        return made;
    }();
    const auto found = known.find(text);
    return found == known.end() ? domain::reject_reason::none : found->second;
}

/// A field with a number; 0 if it is missing, or is none.
std::uint64_t number_in(const fix::field_index& message, std::uint32_t tag) noexcept {
    const auto text = message.get(tag);
    return text ? fix::unsigned_value(*text).value_or(0) : 0;
}

char letter_in(const fix::field_index& message, std::uint32_t tag) noexcept {
    const auto text = message.get(tag);
    return text ? text->front() : '\0';
}

/// A price in ticks; no_price if it is missing, or is no multiple of the tick size.
domain::price_ticks price_in(const fix::field_index& message, std::uint32_t tag, const domain::instrument& i) noexcept {
    const auto text = message.get(tag);
    const auto value = text ? fix::decimal_value(*text) : std::nullopt;
    const auto ticks = value ? fix::steps_of(*value, {i.tick_size.value, nano_digits}) : std::nullopt;
    return ticks ? domain::price_ticks{*ticks} : domain::no_price;
}

domain::quantity_lots lots_of(std::uint64_t units, const domain::instrument& i) noexcept {
    return domain::quantity_lots{static_cast<std::uint32_t>(units / i.lot_size)};
}

/// What the report is of, by ExecType (150).
std::optional<event_kind> kind_of(const fix::field_index& message) noexcept {
    switch (letter_in(message, tag::exec_type)) {
        case '0': return event_kind::order_entered;
        case 'F':
        case '1':
        case '2': return event_kind::order_executed;
        case '4':
        case 'C': return event_kind::order_cancelled;
        case '5':
        case 'D':
        case 'L': return event_kind::order_amended;
        case 'I': return event_kind::order_status;
        case '8': return event_kind::order_rejected;
        default: return std::nullopt;
    }
}

}  // namespace

fix_orders::fix_orders(const wire::instrument_table& instruments, std::uint64_t changes_base)
    : symbols_(instruments), next_change_(changes_base + 1) {
    sent_.reserve(2 * answered_kept_max);
}

std::uint64_t fix_orders::send(fix::session& on, const domain::command& request, fix::instant now) {
    const std::string_view type = message_type_of(request);
    const domain::instrument* const i = symbols_.instruments().find(request.instrument);
    const bool needs_no_instrument =
        request.kind == command_kind::query_order ||
        (request.kind == command_kind::cancel_orders && request.instrument == domain::instrument_id{});
    if (type.empty() || (i == nullptr && !needs_no_instrument)) return 0;
    const bool is_new = request.kind == command_kind::enter_order;
    const std::uint64_t name = is_new ? request.client_order.value : next_change_++;
    write(request, i, name, now.wall, on.begin_message(type, now));
    const std::uint64_t number = on.send(now);
    if (number == 0) return 0;
    if (is_new) orders_.try_insert(name, known_order{});
    if (answered_ == answered_kept_max || answered_ == sent_.size()) {
        sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(answered_));
        answered_ = 0;
    }
    sent_.push_back({name, request.client_order, number, request.kind});
    return number;
}

void fix_orders::write(const domain::command& c, const domain::instrument* i, std::uint64_t name, std::int64_t time,
                       fix::message_writer& into) const {
    if (is_for_positions(c)) return write_positions_question(c, i, name, time, into);
    const known_order* const known = orders_.find(c.client_order.value);
    const std::uint64_t now_named = known != nullptr && known->name != 0 ? known->name : c.client_order.value;
    into.put(tag::cl_ord_id, c.kind == command_kind::query_order ? now_named : name);
    if (c.kind == command_kind::query_order) into.put(tag::ord_status_req_id, name);
    if (c.kind == command_kind::amend_order || c.kind == command_kind::cancel_order) {
        if (known != nullptr && known->order != 0) {
            into.put(tag::order_id, known->order);
        } else {
            into.put(tag::orig_cl_ord_id, now_named);
        }
    }
    if (c.kind == command_kind::cancel_orders) into.put(tag::mass_cancel_request_type, i == nullptr ? '7' : '1');
    if (i != nullptr) into.put(tag::symbol, i->name.view());
    into.put_time(tag::transact_time, time, fix::time_precision::milliseconds);
    if (c.kind == command_kind::enter_order) write_new_order(c, *i, into);
    if (c.kind == command_kind::amend_order) write_replace(c, *i, into);
}

fix_orders::read_result fix_orders::read(const fix::field_index& message) {
    const std::string_view type = message.message_type();
    if (type == "8") return read_report(message);
    if (type == "9") return read_cancel_reject(message);
    if (type == "r") return read_mass_report(message);
    if (type == "3" || type == "j") return read_refusal(message);
    if (type == "AO") return read_positions_ack(message);
    if (type == "AP") return read_position(message);
    return std::nullopt;
}

fix_orders::sent_request* fix_orders::find_sent(std::uint64_t name) noexcept {
    for (std::size_t i = answered_; i < sent_.size(); ++i) {
        if (sent_[i].name == name) return &sent_[i];
    }
    return nullptr;
}

// Requests are answered in the order of sending unless several partitions do it.
void fix_orders::complete(sent_request& request, fix_answer& by) noexcept {
    by.event.flags |= domain::event_flag::last_of_request;
    by.request_number = static_cast<std::uint32_t>(request.number);
    if (by.event.kind == event_kind::position_reported) {
        by.event.position.request = by.request_number;
    } else if (by.event.kind != event_kind::order_executed) {
        by.event.order.request = by.request_number;
    }
    const auto at = sent_.begin() + (&request - sent_.data());
    std::rotate(sent_.begin() + static_cast<std::ptrdiff_t>(answered_), at, at + 1);
    ++answered_;
}

void fix_orders::close(domain::client_order_id client_order) noexcept {
    const known_order* const known = orders_.find(client_order.value);
    if (known == nullptr) return;
    if (known->name != 0) amended_.erase(known->name);
    orders_.erase(client_order.value);
}

fix_orders::read_result fix_orders::read_report(const fix::field_index& message) {
    const auto kind = kind_of(message);
    const std::uint64_t name = number_in(message, tag::cl_ord_id);
    const domain::instrument* const i = symbols_.find(message.get(tag::symbol).value_or(std::string_view()));
    // Orders that were entered by other programs may have texts as names.
    if (!kind || name == 0) return std::nullopt;
    fix_answer answer;
    domain::event& e = answer.event;
    e.kind = *kind;
    e.side = letter_in(message, tag::side) == '2' ? domain::side::sell : domain::side::buy;
    answer.text = message.get(tag::text).value_or(std::string_view());
    if (!answer.text.empty()) e.reason = reason_of(answer.text);
    const std::uint64_t status_name =
        e.kind == event_kind::order_status ? number_in(message, tag::ord_status_req_id) : 0;
    sent_request* const request = find_sent(status_name != 0 ? status_name : name);
    const bool is_change = request != nullptr && request->kind != command_kind::enter_order;

    domain::client_order_id client_order{name};
    if (is_change) {
        client_order = request->client_order;
    } else if (const std::uint64_t* const first = amended_.find(name)) {
        client_order.value = *first;
    }
    if (e.kind == event_kind::order_rejected || letter_in(message, tag::ord_status) == '8') {
        e.kind = event_kind::order_rejected;
        e.order.client_order = client_order;
        if (i != nullptr) e.instrument = i->id;
        if (request != nullptr) complete(*request, answer);
        close(client_order);
        return answer;
    }
    if (i == nullptr) return std::unexpected("a report is of an unknown instrument");
    e.instrument = i->id;

    const std::uint64_t order = number_in(message, tag::order_id);
    const std::uint64_t cumulative = number_in(message, tag::cum_qty);
    const std::uint64_t leaves = number_in(message, tag::leaves_qty);
    const auto [known, is_new] = orders_.try_insert(client_order.value, known_order{});
    const bool is_first = is_new || known->order == 0;
    known->order = order;
    if (e.kind == event_kind::order_executed) {
        const std::uint64_t last = number_in(message, tag::last_qty);
        if (last == 0 || last > cumulative || (!is_new && known->filled_units + last != cumulative)) {
            return std::unexpected("CumQty (14) is not the sum of the fills");
        }
        e.execution.order = domain::order_id{order};
        e.execution.client_order = client_order;
        e.execution.price = price_in(message, tag::last_px, *i);
        e.execution.quantity = lots_of(last, *i);
        e.execution.leaves = lots_of(leaves, *i);
        if (e.execution.price == domain::no_price) return std::unexpected("LastPx (31) is no price of the instrument");
    } else {
        if (!is_new && !(is_first && e.kind == event_kind::order_status) && known->filled_units != cumulative) {
            return std::unexpected("CumQty (14) is not the sum of the fills");
        }
        e.order.order = domain::order_id{order};
        e.order.client_order = client_order;
        e.order.price = price_in(message, tag::price, *i);
        e.order.quantity = lots_of(leaves, *i);
    }
    known->filled_units = cumulative;
    const bool is_cancelled = e.kind == event_kind::order_cancelled;
    if (!is_cancelled && number_in(message, tag::order_qty) != cumulative + leaves) {
        return std::unexpected("OrderQty (38) is not CumQty (14) and LeavesQty (151)");
    }
    if (e.kind == event_kind::order_amended && is_change) {
        if (known->name != 0) amended_.erase(known->name);
        known->name = name;
        amended_.try_insert(name, client_order.value);
    }
    const bool is_partial_fill = e.kind == event_kind::order_executed && leaves != 0;
    if (request != nullptr && !is_partial_fill) complete(*request, answer);
    if (is_cancelled || (e.kind == event_kind::order_executed && leaves == 0)) close(client_order);
    return answer;
}

fix_orders::read_result fix_orders::read_cancel_reject(const fix::field_index& message) {
    sent_request* const request = find_sent(number_in(message, tag::cl_ord_id));
    if (request == nullptr) return std::nullopt;
    fix_answer answer;
    answer.text = message.get(tag::text).value_or(std::string_view());
    answer.event.kind = event_kind::order_rejected;
    answer.event.reason = reason_of(answer.text);
    answer.event.order.client_order = request->client_order;
    complete(*request, answer);
    return answer;
}

fix_orders::read_result fix_orders::read_mass_report(const fix::field_index& message) {
    sent_request* const request = find_sent(number_in(message, tag::cl_ord_id));
    if (request == nullptr) return std::nullopt;
    fix_answer answer;
    answer.text = message.get(tag::text).value_or(std::string_view());
    const bool is_refused = letter_in(message, tag::mass_cancel_response) == '0';
    answer.event.kind = is_refused ? event_kind::order_rejected : event_kind::request_done;
    if (is_refused) answer.event.reason = reason_of(answer.text);
    complete(*request, answer);
    return answer;
}

fix_orders::read_result fix_orders::read_positions_ack(const fix::field_index& message) {
    sent_request* const request = find_sent(number_in(message, tag::pos_req_id));
    if (request == nullptr) return std::nullopt;
    fix_answer answer;
    answer.text = message.get(tag::text).value_or(std::string_view());
    if (letter_in(message, tag::pos_req_status) == '2') {
        answer.event.kind = event_kind::order_rejected;
        answer.event.reason = reason_of(answer.text);
        complete(*request, answer);
        return answer;
    }
    if (positions_left_ != 0) return std::unexpected("an answer about positions is not complete");
    positions_left_ = number_in(message, tag::total_num_pos_reports);
    answer.event.kind = event_kind::position_reported;
    answer.event.position = {};
    answer.event.position.last = domain::no_price;
    answer.event.position.count = static_cast<std::uint32_t>(positions_left_);
    if (positions_left_ == 0) complete(*request, answer);
    return answer;
}

fix_orders::read_result fix_orders::read_position(const fix::field_index& message) {
    sent_request* const request = find_sent(number_in(message, tag::pos_req_id));
    const domain::instrument* const i = symbols_.find(message.get(tag::symbol).value_or(std::string_view()));
    if (request == nullptr) return std::nullopt;
    if (positions_left_ == 0) return std::unexpected("there are more positions than were announced");
    if (i == nullptr) return std::unexpected("a position is in an unknown instrument");
    const std::uint64_t bought = number_in(message, tag::long_qty);
    const std::uint64_t sold = number_in(message, tag::short_qty);
    if (bought != 0 && sold != 0) return std::unexpected("a position is long and short");
    fix_answer answer;
    domain::event& e = answer.event;
    e.kind = event_kind::position_reported;
    e.instrument = i->id;
    e.side = sold != 0 ? domain::side::sell : domain::side::buy;
    if (letter_in(message, tag::more_positions_behind) == 'Y') e.flags |= domain::event_flag::more_behind;
    e.position = {};
    e.position.quantity = domain::volume_lots{(bought + sold) / i->lot_size};
    e.position.last = price_in(message, tag::settl_price, *i);
    --positions_left_;
    if (positions_left_ == 0) complete(*request, answer);
    return answer;
}

fix_orders::read_result fix_orders::read_refusal(const fix::field_index& message) {
    const std::uint64_t number = number_in(message, tag::ref_seq_num);
    fix_answer answer;
    answer.is_reject = true;
    answer.text = message.get(tag::text).value_or(std::string_view());
    answer.event.kind = event_kind::order_rejected;
    for (std::size_t i = answered_; i < sent_.size(); ++i) {
        if (sent_[i].number != number) continue;
        if (sent_[i].kind == command_kind::enter_order) close(sent_[i].client_order);
        answer.event.order.client_order = sent_[i].client_order;
        complete(sent_[i], answer);
        break;
    }
    return answer;
}

}  // namespace corro::fix_trading
