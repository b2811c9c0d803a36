// SPDX-License-Identifier: Apache-2.0
#include "simulation/fix_traders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix/net/connection.hpp"
#include "fix_gateway/tags.hpp"
#include "io/loop/timer.hpp"
#include "simulation/connections.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;
namespace tag = fix_gateway::tag;

constexpr std::uint64_t prices_count = 4;
constexpr std::uint64_t lots_max = 9;
constexpr std::string_view uuid_begin = "6ba7b810-9dad-11d1-80b4-";

std::uint64_t number_in(const fix::field_index& message, std::uint32_t of) {
    return fix::unsigned_value(message.get(of).value_or("")).value_or(0);
}
std::string text_in(const fix::field_index& message, std::uint32_t of) {
    return std::string(message.get(of).value_or(""));
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) noexcept {
    return std::ranges::any_of(beginnings, [text](std::string_view each) { return text.starts_with(each); });
}

}  // namespace

std::string request_text(std::uint64_t name) {
    return name % 3 == 0 ? fmt::format("{}{:012}", uuid_begin, name) : std::to_string(name);
}

std::uint64_t name_of_request(std::string_view text) noexcept {
    if (text.starts_with(uuid_begin)) {
        text.remove_prefix(std::min(text.find_first_not_of('0', uuid_begin.size()), text.size()));
    }
    return fix::unsigned_value(text).value_or(0);
}

std::string content_of(const fix::field_index& message) {
    std::string content;
    for (const fix::field& each : message.fields()) {
        if (each.tag == fix::tag::poss_dup_flag || each.tag == fix::tag::sending_time ||
            each.tag == fix::tag::orig_sending_time) {
            continue;
        }
        content += fmt::format("{}={}|", each.tag, message.value(each));
    }
    return content;
}

// --- Requests --------------------------------------------------------------------------------------------------------

io::task<void> fix_trader::trade(fix::initiator* venue) {
    const io::context& here = co_await io::this_context();
    while (!is_ending_) {
        const std::uint64_t think = random_.below(static_cast<std::uint64_t>(settings_.think_time.count()) * 2 + 1);
        static_cast<void>(co_await io::sleep_for(1us + std::chrono::nanoseconds(static_cast<std::int64_t>(think))));
        fix::session& on = venue->of();
        if (is_ending_ || !on.may_send()) continue;
        const fix::instant now = fix::moment_on(here);
        if (forgets_ != nullptr && !is_asking_again_) {
            on.log_out({}, now);
        } else if (is_in_doubt_ && query_in_doubt_ == 0) {
            fix_request question;
            ask_for_all(on, now, question);
            query_in_doubt_ = send(on, now, std::move(question));
        } else if (may_ask()) {
            ask(on, now);
        } else {
            continue;
        }
        venue->flush();
    }
}

const std::string& fix_trader::any_symbol() {
    return settings_.symbols[static_cast<std::size_t>(random_.below(settings_.symbols.size()))];
}

void fix_trader::put_terms(fix::message_writer& into) {
    into.put(tag::order_qty, 1 + random_.below(lots_max));
    into.put(tag::price, settings_.lowest_price + random_.below(prices_count));
}

void fix_trader::put_quote(fix::message_writer& into) {
    const std::uint64_t bid = settings_.lowest_price - 1 + random_.below(prices_count);
    into.put(tag::symbol, any_symbol());
    into.put(tag::bid_px, bid);
    into.put(tag::offer_px, bid + 1 + random_.below(2));
    into.put(tag::bid_size, random_.below(5));
    into.put(tag::offer_size, random_.below(5));
}

