// SPDX-License-Identifier: Apache-2.0
#include "client/order_session.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "client/session_errors.hpp"
#include "domain/private_event.hpp"
#include "io/errors.hpp"
#include "io/task/environment.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::client {
namespace {

/// Whether a command has prices or quantities of its instrument, which only the instrument's definition converts.
bool needs_definition(domain::command_kind kind) noexcept {
    switch (kind) {
        case domain::command_kind::enter_order:
        case domain::command_kind::amend_order:
        case domain::command_kind::enter_quote:
        case domain::command_kind::settle_instrument: return true;
        default: return false;
    }
}

using logged_on = std::expected<std::unique_ptr<order_session>, std::error_code>;

io::task<logged_on> in_time(io::task<logged_on> logging_on, std::chrono::milliseconds limit) {
    if (limit.count() == 0) co_return co_await std::move(logging_on);
    auto ended = co_await io::with_timeout(limit, std::move(logging_on));
    if (!ended) co_return std::unexpected(end_of_wait(ended.error()));
    co_return std::move(*ended);
}

}  // namespace

io::task<logged_on> order_session::log_on(venue_endpoint venue, credentials who) {
    return in_time(log_on_patiently(std::move(venue), who), who.logon_timeout);
}

io::task<logged_on> order_session::log_on(io::transport_stream connected, credentials who) {
    return in_time(log_on_patiently(std::move(connected), who), who.logon_timeout);
}

io::task<logged_on> order_session::log_on_patiently(venue_endpoint venue, credentials who) {
    auto connected = co_await venue.connect();
    if (!connected) co_return std::unexpected(connected.error());
    co_return co_await log_on_patiently(std::move(*connected), who);
}

io::task<logged_on> order_session::log_on_patiently(io::transport_stream connected, credentials who) {
    std::unique_ptr<order_session> session(new order_session(std::move(connected), who));
    if (const std::error_code error = co_await session->complete_logon()) co_return std::unexpected(error);
    co_return session;
}

io::task<std::error_code> order_session::reconnect(venue_endpoint venue) {
    return end_in_time(reconnect_patiently(std::move(venue)));
}

io::task<std::error_code> order_session::reconnect(io::transport_stream connected) {
    return end_in_time(reconnect_patiently(std::move(connected)));
}

io::task<std::error_code> order_session::reconnect_patiently(venue_endpoint venue) {
    connection_.close();
    auto connected = co_await venue.connect();
    if (!connected) co_return connected.error();
    co_return co_await reconnect_patiently(std::move(*connected));
}

io::task<std::error_code> order_session::reconnect_patiently(io::transport_stream connected) {
    connection_.replace(std::move(connected));
    acknowledged_ = false;
    is_resending_ = false;
    shared_instruments_.reset();
    who_.next_answer = next_answer_;
    co_return co_await complete_logon();
}

// The venue must not keep the session for a connection that is given up.
io::task<std::error_code> order_session::end_in_time(io::task<std::error_code> reconnecting) {
    if (who_.logon_timeout.count() == 0) co_return co_await std::move(reconnecting);
    const auto ended = co_await io::with_timeout(who_.logon_timeout, std::move(reconnecting));
    if (ended) co_return *ended;
    connection_.close();
    co_return end_of_wait(ended.error());
}

bool order_session::resend_not_accepted() noexcept {
    if (next_request_ == sent_end_) return true;
    if (!sent_.keeps_all(next_request_, sent_end_)) return false;
    is_resending_ = true;
    queue_not_accepted();
    return true;
}

// In place of a refused request, which has no bytes any more, goes a cancel of an order that cannot exist: the
// application has given the request up, and the venue, which has forgotten the refusal in a crash, needs the number.
void order_session::queue_not_accepted() noexcept {
    for (; next_request_ != sent_end_; ++next_request_) {
        const auto room = connection_.output().reserve(wire::message_bytes_max);
        if (room.empty()) return;
        const auto request = sent_.find(next_request_);
        std::size_t size = request.size();
        if (size != 0) {
            std::memcpy(room.data(), request.data(), size);
        } else {
            domain::command nothing;
            nothing.kind = domain::command_kind::cancel_order;
            nothing.cancel_order().order = domain::order_id{std::numeric_limits<std::uint64_t>::max()};
            nothing.set_request(static_cast<std::uint32_t>(next_request_));
            size = wire::encode(nothing, domain::instrument{}, room);
        }
        connection_.output().commit(size);
    }
    is_resending_ = false;
}

