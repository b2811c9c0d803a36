// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`, by a plain io_uring loop: what the kernel costs without a library.
//
// One submission per turn of the loop, which also waits; a single issuer with deferred task work; sends of messages
// report only failures. Where a kernel forbids io_uring there is no such subject.

#include <liburing.h>
#include <sys/socket.h>

#include <cstdint>
#include <system_error>

#include "lab/suites/raw_sockets.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

class ring {
 public:
    static constexpr unsigned entries = 256;

    ring() {
        const int error = io_uring_queue_init(entries, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
        if (error < 0) throw std::system_error(-error, std::generic_category(), "io_uring_queue_init");
    }
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() { io_uring_queue_exit(&ring_); }

    io_uring_sqe& entry(std::uint64_t tag) {
        io_uring_sqe* made = io_uring_get_sqe(&ring_);
        if (made == nullptr) {
            io_uring_submit(&ring_);
            made = io_uring_get_sqe(&ring_);
        }
        verify(made != nullptr, "the submission queue is full");
        made->user_data = tag;
        return *made;
    }
    io_uring_sqe& send(int to, std::span<const std::byte> bytes, std::uint64_t tag, int flags = 0) {
        io_uring_sqe& made = entry(tag);
        io_uring_prep_send(&made, to, bytes.data(), bytes.size(), MSG_NOSIGNAL | flags);
        made.user_data = tag;
        return made;
    }
    io_uring_sqe& receive(int from, std::span<std::byte> bytes, std::uint64_t tag, int flags = 0) {
        io_uring_sqe& made = entry(tag);
        io_uring_prep_recv(&made, from, bytes.data(), bytes.size(), flags);
        made.user_data = tag;
        return made;
    }

    /// Submits what is prepared, waits for a completion and calls `use(tag, result)` for each that is there.
    template <class Use>
    void turn(Use&& use) {
        io_uring_submit_and_wait(&ring_, 1);
        unsigned head = 0;
        unsigned count = 0;
        io_uring_cqe* completion = nullptr;
        io_uring_for_each_cqe(&ring_, head, completion) {
            use(completion->user_data, completion->res);
            ++count;
        }
        io_uring_cq_advance(&ring_, count);
    }

 private:
    io_uring ring_{};
};

void verify_moved(int result, const char* what) {
    if (result < 0) throw std::system_error(-result, std::generic_category(), what);
}

struct direction {
    int from;
    int to;
    std::vector<std::byte> out;
    std::vector<std::byte> in;
    stream_account account{};
    std::uint64_t at = 0;
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
    ring kernel;
    const auto write = [&](std::size_t i) { kernel.send(both[i].from, both[i].out, 2 * i); };
    const auto read = [&](std::size_t i) { kernel.receive(both[i].to, both[i].in, 2 * i + 1); };
    for (std::size_t i = 0; i < both.size(); ++i) {
        write(i);
        read(i);
    }
    for (std::size_t left = both.size(); left != 0;) {
        kernel.turn([&](std::uint64_t tag, int result) {
            const std::size_t i = tag / 2;
            direction& one = both[i];
            verify_moved(result, tag % 2 == 0 ? "send" : "recv");
            const auto moved = static_cast<std::size_t>(result);
            if (tag % 2 == 0) {
                one.account.written += moved;
                if (run.goes_on(run.now())) {
                    write(i);
                } else {
                    ::shutdown(one.from, SHUT_WR);
                }
            } else if (moved == 0) {
                --left;
            } else {
                verify(one.in[0] == stream_filler && one.in[moved - 1] == stream_filler,
                       "other bytes than were written");
                one.account.read += moved;
                const std::uint64_t next = run.count(one.at, moved);
                one.at = next == 0 ? run.now() : next;
                read(i);
            }
        });
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
    std::uint64_t at = 0;
};

std::deque<conversation> conversations(const ping_pong_shape& shape) {
    std::deque<conversation> made;
    for (raw_pair& one : connected_pairs(shape.over, shape.pairs)) {
        made.emplace_back(std::move(one), shape.message_bytes);
    }
    return made;
}

constexpr std::uint64_t failed_tag = ~std::uint64_t{0};

measurement ping_pong(const run_parameters& how, const ping_pong_shape& shape) {
    std::deque<conversation> all = conversations(shape);
    ping_pong_run run(how.seconds, shape);
    ring kernel;
    const auto send_quietly = [&](int to, std::span<const std::byte> bytes) {
        kernel.send(to, bytes, failed_tag, MSG_WAITALL).flags |= IOSQE_CQE_SKIP_SUCCESS;
    };
    const auto ask = [&](std::size_t i) {
        all[i].message.next();
        send_quietly(all[i].ends.client.get(), all[i].message.sent);
        kernel.receive(all[i].ends.client.get(), all[i].message.received, 2 * i, MSG_WAITALL);
    };
    const auto listen = [&](std::size_t i) {
        kernel.receive(all[i].ends.server.get(), all[i].echoed, 2 * i + 1, MSG_WAITALL);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].at = run.of(i).now();
        listen(i);
        ask(i);
    }
    for (std::size_t left = all.size(); left != 0;) {
        kernel.turn([&](std::uint64_t tag, int result) {
            verify_moved(result, "send or recv");
            verify(tag != failed_tag, "a send was reported");
            verify_equal(static_cast<std::uint64_t>(result), shape.message_bytes, "bytes of a message");
            const std::size_t i = tag / 2;
            if (tag % 2 == 1) {
                send_quietly(all[i].ends.server.get(), all[i].echoed);
                listen(i);
                return;
            }
            verify(all[i].message.came_back(), "another message came back");
            all[i].at = run.of(i).lap(all[i].at);
            if (all[i].at == 0) {
                --left;
            } else {
                ask(i);
            }
        });
    }
    return run.result();
}

measurement ping_pong_alone(const run_parameters& how, const ping_pong_shape& shape) {
    std::deque<conversation> all = conversations(shape);
    ping_pong_run run(how.seconds, shape);
    ring kernel;
    // The whole round trip is one chain: each link starts when the one before has succeeded.
    const auto round_trip = [&](std::size_t i) {
        conversation& one = all[i];
        constexpr unsigned link = IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
        one.message.next();
        kernel.send(one.ends.client.get(), one.message.sent, failed_tag, MSG_WAITALL).flags |= link;
        kernel.receive(one.ends.server.get(), one.echoed, failed_tag, MSG_WAITALL).flags |= link;
        kernel.send(one.ends.server.get(), one.echoed, failed_tag, MSG_WAITALL).flags |= link;
        kernel.receive(one.ends.client.get(), one.message.received, i, MSG_WAITALL);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].at = run.of(i).now();
        round_trip(i);
    }
    for (std::size_t left = all.size(); left != 0;) {
        kernel.turn([&](std::uint64_t tag, int result) {
            verify_moved(result, "send or recv");
            verify(tag != failed_tag, "a link was reported");
            verify(all[tag].message.came_back(), "another message came back");
            all[tag].at = run.of(tag).lap(all[tag].at);
            if (all[tag].at == 0) {
                --left;
            } else {
                round_trip(tag);
            }
        });
    }
    return run.result();
}

bool available() {
    try {
        const ring probe;
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

}  // namespace

void implement_sockets_raw_uring(registry& into) {
    if (!available()) return;
    for (const throughput_shape& shape : throughput_shapes()) {
        into.implement("sockets", shape.row(), "raw_uring",
                       [shape](const run_parameters& how) { return throughput(how, shape); });
    }
    for (const ping_pong_shape& shape : ping_pong_shapes()) {
        if (shape.with_timeout) continue;
        into.implement("sockets", shape.row(), "raw_uring", [shape](const run_parameters& how) {
            return shape.alone ? ping_pong_alone(how, shape) : ping_pong(how, shape);
        });
    }
}

}  // namespace corro::lab