void fix_trader::ask(fix::session& on, fix::instant now) {
    fix_request request;
    const std::uint64_t choice = random_.below(13);
    if (choice >= 10) {
        ask_as_market_maker(on, now, request);
    } else if (choice < 6 || open_.empty()) {
        request.type = "D";
        request.name = settings_.first_name + names_count_;
        fix::message_writer& order = on.begin_message(request.type, now);
        order.put(tag::cl_ord_id, request_text(request.name));
        order.put(tag::side, random_.below(2) == 0 ? '1' : '2');
        order.put(tag::symbol, any_symbol());
        order.put(tag::ord_type, '2');
        put_terms(order);
    } else {
        auto which = open_.begin();
        std::advance(which, static_cast<std::ptrdiff_t>(random_.below(open_.size())));
        const bool replaces = choice < 8 && open_.size() < orders_max;
        request.type = replaces ? "G" : choice == 8 ? "H" : "F";
        request.name = settings_.first_name + names_count_;
        request.original = name_of_request(which->first);
        fix::message_writer& change = on.begin_message(request.type, now);
        // A status request is about the order itself.
        if (request.type == "H") {
            change.put(tag::cl_ord_id, which->first);
            change.put(tag::ord_status_req_id, request_text(request.name));
        } else {
            change.put(tag::cl_ord_id, request_text(request.name));
            change.put(tag::orig_cl_ord_id, which->first);
        }
        change.put(tag::side, which->second.side);
        change.put(tag::symbol, which->second.symbol);
        if (replaces) put_terms(change);
    }
    static_cast<void>(send(on, now, std::move(request)));
}

/// A quote, several, their cancel, or the question for all orders.
void fix_trader::ask_as_market_maker(fix::session& on, fix::instant now, fix_request& request) {
    const std::uint64_t choice = random_.below(8);
    if (choice == 0 || !settings_.may_quote) return ask_for_all(on, now, request);
    request.type = choice < 4 ? "S" : choice < 7 ? "i" : "Z";
    request.name = settings_.first_name + names_count_;
    fix::message_writer& message = on.begin_message(request.type, now);
    message.put(tag::quote_id, request.name);
    if (request.type == "S") return put_quote(message);
    if (request.type == "Z") return message.put(tag::quote_cancel_type, 4);
    const std::uint64_t count = 1 + random_.below(4);
    request.parts = static_cast<std::uint32_t>(count);
    message.put(tag::no_quote_sets, 1);
    message.put(tag::quote_set_id, 1);
    message.put(tag::tot_no_quote_entries, count);
    message.put(tag::no_quote_entries, count);
    for (std::uint64_t k = 1; k <= count; ++k) {
        message.put(tag::quote_entry_id, k);
        put_quote(message);
    }
}

void fix_trader::ask_for_all(fix::session& on, fix::instant now, fix_request& request) {
    request.type = "AF";
    request.name = settings_.first_name + names_count_;
    fix::message_writer& question = on.begin_message(request.type, now);
    question.put(tag::mass_status_req_id, request_text(request.name));
    question.put(tag::mass_status_req_type, 7);
}

std::uint64_t fix_trader::send(fix::session& on, fix::instant now, fix_request request) {
    ++names_count_;
    const std::uint64_t number = on.send(now);
    if (number == 0) {
        found_->add("O1", "a FIX request was not sent");
        return 0;
    }
    request.sent_ns = now.steady;
    has_cancelled_quotes_ |= request.type == "Z";
    numbers_.emplace(request.name, number);
    outstanding_.insert(number);
    requests_.emplace(number, std::move(request));
    return number;
}

// --- Connections -----------------------------------------------------------------------------------------------------

void fix_trader::on_active(fix::session&, fix::instant) {
    is_on_ = true;
    // Refusals may have been lost with the connection.
    is_in_doubt_ = may_be_refused() && !outstanding_.empty();
    query_in_doubt_ = 0;
}

void fix_trader::on_end(fix::session& on) {
    const bool was_on = std::exchange(is_on_, false);
    judge_end(on);
    if (forgets_ == nullptr || is_asking_again_) {
        if (!was_on) return;
        ++connections_count_;
        last_end_ = on.ended_because();
        if (const auto text = on.message().get(fix::tag::text); text && on.message().message_type() == "5") {
            last_end_ += fmt::format(" ({})", *text);
        }
        return;
    }
    is_asking_again_ = forgets_->set_next_received(1);
    known_until_ = contents_.empty() ? 0 : contents_.rbegin()->first;
}