// Whether nothing is to be sent again before a new request.
bool order_session::may_send() noexcept {
    if (is_resending_) queue_not_accepted();
    return !is_resending_ && !numbers_have_ended();
}

// The venue's challenge, this client's hello, the venue's hello_ack.
io::task<std::error_code> order_session::complete_logon() {
    auto frame = co_await next_frame();
    if (!frame) co_return frame.error();
    if (wire::check(*frame)) co_return make_error_code(session_errc::unexpected_message);
    if (frame->message == wire::template_id::logout) co_return logged_out(wire::logout_view(*frame).logout_reason());
    if (frame->message != wire::template_id::challenge) co_return make_error_code(session_errc::unexpected_message);
    const wire::challenge_view challenge(*frame);
    if (challenge.protocol_version_min() > wire::protocol_version ||
        challenge.protocol_version() < wire::protocol_version_min) {
        co_return make_error_code(session_errc::unsupported_version);
    }
    wire::hello hello;
    hello.account = who_.account;
    hello.session_number = who_.session_number;
    hello.next_sequence = domain::sequence_number{who_.next_answer};
    hello.heartbeat_interval_ms = static_cast<std::uint32_t>(who_.heartbeat.count());
    hello.protocol_version = wire::protocol_version;
    hello.session_day = who_.session_day;
    hello.key_id = wire::key_id_of(who_.key);
    hello.hello_flags = who_.cancel_on_disconnect ? wire::hello_flag::cancel_on_disconnect : std::uint8_t{0};
    if (who_.take_over) hello.hello_flags |= wire::hello_flag::take_over;
    io::context& here = co_await io::this_context();
    here.runs_on().fill_random(std::as_writable_bytes(std::span(hello.client_nonce)));
    hello.proof = wire::make_proof(who_.key, wire::logon_proof_input(challenge.nonce(), hello));
    static_cast<void>(queue(hello));
    if (const std::error_code error = co_await flush()) co_return error;

    frame = co_await next_frame();
    if (!frame) co_return frame.error();
    if (wire::check(*frame)) co_return make_error_code(session_errc::unexpected_message);
    if (frame->message == wire::template_id::logout) co_return logged_out(wire::logout_view(*frame).logout_reason());
    if (frame->message != wire::template_id::hello_ack) co_return make_error_code(session_errc::unexpected_message);
    const wire::hello_ack ack = wire::hello_ack_view(*frame).value();
    if (ack.next_request.value == 0 || ack.heartbeat_interval_ms == 0) {
        co_return make_error_code(session_errc::unexpected_message);
    }
    session_ = ack.session;
    requests_per_second_max_ = ack.requests_per_second_max;
    orders_max_ = ack.orders_max;
    who_.heartbeat = std::chrono::milliseconds(ack.heartbeat_interval_ms);
    const bool goes_back = ack.next_sequence.value < who_.next_answer;
    const bool is_another_day = who_.session_day != 0 ? ack.session_day != who_.session_day : goes_back;
    const bool begins_again = ack.session_day != 0 && is_another_day;
    if (goes_back && !begins_again) co_return make_error_code(session_errc::sequence_gap);
    for (std::uint32_t i = 0; i < ack.instruments_count; ++i) {
        frame = co_await next_frame();
        if (!frame) co_return frame.error();
        const auto instrument = wire::decode_instrument(*frame);
        if (!instrument) co_return instrument.error();
        instruments_.define(*instrument);
        for (std::uint32_t leg = 0; leg < instrument->legs_count; ++leg) {
            frame = co_await next_frame();
            if (!frame) co_return frame.error();
            if (const std::error_code error = wire::decode_leg(*frame, instruments_)) co_return error;
        }
    }
    // Only now, because an interrupted logon is repeated from the beginning.
    began_again_ = begins_again;
    who_.session_day = ack.session_day;
    if (begins_again) {
        sent_ = sent_requests();
        sent_end_ = 1;
    }
    next_request_ = ack.next_request.value;
    sent_end_ = std::max(sent_end_, next_request_);
    next_answer_ = ack.next_sequence.value;
    co_return std::error_code();
}

