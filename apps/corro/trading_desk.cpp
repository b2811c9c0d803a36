#include "trading_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/session_errors.hpp"
#include "domain/decimal.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "operator_words.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

using desk::order_state;
using desk::own_order;

constexpr std::chrono::milliseconds retry_delay{500};
constexpr std::chrono::milliseconds rejoin_delay{500};
constexpr std::size_t fills_listed_max = 20;

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

/// Whether a retry cannot succeed.
bool is_final(const std::error_code& error) {
    const auto code = [](wire::logout_reason reason) { return client::logged_out(reason); };
    return error == code(wire::logout_reason::authentication_failed) ||
           error == code(wire::logout_reason::unsupported_version) ||
           error == code(wire::logout_reason::sequence_unknown) || error == client::session_errc::sequence_gap;
}

std::string logon_failure_text(const client::venue_endpoint& venue, const std::error_code& error) {
    std::string text = fmt::format("{}: {}", venue.to_string(), error.message());
    if (const std::string_view advice = logon_advice(error); !advice.empty()) text.append("\n").append(advice);
    return text;
}

}  // namespace

trading_desk::trading_desk(desk_settings settings, std::function<void(const std::string&)> say)
    : settings_(std::move(settings)), say_(std::move(say)) {}

const domain::instrument* trading_desk::find(domain::instrument_id id) const noexcept {
    const auto found = std::find_if(instruments_.begin(), instruments_.end(),
                                    [id](const domain::instrument& i) { return i.id == id; });
    return found == instruments_.end() ? nullptr : &*found;
}

domain::client_order_id trading_desk::long_number(std::uint64_t short_one) const noexcept {
    // Several sessions of an account have orders at once: their client order ids must not collide.
    return domain::client_order_id{(std::uint64_t{settings_.who.session_number} << 32U) | short_one};
}

void trading_desk::select_next() noexcept {
    if (instruments_.empty()) return;
    const auto at = std::find_if(instruments_.begin(), instruments_.end(),
                                 [this](const domain::instrument& i) { return selected_ && i.id == *selected_; });
    const bool is_last = at == instruments_.end() || at + 1 == instruments_.end();
    selected_ = is_last ? instruments_.front().id : (at + 1)->id;
}

void trading_desk::leave() noexcept {
    leaving_ = true;
    if (conversation_ != nullptr) conversation_->request_stop();
    if (everything_ != nullptr && conversation_ == nullptr) everything_->request_stop();
}

io::task<std::string> trading_desk::run() {
    io::task_scope beside(co_await io::this_context());
    everything_ = &beside;
    beside.spawn(follow_market());
    std::string why = co_await hold_session();
    everything_ = nullptr;
    beside.request_stop();
    co_await beside.join();
    co_return why;
}

// Connects, exchanges messages, and reconnects after a lost connection.
io::task<std::string> trading_desk::hold_session() {
    const io::stop_token stop = co_await io::this_stop_token();
    auto lost_since = std::chrono::steady_clock::now();
    while (!leaving_ && !stop.stop_requested()) {
        const std::error_code error = co_await connect();
        if (error == io::condition::canceled) break;
        if (error) {
            const bool is_first = session_ == nullptr;
            const auto lost_for = std::chrono::steady_clock::now() - lost_since;
            if (error == client::logged_out(wire::logout_reason::sequence_unknown)) {
                // The venue does not know the answers that this session has seen: it has restarted without a journal.
                say_("the venue no longer knows this session; its orders are lost");
            }
            if (is_first) co_return logon_failure_text(settings_.order_entry, error);
            if (is_final(error) || lost_for > std::chrono::duration<double>(settings_.patience_seconds)) {
                co_return error.message();
            }
            const std::error_code stopped = co_await io::sleep_for(retry_delay);
            if (stopped) break;
            continue;
        }
        connected_ = true;
        broken_ = {};
        co_await converse();
        connected_ = false;
        if (leaving_ || stop.stop_requested()) {
            const std::error_code left = co_await session_->log_out();
            if (left && left != io::condition::canceled) say_("the logout was not acknowledged: " + left.message());
            break;
        }
        say_(fmt::format("connection lost: {}; reconnecting", broken_.message()));
        lost_since = std::chrono::steady_clock::now();
    }
    co_return std::string();
}

