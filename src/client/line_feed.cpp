// SPDX-License-Identifier: Apache-2.0
#include "client/line_feed.hpp"

#include <algorithm>
#include <utility>

#include "client/feed_session.hpp"
#include "client/session_errors.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_any.hpp"

namespace corro::client {

namespace mold = wire::mold_udp64;

namespace {

/// Enough to recover from heavy loss in few round trips, few enough not to flood the venue with requests.
constexpr int gaps_asked_at_once = 16;

}  // namespace

io::task<std::expected<std::unique_ptr<line_feed>, std::error_code>> line_feed::join(line_feed_options options) {
    std::unique_ptr<line_feed> feed(new line_feed(std::move(options)));
    // The lines first: packets that are sent during the snapshot wait in their buffers.
    std::error_code error = feed->open(co_await io::this_context());
    if (error) co_return std::unexpected(error);
    auto image = co_await feed_session::fetch_snapshot(feed->options_.snapshot);
    if (!image) co_return std::unexpected(image.error());
    feed->image_ = std::move(*image);
    feed->merger_.emplace(feed->image_.next_sequence());
    co_return feed;
}

std::error_code line_feed::open(io::context& context) {
    for (const io::endpoint& line : options_.lines) {
        io::udp_options shared;
        shared.reuse_address = line.is_multicast();
        auto socket = io::udp_socket::open(context, line, shared);
        if (!socket) return socket.error();
        // The system may grant less; more packets are then lost and requested.
        static_cast<void>(socket->set_option(io::receive_buffer(options_.receive_buffer_bytes)));
        if (line.is_multicast()) {
            if (const std::error_code error = socket->join_group(line, options_.multicast_interface)) return error;
        }
        lines_.push_back(std::move(*socket));
    }
    const bool is_ipv4 = options_.retransmissions.family() == io::address_family::ipv4;
    auto socket = io::udp_socket::open(context, is_ipv4 ? io::endpoint::any(0) : io::endpoint::ipv6({}, 0));
    if (!socket) return socket.error();
    static_cast<void>(socket->set_option(io::receive_buffer(options_.receive_buffer_bytes)));
    requests_ = std::move(*socket);
    return {};
}

io::task<void> line_feed::receive() {
    io::task_scope receiving(co_await io::this_context());
    for (io::udp_socket& line : lines_) receiving.spawn(receive_from(&line));
    receiving.spawn(receive_from(&requests_));
    receiving.spawn(ask_for_missing());
    static_cast<void>(co_await over_.wait());
    receiving.request_stop();
    co_await receiving.join();
}

io::task<void> line_feed::receive_from(io::udp_socket* socket) {
    constexpr std::size_t batch = 32;
    // A foreign datagram may be larger than a packet; it is truncated and then refused.
    std::vector<std::byte> room(batch * mold::packet_bytes_max);
    std::vector<io::datagram> datagrams;
    for (std::size_t i = 0; i < batch; ++i) {
        datagrams.emplace_back(std::span(room).subspan(i * mold::packet_bytes_max, mold::packet_bytes_max));
    }
    while (!ended_) {
        const auto received = co_await socket->receive_batch(datagrams);
        if (!received && received.error() == io::condition::canceled) co_return;
        // Other errors belong to a request that no process received: it will be repeated.
        const std::size_t count = received ? *received : 0;
        for (std::size_t i = 0; i < count && !ended_; ++i) {
            if (datagrams[i].truncated) {
                ++statistics_.packets_refused;
            } else {
                take(datagrams[i].data.first(datagrams[i].bytes));
            }
        }
        if (!events_.empty() || ended_) news_.set();
        if (merger_->missing()) missing_.set();
        co_await io::yield();
    }
}

// Takes one packet from any line or the request server.
void line_feed::take(std::span<const std::byte> datagram) {
    auto packet = mold::decode(datagram);
    if (packet && !session_) session_ = packet->session();
    if (!packet || packet->session() != *session_) {
        ++statistics_.packets_refused;
        return;
    }
    ++statistics_.packets;
    merger_->note(packet->sequence());
    const bool is_end = packet->is_end_of_session();
    while (packet->messages_count() != 0 && !ended_) {
        const std::uint64_t sequence = packet->sequence();
        const auto arrived =
            merger_->take(sequence, packet->take_message(), [this](std::uint64_t, std::span<const std::byte> message) {
                if (ended_) return;
                const auto event = image_.take(message);
                if (event) {
                    events_.push_back(*event);
                } else {
                    end(event.error());
                }
            });
        if (arrived == feed::arrival::duplicate) ++statistics_.duplicates;
        if (arrived == feed::arrival::held) ++statistics_.early;
    }
    // The end counts when everything before it has come; it is sent more than once, and can be requested.
    if (is_end && merger_->next() == merger_->end()) end(make_error_code(session_errc::end_of_session));
}

void line_feed::end(std::error_code error) {
    if (ended_) return;
    ended_ = error;
    news_.set();
    over_.set();
}

// Requests the oldest gaps, repeatedly up to the limit while the oldest one stays.
io::task<void> line_feed::ask_for_missing() {
    std::uint32_t asked = 0;
    std::uint64_t before = 0;
    while (!ended_) {
        auto gap = merger_->missing();
        if (!gap) {
            const std::error_code stopped = co_await missing_.wait();
            if (stopped) co_return;
        }
        const std::error_code stopped =
            co_await io::sleep_for(asked == 0 ? options_.patience : options_.retry_interval);
        if (stopped) co_return;
        gap = merger_->missing();
        asked = gap && gap->first == before ? asked : 0;
        if (!gap) continue;
        before = gap->first;
        if (asked == options_.requests_max) {
            end(make_error_code(session_errc::sequence_gap));
            co_return;
        }
        // Every packet has the session's name, and no gap is known before the first packet.
        mold::request request;
        request.session = *session_;
        std::array<std::byte, mold::request_bytes> datagram;
        for (int i = 0; i < gaps_asked_at_once && gap; ++i) {
            request.sequence = gap->first;
            request.count = static_cast<std::uint16_t>(std::min<std::uint64_t>(gap->count, 0xFFFE));
            mold::encode(request, datagram);
            static_cast<void>(co_await requests_.send_to(datagram, options_.retransmissions));
            ++statistics_.requests;
            gap = merger_->missing(request.sequence + request.count);
        }
        ++asked;
    }
}

std::expected<std::optional<domain::event>, std::error_code> line_feed::poll() {
    if (events_.empty()) {
        if (ended_) return std::unexpected(ended_);
        return std::nullopt;
    }
    const domain::event event = events_.front();
    events_.pop_front();
    return event;
}

io::task<std::error_code> line_feed::fill() {
    while (events_.empty() && !ended_) {
        const std::error_code stopped = co_await news_.wait();
        if (stopped) co_return stopped;
    }
    co_return std::error_code();
}

}  // namespace corro::client
