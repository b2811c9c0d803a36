// SPDX-License-Identifier: Apache-2.0
#include "api/account.hpp"

#include <algorithm>
#include <utility>

#include "client/session_errors.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::api {

using domain::event_kind;

/// Keeps a request among those that wait, for as long as it lives.
class account::registered {
 public:
    registered(account& in, pending_request& what) : in_(&in), number_(what.number) {
        in_->pending_.emplace(number_, &what);
    }
    registered(const registered&) = delete;
    registered& operator=(const registered&) = delete;
    ~registered() { in_->pending_.erase(number_); }

 private:
    account* in_;
    std::uint32_t number_;
};

/// The same for a question.
class account::asking {
 public:
    asking(account& in, pending_status& what) : in_(&in), what_(&what) { in_->pending_status_.push_back(what_); }
    asking(const asking&) = delete;
    asking& operator=(const asking&) = delete;
    ~asking() { std::erase(in_->pending_status_, what_); }

 private:
    account* in_;
    pending_status* what_;
};

const domain::instrument* account::find(domain::instrument_id id) const noexcept {
    return session_ == nullptr ? nullptr : session_->instruments().find(id);
}

void account::close() noexcept {
    closing_ = true;
    closed_.set();
}

io::task<bool> account::connect() {
    if (session_ != nullptr) {
        const auto again = co_await io::with_timeout(request_timeout, session_->reconnect(venue_));
        if (!again) co_return false;
        if (const std::error_code error = *again) {
            // Another venue than before, such as one without its journal: the session begins again with its answers.
            if (!client::may_come_back(error) && error != io::condition::canceled) {
                session_.reset();
                orders_ = own_orders();
            }
            co_return false;
        }
        // What cannot be sent again has no answer; who waits for it gives up by time.
        static_cast<void>(session_->resend_not_accepted());
        co_return true;
    }
    client::credentials who;
    who.account = key_.account;
    who.session_number = key_.session_number;
    who.key = key_.secret;
    who.heartbeat = heartbeat;
    who.next_answer = 1;
    if (!has_ended_earlier_life_) {
        // Orders of an earlier API may rest that were to end with their connections: the venue has kept them if it was
        // away itself, and takes this logon for the return of that client. A connection that is lost ends them.
        auto earlier = co_await io::with_timeout(request_timeout, client::order_session::log_on(venue_, who));
        if (!earlier || !*earlier) co_return false;
        (**earlier)->abandon();
        has_ended_earlier_life_ = true;
    }
    auto made = co_await io::with_timeout(request_timeout, client::order_session::log_on(venue_, who));
    if (!made || !*made) co_return false;
    session_ = std::move(**made);
    co_return true;
}

io::task<> account::run() {
    while (!closing_) {
        const bool is_there = co_await connect();
        if (is_there) {
            is_on_ = true;
            to_write_.set();
            io::task_scope beside(*context_);
            beside.spawn(session_->keep_alive());
            beside.spawn(write());
            beside.spawn(read());
            static_cast<void>(co_await closed_.wait());
            is_on_ = false;
            beside.request_stop();
            co_await beside.join();
            if (closing_) break;
            closed_.reset();
        }
        const std::error_code stopped = co_await io::sleep_for(retry_interval);
        if (stopped) co_return;
    }
    if (session_ != nullptr) static_cast<void>(co_await io::with_timeout(request_timeout, session_->log_out()));
}

io::task<> account::write() {
    while (true) {
        const std::error_code stopped = co_await to_write_.wait();
        if (stopped) co_return;
        queue_cancels();
        while (session_->has_output()) {
            const std::error_code error = co_await session_->flush();
            if (error) co_return;
            queue_cancels();
        }
    }
}

/// Takes answers until the connection ends, and then ends it for the others.
io::task<> account::read() {
    while (true) {
        auto answer = session_->poll();
        if (!answer) break;
        if (*answer) {
            take(**answer);
            continue;
        }
        const std::error_code error = co_await session_->fill();
        if (error) break;
    }
    session_->abandon();
    closed_.set();
}