/// What ends a session must be explained by a fault.
void fix_trader::judge_end(const fix::session& on) {
    const std::string_view why = on.ended_because();
    if (settings_.set_clock) follow_clock(on);
    if (why == "the peer logged out") {
        const std::string_view text = on.message().get(fix::tag::text).value_or("");
        if (may_log_out(text)) return;
        return found_->add(text.starts_with("MsgSeqNum too low") ? "D1" : "O1",
                           fmt::format("the venue has logged a FIX session out: {}", text));
    }
    constexpr std::string_view refusal = "the peer refused the Logon: ";
    if (why.starts_with(refusal) && may_log_out(why.substr(refusal.size()))) return;
    if (why == "no answer to a TestRequest") {
        if (!may_be_silent()) found_->add("N3", "the venue does not answer the TestRequest of a FIX session");
        return;
    }
    if (begins_with_any(why, {"the connection has ended", "logged out", "no Logon in time", "no Logout in time"})) {
        return;
    }
    found_->add(why.starts_with("MsgSeqNum too low") ? "D1" : "O1", fmt::format("a FIX session has ended: {}", why));
}

/// A client whose time the venue refuses sets its clock by the venue's.
void fix_trader::follow_clock(const fix::session& on) const {
    const fix::field_index& message = on.message();
    if (message.get(fix::tag::text) != "SendingTime (52) is not accurate") return;
    const auto time = message.get(fix::tag::sending_time);
    const auto value = time ? fix::timestamp_value(*time) : std::nullopt;
    if (value) settings_.set_clock(*value);
}

bool fix_trader::may_log_out(std::string_view text) const noexcept {
    if (text.empty() || text == "The venue closes" || text == "The session ends") return true;
    if (text == "The journal has failed") return settings_.disk_may_fail;
    if (text == "SendingTime (52) is not accurate") return settings_.clocks_may_jump;
    return text == "no answer to a TestRequest" && may_be_silent();
}

// --- Answers ---------------------------------------------------------------------------------------------------------

void fix_trader::on_message(fix::session& on, fix::instant now) {
    take(on.message(), now.steady);
}

/// Only a wrong time of day explains that a sound request is rejected.
void fix_trader::on_reject(fix::session& on, fix::instant now) {
    const fix::field_index& message = on.message();
    constexpr std::uint64_t sending_time_accuracy = 10;
    if (!settings_.clocks_may_jump || number_in(message, fix::tag::session_reject_reason) != sending_time_accuracy) {
        return found_->add("O1", "the venue has rejected a sound message: " + content_of(message));
    }
    const std::uint64_t number = number_in(message, fix::tag::ref_seq_num);
    if (requests_.contains(number)) refused(number, now.steady);
}

void fix_trader::take(const fix::field_index& message, std::int64_t now) {
    const std::uint64_t number = number_in(message, fix::tag::msg_seq_num);
    std::string content = content_of(message);
    if (is_asking_again_ && number <= known_until_) {
        check_mark(message, number);
        return take_again(number, content);
    }
    if (!contents_.emplace(number, std::move(content)).second) {
        return found_->add("R1", fmt::format("message {} of a FIX session came twice", number));
    }
    const std::string_view type = message.message_type();
    if (type == "j") return take_business_reject(message, number, now);
    if (type == "AI" || type == "b") {
        ++quote_answers_count_;
        return answered(message.get(tag::quote_id).value_or(""), now);
    }
    if (type == "9") return answered(message.get(tag::cl_ord_id).value_or(""), now);
    if (type == "8") return take_report(message, now);
    found_->add("O1", fmt::format("a FIX session received a message of type {}", type));
}

/// What is sent again must be told from what is new.
void fix_trader::check_mark(const fix::field_index& message, std::uint64_t number) {
    const bool is_marked =
        message.get(fix::tag::poss_dup_flag) == "Y" && message.get(fix::tag::orig_sending_time).has_value();
    if (!is_marked) found_->add("R1", fmt::format("message {} of a FIX session was not marked as sent again", number));
}

