// SPDX-License-Identifier: Apache-2.0
// The beginning of a session: challenge, hello, welcome.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/defect.hpp"
#include "gateway/binary/binary_session.hpp"
#include "gateway/binary/wire_reasons.hpp"
#include "gateway/nonce.hpp"
#include "gateway/session/logon_request.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::gateway {

io::task<void> binary_session::log_on() {
    challenge_ = make_nonce(shared_.context.runs_on());
    wire::challenge challenge;
    challenge.nonce = challenge_;
    challenge.time = wall_time(shared_.context);
    challenge.protocol_version = wire::protocol_version;
    challenge.protocol_version_min = wire::protocol_version_min;
    put(challenge);
    const bool written = co_await drain();
    if (!written) co_return;
    const auto arrived = co_await io::with_timeout(shared_.options.logon_timeout, wait_for_hello());
    if (!arrived) {
        if (!course_.is_gone()) end(end_reason::logon_timed_out);
        co_return;
    }
    if (!*arrived) {
        if (!course_.is_gone() && !is_ending()) {
            ++shared_.statistics.protocol_errors;
            end(end_reason::protocol_error);
        }
        co_return;
    }
    const wire::frame frame = **wire::next_frame(channel_.received());
    channel_.consume(frame.size());
    wire::hello hello;
    logon_request request;
    const bool is_proven = co_await verify(frame, &hello, &request.key_id);
    if (is_proven) {
        request.account = hello.account;
        request.session_number = hello.session_number;
        request.next_answer = hello.next_sequence.value;
        request.day = hello.session_day;
        request.takes_over = (hello.hello_flags & wire::hello_flag::take_over) != 0;
        request.cancels_on_disconnect = (hello.hello_flags & wire::hello_flag::cancel_on_disconnect) != 0;
        co_await shared_.registry.prepare(this, &request);
    }
    if (is_proven && !is_ending()) {
        const std::optional<end_reason> refusal = shared_.registry.open(*this, request);
        if (!refusal) co_return start(hello);
        end(*refusal);
    }
    ++shared_.statistics.logons_refused;
    if (is_ending()) ++shared_.statistics.logons_refused_by[number_of(*course_.reason())];
}

// False: the bytes are no frames, or the connection has ended.
io::task<bool> binary_session::wait_for_hello() {
    while (true) {
        const auto next = wire::next_frame(channel_.received());
        if (!next) co_return false;
        if (*next) co_return true;
        const io::io_result read = co_await channel_.fill();
        if (!take_in(read)) co_return false;
    }
}

// Checks a hello. True: the client has proved a key of an account that has the session. False: the connection ends with
// the reason. After many wrong proofs the reason is sent only after a while.
io::task<bool> binary_session::verify(wire::frame frame, wire::hello* into, std::uint64_t* key_id) {
    if (const wire::refusal refusal = frame.message == wire::template_id::hello
                                          ? wire::hello_view::check(frame)
                                          : wire::refusal{wire::session_reject_reason::unexpected_message, 0}) {
        ++shared_.statistics.protocol_errors;
        refuse(frame, refusal);
        end(end_reason::protocol_error);
        co_return false;
    }
    *into = wire::hello_view(frame).value();
    claim(into->account);
    if (into->protocol_version < wire::protocol_version_min || into->protocol_version > wire::protocol_version) {
        end(end_reason::unsupported_version);
        co_return false;
    }
    const account* const found = shared_.accounts.find(into->account);
    const account* const a =
        found != nullptr && found->is_other_gateway && !CORRO_DEFECT(foreign_gateway_admits) ? nullptr : found;
    const auto input = wire::logon_proof_input(challenge_, *into);
    const std::optional<std::uint64_t> key = proven_key(a, into->key_id, input, into->proof);
    if (key && session_registry::has_session(*a, into->session_number) && !a->speaks_fix(into->session_number)) {
        *key_id = *key;
        co_return true;
    }
    const std::chrono::milliseconds wait = shared_.registry.wait_after_wrong_proof(place_.from(), owner());
    std::error_code stopped;
    if (wait.count() != 0) stopped = co_await io::sleep_for(wait);
    if (!stopped) end(end_reason::authentication_failed);
    co_return false;
}

// The session is open.
void binary_session::start(const wire::hello& hello) {
    protocol_version_ = hello.protocol_version;
    heartbeat_ = std::clamp(std::chrono::milliseconds{hello.heartbeat_interval_ms}, heartbeat_interval_min,
                            heartbeat_interval_max);
    channel_.grow(shared_.buffers.take(), shared_.options.output_buffer_bytes);
}

// The account's own limit replaces the one that all accounts have, as in the venue's checks.
std::uint32_t binary_session::orders_max() const noexcept {
    const std::optional<domain::account_limits>& limits = shared_.accounts.owner_of(id())->limits;
    return limits && limits->open_orders_max != 0 ? limits->open_orders_max : shared_.options.orders_max;
}

// hello_ack, the instruments and what cannot be sent again, in one piece of their own: events may be buffered while it
// is on its way.
std::vector<std::byte> binary_session::welcome() {
    const wire::instrument_table& instruments = shared_.registry.instruments();
    const bool has_gap = first_missing() != 0 && protocol_version_ >= wire::protocol_version_resend_gap;
    std::size_t legs_count = 0;
    instruments.for_each([&](const domain::instrument& i) { legs_count += i.legs_count; });
    std::vector<std::byte> bytes(
        wire::hello_ack::frame_bytes + instruments.count() * wire::instrument_definition::frame_bytes +
        legs_count * wire::instrument_leg::frame_bytes + (has_gap ? wire::resend_gap::frame_bytes : 0));
    wire::hello_ack ack;
    ack.next_request = domain::sequence_number{next_request()};
    ack.next_sequence = domain::sequence_number{first_answer()};
    ack.time = wall_time(shared_.context);
    ack.session = id();
    ack.heartbeat_interval_ms = static_cast<std::uint32_t>(heartbeat_.count());
    const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(
        std::chrono::sys_time<std::chrono::nanoseconds>{std::chrono::nanoseconds{ack.time.value}})};
    ack.trading_date = static_cast<std::uint32_t>(static_cast<int>(today.year())) * 10'000 +
                       static_cast<unsigned>(today.month()) * 100 + static_cast<unsigned>(today.day());
    ack.instruments_count = static_cast<std::uint32_t>(instruments.count());
    ack.requests_per_second_max = shared_.options.requests_per_second_max;
    ack.orders_max = orders_max();
    ack.protocol_version = protocol_version_;
    ack.session_day = day_number_of(shared_.answers.days_count(id()));
    ack.hello_flags = cancels_on_disconnect() ? wire::hello_flag::cancel_on_disconnect : std::uint8_t{0};
    std::span<std::byte> out(bytes);
    out = out.subspan(wire::encode(ack, 0, out));
    instruments.for_each([&](const domain::instrument& i) {
        out = out.subspan(wire::encode(i, 0, out));
        for (std::size_t leg = 0; leg < i.legs_count; ++leg) out = out.subspan(wire::encode_leg(i, leg, 0, out));
    });
    if (has_gap) {
        wire::resend_gap gap;
        gap.next_sequence = domain::sequence_number{first_answer()};
        gap.first_missing = domain::sequence_number{first_missing()};
        out = out.subspan(wire::encode(gap, 0, out));
    }
    CORRO_ASSERT(out.empty());
    return bytes;
}

}  // namespace corro::gateway
