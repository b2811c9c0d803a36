// SPDX-License-Identifier: Apache-2.0
#include "trading_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/corro/desk/refusal.hpp"
#include "domain/decimal.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "operator_words.hpp"

namespace corro::app {
namespace {

using desk::order_state;
using desk::own_order;

constexpr std::chrono::milliseconds rejoin_delay{500};
constexpr std::size_t fills_listed_max = 20;
constexpr std::string_view no_connection = "there is no connection";

std::string_view state_name(order_state state) noexcept {
    switch (state) {
        case order_state::sent: return "sent";
        case order_state::open: return "open";
        case order_state::filled: return "filled";
        case order_state::cancelled: return "cancelled";
        case order_state::refused: return "refused";
    }
    return "unknown";
}

std::string_view side_name(domain::side side) noexcept {
    return side == domain::side::buy ? "buy" : "sell";
}

}  // namespace

trading_desk::trading_desk(desk_settings settings, std::function<void(const std::string&)> say)
    : settings_(std::move(settings)), link_(std::move(settings_.link)), say_(std::move(say)) {}

const domain::instrument* trading_desk::find(domain::instrument_id id) const noexcept {
    const auto found = std::find_if(instruments_.begin(), instruments_.end(),
                                    [id](const domain::instrument& i) { return i.id == id; });
    return found == instruments_.end() ? nullptr : &*found;
}

void trading_desk::select_next() noexcept {
    if (instruments_.empty()) return;
    const auto at = std::find_if(instruments_.begin(), instruments_.end(),
                                 [this](const domain::instrument& i) { return selected_ && i.id == *selected_; });
    const bool is_last = at == instruments_.end() || at + 1 == instruments_.end();
    selected_ = is_last ? instruments_.front().id : (at + 1)->id;
}

void trading_desk::leave() noexcept {
    link_->leave();
}

io::task<std::string> trading_desk::run() {
    io::task_scope beside(co_await io::this_context());
    beside.spawn(follow_market());
    std::string why = co_await link_->run(this);
    beside.request_stop();
    co_await beside.join();
    co_return why;
}

void trading_desk::on_first_logon() {
    instruments_.clear();
    link_->instruments().for_each([this](const domain::instrument& i) { instruments_.push_back(i); });
    for (const domain::instrument& i : instruments_) {
        if (i.name.view() == settings_.symbol || !selected_) selected_ = i.id;
        if (i.name.view() == settings_.symbol) break;
    }
    const domain::instrument* const shown = selected_ ? find(*selected_) : nullptr;
    if (shown != nullptr && !settings_.symbol.empty() && shown->name.view() != settings_.symbol) {
        say(fmt::format("no instrument \"{}\"; this is {}", settings_.symbol, shown->name.view()));
    }
}

// Follows the market over reconnections. Trading works without it.
io::task<void> trading_desk::follow_market() {
    const io::stop_token stop = co_await io::this_stop_token();
    while (!stop.stop_requested()) {
        auto joined = co_await client::feed_session::join(settings_.feed, settings_.snapshot);
        if (joined) {
            feed_ = std::move(*joined);
            io::task_scope following(co_await io::this_context());
            following.spawn(feed_->keep_alive());
            co_await read_feed();
            following.request_stop();
            co_await following.join();
            feed_.reset();
        }
        const std::error_code stopped = co_await io::sleep_for(rejoin_delay);
        if (stopped) co_return;
    }
}

io::task<void> trading_desk::read_feed() {
    while (true) {
        const auto event = feed_->poll();
        if (!event) co_return;
        if (*event) {
            view_.on_event(**event);
            continue;
        }
        const std::error_code error = co_await feed_->fill();
        if (error) co_return;
    }
}

// Adds instruments that operators define while the venue runs.
void trading_desk::learn_instruments() {
    if (feed_ != nullptr) {
        feed_->instruments().for_each([this](const domain::instrument& i) {
            if (link_->instruments().find(i.id) == nullptr) link_->learn(i);
        });
    }
    if (instruments_.empty() || link_->instruments().count() == instruments_.size()) return;
    link_->instruments().for_each([this](const domain::instrument& i) {
        if (find(i.id) == nullptr) say(fmt::format("new instrument: {}", i.name.view()));
    });
    instruments_.clear();
    link_->instruments().for_each([this](const domain::instrument& i) { instruments_.push_back(i); });
}

void trading_desk::on_event(const domain::event& event) {
    learn_instruments();
    orders_.on_event(event);
    tell(event);
}

void trading_desk::on_refused(domain::client_order_id number, std::string_view why) {
    orders_.on_refused(number, domain::reject_reason::none);
    say(std::string(why));
}

std::string trading_desk::describe(const own_order& o) const {
    const domain::instrument* const i = find(o.instrument);
    const std::uint64_t units = i == nullptr ? 1 : i->lot_size;
    std::string line = fmt::format("#{} {} {} {} ", short_number(o.number), state_name(o.state), side_name(o.side),
                                   o.quantity * units);
    line += i == nullptr ? "?" : i->name.view();
    line += o.price == domain::no_price || i == nullptr ? " market" : " @ " + format_price(*i, o.price);
    if (i != nullptr && o.trigger != domain::no_price && o.is_alive()) {
        line += ", waits for a trade at " + format_price(*i, o.trigger);
    }
    if (o.shown != 0 && o.is_alive()) line += fmt::format(", shows {}", o.shown * units);
    if (o.filled != 0) line += fmt::format(", {} filled", o.filled * units);
    if (o.reason != domain::reject_reason::none) line += fmt::format(" ({})", domain::to_string(o.reason));
    return line;
}

// Reports one private event to the user.
void trading_desk::tell(const domain::event& event) {
    using domain::event_kind;
    switch (event.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_status:
            if (const own_order* const o = orders_.find(event.order.client_order)) say(describe(*o));
            break;
        case event_kind::order_rejected: {
            const std::uint64_t number = short_number(event.order.client_order);
            const own_order* const o = orders_.find(event.order.client_order);
            const domain::instrument* const i = find(o == nullptr ? event.instrument : o->instrument);
            const feed::book_image* const book = feed_ == nullptr || i == nullptr ? nullptr : feed_->book(i->id);
            say(fmt::format("{}refused: {}", number == 0 ? std::string() : fmt::format("#{} ", number),
                            desk::refusal({.reason = event.reason,
                                           .instrument = i,
                                           .order = o,
                                           .last = book == nullptr ? domain::no_price : book->prices().last,
                                           .session = &orders_,
                                           .requests_per_second_max = link_->requests_per_second_max()})));
            break;
        }
        case event_kind::order_executed: {
            const domain::instrument* const i = find(event.instrument);
            if (i == nullptr) break;
            say(fmt::format("#{} {} {} {} @ {}, {} left", short_number(event.execution.client_order),
                            event.side == domain::side::buy ? "bought" : "sold",
                            std::uint64_t{event.execution.quantity.value} * i->lot_size, i->name.view(),
                            format_price(*i, event.execution.price),
                            std::uint64_t{event.execution.leaves.value} * i->lot_size));
            break;
        }
        case event_kind::position_reported: tell_position(event); break;
        case event_kind::request_done: say("done"); break;
        default: break;
    }
}

std::string trading_desk::describe(const domain::instrument& i, const desk::own_position& position) const {
    std::string line = fmt::format("{} {:+}, {} traded", i.name.view(),
                                   position.lots * static_cast<std::int64_t>(i.lot_size), position.traded * i.lot_size);
    if (position.lots != 0) line += ", average " + format_average(i, position.average);
    line += ", realised " + format_result(i, position.realised);
    const feed::book_image* const book = feed_ == nullptr ? nullptr : feed_->book(i.id);
    if (position.lots == 0 || book == nullptr || book->prices().last == domain::no_price) return line;
    const double gain = static_cast<double>(book->prices().last.value) - position.average;
    return line + ", open " + format_result(i, gain * static_cast<double>(position.lots));
}

// One of the account's positions. Asks for those behind a page.
void trading_desk::tell_position(const domain::event& event) {
    if (event.instrument.value == 0) {
        if (event.position.count == 0) say("the account has no more positions");
        return;
    }
    const domain::instrument* const i = find(event.instrument);
    if (i != nullptr && event.position.quantity.value != 0) {
        const auto units = static_cast<std::int64_t>(event.position.quantity.value * i->lot_size);
        const std::string price =
            event.position.last == domain::no_price ? "" : ", last " + format_price(*i, event.position.last);
        say(fmt::format("{} {:+} in the account{}", i->name.view(), event.side == domain::side::buy ? units : -units,
                        price));
    }
    if ((event.flags & domain::event_flag::more_behind) != 0) ask_positions(event.instrument);
}

void trading_desk::ask_positions(domain::instrument_id behind) {
    if (connected() && !link_->has_positions()) return ask("positions of the account are told by FIX: --fix");
    domain::command c;
    c.kind = domain::command_kind::query_order;
    c.instrument = behind;
    c.query_order().flags = domain::query_flag::positions;
    if (behind.value != 0) c.query_order().flags |= domain::query_flag::behind;
    send(c);
}

void trading_desk::execute(std::string_view line) {
    using namespace desk;
    learn_instruments();
    const auto parsed = parse(line, instruments_, selected_);
    if (!parsed) return say(parsed.error());
    if (const auto* const ticket = std::get_if<order_ticket>(&*parsed)) {
        send(ticket->command);
    } else if (const auto* const wanted = std::get_if<desk::change>(&*parsed)) {
        amend(*wanted);
    } else if (const auto* const one = std::get_if<desk::order_question>(&*parsed)) {
        query(*one);
    } else if (const auto* const which = std::get_if<cancellation>(&*parsed)) {
        cancel(*which);
    } else if (const auto* const chosen = std::get_if<selection>(&*parsed)) {
        selected_ = chosen->instrument;
        if (const domain::instrument* const i = find(chosen->instrument); i != nullptr && feed_ != nullptr) {
            say(market_view::summary(*feed_, *i));
        }
    } else if (const auto* const question = std::get_if<desk::status_question>(&*parsed)) {
        ask(connected() ? link_->ask_status(question->instrument) : no_connection);
    } else if (std::holds_alternative<desk::snapshot_wish>(*parsed)) {
        ask(connected() ? link_->ask_snapshot() : no_connection);
    } else if (const auto* const what = std::get_if<listing>(&*parsed)) {
        list(*what);
    } else if (const auto* const topic = std::get_if<help_request>(&*parsed)) {
        for (const std::string& text : help(topic->topic)) say(text);
    } else if (std::holds_alternative<desk::leave>(*parsed)) {
        leave();
    }
}

void trading_desk::send(domain::command command) {
    if (!connected()) return ask(no_connection);
    if (command.kind == domain::command_kind::enter_order) {
        command.client_order = link_->next_order();
        orders_.on_sent(command);
    }
    const std::string_view problem = link_->send(command);
    if (problem.empty()) return;
    orders_.on_refused(command.client_order, domain::reject_reason::none);
    say(fmt::format("not sent: {}", problem));
}

void trading_desk::ask(std::string_view problem) {
    if (!problem.empty()) say(fmt::format("not sent: {}", problem));
}

void trading_desk::on_reply(const client::admin_command& reply) {
    learn_instruments();
    const auto* const status = std::get_if<wire::venue_status>(&reply);
    const domain::instrument* const i = status == nullptr ? nullptr : find(status->instrument);
    say(in_words(reply, i == nullptr ? std::string_view() : i->name.view()));
}

void trading_desk::amend(const desk::change& wanted) {
    const own_order* const o = orders_.find(link_->long_number(wanted.number));
    const domain::instrument* const i = o == nullptr ? nullptr : find(o->instrument);
    if (i == nullptr) return say(fmt::format("there is no order #{}; see: orders", wanted.number));
    domain::command c;
    c.kind = domain::command_kind::amend_order;
    c.instrument = o->instrument;
    c.client_order = o->number;
    c.amend_order().price = o->price;
    c.amend_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(o->quantity)};
    if (wanted.price) {
        const auto ticks = domain::to_ticks(*i, *wanted.price);
        if (ticks.reason != domain::reject_reason::none) {
            return say(fmt::format("price: not a multiple of the tick size, {}",
                                   domain::format_decimal(i->tick_size.value).view()));
        }
        c.amend_order().price = ticks.value;
    }
    if (wanted.quantity) {
        const auto lots = domain::to_lots(*i, *wanted.quantity);
        if (lots.reason != domain::reject_reason::none) {
            return say(fmt::format("quantity: {} trades in multiples of {}", i->name.view(), i->lot_size));
        }
        c.amend_order().quantity = lots.value;
    }
    send(c);
}

