// SPDX-License-Identifier: Apache-2.0
#include "io/shm/device.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "io/task/scope.hpp"

namespace corro::io::shm {

stream_device& stream_device::of(context& on) {
    if (on.memory() == nullptr) on.share_memory(std::make_unique<stream_device>(on));
    return static_cast<stream_device&>(*on.memory());
}

descriptor& stream_device::open(mapping memory, const hello& sizes, bool is_server, unix_stream socket, int file,
                                mapping broadcast) {
    io::detail::kept<stream_descriptor> made(new stream_descriptor(context_, *this));
    const std::span<std::byte> bytes = memory.bytes();
    CORRO_ASSERT(bytes.size() == sizes.memory_bytes());
    auto* const to_server = reinterpret_cast<ring_words*>(bytes.data() + words_to_server_offset);
    auto* const to_client = reinterpret_cast<ring_words*>(bytes.data() + words_to_client_offset);
    const auto to_server_data = bytes.subspan(data_offset, sizes.to_server_bytes);
    const auto to_client_data = bytes.subspan(data_offset + sizes.to_server_bytes, sizes.to_client_bytes);
    made->handover = reinterpret_cast<handover_words*>(bytes.data() + handover_offset);
    made->broadcast = std::move(broadcast);
    made->memory = std::move(memory);
    made->reading = is_server ? ring_reader(*to_server, to_server_data) : ring_reader(*to_client, to_client_data);
    made->writing = is_server ? ring_writer(*to_client, to_client_data) : ring_writer(*to_server, to_server_data);
    made->socket = bell_socket(std::move(socket));
    made->socket_file = file;
    spawn(context_, wait_for_bells(made));
    // The stream's own reference; `close` gives it back.
    return *made.release();
}

/// Waits for the peer's bells until the socket ends or is closed. A bell is any byte.
task<void> stream_device::wait_for_bells(io::detail::kept<stream_descriptor> on) {
    std::array<std::byte, 256> bells{};
    for (;;) {
        const io_result rung = co_await on->socket.read_some(bells);
        if (!on->socket.is_open()) co_return;  // by this side
        if (rung.error) on->is_peer_gone = true;
        static_cast<stream_device*>(on->by)->on_bell(*on);
        if (rung.error) co_return;
    }
}

void stream_device::on_bell(stream_descriptor& on) noexcept {
    static_cast<void>(progress(on));
    if (on.reader != nullptr || on.writer != nullptr) poll(on);
}

/// Wakes the peer. A full socket has bells that the peer has not heard yet, so one that is lost does not matter.
void stream_device::ring(const stream_descriptor& on) noexcept {
    if (!on.socket.is_open() || on.is_peer_gone) return;
    const std::byte bell{};
    static_cast<void>(::send(on.socket_file, &bell, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/// Goes on in the broadcast ring if the server has said so, and everything before was read.
void stream_device::begin_to_follow(stream_descriptor& on) noexcept {
    const std::span<std::byte> bytes = on.broadcast.bytes();
    if (bytes.empty() || on.handover == nullptr) return;
    if (on.handover->at.load(std::memory_order_acquire) != on.reading.position() + 1) return;
    const auto* const words = reinterpret_cast<const broadcast_words*>(bytes.data());
    const auto* const data = reinterpret_cast<const broadcast_word*>(bytes.data() + broadcast_data_offset);
    const std::size_t count = (bytes.size() - broadcast_data_offset) / sizeof(broadcast_word);
    on.following = broadcast_reader(*words, {data, count}, on.handover->from.load(std::memory_order_relaxed));
    on.is_following = true;
    on.handover = nullptr;  // once
}

/// As `attempt_receive`, from the broadcast ring. Its end leads back to the stream's own ring.
bool stream_device::attempt_follow(stream_descriptor& on, operation& what) noexcept {
    const bool was_peer_gone = on.is_peer_gone;
    while (what.bytes < what.minimum) {
        const std::size_t got = on.following.read({what.data + what.bytes, what.size - what.bytes});
        what.bytes += got;
        if (got != 0) continue;
        if (on.following.is_overrun()) {
            what.status = ENOBUFS;
            return true;
        }
        if (on.following.is_at_end()) {
            on.is_following = false;
            return attempt_receive(on, what);
        }
        if (on.following.has_bytes()) continue;
        if (was_peer_gone) what.status = ECONNRESET;
        return was_peer_gone;
    }
    return true;
}

bool stream_device::attempt_receive(stream_descriptor& on, operation& what) noexcept {
    if (on.is_following) return attempt_follow(on, what);
    const bool was_peer_gone = on.is_peer_gone;
    for (;;) {
        const std::size_t got = on.reading.read({what.data + what.bytes, what.size - what.bytes});
        what.bytes += got;
        if (got != 0 && on.reading.must_wake_writer()) ring(on);
        if (what.bytes >= what.minimum) return true;
        if (got != 0) continue;
        if (on.reading.is_broken()) {
            what.status = EPROTO;
            return true;
        }
        if (on.reading.is_at_end()) {
            what.status = operation::status_end_of_stream;
            return true;
        }
        if (on.reading.has_bytes()) continue;
        begin_to_follow(on);
        if (on.is_following) return attempt_follow(on, what);
        // Whatever the peer wrote before it died has been read: its end was seen first.
        if (was_peer_gone) what.status = ECONNRESET;
        return was_peer_gone;
    }
}

bool stream_device::attempt_send(stream_descriptor& on, operation& what) noexcept {
    if (on.has_ended || on.is_peer_gone) {
        what.status = EPIPE;
        return true;
    }
    const std::size_t taken = on.writing.write({what.data + what.bytes, what.size - what.bytes});
    what.bytes += taken;
    if (taken != 0 && on.writing.must_wake_reader()) ring(on);
    if (what.bytes >= what.minimum) return true;
    if (!on.writing.is_broken()) return false;
    what.status = EPROTO;
    return true;
}

bool stream_device::start(operation& what) noexcept {
    stream_descriptor& on = own(*what.target);
    if (what.kind == operation_kind::receive) {
        CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
        if (attempt_receive(on, what)) return true;
        on.reader = &what;
    } else if (what.kind == operation_kind::send) {
        CORRO_ASSERT(on.writer == nullptr, "a socket can have only one write at a time");
        if (attempt_send(on, what)) return true;
        on.writer = &what;
    } else {
        what.status = EOPNOTSUPP;
        return true;
    }
    what.parked = true;
    poll(on);
    return false;
}

bool stream_device::try_send(operation& what) noexcept {
    stream_descriptor& on = own(*what.target);
    if (on.writer != nullptr) return false;
    return attempt_send(on, what) || what.bytes != 0;
}

void stream_device::unpark(operation& what) noexcept {
    stream_descriptor& on = own(*what.target);
    if (on.reader == &what) {
        on.reader = nullptr;
        if (std::exchange(on.has_announced_reading, false)) on.reading.withdraw_sleep();
    } else {
        on.writer = nullptr;
        if (std::exchange(on.has_announced_writing, false)) on.writing.withdraw_sleep();
    }
    what.parked = false;
    if (on.reader == nullptr && on.writer == nullptr) stop_polling(on);
}

void stream_device::cancel(operation& what) noexcept {
    unpark(what);
    what.status = ECANCELED;
    context_.complete(what);
}

void stream_device::abandon(operation& what) noexcept {
    unpark(what);
}

/// Completes what can complete. @return whether anything did.
bool stream_device::progress(stream_descriptor& on) noexcept {
    bool any = false;
    if (on.reader != nullptr && attempt_receive(on, *on.reader)) {
        operation& done = *on.reader;
        unpark(done);
        context_.complete(done);
        any = true;
    }
    if (on.writer != nullptr && attempt_send(on, *on.writer)) {
        operation& done = *on.writer;
        unpark(done);
        context_.complete(done);
        any = true;
    }
    return any;
}

/// Asks the peer to ring, and looks once more. @return whether anything completed.
bool stream_device::doze(stream_descriptor& on) noexcept {
    stop_polling(on);
    if (on.reader != nullptr) {
        on.reading.announce_sleep();
        on.has_announced_reading = true;
    }
    if (on.writer != nullptr) {
        on.writing.announce_sleep();
        on.has_announced_writing = true;
    }
    return progress(on);
}

void stream_device::poll(stream_descriptor& on) noexcept {
    if (on.is_polled) return;
    if (polled_count_ == polled_max) static_cast<void>(doze(*oldest_));
    // Unlike a socket, a ring may have filled while its descriptor dozed: `start` and `on_bell` have looked before
    // this.
    on.is_polled = true;
    on.newer = nullptr;
    on.older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = &on;
    newest_ = &on;
    ++polled_count_;
}

void stream_device::stop_polling(stream_descriptor& on) noexcept {
    if (!on.is_polled) return;
    on.is_polled = false;
    (on.newer != nullptr ? on.newer->older : newest_) = on.older;
    (on.older != nullptr ? on.older->newer : oldest_) = on.newer;
    --polled_count_;
}

bool stream_device::look() noexcept {
    bool any = false;
    for (stream_descriptor* at = newest_; at != nullptr;) {
        stream_descriptor* const next = at->older;  // completing takes `at` off the list
        any = progress(*at) || any;
        at = next;
    }
    return any;
}

bool stream_device::prepare_sleep() noexcept {
    bool any = false;
    while (newest_ != nullptr) any = doze(*newest_) || any;
    return !any;
}

void stream_device::follow(descriptor& on, std::uint64_t from) noexcept {
    stream_descriptor& led = own(on);
    led.handover->from.store(from, std::memory_order_relaxed);
    led.handover->at.store(led.writing.position() + 1, std::memory_order_seq_cst);
    wake(on);
}

void stream_device::wake(descriptor& on) noexcept {
    stream_descriptor& asleep = own(on);
    if (asleep.writing.must_wake_reader()) ring(asleep);
}

std::error_code stream_device::shutdown_send(descriptor& on) noexcept {
    stream_descriptor& ended = own(on);
    ended.has_ended = true;
    ended.writing.end();
    if (ended.writing.must_wake_reader()) ring(ended);
    return {};
}

void stream_device::close(descriptor& on) noexcept {
    stream_descriptor& closed = own(on);
    for (operation* parked : {closed.reader, closed.writer}) {
        if (parked != nullptr) cancel(*parked);
    }
    static_cast<void>(shutdown_send(closed));
    closed.socket.close();
    const auto last = io::detail::kept<stream_descriptor>::retake(&closed);
}

int stream_device::detach(descriptor&) noexcept {
    return -1;
}

// Options of TCP are accepted and change nothing; the others are those of the socket.
std::error_code stream_device::set_option(descriptor& on, socket_option option, int value) noexcept {
    if (option == socket_option::no_delay || option == socket_option::quick_acknowledge) return {};
    descriptor& socket = *own(on).socket.get();
    return socket.by->set_option(socket, option, value);
}

std::expected<int, std::error_code> stream_device::get_option(descriptor& on, socket_option option) noexcept {
    descriptor& socket = *own(on).socket.get();
    return socket.by->get_option(socket, option);
}

std::expected<socket_address, std::error_code> stream_device::local_address(descriptor& on) noexcept {
    descriptor& socket = *own(on).socket.get();
    return socket.by->local_address(socket);
}

std::expected<socket_address, std::error_code> stream_device::remote_address(descriptor& on) noexcept {
    descriptor& socket = *own(on).socket.get();
    return socket.by->remote_address(socket);
}

}  // namespace corro::io::shm
