#include "gateway/order_entry_gateway.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/byte_queue.hpp"
#include "domain/private_event.hpp"
#include "gateway/nonce.hpp"
#include "io/event.hpp"
#include "io/scope.hpp"
#include "io/timer.hpp"
#include "io/with_timeout.hpp"
#include "io/yield.hpp"

namespace corro::gateway {
namespace {

domain::time_ns wall_clock_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return domain::time_ns{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

}  // namespace

/// What outlives a connection, beside the answer log.
struct order_entry_gateway::session_state {
    connection* active = nullptr;
    /// Counts the requests that were read. The log counts those that were sequenced: they may still be in the queue, or
    /// have been refused here.
    std::uint64_t next_request = 1;
};

struct order_entry_gateway::connection {
    connection(io::tcp_stream s, std::size_t output_bytes) : stream(std::move(s)), output(output_bytes) {}

    [[nodiscard]] std::span<const std::byte> received() const noexcept {
        return std::span(input).subspan(input_begin, input_end - input_begin);
    }

    io::tcp_stream stream;
    base::byte_queue output;
    io::auto_event output_ready;
    io::task_scope* scope = nullptr;  ///< of the phase that runs: logging on, or being active
    std::array<std::byte, 32> challenge{};
    session_state* session = nullptr;  ///< set once the logon is accepted
    domain::session_id session_id{};
    domain::account_id account{};
    std::uint64_t asked_answer = 0;  ///< the first answer that the client wants; 0 when it wants none but new ones
    std::uint64_t first_answer = 0;  ///< number of the first answer that this connection carries
    std::uint64_t next_resent = 0;   ///< while `resending`: the number of the answer to be sent next
    std::uint16_t protocol_version = 0;
    std::chrono::milliseconds heartbeat{};
    std::optional<wire::logout_reason> ended;  ///< why; empty while the connection lives
    bool resending = false;                    ///< answers are sent out of the log, new ones too, until all are sent
    bool cancel_on_disconnect = false;
    bool is_operator = false;
    bool peer_logged_out = false;
    bool peer_gone = false;   ///< nothing can be sent any more
    bool overflowed = false;  ///< the output buffer was full once: nothing may be added any more
    bool pending = false;     ///< is in pending_
    bool heard = false;       ///< something came since the last look
    bool said = false;        ///< something was sent since the last look
    std::size_t input_begin = 0;
    std::size_t input_end = 0;
    std::array<std::byte, input_buffer_bytes> input;  // deliberately not initialised
};

order_entry_gateway::order_entry_gateway(io::context& context, const gateway_options& options,
                                         std::span<const domain::instrument> instruments,
                                         const account_directory& accounts, command_queue& commands,
                                         answer_log& answers, const base::tsc_clock& clock)
    : context_(context),
      options_(options),
      accounts_(accounts),
      commands_(commands),
      answers_(answers),
      clock_(clock),
      sessions_(accounts.sessions_count() + 1) {
    CORRO_ASSERT(answers.sessions_count() == accounts.sessions_count());
    for (const domain::instrument& i : instruments) instruments_.define(i);
    pending_.reserve(options_.connections_max);
    connections_.reserve(options_.connections_max);
}

order_entry_gateway::~order_entry_gateway() {
    CORRO_ASSERT(connections_.empty(), "serve() has ended before the gateway is destroyed");
}

io::task<void> order_entry_gateway::serve(io::tcp_acceptor acceptor) {
    acceptor_ = &acceptor;
    io::task_scope conversations(context_);
    while (!closing_) {
        auto stream = co_await acceptor.accept();
        if (!stream) break;  // closed or stopped; accept itself rides out a shortage of descriptors
        if (statistics_.connections_now >= options_.connections_max || strangers_now_ >= options_.strangers_max) {
            ++statistics_.connections_refused;
            continue;
        }
        // Counted here and not when the conversation starts: many may be accepted before the first one runs.
        ++statistics_.connections_accepted;
        ++statistics_.connections_now;
        ++strangers_now_;
        // Answers are batched by the gateway; the kernel must not wait for more.
        static_cast<void>(stream->set_option(io::no_delay(true)));
        conversations.spawn(converse(std::make_unique<connection>(std::move(*stream), options_.output_buffer_bytes)));
    }
    acceptor_ = nullptr;
    co_await conversations.join();
}

void order_entry_gateway::close() noexcept {
    closing_ = true;
    if (acceptor_ != nullptr) acceptor_->close();
    for (connection* c : connections_) end(*c, wire::logout_reason::shutting_down);
}

// One connection, from accept to the end.
io::task<void> order_entry_gateway::converse(std::unique_ptr<connection> c) {
    connections_.push_back(c.get());
    if (closing_) {
        end(*c, wire::logout_reason::shutting_down);  // accepted just before
    } else {
        io::task_scope logging_on(context_);
        c->scope = &logging_on;
        logging_on.spawn(log_on(c.get()));
        co_await logging_on.join();
        c->scope = nullptr;
    }
    --strangers_now_;
    const bool opened = c->session != nullptr && !c->ended;
    if (opened) {
        ++statistics_.logons;
        ++statistics_.sessions_now;
        io::task_scope active(context_);
        c->scope = &active;
        active.spawn(write_pending(c.get()));
        active.spawn(keep_alive(c.get()));
        active.spawn(read_requests(c.get()));
        co_await active.join();
        c->scope = nullptr;
        --statistics_.sessions_now;
    }
    if (c->session != nullptr) {
        if (opened && c->cancel_on_disconnect && !c->peer_logged_out) {
            ++statistics_.cancels_on_disconnect;
            domain::command cancel;
            cancel.kind = domain::command_kind::cancel_orders;
            cancel.scope = domain::cancel_scope::session;
            cancel.flags = domain::cancel_flag::quotes_too;
            cancel.session = c->session_id;
            cancel.account = c->account;
            static_cast<void>(co_await submit(cancel, 0, 0));
        }
        if (opened && !c->peer_gone && !c->overflowed) {
            const auto settled = co_await io::with_timeout(farewell_timeout, settle(c.get()));
            if (!settled) c->peer_gone = true;
        }
        // Free only now: the cancel must stand before whatever the session's next connection enters.
        c->session->active = nullptr;
    }
    if (!c->peer_gone) static_cast<void>(co_await io::with_timeout(farewell_timeout, leave(c.get())));
    connections_.erase(std::find(connections_.begin(), connections_.end(), c.get()));
    --statistics_.connections_now;
}

io::task<void> order_entry_gateway::log_on(connection* c) {
    c->challenge = make_nonce();
    wire::challenge challenge;
    challenge.nonce = c->challenge;
    challenge.time = wall_clock_now();
    challenge.protocol_version = wire::protocol_version;
    challenge.protocol_version_min = wire::protocol_version_min;
    put(*c, challenge);
    if (!co_await drain(c)) co_return;

    const auto hello_arrives = [](order_entry_gateway* self, connection* from) -> io::task<bool> {
        while (true) {
            const auto next = wire::next_frame(from->received());
            if (!next) co_return false;
            if (*next) co_return true;
            if (!co_await self->fill(from)) co_return false;
        }
    };
    const auto arrived = co_await io::with_timeout(options_.logon_timeout, hello_arrives(this, c));
    if (!arrived) {
        if (!c->peer_gone) end(*c, wire::logout_reason::logon_timeout);
        co_return;
    }
    if (!*arrived) {
        if (!c->peer_gone) {
            ++statistics_.protocol_errors;
            end(*c, wire::logout_reason::protocol_error);
        }
        co_return;
    }
    const wire::frame hello = **wire::next_frame(c->received());
    c->input_begin += hello.size();
    verify(*c, hello);
    if (c->session == nullptr) ++statistics_.logons_refused;
}

// Checks a hello and opens the session, or ends the connection with the reason.
void order_entry_gateway::verify(connection& c, const wire::frame& frame) {
    if (const wire::refusal refusal = frame.message == wire::template_id::hello
                                          ? wire::hello_view::check(frame)
                                          : wire::refusal{wire::session_reject_reason::unexpected_message, 0}) {
        ++statistics_.protocol_errors;
        refuse(c, frame, refusal);
        return end(c, wire::logout_reason::protocol_error);
    }
    const wire::hello hello = wire::hello_view(frame).value();
    if (hello.protocol_version < wire::protocol_version_min || hello.protocol_version > wire::protocol_version)
        return end(c, wire::logout_reason::unsupported_version);
    // An unknown account costs the same time as a wrong proof.
    const account* const a = accounts_.find(hello.account);
    const wire::api_key no_key{};
    const auto input = wire::logon_proof_input(c.challenge, hello);
    const bool proven =
        wire::equal_in_constant_time(wire::make_proof(a != nullptr ? a->key : no_key, input), hello.proof);
    if (a == nullptr || !proven || hello.session_number == 0 || hello.session_number > a->sessions_count) {
        return end(c, wire::logout_reason::authentication_failed);
    }
    open(c, hello, *a);
}

// Opens the session of a client that has proved its key, unless it is in use or the numbers do not fit.
void order_entry_gateway::open(connection& c, const wire::hello& hello, const account& a) {
    const domain::session_id id{a.first_session.value + hello.session_number - 1};
    session_state& session = sessions_[id.value];
    if (session.active != nullptr) return end(c, wire::logout_reason::already_logged_on);
    const std::uint64_t next = answers_.next_answer(id);
    c.asked_answer = hello.next_sequence.value;
    if (c.asked_answer > next) return end(c, wire::logout_reason::sequence_unknown);
    c.first_answer = c.asked_answer == 0 ? next : std::max(c.asked_answer, answers_.first_kept(id));
    c.next_resent = c.first_answer;
    c.resending = c.first_answer != next;
    if (c.first_answer > c.asked_answer && c.asked_answer != 0) ++statistics_.gaps_announced;
    c.protocol_version = hello.protocol_version;
    c.heartbeat = std::clamp(std::chrono::milliseconds{hello.heartbeat_interval_ms}, heartbeat_interval_min,
                             heartbeat_interval_max);
    c.cancel_on_disconnect = (hello.hello_flags & wire::hello_flag::cancel_on_disconnect) != 0;
    c.account = a.id;
    c.is_operator = a.is_operator;
    c.session_id = id;
    c.session = &session;
    session.next_request = std::max(session.next_request, answers_.next_request(id));
    session.active = &c;
}

// hello_ack, the instruments and what cannot be sent again, in one piece of their own: events may be buffered while it
// is on its way.
std::vector<std::byte> order_entry_gateway::welcome(const connection& c) const {
    const bool has_gap = c.asked_answer != 0 && c.first_answer > c.asked_answer &&
                         c.protocol_version >= wire::protocol_version_resend_gap;
    std::vector<std::byte> bytes(wire::hello_ack::frame_bytes +
                                 instruments_.count() * wire::instrument_definition::frame_bytes +
                                 (has_gap ? wire::resend_gap::frame_bytes : 0));
    wire::hello_ack ack;
    ack.next_request = domain::sequence_number{c.session->next_request};
    ack.next_sequence = domain::sequence_number{c.first_answer};
    ack.time = wall_clock_now();
    ack.session = c.session_id;
    ack.heartbeat_interval_ms = static_cast<std::uint32_t>(c.heartbeat.count());
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(
        std::chrono::sys_time<std::chrono::nanoseconds>{std::chrono::nanoseconds{ack.time.value}})};
    ack.trading_date = static_cast<std::uint32_t>(static_cast<int>(today.year())) * 10'000 +
                       static_cast<unsigned>(today.month()) * 100 + static_cast<unsigned>(today.day());
    ack.instruments_count = static_cast<std::uint32_t>(instruments_.count());
    ack.protocol_version = c.protocol_version;
    ack.hello_flags = c.cancel_on_disconnect ? wire::hello_flag::cancel_on_disconnect : std::uint8_t{0};
    std::span<std::byte> out(bytes);
    out = out.subspan(wire::encode(ack, 0, out));
    instruments_.for_each([&](const domain::instrument& i) { out = out.subspan(wire::encode(i, 0, out)); });
    if (has_gap) {
        wire::resend_gap gap;
        gap.next_sequence = domain::sequence_number{c.first_answer};
        gap.first_missing = domain::sequence_number{c.asked_answer};
        out = out.subspan(wire::encode(gap, 0, out));
    }
    CORRO_ASSERT(out.empty());
    return bytes;
}

io::task<void> order_entry_gateway::read_requests(connection* c) {
    while (!c->ended) {
        const auto next = wire::next_frame(c->received());
        if (!next) {
            ++statistics_.protocol_errors;
            end(*c, wire::logout_reason::protocol_error);
        } else if (*next) {
            // The time of receipt is taken for the requests that are sampled; the others pay a decrement.
            std::uint64_t received_ticks = 0;
            if (options_.timing_sample_every != 0 && sample_countdown_-- == 0) {
                sample_countdown_ = options_.timing_sample_every - 1;
                received_ticks = clock_.now_ticks();
            }
            const wire::frame frame = **next;
            c->input_begin += frame.size();
            if (frame.message == wire::template_id::mass_quote && frame.sequence != 0) [[unlikely]] {
                const bool taken = co_await submit_mass_quote(c, frame);
                if (!taken) break;
                continue;
            }
            domain::command command;
            if (!handle(*c, frame, command)) continue;
            ++statistics_.requests;
            const std::uint64_t decoded_ticks = received_ticks != 0 ? clock_.now_ticks() : 0;
            const bool taken = received_ticks != 0 ? commands_.try_push(command, received_ticks, decoded_ticks)
                                                   : commands_.try_push(command);
            if (!taken && !co_await submit(command, received_ticks, decoded_ticks)) {
                // Not taken and not answered: for the client it must remain a request that was never read.
                --c->session->next_request;
                --statistics_.requests;
            }
        } else if (!co_await fill(c)) {
            end(*c, wire::logout_reason::requested);
        }
    }
}

// Puts a command into the queue, waiting for room as long as it takes. False: stopped before there was room.
io::task<bool> order_entry_gateway::submit(domain::command command, std::uint64_t received_ticks,
                                           std::uint64_t decoded_ticks) {
    while (!(received_ticks != 0 ? commands_.try_push(command, received_ticks, decoded_ticks)
                                 : commands_.try_push(command))) {
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

// The commands of a mass quote, one after the other. False: stopped before all were taken; the session ends then, and
// what was taken stands.
io::task<bool> order_entry_gateway::submit_mass_quote(connection* c, wire::frame frame) {
    c->heard = true;
    if (!take_number(*c, frame)) co_return true;
    wire::mass_quote_commands quotes;
    if (const wire::refusal refusal = wire::decode_mass_quote(frame, instruments_, quotes)) {
        refuse(*c, frame, refusal);
        co_return true;
    }
    ++statistics_.requests;
    for (std::size_t i = 0; i < quotes.count; ++i) {
        domain::command& command = quotes.commands[i];
        command.session = c->session_id;
        command.account = c->account;
        if (commands_.try_push(command)) continue;
        const bool taken = co_await submit(command, 0, 0);
        if (taken) continue;
        if (i == 0) {
            // As with every request: not taken and not answered, it was never read.
            --c->session->next_request;
            --statistics_.requests;
        }
        co_return false;
    }
    co_return true;
}

// One sound frame. True: `command` is to be passed on.
bool order_entry_gateway::handle(connection& c, const wire::frame& frame, domain::command& command) {
    c.heard = true;
    if (frame.sequence == 0) return handle_session_message(c, frame);
    if (!take_number(c, frame)) return false;
    if (const wire::refusal refusal = wire::decode_command(frame, instruments_, command)) {
        refuse(c, frame, refusal);
        return false;
    }
    command.session = c.session_id;
    command.account = c.account;
    command.is_operator = c.is_operator ? 1 : 0;
    command.request = static_cast<std::uint32_t>(frame.sequence);
    return true;
}

// Whether a request has the number that it must have; it counts from then on.
bool order_entry_gateway::take_number(connection& c, const wire::frame& frame) {
    session_state& session = *c.session;
    if (frame.sequence != session.next_request) {
        const bool repeated = frame.sequence < session.next_request;
        refuse(c, frame,
               {repeated ? wire::session_reject_reason::sequence_repeated : wire::session_reject_reason::sequence_gap});
        if (!repeated) end(c, wire::logout_reason::sequence_gap);
        return false;
    }
    if (frame.sequence > UINT32_MAX) {
        refuse(c, frame, {wire::session_reject_reason::sequence_exhausted});
        return false;
    }
    ++session.next_request;
    return true;
}

// Messages that are not numbered. Never to be passed on.
bool order_entry_gateway::handle_session_message(connection& c, const wire::frame& frame) {
    if (const wire::refusal refusal = wire::check(frame)) {
        refuse(c, frame, refusal);
        return false;
    }
    switch (frame.message) {
        case wire::template_id::heartbeat:
            if (const std::uint64_t test = wire::heartbeat_view(frame).test_id(); test != 0) {
                wire::heartbeat echo;
                echo.echo_id = test;
                put(c, echo);
            }
            return false;
        case wire::template_id::logout:
            c.peer_logged_out = true;
            end(c, wire::logout_reason::requested);
            return false;
        case wire::template_id::logout_ack: return false;
        default: refuse(c, frame, {wire::session_reject_reason::unexpected_message}); return false;
    }
}

void order_entry_gateway::refuse(connection& c, const wire::frame& frame, wire::refusal refusal) {
    ++statistics_.session_rejects;
    wire::reject reject;
    reject.refused_sequence = domain::sequence_number{frame.sequence};
    reject.refused_template = static_cast<std::uint16_t>(frame.message);
    reject.refused_field = refusal.field;
    reject.session_reject_reason = refusal.reason;
    put(c, reject);
}

// Writes what is buffered as long as the session lives: first the welcome, then what the client missed, then whatever
// was delivered since.
io::task<void> order_entry_gateway::write_pending(connection* c) {
    {
        const std::vector<std::byte> bytes = welcome(*c);
        const io::io_result written = co_await c->stream.write_all(bytes);
        if (written.error) {
            c->peer_gone = true;
            end(*c, wire::logout_reason::requested);
            co_return;
        }
    }
    bool writable = co_await resend(c);
    while (writable && co_await drain(c)) {
        if (co_await c->output_ready.wait()) co_return;  // stopped
    }
}

// Sends the answers that the client has missed, out of the log, until none is left; false as with `drain`. What is
// delivered meanwhile only goes into the log, so that everything comes in the order of its number.
io::task<bool> order_entry_gateway::resend(connection* c) {
    while (c->resending) {
        buffer_kept(*c);
        const bool written = co_await drain(c);
        if (!written) co_return false;
        co_await io::yield();
    }
    co_return true;
}

// As many of them as there is room for.
void order_entry_gateway::buffer_kept(connection& c) {
    while (c.next_resent != answers_.next_answer(c.session_id)) {
        const domain::event* const event = answers_.find(c.session_id, c.next_resent);
        if (event == nullptr) {
            // The client reads more slowly than the venue forgets.
            c.overflowed = true;
            ++statistics_.slow_cut;
            c.resending = false;
            return end(c, wire::logout_reason::resend_unavailable);
        }
        const auto room = c.output.reserve(wire::message_bytes_max);
        if (room.empty()) return;
        c.output.commit(wire::encode(*event, instruments_.find_or_nameless(event->instrument), c.next_resent, room));
        c.said = true;
        ++c.next_resent;
        ++statistics_.answers_resent;
    }
    c.resending = false;
}

// Writes until the output buffer is empty; false when the connection is beyond use or a stop was requested.
io::task<bool> order_entry_gateway::drain(connection* c) {
    while (true) {
        const auto ready = c->output.readable();
        if (ready.empty()) co_return true;
        const io::io_result written = co_await c->stream.write_some(ready);
        c->output.consume(written.bytes);
        if (!written.error) continue;
        if (written.error != io::condition::canceled) {
            c->peer_gone = true;
            end(*c, wire::logout_reason::requested);
        }
        co_return false;
    }
}

// Reads some bytes behind those that wait; false when the peer is gone or a stop was requested.
io::task<bool> order_entry_gateway::fill(connection* c) {
    if (c->input_begin != 0) {
        std::memmove(c->input.data(), c->input.data() + c->input_begin, c->input_end - c->input_begin);
        c->input_end -= c->input_begin;
        c->input_begin = 0;
    }
    const io::io_result read = co_await c->stream.read_some(std::span(c->input).subspan(c->input_end));
    c->input_end += read.bytes;
    if (!read.error) co_return true;
    if (read.error != io::condition::canceled) c->peer_gone = true;
    co_return false;
}

// A peer that was silent for two intervals is gone; one that heard nothing from us for one gets a heartbeat. Looking
// four times an interval bounds the error of both.
io::task<void> order_entry_gateway::keep_alive(connection* c) {
    constexpr std::uint32_t looks_per_interval = 4;
    std::uint32_t silent_looks = 0;
    std::uint32_t mute_looks = 0;
    while (true) {
        if (co_await io::sleep_for(c->heartbeat / looks_per_interval)) co_return;  // stopped
        silent_looks = c->heard ? 0 : silent_looks + 1;
        mute_looks = c->said ? 0 : mute_looks + 1;
        c->heard = c->said = false;
        // The silence began up to one look before it was first seen.
        if (silent_looks >= silent_intervals_max * looks_per_interval - 1) {
            ++statistics_.idle_cut;
            end(*c, wire::logout_reason::idle_timeout);
            co_return;
        }
        if (mute_looks >= looks_per_interval - 1) {
            put(*c, wire::heartbeat{});
            c->output_ready.set();
        }
    }
}

// Every request that was taken is answered, also when the session ends right behind it, and so is the cancel on
// disconnect: writes until all that stands in the queue now has gone through the facility.
io::task<void> order_entry_gateway::settle(connection* c) {
    const std::uint64_t position = commands_.pushed_count();
    if (!co_await resend(c)) co_return;
    while (co_await drain(c) && commands_.answered_count() < position) {
        commands_.room().reset();
        if (co_await commands_.room().wait()) co_return;  // stopped
    }
}

// The last words of a connection: what is buffered, the logout, and then until the peer closes too, so that what we
// said is not lost with the connection.
io::task<void> order_entry_gateway::leave(connection* c) {
    if (!co_await drain(c)) co_return;
    if (c->peer_logged_out) {
        put(*c, wire::logout_ack{});
    } else if (c->ended) {
        wire::logout logout;
        logout.logout_reason = *c->ended;
        put(*c, logout);
    }
    if (!co_await drain(c)) co_return;
    static_cast<void>(c->stream.shutdown_send());
    while (!c->peer_gone) {
        c->input_begin = c->input_end = 0;
        if (!co_await fill(c)) co_return;
    }
}

void order_entry_gateway::end(connection& c, wire::logout_reason reason) noexcept {
    if (c.ended) return;
    c.ended = reason;
    if (c.scope != nullptr) c.scope->request_stop();
}

template <class Message>
void order_entry_gateway::put(connection& c, const Message& message) {
    const auto room = c.output.reserve(Message::frame_bytes);
    if (room.empty()) return overflow(c);
    wire::store(message, 0, room.data());
    c.output.commit(room.size());
    mark_pending(c);
}

// The peer does not read: from here on it gets nothing, so that it never sees a message with others missing before it.
void order_entry_gateway::overflow(connection& c) noexcept {
    if (!c.overflowed) ++statistics_.slow_cut;
    c.overflowed = true;
    end(c, wire::logout_reason::slow_consumer);
}

void order_entry_gateway::mark_pending(connection& c) {
    c.said = true;
    c.output_ready.set();
}

void order_entry_gateway::deliver(const domain::event& event) noexcept {
    const domain::session_id id = domain::session_of(event);
    const std::uint64_t sequence = answers_.append(event);
    connection* const c = sessions_[id.value].active;
    if (c == nullptr || c->peer_gone || c->overflowed) {
        ++statistics_.answers_undelivered;
        return;
    }
    if (c->resending) return;  // its turn comes
    const auto room = c->output.reserve(wire::message_bytes_max);
    if (room.empty()) {
        ++statistics_.answers_undelivered;
        return overflow(*c);
    }
    c->output.commit(wire::encode(event, instruments_.find_or_nameless(event.instrument), sequence, room));
    ++statistics_.answers;
    if (!c->pending) {
        c->pending = true;
        pending_.push_back(c);
    }
}

void order_entry_gateway::flush() noexcept {
    for (connection* c : pending_) {
        c->pending = false;
        mark_pending(*c);
    }
    pending_.clear();
}

}  // namespace corro::gateway