// The next frame; valid until the next read.
io::task<std::expected<wire::frame, std::error_code>> order_session::next_frame() {
    while (true) {
        const auto frame = wire::next_frame(connection_.received());
        if (!frame) co_return std::unexpected(frame.error());
        if (*frame) {
            connection_.consume((*frame)->size());
            co_return **frame;
        }
        if (const std::error_code error = co_await fill()) co_return std::unexpected(error);
    }
}

template <class Message>
bool order_session::queue(const Message& message) noexcept {
    const auto room = connection_.output().reserve(Message::frame_bytes);
    if (room.empty()) return false;
    wire::store(message, 0, room.data());
    connection_.output().commit(room.size());
    return true;
}

std::uint32_t order_session::send(const domain::command& command) noexcept {
    const domain::instrument& instrument = definitions().find_or_nameless(command.instrument);
    const bool is_known = instrument.id == command.instrument;
    if (!may_send() || (!is_known && needs_definition(command.kind))) return 0;
    const auto room = connection_.output().reserve(wire::message_bytes_max);
    if (room.empty()) return 0;
    domain::command numbered = command;
    numbered.set_request(static_cast<std::uint32_t>(next_request_));
    const std::size_t size = wire::encode(numbered, instrument, room);
    keep(room.first(size));
    connection_.output().commit(size);
    ++next_request_;
    return numbered.request();
}

std::uint32_t order_session::send_mass_quote(std::span<const domain::command> quotes) noexcept {
    const bool are_known = std::ranges::all_of(
        quotes, [this](const domain::command& quote) { return definitions().find(quote.instrument) != nullptr; });
    if (!may_send() || !are_known) return 0;
    const auto room = connection_.output().reserve(wire::message_bytes_max);
    if (room.empty()) return 0;
    const auto request = static_cast<std::uint32_t>(next_request_);
    const std::size_t size = wire::encode_mass_quote(quotes, definitions(), request, room);
    keep(room.first(size));
    connection_.output().commit(size);
    ++next_request_;
    return request;
}

// Keeps the request `next_request_`, and drops earlier ones with this or a larger number.
void order_session::keep(std::span<const std::byte> request) noexcept {
    sent_.forget_from(next_request_);
    sent_.add(next_request_, request);
    sent_end_ = next_request_ + 1;
}

// A refused request is over. A refusal of the number says nothing about the request that has it.
void order_session::give_up(const wire::reject& refusal) noexcept {
    const bool is_about_number = refusal.session_reject_reason == wire::session_reject_reason::sequence_gap ||
                                 refusal.session_reject_reason == wire::session_reject_reason::sequence_repeated;
    if (!is_about_number) sent_.refused(refusal.refused_sequence.value);
}

bool order_session::send_raw(std::span<const std::byte> bytes) noexcept {
    const auto room = connection_.output().reserve(bytes.size());
    if (room.empty()) return false;
    std::memcpy(room.data(), bytes.data(), bytes.size());
    connection_.output().commit(bytes.size());
    return true;
}

bool order_session::queue_heartbeat() noexcept {
    return queue(wire::heartbeat{});
}

bool order_session::send_test(std::uint64_t test_id) noexcept {
    wire::heartbeat heartbeat;
    heartbeat.test_id = test_id;
    return queue(heartbeat);
}

bool order_session::ask_status(std::uint64_t question, domain::instrument_id instrument) noexcept {
    wire::status_request request;
    request.question = question;
    request.instrument = instrument;
    return queue(request);
}

