// SPDX-License-Identifier: Apache-2.0
#include "market_data/line_publisher.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/scope.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

namespace mold = wire::mold_udp64;

namespace {

/// The message inside a packet of the log, which stores them framed for TCP.
std::span<const std::byte> message_of(std::span<const std::byte> packet) noexcept {
    return packet.subspan(wire::soup_bin_tcp::header_bytes);
}

io::endpoint any_of(io::address_family family) noexcept {
    return family == io::address_family::ipv4 ? io::endpoint::any(0) : io::endpoint::ipv6({}, 0);
}

/// A socket that can send to `to`.
std::expected<io::udp_socket, std::error_code> open_line(io::context& context, const io::endpoint& to,
                                                         const line_publisher_options& options) {
    auto socket = io::udp_socket::open(context, any_of(to.family()));
    if (!socket || !to.is_multicast()) return socket;
    std::error_code error = socket->set_option(io::multicast_hops(static_cast<int>(options.multicast_hops)));
    // Receivers on the venue's own machine must get the packets too.
    if (!error) error = socket->set_option(io::multicast_loop(true));
    if (!error && options.multicast_interface != 0) {
        error = socket->set_option(io::multicast_interface(static_cast<int>(options.multicast_interface)));
    }
    if (error) return std::unexpected(error);
    return socket;
}

}  // namespace

bool is_local_address(const io::endpoint& e) noexcept {
    const std::array<std::uint8_t, 16>& a = e.address();
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    const bool is_mapped = std::equal(mapped.begin(), mapped.end(), a.begin());
    if (e.family() == io::address_family::ipv4 || is_mapped) {
        const std::uint8_t* const b = a.data() + (e.family() == io::address_family::ipv4 ? 0 : mapped.size());
        return b[0] == 127 || b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0U) == 16) || (b[0] == 192 && b[1] == 168) ||
               (b[0] == 169 && b[1] == 254);
    }
    const bool is_loopback = e.address() == io::endpoint::loopback_ipv6(0).address();
    return is_loopback || (a[0] & 0xfeU) == 0xfc || (a[0] == 0xfe && (a[1] & 0xc0U) == 0x80);
}

line_publisher::line_publisher(io::context& context, const line_publisher_options& options, const feed_log& log,
                               mold::session_name session)
    : context_(context),
      options_(options),
      log_(log),
      session_(session),
      position_(log.end_position()),
      next_sequence_(log.next_sequence()),
      writers_(batch_packets_max, mold::packet_writer(session, 1)),
      again_(batch_packets_max, mold::packet_writer(session, 1)) {
    packets_.reserve(batch_packets_max);
    datagrams_.reserve(batch_packets_max);
}

std::expected<std::unique_ptr<line_publisher>, std::error_code> line_publisher::open(
    io::context& context, const line_publisher_options& options, const feed_log& log) {
    const auto session = mold::make_session_name(options.session_name);
    if (!session) return std::unexpected(session.error());
    std::unique_ptr<line_publisher> publisher(new line_publisher(context, options, log, *session));
    for (const io::endpoint& to : options.lines) {
        auto socket = open_line(context, to, options);
        if (!socket) return std::unexpected(socket.error());
        publisher->lines_.push_back({std::move(*socket), to});
    }
    if (options.retransmissions) {
        if (const std::error_code error = publisher->take_requests(*options.retransmissions)) {
            return std::unexpected(error);
        }
    }
    return publisher;
}

std::error_code line_publisher::take_requests(const io::endpoint& at) {
    CORRO_ASSERT(!has_begun_, "the socket for requests is opened before it is served");
    auto socket = io::udp_socket::open(context_, at);
    if (!socket) return socket.error();
    requests_ = std::move(*socket);
    options_.retransmissions = at;
    return {};
}

std::optional<io::endpoint> line_publisher::retransmission_endpoint() const noexcept {
    if (!options_.retransmissions) return std::nullopt;
    const auto local = requests_.local_endpoint();
    return local ? std::optional(*local) : std::nullopt;
}

void line_publisher::begin_at_end() noexcept {
    CORRO_ASSERT(!has_begun_, "messages can be skipped only before any is sent");
    position_ = log_.end_position();
    next_sequence_ = log_.next_sequence();
}

void line_publisher::close() noexcept {
    closing_ = true;
    more_.set();
}

io::task<void> line_publisher::run() {
    CORRO_ASSERT(!has_begun_, "`run` can be called only once");
    has_begun_ = true;
    io::task_scope serving(co_await io::this_context());
    serving.spawn(keep_alive());
    if (options_.retransmissions) serving.spawn(serve_requests());
    co_await send_lines();
    serving.request_stop();
    co_await serving.join();
}

// Puts all messages that fit a batch into packets; returns the number of packets.
std::size_t line_publisher::fill_packets() {
    packets_.clear();
    auto packet = log_.packet_at(position_);
    while (!packet.empty() && packets_.size() < batch_packets_max) {
        mold::packet_writer& writer = writers_[packets_.size()];
        writer.restart(next_sequence_);
        while (!packet.empty() && writer.append(message_of(packet))) {
            position_ += packet.size();
            packet = log_.packet_at(position_);
        }
        statistics_.messages += writer.next_sequence() - next_sequence_;
        next_sequence_ = writer.next_sequence();
        packets_.push_back(writer.finish());
    }
    return packets_.size();
}

