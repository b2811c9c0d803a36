// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`, by a plain epoll loop: what the kernel costs without a library.
//
// Edge-triggered: every end remembers whether the kernel has said "not now", is tried until then, and the kernel is
// asked only when no end can go on.

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <system_error>

#include "lab/suites/raw_sockets.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

constexpr std::size_t no_bytes = static_cast<std::size_t>(-1);

// What moved, or no_bytes for "not now".
std::size_t checked(ssize_t moved, const char* what) {
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno == EAGAIN) return no_bytes;
    throw std::system_error(errno, std::generic_category(), what);
}
std::size_t send_some(int to, std::span<const std::byte> bytes) {
    return checked(::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send");
}
std::size_t receive_some(int from, std::span<std::byte> bytes) {
    return checked(::recv(from, bytes.data(), bytes.size(), 0), "recv");
}

class poller {
 public:
    poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (epoll_.get() < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }
    void add(int socket, std::uint64_t tag, std::uint32_t events) {
        epoll_event wanted{};
        wanted.events = events;
        wanted.data.u64 = tag;
        if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &wanted) != 0) {
            throw std::system_error(errno, std::generic_category(), "epoll_ctl");
        }
    }
    std::span<const epoll_event> wait() {
        const int count = epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), -1);
        return std::span(events_).first(count < 0 ? 0 : static_cast<std::size_t>(count));
    }

 private:
    owned_descriptor epoll_;
    std::array<epoll_event, 64> events_{};
};

/// One direction of a stream: its writer and its reader.
struct direction {
    int from;
    int to;
    std::vector<std::byte> out;
    std::vector<std::byte> in;
    stream_account account{};
    bool writable = true;
    bool readable = true;
    bool closed = false;  ///< by the writer
    bool ended = false;   ///< as the reader saw it
    std::uint64_t at = 0;

    bool can_go_on() const { return !ended && ((writable && !closed) || readable); }

    void write(const timed_run& run) {
        if (!writable || closed) return;
        if (!run.goes_on(run.now())) {
            ::shutdown(from, SHUT_WR);
            closed = true;
            return;
        }
        const std::size_t sent = send_some(from, out);
        writable = sent != no_bytes;
        if (writable) account.written += sent;
    }
    void read(timed_run& run) {
        if (!readable || ended) return;
        const std::size_t got = receive_some(to, in);
        readable = got != no_bytes;
        ended = got == 0;
        if (!readable || ended) return;
        verify(in[0] == stream_filler && in[got - 1] == stream_filler, "other bytes than were written");
        account.read += got;
        const std::uint64_t next = run.count(at, got);
        at = next == 0 ? run.now() : next;
    }
};

measurement throughput(const run_parameters& how, const throughput_shape& shape) {
    const raw_pair pair = connected_pair(shape.over);
    timed_run run(how.seconds);
    std::vector<direction> both;
    const auto add = [&](int from, int to) {
        both.push_back({from, to, std::vector<std::byte>(shape.buffer_bytes, stream_filler),
                        std::vector<std::byte>(shape.buffer_bytes)});
        both.back().at = run.now();
    };
    add(pair.client.get(), pair.server.get());
    if (shape.two_way) add(pair.server.get(), pair.client.get());
    poller kernel;
    kernel.add(pair.client.get(), 0, EPOLLIN | EPOLLOUT | EPOLLET);
    kernel.add(pair.server.get(), 1, EPOLLIN | EPOLLOUT | EPOLLET);
    const auto unfinished = [&] {
        return std::any_of(both.begin(), both.end(), [](const direction& one) { return !one.ended; });
    };
    while (unfinished()) {
        for (direction& one : both) {
            one.write(run);
            one.read(run);
        }
        if (std::any_of(both.begin(), both.end(), [](const direction& one) { return one.can_go_on(); })) continue;
        for (const epoll_event& event : kernel.wait()) {
            const int socket = event.data.u64 == 0 ? pair.client.get() : pair.server.get();
            for (direction& one : both) {
                if (one.from == socket && (event.events & EPOLLOUT) != 0) one.writable = true;
                if (one.to == socket && (event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) != 0) one.readable = true;
            }
        }
    }
    for (const direction& one : both) verify_stream(one.account);
    return rate_of(run);
}