// Connects or reconnects, and reports the outcome of requests in progress.
io::task<std::error_code> trading_desk::connect() {
    if (session_ == nullptr) {
        auto opened = co_await client::order_session::log_on(settings_.order_entry, settings_.who);
        if (!opened) co_return opened.error();
        session_ = std::move(*opened);
        instruments_.clear();
        session_->instruments().for_each([this](const domain::instrument& i) { instruments_.push_back(i); });
        for (const domain::instrument& i : instruments_) {
            if (i.name.view() == settings_.symbol || !selected_) selected_ = i.id;
            if (i.name.view() == settings_.symbol) break;
        }
        const domain::instrument* const shown = selected_ ? find(*selected_) : nullptr;
        if (shown != nullptr && !settings_.symbol.empty() && shown->name.view() != settings_.symbol) {
            say_(fmt::format("no instrument \"{}\"; this is {}", settings_.symbol, shown->name.view()));
        }
        say_(fmt::format("logged on: account {}, session {}, {} instruments", session_->account().value,
                         session_->session().value, instruments_.size()));
        co_return std::error_code();
    }
    const std::error_code error = co_await session_->reconnect(settings_.order_entry);
    if (error) co_return error;
    const std::uint32_t untaken = session_->not_accepted_count();
    say_(fmt::format("reconnected; answers continue from number {}", session_->next_answer()));
    if (session_->began_again()) {
        say_(
            "the session has begun a new day: its numbers start again, and missed messages of the day before are lost");
    }
    if (untaken != 0) {
        const bool again = session_->resend_not_accepted();
        say_(fmt::format("the venue had not received {} requests, which {}", untaken,
                         again ? "are resent" : "are dropped"));
    }
    co_return std::error_code();
}

io::task<void> trading_desk::converse() {
    io::task_scope scope(co_await io::this_context());
    conversation_ = &scope;
    has_output_.set();
    scope.spawn(read_answers());
    scope.spawn(write_requests());
    scope.spawn(session_->keep_alive());
    co_await scope.join();
    conversation_ = nullptr;
}

io::task<void> trading_desk::read_answers() {
    while (true) {
        const auto answer = co_await session_->next();
        if (answer) {
            take(*answer);
            continue;
        }
        if (answer.error() != io::condition::canceled) broken_ = answer.error();
        conversation_->request_stop();
        co_return;
    }
}

io::task<void> trading_desk::write_requests() {
    while (true) {
        const std::error_code stopped = co_await has_output_.wait();
        if (stopped) co_return;
        const std::error_code failed = co_await session_->flush();
        if (failed) co_return;  // the reader gets the error too and reports it
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
    if (session_ == nullptr || session_->instruments().count() == instruments_.size()) return;
    session_->instruments().for_each([this](const domain::instrument& i) {
        if (find(i.id) == nullptr) say_(fmt::format("new instrument: {}", i.name.view()));
    });
    instruments_.clear();
    session_->instruments().for_each([this](const domain::instrument& i) { instruments_.push_back(i); });
}

void trading_desk::take(const client::answer& answer) {
    learn_instruments();
    if (answer.gap) {
        say_("the venue no longer has some answers: the list of orders may be incomplete");
    } else if (answer.told != nullptr) {
        tell(*answer.told);
    } else if (answer.reject) {
        const auto number = long_number(answer.reject->refused_sequence.value);
        orders_.on_refused(number, domain::reject_reason::none);
        say_(fmt::format("request {} was refused: {}", answer.reject->refused_sequence.value,
                         wire::to_string(answer.reject->session_reject_reason)));
    } else {
        orders_.on_event(answer.event);
        tell(answer.event);
    }
}

std::string trading_desk::describe(const own_order& o) const {
    const domain::instrument* const i = find(o.instrument);
    const std::uint64_t units = i == nullptr ? 1 : i->lot_size;
    std::string line = fmt::format("#{} {} {} {} ", short_number(o.number), state_name(o.state), side_name(o.side),
                                   o.quantity * units);
    line += i == nullptr ? "?" : i->name.view();
    line += o.price == domain::no_price || i == nullptr ? " market" : " @ " + format_price(*i, o.price);
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
            if (const own_order* const o = orders_.find(event.order.client_order)) say_(describe(*o));
            break;
        case event_kind::order_rejected: {
            const std::uint64_t number = short_number(event.order.client_order);
            say_(fmt::format("{}refused: {}", number == 0 ? std::string() : fmt::format("#{} ", number),
                             domain::to_string(event.reason)));
            break;
        }
        case event_kind::order_executed: {
            const domain::instrument* const i = find(event.instrument);
            if (i == nullptr) break;
            say_(fmt::format("#{} {} {} {} @ {}, {} left", short_number(event.execution.client_order),
                             event.side == domain::side::buy ? "bought" : "sold",
                             std::uint64_t{event.execution.quantity.value} * i->lot_size, i->name.view(),
                             format_price(*i, event.execution.price),
                             std::uint64_t{event.execution.leaves.value} * i->lot_size));
            break;
        }
        case event_kind::request_done: say_("done"); break;
        default: break;
    }
}

void trading_desk::execute(std::string_view line) {
    using namespace desk;
    learn_instruments();
    const auto parsed = parse(line, instruments_, selected_);
    if (!parsed) return say_(parsed.error());
    if (const auto* const ticket = std::get_if<order_ticket>(&*parsed)) {
        send(ticket->command);
    } else if (const auto* const wanted = std::get_if<desk::change>(&*parsed)) {
        amend(*wanted);
    } else if (const auto* const which = std::get_if<cancellation>(&*parsed)) {
        cancel(*which);
    } else if (const auto* const chosen = std::get_if<selection>(&*parsed)) {
        selected_ = chosen->instrument;
        if (const domain::instrument* const i = find(chosen->instrument); i != nullptr && feed_ != nullptr) {
            say_(market_view::summary(*feed_, *i));
        }
    } else if (const auto* const question = std::get_if<desk::status_question>(&*parsed)) {
        ask_status(question->instrument);
    } else if (std::holds_alternative<desk::snapshot_wish>(*parsed)) {
        ask_snapshot();
    } else if (const auto* const what = std::get_if<listing>(&*parsed)) {
        list(*what);
    } else if (const auto* const topic = std::get_if<help_request>(&*parsed)) {
        for (const std::string& text : help(topic->topic)) say_(text);
    } else if (std::holds_alternative<desk::leave>(*parsed)) {
        leave();
    }
}

