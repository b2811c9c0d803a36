// SPDX-License-Identifier: Apache-2.0
// One subscriber's connection by SoupBinTCP, over any stream: its login, its packets, heartbeats, its farewell.
//
// What it is sent is the matter of a service (soup_port.hpp).
//
// Not part of the layer's interface. Threads: one context. Source: Nasdaq SoupBinTCP 3.00.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "io/net/stream.hpp"
#include "io/result.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "io/task/with_timeout.hpp"
#include "market_data/limits.hpp"
#include "market_data/soup_options.hpp"
#include "market_data/subscriber.hpp"
#include "market_data/subscriber_registry.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

/// Writes one of the venue's own packets.
/// @return  The packet, in `into`, which has room for it (asserted).
template <class Packet>
[[nodiscard]] std::span<const std::byte> encode_packet(const Packet& packet, std::span<std::byte> into) {
    const auto size = wire::soup_bin_tcp::encode(packet, into);
    CORRO_ASSERT(size.has_value(), "the venue's own packets must be valid");
    return into.first(*size);
}
[[nodiscard]] inline std::span<const std::byte> encode_packet(wire::soup_bin_tcp::packet_type type,
                                                              std::span<std::byte> into) {
    const auto size = wire::soup_bin_tcp::encode(type, {}, into);
    CORRO_ASSERT(size.has_value(), "the venue's own packets must be valid");
    return into.first(*size);
}

template <io::stream Stream>
class soup_session final : public subscriber {
    using sender = wire::soup_bin_tcp::sender;
    using packet_type = wire::soup_bin_tcp::packet_type;

 public:
    /// `options` and `registry` outlive the session.
    soup_session(Stream stream, const soup_options& options, subscriber_registry& registry)
        : stream_(std::move(stream)), options_(options), registry_(registry) {}

    [[nodiscard]] Stream& stream() noexcept { return stream_; }
    [[nodiscard]] subscriber_registry& registry() noexcept { return registry_; }

    // The login. @pre of all: the session is logging in (asserted).

    /// Whether a whole login request has arrived in time. Otherwise the session is refused.
    io::task<bool> receive_login() {
        const auto arrived = co_await io::with_timeout(options_.login_timeout, login_arrives(this));
        if (arrived && *arrived && phase() == subscriber_phase::logging_in) co_return true;
        if (phase() == subscriber_phase::logging_in) {
            ++registry_.counts().protocol_errors;
            refuse();
        }
        co_return false;
    }
    /// The number of the message that the login requests. Nothing when it names another session or is malformed.
    /// @pre `receive_login` returned true.
    [[nodiscard]] std::optional<std::uint64_t> requested_sequence() const {
        const auto request = wire::soup_bin_tcp::decode_login_request(login_packet().payload);
        const bool is_known =
            request && (request->requested_session.empty() ||
                        wire::soup_bin_tcp::same_credential(request->requested_session, options_.session_name));
        return is_known ? std::optional(request->requested_sequence) : std::nullopt;
    }
    /// Accepts the login, from message `first` on.
    io::task<void> accept_login(std::uint64_t first) {
        drop_input(login_packet().size);
        wire::soup_bin_tcp::login_accepted accepted;
        accepted.session = options_.session_name;
        accepted.next_sequence = first;
        registry_.accept(*this, first);
        std::array<std::byte, wire::soup_bin_tcp::login_accepted_bytes> reply;
        const io::io_result written = co_await io::write_all(stream_, encode_packet(accepted, reply));
        if (written.error) cut();
    }
    /// Rejects the login: what it requests is not available.
    io::task<void> reject_login() {
        ++registry_.counts().logins_rejected;
        refuse();
        std::array<std::byte, wire::soup_bin_tcp::login_accepted_bytes> reply;
        const auto bytes = encode_packet(wire::soup_bin_tcp::reject_code::session_not_available, reply);
        static_cast<void>(co_await io::with_timeout(farewell_timeout, io::write_all(stream_, bytes)));
    }

    // While it is active.