void account::take(const client::answer& from) {
    if (from.gap) {
        is_incomplete_ = true;
        orders_.miss_answers();
        ask_open_orders(domain::order_id());
        return;
    }
    if (from.reject) {
        if (from.reject->refused_template == static_cast<std::uint16_t>(wire::template_id::status_request)) {
            return refuse_status();
        }
        const auto found = pending_.find(static_cast<std::uint32_t>(from.reject->refused_sequence.value));
        if (found == pending_.end()) return;
        found->second->result.what = outcome::kind::not_taken;
        found->second->result.not_taken_because = from.reject->session_reject_reason;
        found->second->done.set();
        return;
    }
    if (from.told != nullptr) {
        if (const auto* const status = std::get_if<wire::venue_status>(&*from.told)) take(*status);
        return;
    }
    const domain::event& event = from.event;
    if (event.kind == event_kind::order_status) {
        if ((event.flags & domain::event_flag::more_behind) != 0) ask_open_orders(event.order.order);
        if ((event.flags & domain::event_flag::only_a_place) != 0) return;
    }
    const domain::instrument& in = session_->instruments().find_or_nameless(event.instrument);
    const own_change change = orders_.take(event, in);
    correlate(event, change);
    if (change.order == nullptr && change.trade == nullptr && change.position.value == 0) return;
    for (account_listener* each : listeners_) each->on_change(change, in);
}

account::pending_request* account::pending_of(const domain::event& event) noexcept {
    std::uint32_t number = 0;
    switch (event.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_rejected:
        case event_kind::order_status:
        case event_kind::request_done: number = event.order.request; break;
        case event_kind::quote_entered: number = event.quote.request; break;
        case event_kind::protection_changed: number = event.protection.request; break;
        case event_kind::order_executed:
            for (const auto& [own, each] : pending_) {
                if (each->name.value != 0 && each->name == event.execution.client_order) return each;
            }
            return nullptr;
        case event_kind::trade_capture:
            for (const auto& [own, each] : pending_) {
                if (std::ranges::find(each->filled, event.capture.order) != each->filled.end()) return each;
            }
            return nullptr;
        default: return nullptr;
    }
    const auto found = number == 0 ? pending_.end() : pending_.find(number);
    return found == pending_.end() ? nullptr : found->second;
}

void account::correlate(const domain::event& event, const own_change& change) {
    pending_request* const p = pending_of(event);
    if (p == nullptr) return;
    outcome& result = p->result;
    switch (event.kind) {
        case event_kind::order_rejected:
            if (p->has_quotes) {
                result.quotes.push_back(quote_result{event.instrument, event.reason, 0, 0});
                break;
            }
            result.what = outcome::kind::refused;
            result.reason = event.reason;
            break;
        case event_kind::quote_entered:
            result.quotes.push_back(quote_result{event.instrument, domain::reject_reason::none,
                                                 event.quote.bid_quantity.value, event.quote.ask_quantity.value});
            break;
        case event_kind::protection_changed: break;
        case event_kind::order_executed:
            ++p->fills_count;
            result.order = event.execution.order;
            if (std::ranges::find(p->filled, result.order) == p->filled.end()) p->filled.push_back(result.order);
            break;
        case event_kind::trade_capture:
            ++p->captures_count;
            if (change.trade != nullptr) result.trades.push_back(*change.trade);
            break;
        case event_kind::order_cancelled: ++result.cancelled_count; [[fallthrough]];
        default: result.order = event.order.order; break;
    }
    if ((event.flags & domain::event_flag::last_of_request) != 0) {
        p->is_answered = true;
        if (result.what != outcome::kind::refused) result.what = outcome::kind::done;
    }
    // The records of fills may follow the answer.
    if (p->is_answered && p->captures_count >= p->fills_count) p->done.set();
}

/// @param request  Its number; 0 when it was not sent.
io::task<outcome> account::wait_for(std::uint32_t request, domain::client_order_id name, bool has_quotes) {
    pending_request waiting;
    if (request == 0) co_return waiting.result;
    waiting.number = request;
    waiting.name = name;
    waiting.has_quotes = has_quotes;
    waiting.result.what = outcome::kind::timed_out;
    const registered here(*this, waiting);
    to_write_.set();
    static_cast<void>(co_await io::with_timeout(request_timeout, waiting.done.wait()));
    co_return std::move(waiting.result);
}

io::task<outcome> account::send_and_wait(domain::command what, domain::client_order_id name) {
    const bool may_send = is_on_ && pending_.size() < requests_waiting_max;
    const std::uint32_t request = may_send ? session_->send(what) : 0;
    co_return co_await wait_for(request, name, false);
}

io::task<outcome> account::quote(std::vector<domain::command> quotes, order_mark mark) {
    mark.is_quote = true;
    const domain::client_order_id name = next_name(mark);
    for (domain::command& each : quotes) each.client_order = name;
    const bool may_send = is_on_ && pending_.size() < requests_waiting_max;
    const std::uint32_t request = may_send ? session_->send_mass_quote(quotes) : 0;
    co_return co_await wait_for(request, name, true);
}