// Sends the packets of the current batch on every line.
io::task<void> line_publisher::send_on_all_lines(std::size_t count) {
    for (line& l : lines_) {
        datagrams_.clear();
        for (const auto& packet : packets_) datagrams_.emplace_back(packet, l.to);
        std::span<io::datagram> rest = datagrams_;
        while (!rest.empty()) {
            const auto sent = co_await l.socket.send_batch(rest);
            if (!sent && sent.error() == io::condition::canceled) co_return;
            // A packet that the system does not accept is lost like any other, and receivers request it.
            if (!sent) ++statistics_.send_errors;
            rest = rest.subspan(sent ? *sent : 1);
        }
    }
    statistics_.packets += count;
}

io::task<void> line_publisher::send_lines() {
    while (true) {
        if (log_.end_position() - position_ > log_.capacity_bytes() / lag_max_divisor * lag_max_numerator) {
            // The log no longer has these messages: the receivers will notice the gap and join again.
            statistics_.skipped += log_.next_sequence() - next_sequence_;
            position_ = log_.end_position();
            next_sequence_ = log_.next_sequence();
        }
        if (const std::size_t count = fill_packets(); count != 0) {
            sent_ = true;
            co_await send_on_all_lines(count);
            co_await io::yield();
        } else if (closing_) {
            break;
        } else if (heartbeat_due_) {
            heartbeat_due_ = false;
            writers_.front().restart(next_sequence_);
            packets_.push_back(writers_.front().finish());
            ++statistics_.heartbeats;
            co_await send_on_all_lines(0);
        } else {
            const std::error_code stopped = co_await more_.wait();
            if (stopped) co_return;
        }
    }
    // There is no acknowledgement, so the end is sent several times.
    for (int i = 0; i < end_of_session_repeats; ++i) {
        packets_.clear();
        writers_.front().restart(next_sequence_);
        packets_.push_back(writers_.front().finish_session());
        co_await send_on_all_lines(0);
    }
}

io::task<void> line_publisher::keep_alive() {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(options_.heartbeat_interval);
        if (stopped) co_return;
        if (!sent_) {
            heartbeat_due_ = true;
            more_.set();
        }
        sent_ = false;
    }
}

io::task<void> line_publisher::serve_requests() {
    std::array<std::array<std::byte, mold::request_bytes + 1>, requests_batch_max> rooms;
    std::array<io::datagram, requests_batch_max> requests;
    for (std::size_t i = 0; i < requests.size(); ++i) requests[i] = io::datagram(std::span<std::byte>(rooms[i]));
    while (true) {
        const auto received = co_await requests_.receive_batch(requests);
        if (!received && received.error() == io::condition::canceled) co_return;
        // Other errors belong to an answer that no process received.
        const std::size_t count = received ? *received : 0;
        for (std::size_t i = 0; i < count; ++i) {
            ++statistics_.requests;
            const auto request = mold::decode_request(std::span(rooms[i]).first(requests[i].bytes));
            const auto* const from = std::get_if<io::endpoint>(&requests[i].peer);
            if (!request || request->session != session_ || request->sequence < log_.first_sequence() ||
                request->sequence >= log_.next_sequence() || from == nullptr || !is_answered(*from)) {
                ++statistics_.requests_refused;
                continue;
            }
            co_await send_again(*request, *from);
        }
        co_await io::yield();
    }
}

bool line_publisher::is_answered(const io::endpoint& from) const noexcept {
    return options_.retransmit_beyond_local_network || is_local_address(from);
}

// The number of further packets that may be retransmitted to an address in this window.
std::uint32_t line_publisher::packets_left(const io::endpoint& to) {
    const io::steady_time now = context_.now();
    if (now - window_begin_ >= options_.retransmission_window) {
        window_begin_ = now;
        window_packets_ = 0;
        address_packets_.clear();
    }
    const std::uint32_t left = options_.retransmission_all_packets_max - window_packets_;
    const auto sent = address_packets_.find(to.address());
    if (sent == address_packets_.end()) return std::min(left, options_.retransmission_address_packets_max);
    return std::min(left, options_.retransmission_address_packets_max - sent->second);
}

// Sends the requested messages, as far as they exist, up to the limits of a request and of the window.
io::task<void> line_publisher::send_again(mold::request request, io::endpoint to) {
    const std::uint64_t end = std::min(request.sequence + request.count, log_.next_sequence());
    const std::size_t packets_max = std::min<std::size_t>(packets_left(to), retransmission_packets_max);
    std::uint64_t sequence = request.sequence;
    std::uint64_t position = packets_max == 0 ? 0 : log_.position_of(sequence);
    std::array<io::datagram, batch_packets_max> datagrams;
    std::size_t count = 0;
    while (sequence != end && count < packets_max) {
        mold::packet_writer& writer = again_[count];
        writer.restart(sequence);
        auto packet = log_.packet_at(position);
        while (writer.next_sequence() != end && writer.append(message_of(packet))) {
            position += packet.size();
            packet = log_.packet_at(position);
        }
        statistics_.messages_again += writer.next_sequence() - sequence;
        sequence = writer.next_sequence();
        datagrams[count++] = io::datagram(writer.finish(), to);
    }
    if (sequence != end && count < retransmission_packets_max) ++statistics_.requests_over_limit;
    if (count == 0) co_return;
    statistics_.packets_again += count;
    window_packets_ += static_cast<std::uint32_t>(count);
    address_packets_[to.address()] += static_cast<std::uint32_t>(count);
    std::span<io::datagram> rest = std::span(datagrams).first(count);
    while (!rest.empty()) {
        const auto sent = co_await requests_.send_batch(rest);
        if (!sent) co_return;
        rest = rest.subspan(*sent);
    }
}

}  // namespace corro::market_data
