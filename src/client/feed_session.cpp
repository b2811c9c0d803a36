// SPDX-License-Identifier: Apache-2.0
#include "client/feed_session.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "client/session_errors.hpp"
#include "io/errors.hpp"
#include "io/task/with_timeout.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::client {

namespace soup = wire::soup_bin_tcp;

namespace {

io::task<std::expected<io::transport_stream, std::error_code>> connect_in_time(venue_endpoint* venue) {
    auto ended = co_await io::with_timeout(feed_session::silence_max, venue->connect());
    if (!ended) co_return std::unexpected(end_of_wait(ended.error()));
    co_return std::move(*ended);
}

}  // namespace

io::task<std::expected<market_image, std::error_code>> feed_session::fetch_snapshot(venue_endpoint snapshot) {
    auto connected = co_await connect_in_time(&snapshot);
    if (!connected) co_return std::unexpected(connected.error());
    co_return co_await fetch_snapshot(std::move(*connected));
}

io::task<std::expected<market_image, std::error_code>> feed_session::fetch_snapshot(io::transport_stream snapshot) {
    feed_session session(std::move(snapshot));
    std::error_code error = co_await session.log_in(1);
    if (!error) error = co_await session.read_snapshot();
    if (error) co_return std::unexpected(error);
    co_return std::move(session.image_);
}

io::task<std::expected<best_prices, std::error_code>> feed_session::fetch_best(venue_endpoint snapshot,
                                                                               std::string symbol) {
    const auto image = co_await fetch_snapshot(std::move(snapshot));
    if (!image) co_return std::unexpected(image.error());
    const std::optional<best_prices> best = image->best(symbol);
    if (!best) co_return std::unexpected(make_error_code(session_errc::unknown_instrument));
    co_return *best;
}

io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> feed_session::join(venue_endpoint feed,
                                                                                           venue_endpoint snapshot) {
    auto image = co_await fetch_snapshot(std::move(snapshot));
    if (!image) co_return std::unexpected(image.error());
    auto connected = co_await connect_in_time(&feed);
    if (!connected) co_return std::unexpected(connected.error());
    co_return co_await follow(std::move(*connected), std::move(*image));
}

io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> feed_session::join(
    io::transport_stream feed, io::transport_stream snapshot) {
    auto image = co_await fetch_snapshot(std::move(snapshot));
    if (!image) co_return std::unexpected(image.error());
    co_return co_await follow(std::move(feed), std::move(*image));
}

io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> feed_session::follow(io::transport_stream feed,
                                                                                             market_image image) {
    std::unique_ptr<feed_session> session(new feed_session(std::move(feed)));
    session->image_ = std::move(image);
    const std::error_code error = co_await session->log_in(session->next_sequence());
    if (error) co_return std::unexpected(error);
    co_return session;
}

io::task<std::error_code> feed_session::resume(venue_endpoint feed) {
    connection_.close();
    auto connected = co_await connect_in_time(&feed);
    if (!connected) co_return connected.error();
    co_return co_await resume(std::move(*connected));
}

io::task<std::error_code> feed_session::resume(io::transport_stream feed) {
    connection_.replace(std::move(feed));
    ended_ = false;
    co_return co_await log_in(next_sequence());
}

io::task<std::error_code> feed_session::log_in(std::uint64_t sequence) {
    soup::login_request request;
    request.requested_sequence = sequence;
    const auto size = soup::encode(request, connection_.output().reserve(soup::login_request_bytes));
    if (!size) co_return size.error();
    connection_.output().commit(*size);
    if (const std::error_code error = co_await connection_.flush()) co_return error;
    const auto reply = co_await await_message();
    if (!reply) co_return reply.error();
    if (reply->type == static_cast<char>(soup::packet_type::login_rejected)) {
        const auto code = soup::decode_login_rejected(reply->payload);
        co_return make_error_code(code && *code == soup::reject_code::session_not_available
                                      ? session_errc::session_not_available
                                      : session_errc::login_rejected);
    }
    if (reply->type != static_cast<char>(soup::packet_type::login_accepted)) {
        co_return make_error_code(session_errc::unexpected_message);
    }
    const auto accepted = soup::decode_login_accepted(reply->payload);
    if (!accepted) co_return accepted.error();
    if (accepted->next_sequence != sequence) co_return make_error_code(session_errc::sequence_gap);
    co_return std::error_code();
}

// Reads the messages from snapshot_begin to snapshot_end.
io::task<std::error_code> feed_session::read_snapshot() {
    while (true) {
        const auto m = co_await await_message();
        if (!m) co_return m.error();
        if (m->type == static_cast<char>(soup::packet_type::server_heartbeat)) continue;
        if (m->type != static_cast<char>(soup::packet_type::sequenced_data)) {
            co_return make_error_code(session_errc::unexpected_message);
        }
        const auto whole = image_.take_snapshot(m->payload);
        if (!whole) co_return whole.error();
        if (*whole) co_return std::error_code();
    }
}

// The next packet among the received bytes; valid until the next read.
std::expected<std::optional<feed_session::message>, std::error_code> feed_session::next_message() {
    const auto packet =
        soup::decode(connection_.received(), soup::sender::server, connection_.input_capacity() - soup::header_bytes);
    if (!packet) return std::unexpected(packet.error());
    if (!*packet) return std::nullopt;
    connection_.consume((*packet)->size);
    return message{static_cast<char>((*packet)->type), (*packet)->payload};
}

io::task<std::expected<feed_session::message, std::error_code>> feed_session::await_message() {
    while (true) {
        const auto m = next_message();
        if (!m) co_return std::unexpected(m.error());
        if (*m) co_return **m;
        const auto filled = co_await io::with_timeout(silence_max, fill());
        if (!filled) co_return std::unexpected(end_of_wait(filled.error()));
        if (*filled) co_return std::unexpected(*filled);
    }
}

std::expected<std::optional<domain::event>, std::error_code> feed_session::poll() {
    while (true) {
        if (ended_) return std::unexpected(make_error_code(session_errc::end_of_session));
        const auto m = next_message();
        if (!m) return std::unexpected(m.error());
        if (!*m) return std::nullopt;
        switch (static_cast<soup::packet_type>((*m)->type)) {
            case soup::packet_type::sequenced_data: break;
            case soup::packet_type::end_of_session: ended_ = true; continue;
            case soup::packet_type::server_heartbeat:
            case soup::packet_type::debug: continue;
            default: return std::unexpected(make_error_code(session_errc::unexpected_message));
        }
        const auto event = image_.take((*m)->payload);
        if (!event) return std::unexpected(event.error());
        return *event;
    }
}

io::task<void> feed_session::keep_alive() {
    const std::array<std::byte, soup::header_bytes> packet = soup::header(soup::packet_type::client_heartbeat, 0);
    co_await connection_.keep_alive(std::chrono::milliseconds(soup::heartbeat_interval_ms), packet);
}

}  // namespace corro::client