void fix_trader::take_again(std::uint64_t number, const std::string& content) {
    repeated_.insert(number);
    const auto before = contents_.find(number);
    if (before == contents_.end()) {
        return found_->add("R1", fmt::format("message {} of a FIX session is new: {}", number, content));
    }
    if (before->second == content) return;
    found_->add("D1", fmt::format("message {} of a FIX session was: {}, is: {}", number, before->second, content));
}

bool fix_trader::has_all_again() const noexcept {
    if (!is_on_ || !is_asking_again_) return false;
    return std::ranges::all_of(contents_, [this](const auto& each) {
        return each.first > known_until_ || repeated_.contains(each.first) || unkept_.contains(each.first);
    });
}

void fix_trader::take_business_reject(const fix::field_index& message, std::uint64_t number, std::int64_t now) {
    const std::uint64_t refers_to = number_in(message, fix::tag::ref_seq_num);
    const auto found = requests_.find(refers_to);
    const bool is_lost = message.get(fix::tag::text) == "request_lost";
    if (found == requests_.end()) {
        if (is_lost && settings_.is_divided) return;  // a number of the session's own, as of a heartbeat
        return found_->add("S8", fmt::format("a request that was never sent was refused: {}", content_of(message)));
    }
    fix_request& request = found->second;
    // A crash took the request from one partition.
    if (is_lost) {
        const bool was_answered = !outstanding_.contains(refers_to) && !request.is_refused;
        if (!settings_.is_divided || (was_answered && !request.may_be_divided())) {
            return found_->add("D1", fmt::format("FIX request {} of type {} was lost", refers_to, request.type));
        }
        if (outstanding_.erase(refers_to) != 0) request.answered_ns = now;
        request.is_lost = true;
        if (refers_to == query_in_doubt_) query_in_doubt_ = 0;
        return;
    }
    // A question that the venue does not answer, for its throttle say: in the answer log, as a report is.
    if (message.get(tag::business_reject_ref_id) && (request.type == "H" || request.type == "AF")) {
        return answered(request_text(request.name), now);
    }
    // This refusal is of the connection, as a heartbeat is.
    unkept_.insert(number);
    const std::string_view text = message.get(fix::tag::text).value_or("");
    const bool is_of_disk = text == "The journal has failed" && settings_.disk_may_fail;
    const bool is_of_room =
        text == "The venue has no capacity now" && (settings_.disk_may_fail || settings_.facility_may_be_away);
    if (!is_of_disk && !is_of_room) {
        return found_->add("O1", fmt::format("FIX request {} was refused: {}", refers_to, text));
    }
    refused(refers_to, now);
}

void fix_trader::refused(std::uint64_t number, std::int64_t now) {
    fix_request& request = requests_.find(number)->second;
    if (outstanding_.erase(number) == 0) {
        if (request.may_be_divided() || request.is_refused) return;
        return found_->add("C3", fmt::format("FIX request {} is refused, and was answered before", number));
    }
    ++refused_count_;
    request.is_refused = true;
    request.answered_ns = now;
    if (number == query_in_doubt_) query_in_doubt_ = 0;
}

const fix_request* fix_trader::request_named(std::string_view name) const {
    const auto number = numbers_.find(name_of_request(name));
    return number == numbers_.end() ? nullptr : &requests_.find(number->second)->second;
}

void fix_trader::answered(std::string_view name, std::int64_t now) {
    const fix_request* const known = request_named(name);
    if (known == nullptr) {
        return found_->add("S8", fmt::format("a FIX session received an answer about {}, which it never named", name));
    }
    const std::uint64_t number = numbers_.find(known->name)->second;
    fix_request& request = requests_.find(number)->second;
    if (request.is_refused && !request.may_be_divided()) {
        return found_->add("C3", fmt::format("FIX request {} was refused, and has an effect", number));
    }
    if (!outstanding_.contains(number)) return;
    const bool is_first = *outstanding_.begin() == number;
    if (!is_first && !settings_.is_divided && !may_be_refused()) {
        return found_->add("C3",
                           fmt::format("FIX request {} is answered before request {}", number, *outstanding_.begin()));
    }
    outstanding_.erase(number);
    request.answered_ns = now;
    if (number == query_in_doubt_) settle_doubts(now);
}