    /// Reads its packets: heartbeats keep it alive, a logout ends it, all others violate the protocol.
    io::task<void> listen() {
        while (is_active()) {
            const auto packet = wire::soup_bin_tcp::decode(input(), sender::client, input_.size() - 3);
            if (!packet) {
                ++registry_.counts().protocol_errors;
                cut();
            } else if (*packet) {
                was_heard_ = true;
                if ((*packet)->type == packet_type::logout_request) log_out();
                drop_input((*packet)->size);
            } else {
                const io::io_result read = co_await stream_.read_some(std::span(input_).subspan(input_end_));
                input_end_ += read.bytes;
                if (read.error) fail(read.error);
            }
        }
    }
    /// Has a heartbeat sent after every interval without data, and cuts a subscriber that was silent for too long.
    io::task<void> keep_alive() {
        std::chrono::milliseconds silent{0};
        while (is_active()) {
            const std::error_code stopped = co_await io::sleep_for(options_.heartbeat_interval);
            if (stopped) co_return;
            silent =
                std::exchange(was_heard_, false) ? std::chrono::milliseconds(0) : silent + options_.heartbeat_interval;
            if (silent >= options_.silence_max) {
                ++registry_.counts().silent_cut;
                cut();
            }
            if (!std::exchange(has_sent_, false)) {
                is_heartbeat_due_ = true;
                work_.set();
            }
        }
    }
    [[nodiscard]] bool is_heartbeat_due() const noexcept { return is_heartbeat_due_; }
    /// For a service whose transport reports a dead venue by itself.
    void leave_out_heartbeat() noexcept { is_heartbeat_due_ = false; }
    /// False when the connection has failed; the session is cut then.
    io::task<bool> send_heartbeat() {
        is_heartbeat_due_ = false;
        std::array<std::byte, wire::soup_bin_tcp::header_bytes> packet;
        const io::io_result sent =
            co_await io::write_all(stream_, encode_packet(packet_type::server_heartbeat, packet));
        if (!sent.error) co_return true;
        cut();
        co_return false;
    }
    /// Set when a heartbeat is due, and by the service when there is something to send. For one waiter.
    [[nodiscard]] io::auto_event& work() noexcept { return work_; }
    /// The service sends data, so that no heartbeat is needed.
    void note_sent() noexcept { has_sent_ = true; }
    /// A read or write has ended with an error: cuts the session, unless its own end has stopped the call.
    void fail(std::error_code error) noexcept { error == io::condition::canceled ? end() : cut(); }

    /// The farewell, when the rest is sent: the end of the session, unless the subscriber has logged out. Then waits
    /// until it closes too, so that the last packets are not lost with the connection.
    /// @pre It is finishing or has logged out (asserted).
    io::task<void> say_farewell() {
        CORRO_ASSERT(phase() == subscriber_phase::finishing || phase() == subscriber_phase::logged_out);
        if (phase() == subscriber_phase::finishing) {
            std::array<std::byte, wire::soup_bin_tcp::header_bytes> packet;
            const auto bytes = encode_packet(packet_type::end_of_session, packet);
            const io::io_result written = co_await io::write_all(stream_, bytes);
            if (written.error) co_return;
        }
        static_cast<void>(co_await stream_.shutdown());
        while (true) {
            const io::io_result read = co_await stream_.read_some(input_);
            if (read.error) co_return;
        }
    }

 private:
    static io::task<bool> login_arrives(soup_session* s) {
        while (true) {
            const auto packet =
                wire::soup_bin_tcp::decode(s->input(), sender::client, wire::soup_bin_tcp::login_request_bytes);
            if (!packet || (*packet && (*packet)->type != packet_type::login_request)) co_return false;
            if (*packet) co_return true;
            const io::io_result read = co_await s->stream_.read_some(std::span(s->input_).subspan(s->input_end_));
            s->input_end_ += read.bytes;
            if (read.error) co_return false;
        }
    }
    [[nodiscard]] wire::soup_bin_tcp::packet login_packet() const {
        const auto packet = wire::soup_bin_tcp::decode(input(), sender::client);
        CORRO_ASSERT(packet && *packet && (*packet)->type == packet_type::login_request, "a login must have arrived");
        return **packet;
    }
    [[nodiscard]] std::span<const std::byte> input() const noexcept { return std::span(input_).first(input_end_); }
    void drop_input(std::size_t size) noexcept {
        input_end_ -= size;
        std::memmove(input_.data(), input_.data() + size, input_end_);
    }

    Stream stream_;
    const soup_options& options_;
    subscriber_registry& registry_;
    io::auto_event work_;
    bool has_sent_ = false;  ///< since the last interval
    bool was_heard_ = false;
    bool is_heartbeat_due_ = false;
    std::size_t input_end_ = 0;
    std::array<std::byte, input_buffer_bytes> input_;  // deliberately not initialised
};

}  // namespace corro::market_data
