// Session, first part: log on.
#include <algorithm>
#include <chrono>
#include <vector>

#include "base/hash.hpp"
#include "gateway/nonce.hpp"
#include "gateway/order_entry_connection.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::gateway {

io::task<void> order_entry_gateway::log_on(connection* c) {
    c->challenge = make_nonce(context_.runs_on());
    wire::challenge challenge;
    challenge.nonce = c->challenge;
    challenge.time = wall_time(context_);
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
        if (!c->peer_gone) end(*c, end_reason::logon_timeout);
        co_return;
    }
    if (!*arrived) {
        if (!c->peer_gone && !c->ended) {
            ++statistics_.protocol_errors;
            end(*c, end_reason::protocol_error);
        }
        co_return;
    }
    const wire::frame frame = **wire::next_frame(c->received());
    c->input_begin += frame.size();
    wire::hello hello;
    const account* const proven = co_await verify(c, frame, &hello);
    if (proven != nullptr) co_await free_session(proven, &hello);
    if (proven != nullptr && !c->ended) co_await enter_day(&hello);
    if (proven != nullptr && !c->ended) open(*c, hello, *accounts_.find(hello.account));
    if (c->session != nullptr) co_return;
    ++statistics_.logons_refused;
    if (c->ended) ++statistics_.logons_refused_by[number_of(*c->ended)];
}

// Checks a hello. The account whose key the client has, or nullptr: the connection has ended with the reason. A wrong
// proof is told so only after a while, if there have been many.
io::task<const account*> order_entry_gateway::verify(connection* c, wire::frame frame, wire::hello* into) {
    if (const wire::refusal refusal = frame.message == wire::template_id::hello
                                          ? wire::hello_view::check(frame)
                                          : wire::refusal{wire::session_reject_reason::unexpected_message, 0}) {
        ++statistics_.protocol_errors;
        refuse(*c, frame, refusal);
        end(*c, end_reason::protocol_error);
        co_return nullptr;
    }
    *into = wire::hello_view(frame).value();
    c->account = into->account;
    if (into->protocol_version < wire::protocol_version_min || into->protocol_version > wire::protocol_version) {
        end(*c, end_reason::unsupported_version);
        co_return nullptr;
    }
    const account* const found = accounts_.find(into->account);
    const account* const a = found != nullptr && found->is_other_gateway ? nullptr : found;
    const auto input = wire::logon_proof_input(c->challenge, *into);
    const std::optional<std::uint64_t> key = proven_key(a, into->key_id, input, into->proof);
    if (key && into->session_number != 0 && into->session_number <= a->sessions_count) {
        c->key_id = *key;
        co_return a;
    }
    const std::chrono::milliseconds wait = wait_after_wrong_proof(*c);
    std::error_code stopped;
    if (wait.count() != 0) stopped = co_await io::sleep_for(wait);
    if (!stopped) end(*c, end_reason::authentication_failed);
    co_return nullptr;
}

// Local sockets, and streams whose other end is not known, share one address.
std::chrono::milliseconds order_entry_gateway::wait_after_wrong_proof(const connection& c) noexcept {
    const std::uint64_t address = c.from ? base::hash_bytes(std::as_bytes(std::span(c.from->address()))) : 0;
    const std::chrono::milliseconds wait =
        std::min(wrong_proofs_.count(address, c.account, context_.now()), options_.wrong_proof_wait_max);
    if (wait.count() != 0) ++statistics_.refusals_held_back;
    return wait;
}

// By the client's wish another connection of its session ends, as if it had been lost. Waits until it has, and what was
// to be cancelled for it stands in the queue.
io::task<void> order_entry_gateway::free_session(const account* a, const wire::hello* hello) {
    const domain::session_id id{a->first_session.value + hello->session_number - 1};
    connection* const old = sessions_[id.value].active;
    if (old == nullptr || (hello->hello_flags & wire::hello_flag::take_over) == 0) co_return;
    if (refusal_of(*hello, *a)) co_return;  // `open` gives the reason, and the old connection goes on
    ++statistics_.taken_over;
    end(*old, end_reason::taken_over);
    static_cast<void>(co_await io::with_timeout(options_.logon_timeout, wait_until_given_up(id, old)));
}

io::task<void> order_entry_gateway::wait_until_given_up(domain::session_id id, const connection* by) {
    while (sessions_[id.value].active == by) {
        session_freed_.reset();
        const std::error_code stopped = co_await session_freed_.wait();
        if (stopped) co_return;
    }
}

// The first logon of a day waits for the session's reset. If that does not come, `open` refuses the logon.
io::task<void> order_entry_gateway::enter_day(const wire::hello* hello) {
    const account& a = *accounts_.find(hello->account);
    const domain::session_id id{a.first_session.value + hello->session_number - 1};
    if (sessions_[id.value].active != nullptr || refusal_of(*hello, a)) co_return;
    if (!is_of_before(id) && !is_beginning_day(id)) co_return;
    static_cast<void>(co_await io::with_timeout(options_.logon_timeout, begin_day(id, nullptr)));
}

// Those of a session that has left, or new ones.
std::unique_ptr<std::byte[]> order_entry_gateway::take_buffers() {
    if (spare_buffers_.empty()) {
        return std::make_unique_for_overwrite<std::byte[]>(input_buffer_bytes + options_.output_buffer_bytes);
    }
    std::unique_ptr<std::byte[]> taken = std::move(spare_buffers_.back());
    spare_buffers_.pop_back();
    return taken;
}