/// A client with its echo.
struct conversation {
    conversation(raw_pair made, std::size_t bytes) : ends(std::move(made)), message(bytes), echoed(bytes) {}

    raw_pair ends;
    ping_message message;
    std::vector<std::byte> echoed;
    std::size_t received = 0;
    std::size_t echo_received = 0;
    std::uint64_t at = 0;

    void send() {
        message.next();
        verify_equal(send_some(ends.client.get(), message.sent), message.sent.size(), "bytes sent at once");
    }
    // True: a whole message is there.
    bool receive() {
        const std::size_t got = receive_some(ends.client.get(), std::span(message.received).subspan(received));
        if (got == no_bytes) return false;
        received += got;
        if (received < message.received.size()) return false;
        received = 0;
        verify(message.came_back(), "another message came back");
        return true;
    }
    void echo() {
        const std::size_t got = receive_some(ends.server.get(), echoed);
        if (got == no_bytes || got == 0) return;
        verify_equal(send_some(ends.server.get(), std::span(echoed).first(got)), got, "bytes sent at once");
    }
};

std::deque<conversation> conversations(const ping_pong_shape& shape) {
    std::deque<conversation> made;
    for (raw_pair& one : connected_pairs(shape.over, shape.pairs)) {
        made.emplace_back(std::move(one), shape.message_bytes);
    }
    return made;
}

measurement ping_pong(const run_parameters& how, const ping_pong_shape& shape) {
    std::deque<conversation> all = conversations(shape);
    ping_pong_run run(how.seconds, shape);
    poller kernel;
    for (std::size_t i = 0; i < all.size(); ++i) {
        kernel.add(all[i].ends.client.get(), 2 * i, EPOLLIN | EPOLLET);
        kernel.add(all[i].ends.server.get(), 2 * i + 1, EPOLLIN | EPOLLET);
        all[i].at = run.of(i).now();
        all[i].send();
    }
    for (std::size_t left = all.size(); left != 0;) {
        for (const epoll_event& event : kernel.wait()) {
            const std::size_t i = event.data.u64 / 2;
            if (event.data.u64 % 2 == 1) {
                all[i].echo();
            } else if (all[i].receive()) {
                all[i].at = run.of(i).lap(all[i].at);
                if (all[i].at == 0) {
                    --left;
                } else {
                    all[i].send();
                }
            }
        }
    }
    return run.result();
}

measurement ping_pong_alone(const run_parameters& how, const ping_pong_shape& shape) {
    std::deque<conversation> all = conversations(shape);
    ping_pong_run run(how.seconds, shape);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].at = run.of(i).now();
    for (std::size_t left = all.size(); left != 0;) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].at == 0) continue;
            all[i].send();
            all[i].echo();
            while (!all[i].receive()) {
            }
            all[i].at = run.of(i).lap(all[i].at);
            if (all[i].at == 0) --left;
        }
    }
    return run.result();
}

}  // namespace

void implement_sockets_raw_epoll(registry& into) {
    for (const throughput_shape& shape : throughput_shapes()) {
        into.implement("sockets", shape.row(), "raw_epoll",
                       [shape](const run_parameters& how) { return throughput(how, shape); });
    }
    for (const ping_pong_shape& shape : ping_pong_shapes()) {
        if (shape.with_timeout) continue;
        into.implement("sockets", shape.row(), "raw_epoll", [shape](const run_parameters& how) {
            return shape.alone ? ping_pong_alone(how, shape) : ping_pong(how, shape);
        });
    }
}

}  // namespace corro::lab