// Also of an order that this desk has not entered.
void trading_desk::query(const desk::order_question& wanted) {
    domain::command c;
    c.kind = domain::command_kind::query_order;
    c.client_order = link_->long_number(wanted.number);
    if (const own_order* const o = orders_.find(c.client_order)) c.instrument = o->instrument;
    send(c);
}

void trading_desk::cancel(const desk::cancellation& wanted) {
    domain::command c;
    if (wanted.number == 0) {
        c.kind = domain::command_kind::cancel_orders;
        c.cancel_orders().scope = domain::cancel_scope::session;
        if (wanted.instrument) c.instrument = *wanted.instrument;
    } else {
        const own_order* const o = orders_.find(link_->long_number(wanted.number));
        if (o == nullptr) return say(fmt::format("there is no order #{}; see: orders", wanted.number));
        c.kind = domain::command_kind::cancel_order;
        c.instrument = o->instrument;
        c.client_order = o->number;
    }
    send(c);
}

void trading_desk::list(desk::listing what) {
    using desk::listing;
    std::size_t count = 0;
    if (what == listing::account_positions) return ask_positions({});
    if (what == listing::orders) {
        for (const auto& [number, order] : orders_.all()) {
            if (!order.is_alive()) continue;
            say(describe(order));
            ++count;
        }
        if (count == 0) say("no open orders");
    } else if (what == listing::fills) {
        for (const desk::own_fill& f : orders_.fills()) {
            const domain::instrument* const i = find(f.instrument);
            if (i == nullptr || count == fills_listed_max) break;
            say(fmt::format("#{} {} {} {} @ {}", short_number(f.number),
                            f.side == domain::side::buy ? "bought" : "sold", f.quantity * i->lot_size, i->name.view(),
                            format_price(*i, f.price)));
            ++count;
        }
        if (count == 0) say("no fills");
    } else {
        for (const auto& [id, position] : orders_.positions()) {
            const domain::instrument* const i = find(id);
            if (i == nullptr) continue;
            say(describe(*i, position));
            ++count;
        }
        if (count == 0) say("no positions");
    }
}

}  // namespace corro::app