// Whether a session has not logged on too often of late: each logon costs the others a welcome.
bool order_entry_gateway::may_log_on(const session_state& session) const noexcept {
    if (session.window_logons < options_.logons_max) return true;
    return context_.now() - session.window_begin >= options_.logons_window;
}

void order_entry_gateway::count_logon(session_state& session) const noexcept {
    const auto now = context_.now();
    if (session.window_logons == 0 || now - session.window_begin >= options_.logons_window) {
        session.window_begin = now;
        session.window_logons = 0;
    }
    ++session.window_logons;
}

// Why a client that has proved its key cannot log on, even when nobody has the session.
std::optional<end_reason> order_entry_gateway::refusal_of(const wire::hello& hello,
                                                                   const account& a) const noexcept {
    const domain::session_id id{a.first_session.value + hello.session_number - 1};
    if (no_logons_) return no_logons_;
    if (!may_log_on(sessions_[id.value])) return end_reason::throttled;
    if (is_of_later(hello, id)) return end_reason::sequence_unknown;
    // A reset drops the numbers of before.
    if (is_of_before(id) || asks_for_all(hello, id)) return std::nullopt;
    if (hello.next_sequence.value > answers_.next_answer(id)) return end_reason::sequence_unknown;
    return std::nullopt;
}

// Opens the session of a client that has proved its key, unless it is in use or the numbers do not fit.
void order_entry_gateway::open(connection& c, const wire::hello& hello, const account& a) {
    const domain::session_id id{a.first_session.value + hello.session_number - 1};
    session_state& session = sessions_[id.value];
    const std::optional<end_reason> refusal = refusal_of(hello, a);
    if (refusal == end_reason::throttled) ++statistics_.logons_throttled;
    if (refusal) return end(c, *refusal);
    if (!has_key(a, c.key_id)) return end(c, end_reason::authentication_failed);  // withdrawn meanwhile
    if (session.active != nullptr) return end(c, end_reason::already_logged_on);
    // One that has waited for a reset in vain has cost a command.
    count_logon(session);
    if (is_of_before(id) || is_beginning_day(id)) return end(c, end_reason::session_day_ended);
    const std::uint64_t next = answers_.next_answer(id);
    c.asked_answer = asks_for_all(hello, id) ? 1 : hello.next_sequence.value;
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
    c.only_listens = !a.copies_of.empty();
    c.session_id = id;
    c.session = &session;
    session.next_request = std::max(session.next_request, answers_.next_request(id));
    c.grow(take_buffers(), options_.output_buffer_bytes);
    session.active = &c;
    ++session.logons;
}

// hello_ack, the instruments and what cannot be sent again, in one piece of their own: events may be buffered while it
// is on its way.
std::vector<std::byte> order_entry_gateway::welcome(const connection& c) const {
    const bool has_gap = c.asked_answer != 0 && c.first_answer > c.asked_answer &&
                         c.protocol_version >= wire::protocol_version_resend_gap;
    std::size_t legs_count = 0;
    instruments_.for_each([&](const domain::instrument& i) { legs_count += i.legs_count; });
    std::vector<std::byte> bytes(
        wire::hello_ack::frame_bytes + instruments_.count() * wire::instrument_definition::frame_bytes +
        legs_count * wire::instrument_leg::frame_bytes + (has_gap ? wire::resend_gap::frame_bytes : 0));
    wire::hello_ack ack;
    ack.next_request = domain::sequence_number{c.session->next_request};
    ack.next_sequence = domain::sequence_number{c.first_answer};
    ack.time = wall_time(context_);
    ack.session = c.session_id;
    ack.heartbeat_interval_ms = static_cast<std::uint32_t>(c.heartbeat.count());
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(
        std::chrono::sys_time<std::chrono::nanoseconds>{std::chrono::nanoseconds{ack.time.value}})};
    ack.trading_date = static_cast<std::uint32_t>(static_cast<int>(today.year())) * 10'000 +
                       static_cast<unsigned>(today.month()) * 100 + static_cast<unsigned>(today.day());
    ack.instruments_count = static_cast<std::uint32_t>(instruments_.count());
    ack.requests_per_second_max = options_.requests_per_second_max;
    ack.protocol_version = c.protocol_version;
    ack.session_day = session_day_of(answers_.days_count(c.session_id));
    ack.hello_flags = c.cancel_on_disconnect ? wire::hello_flag::cancel_on_disconnect : std::uint8_t{0};
    std::span<std::byte> out(bytes);
    out = out.subspan(wire::encode(ack, 0, out));
    instruments_.for_each([&](const domain::instrument& i) {
        out = out.subspan(wire::encode(i, 0, out));
        for (std::size_t leg = 0; leg < i.legs_count; ++leg) out = out.subspan(wire::encode_leg(i, leg, 0, out));
    });
    if (has_gap) {
        wire::resend_gap gap;
        gap.next_sequence = domain::sequence_number{c.first_answer};
        gap.first_missing = domain::sequence_number{c.asked_answer};
        out = out.subspan(wire::encode(gap, 0, out));
    }
    CORRO_ASSERT(out.empty());
    return bytes;
}

}  // namespace corro::gateway