void trading_desk::send(domain::command command) {
    if (!connected_) return say_("not sent: there is no connection");
    if (command.kind == domain::command_kind::enter_order) {
        // The request's number is the order's client order id: the session never uses it again.
        command.client_order = long_number(session_->next_request());
        orders_.on_sent(command);
    }
    if (session_->send(command) == 0) {
        orders_.on_refused(command.client_order, domain::reject_reason::none);
        return say_(session_->numbers_have_ended() ? "not sent: the session has no more request numbers"
                                                   : "not sent: the output buffer is full");
    }
    has_output_.set();
}

void trading_desk::ask_status(domain::instrument_id instrument) {
    if (!connected_) return say_("not sent: there is no connection");
    is_asked(session_->ask_status(++questions_count_, instrument));
}

void trading_desk::ask_snapshot() {
    if (!connected_) return say_("not sent: there is no connection");
    is_asked(session_->ask_snapshot(++questions_count_));
}

void trading_desk::is_asked(bool queued) {
    if (!queued) return say_("not sent: the output buffer is full");
    has_output_.set();
}

void trading_desk::tell(const client::admin_command& told) {
    const auto* const status = std::get_if<wire::venue_status>(&told);
    const domain::instrument* const i = status == nullptr ? nullptr : find(status->instrument);
    say_(in_words(told, i == nullptr ? std::string_view() : i->name.view()));
}

void trading_desk::amend(const desk::change& wanted) {
    const own_order* const o = orders_.find(long_number(wanted.number));
    const domain::instrument* const i = o == nullptr ? nullptr : find(o->instrument);
    if (i == nullptr) return say_(fmt::format("there is no order #{}; see: orders", wanted.number));
    domain::command c;
    c.kind = domain::command_kind::amend_order;
    c.instrument = o->instrument;
    c.client_order = o->number;
    c.amend_order().price = o->price;
    c.amend_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(o->quantity)};
    if (wanted.price) {
        const auto ticks = domain::to_ticks(*i, *wanted.price);
        if (ticks.reason != domain::reject_reason::none) {
            return say_(fmt::format("price: not a multiple of the tick size, {}",
                                    domain::format_decimal(i->tick_size.value).view()));
        }
        c.amend_order().price = ticks.value;
    }
    if (wanted.quantity) {
        const auto lots = domain::to_lots(*i, *wanted.quantity);
        if (lots.reason != domain::reject_reason::none) {
            return say_(fmt::format("quantity: {} trades in multiples of {}", i->name.view(), i->lot_size));
        }
        c.amend_order().quantity = lots.value;
    }
    send(c);
}

void trading_desk::cancel(const desk::cancellation& wanted) {
    domain::command c;
    if (wanted.number == 0) {
        c.kind = domain::command_kind::cancel_orders;
        c.cancel_orders().scope = domain::cancel_scope::session;
        if (wanted.instrument) c.instrument = *wanted.instrument;
    } else {
        const own_order* const o = orders_.find(long_number(wanted.number));
        if (o == nullptr) return say_(fmt::format("there is no order #{}; see: orders", wanted.number));
        c.kind = domain::command_kind::cancel_order;
        c.instrument = o->instrument;
        c.client_order = o->number;
    }
    send(c);
}

void trading_desk::list(desk::listing what) {
    using desk::listing;
    std::size_t count = 0;
    if (what == listing::orders) {
        for (const auto& [number, order] : orders_.all()) {
            if (!order.is_alive()) continue;
            say_(describe(order));
            ++count;
        }
        if (count == 0) say_("no open orders");
    } else if (what == listing::fills) {
        for (const desk::own_fill& f : orders_.fills()) {
            const domain::instrument* const i = find(f.instrument);
            if (i == nullptr || count == fills_listed_max) break;
            say_(fmt::format("#{} {} {} {} @ {}", short_number(f.number),
                             f.side == domain::side::buy ? "bought" : "sold", f.quantity * i->lot_size, i->name.view(),
                             format_price(*i, f.price)));
            ++count;
        }
        if (count == 0) say_("no fills");
    } else {
        for (const auto& [id, position] : orders_.positions()) {
            const domain::instrument* const i = find(id);
            if (i == nullptr) continue;
            say_(fmt::format("{} {:+}, {} traded", i->name.view(),
                             position.lots * static_cast<std::int64_t>(i->lot_size), position.traded * i->lot_size));
            ++count;
        }
        if (count == 0) say_("no positions");
    }
}

}  // namespace corro::app