io::task<outcome> account::request(domain::command what) {
    co_return co_await send_and_wait(what, domain::client_order_id());
}

domain::client_order_id account::next_name(order_mark mark) {
    domain::client_order_id name;
    do {
        last_counter_ = last_counter_ + 1 == label_counter_end ? 1 : last_counter_ + 1;
        mark.counter = last_counter_;
        name = id_of(mark);
    } while (orders_.uses(name));
    return name;
}

io::task<outcome> account::enter(domain::command order, order_mark mark) {
    order.client_order = next_name(mark);
    const bool is_market = order.order_terms().type == domain::order_type::market;
    orders_.announce(order.client_order, is_market ? domain::no_price : order.enter_order().price,
                     order.enter_order().quantity.value);
    outcome result = co_await send_and_wait(order, order.client_order);
    if (result.what != outcome::kind::timed_out) orders_.forget(order.client_order);
    co_return result;
}

io::task<std::expected<std::vector<wire::venue_status>, api_error>> account::ask_status() {
    const bool may_send = is_on_ && pending_status_.size() < requests_waiting_max;
    const std::uint64_t number = ++status_number_;
    if (!may_send || !session_->ask_status(number)) {
        co_return std::unexpected(api_error(error_code::retry, {}, "the request was not sent"));
    }
    pending_status waiting;
    waiting.number = number;
    const asking here(*this, waiting);
    to_write_.set();
    static_cast<void>(co_await io::with_timeout(request_timeout, waiting.done.wait()));
    if (waiting.is_refused) {
        co_return std::unexpected(api_error(error_code::locked_by_admin, {}, "not_an_operator"));
    }
    if (!waiting.done.is_set()) co_return std::unexpected(api_error(error_code::timed_out));
    std::ranges::sort(waiting.told, {}, &wire::venue_status::segment);
    co_return std::move(waiting.told);
}

void account::take(const wire::venue_status& status) {
    const auto found = std::ranges::find(pending_status_, status.question, &pending_status::number);
    if (found == pending_status_.end()) return;
    (*found)->told.push_back(status);
    if ((*found)->told.size() >= status.segments_count) (*found)->done.set();
}

/// The reject of one question ends all: it is about the account.
void account::refuse_status() noexcept {
    for (pending_status* const each : pending_status_) {
        each->is_refused = true;
        each->done.set();
    }
}

void account::cancel_all_of(const std::vector<domain::order_id>& orders) {
    to_cancel_.insert(to_cancel_.end(), orders.begin(), orders.end());
    to_write_.set();
}

void account::withdraw_quotes(const std::vector<domain::instrument_id>& in) {
    to_withdraw_.insert(to_withdraw_.end(), in.begin(), in.end());
    to_write_.set();
}

void account::queue_cancels() noexcept {
    while (!to_withdraw_.empty()) {
        domain::command c;
        c.kind = domain::command_kind::cancel_orders;
        c.payload.cancel_orders = domain::cancel_orders();
        c.cancel_orders().scope = domain::cancel_scope::session;
        c.cancel_orders().flags = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
        c.instrument = to_withdraw_.back();
        if (session_->send(c) == 0) return;
        to_withdraw_.pop_back();
    }
    while (!to_cancel_.empty()) {
        const own_order* const one = orders_.find(to_cancel_.back());
        if (one != nullptr && one->state == own_state::open) {
            domain::command c;
            c.kind = domain::command_kind::cancel_order;
            c.payload.cancel_order = domain::cancel_order();
            c.instrument = one->instrument;
            c.cancel_order().order = one->id;
            // Without room it is tried again after the flush.
            if (session_->send(c) == 0) return;
        }
        to_cancel_.pop_back();
    }
}

/// Answers before the first that the venue keeps are missing: asks for the orders that are open nevertheless.
void account::ask_open_orders(domain::order_id behind) noexcept {
    domain::command c;
    c.kind = domain::command_kind::query_order;
    c.payload.query_order = domain::query_order();
    c.query_order().flags = domain::query_flag::all_of_session;
    if (behind.value != 0) {
        c.query_order().flags |= domain::query_flag::behind;
        c.query_order().order = behind;
    }
    static_cast<void>(session_->send(c));
    to_write_.set();
}

}  // namespace corro::api