/// The answers to all requests before the question have come. Those without one were refused.
void fix_trader::settle_doubts(std::int64_t now) {
    const std::uint64_t end = std::exchange(query_in_doubt_, 0);
    while (!outstanding_.empty() && *outstanding_.begin() < end) refused(*outstanding_.begin(), now);
    is_in_doubt_ = false;
}

void fix_trader::take_report(const fix::field_index& message, std::int64_t now) {
    const std::string name = text_in(message, tag::cl_ord_id);
    const bool is_status = message.get(tag::exec_type) == "I";
    // A question for all is about the orders of the whole account, and a cancel of all quotes about its quotes.
    const bool is_of_cancelled_quotes = has_cancelled_quotes_ && message.get(tag::exec_type) == "4";
    if (!is_status && !is_of_cancelled_quotes && request_named(name) == nullptr) {
        return found_->add(
            "S8", fmt::format("a FIX session received a report about the order of another: {}", content_of(message)));
    }
    if (!is_status && !executions_.insert(text_in(message, tag::exec_id)).second) {
        return found_->add("R1", fmt::format("execution {} came twice", text_in(message, tag::exec_id)));
    }
    if (message.get(tag::exec_type) == "F") take_fill(message);
    if (const auto all = message.get(tag::mass_status_req_id)) {
        const bool is_last = message.get(tag::last_rpt_requested) == "Y";
        if (is_last || message.get(tag::more_orders_behind) == "Y") answered(*all, now);
        return;
    }
    const fix_request* const request = request_named(name);
    if (request == nullptr && !is_status) return;
    const bool is_quote = request != nullptr && (request->type == "S" || request->type == "i" || request->type == "Z");
    if (is_quote) return;  // their state is told by other messages
    follow_order(message, name, is_status);
    answered(is_status ? message.get(tag::ord_status_req_id).value_or("") : std::string_view(name), now);
}

void fix_trader::take_fill(const fix::field_index& message) {
    ++fills_count_;
    const auto lots = fix::signed_value(message.get(tag::last_qty).value_or("")).value_or(0);
    bought_ += message.get(tag::side) == "1" ? lots : -lots;
}

void fix_trader::follow_order(const fix::field_index& message, const std::string& name, bool is_status) {
    const std::string previous = text_in(message, tag::orig_cl_ord_id);
    if (!previous.empty()) open_.erase(previous);
    const bool is_open = message.get(tag::ord_status) == "0" || message.get(tag::ord_status) == "1";
    if (is_open && message.get(tag::leaves_qty) == "0") {
        return found_->add("C2", fmt::format("order {} is open, and nothing is left of it", name));
    }
    if (is_status) return;  // of a refused question it is not the order's
    if (!is_open) {
        open_.erase(name);
    } else {
        open_.insert_or_assign(name,
                               terms{message.get(tag::side).value_or("?").front(), text_in(message, tag::symbol)});
    }
}

// --- The client ------------------------------------------------------------------------------------------------------

namespace {

fix::initiator_options options_of(const fix_client_settings& settings) {
    fix::initiator_options options = fix_trading::initiator_of(settings.who, settings.venue);
    options.session.sending_time_tolerance = 0s;  // the venue's clock may jump
    options.session.logon_timeout = logon_patience;
    options.connect_timeout = logon_patience;
    options.retry_delay_min = reconnect_pause;
    options.retry_delay_max = 4 * reconnect_pause;
    return options;
}

}  // namespace

fix_client::fix_client(io::context& on, fix_client_settings settings, findings* found)
    : settings_(std::move(settings)),
      trader_(settings_.trades, found),
      initiator_(on, options_of(settings_), store_, trader_) {}

void fix_client::start(io::task_scope& in) {
    in.spawn(initiator_.run());
    in.spawn(trader_.trade(&initiator_));
}

void fix_client::end() noexcept {
    trader_.finish();
    trader_.end();
    initiator_.abandon();
}

}  // namespace corro::simulation