bool order_session::ask_snapshot(std::uint64_t question) noexcept {
    wire::snapshot_request request;
    request.question = question;
    return queue(request);
}

std::expected<std::optional<answer>, std::error_code> order_session::poll() {
    while (true) {
        const auto next = wire::next_frame(connection_.received());
        if (!next) return std::unexpected(next.error());
        if (!*next) return std::nullopt;
        const wire::frame& frame = **next;
        connection_.consume(frame.size());
        answer result;
        if (frame.sequence != 0) {
            if (frame.sequence != next_answer_) return std::unexpected(make_error_code(session_errc::sequence_gap));
            ++next_answer_;
            if (const std::error_code error = wire::decode_event(frame, definitions(), result.event)) {
                return std::unexpected(error);
            }
            if (domain::is_public(result.event.kind)) {
                return std::unexpected(make_error_code(session_errc::unexpected_message));
            }
            result.sequence = frame.sequence;
            if (domain::completes_request(result.event)) sent_.answered(domain::request_of(result.event));
            return result;
        }
        if (wire::check(frame)) return std::unexpected(make_error_code(session_errc::unexpected_message));
        switch (frame.message) {
            case wire::template_id::heartbeat: {
                const wire::heartbeat_view heartbeat(frame);
                if (heartbeat.echo_id() != 0) last_echo_ = heartbeat.echo_id();
                if (heartbeat.test_id() != 0) {
                    wire::heartbeat echo;
                    echo.echo_id = heartbeat.test_id();
                    static_cast<void>(queue(echo));  // other messages in a full buffer serve as heartbeats
                }
                break;
            }
            // An operator has defined an instrument.
            case wire::template_id::instrument_definition: {
                const auto instrument = wire::decode_instrument(frame);
                if (!instrument) return std::unexpected(instrument.error());
                instruments_.define(*instrument);
                shared_instruments_.reset();  // the shared table lacks it
                break;
            }
            case wire::template_id::instrument_leg:
                if (const std::error_code error = wire::decode_leg(frame, instruments_)) return std::unexpected(error);
                break;
            case wire::template_id::resend_gap: result.gap = wire::resend_gap_view(frame).value(); return result;
            case wire::template_id::reject:
                result.reject = wire::reject_view(frame).value();
                give_up(*result.reject);
                return result;
            case wire::template_id::venue_status:
                result.told = std::make_shared<const admin_command>(wire::venue_status_view(frame).value());
                return result;
            case wire::template_id::snapshot_answer:
                result.told = std::make_shared<const admin_command>(wire::snapshot_answer_view(frame).value());
                return result;
            case wire::template_id::logout:
                return std::unexpected(logged_out(wire::logout_view(frame).logout_reason()));
            case wire::template_id::logout_ack: acknowledged_ = true; break;
            default: return std::unexpected(make_error_code(session_errc::unexpected_message));
        }
    }
}

io::task<std::expected<answer, std::error_code>> order_session::next() {
    while (true) {
        auto polled = poll();
        if (!polled) co_return std::unexpected(polled.error());
        if (*polled) co_return std::move(**polled);
        if (has_output()) {
            if (const std::error_code error = co_await flush()) co_return std::unexpected(error);
        }
        if (const std::error_code error = co_await fill()) co_return std::unexpected(error);
    }
}

io::task<void> order_session::keep_alive() {
    std::array<std::byte, wire::heartbeat::frame_bytes> message;
    wire::store(wire::heartbeat{}, 0, message.data());
    co_await connection_.keep_alive(who_.heartbeat, message);
}

io::task<std::error_code> order_session::log_out() {
    static_cast<void>(queue(wire::logout{}));
    if (const std::error_code error = co_await flush()) co_return error;
    while (!acknowledged_) {
        const auto polled = poll();
        if (!polled) co_return polled.error();
        if (*polled || acknowledged_) continue;
        if (const std::error_code error = co_await fill()) co_return error;
    }
    co_await connection_.close_orderly();
    co_return std::error_code();
}

}  // namespace corro::client
