// SPDX-License-Identifier: Apache-2.0
// Random programs of calls on two connected sockets, on the machine's kernel and in a simulated world: the same
// outcomes.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

using namespace std::chrono_literals;

/// How long a call may wait before it counts as waiting: long where it is expected to end.
constexpr std::chrono::milliseconds short_time{5};
constexpr std::chrono::seconds long_time{30};

enum class call : std::uint8_t { write, read, end_sending, close, cut_off };

struct step {
    call what;
    bool by_second;
    std::size_t bytes;
};

std::vector<step> random_program(std::uint64_t seed, bool has_cut_off) {
    base::prng random(seed);
    std::vector<step> all;
    for (std::size_t left = 4 + random.below(20); left != 0; --left) {
        const std::uint64_t drawn = random.below(20);
        call what = drawn < 8 ? call::write : drawn < 17 ? call::read : drawn < 18 ? call::end_sending : call::close;
        if (what == call::close && has_cut_off && random.below(2) == 0) what = call::cut_off;
        all.push_back({what, random.below(2) == 1, 1 + static_cast<std::size_t>(random.below(300))});
    }
    return all;
}

std::string words_of(std::error_code error) {
    if (!error) return "done";
    if (error == io::errc::end_of_stream) return "end of stream";
    return std::to_string(error.value());
}

/// How a call ended.
struct outcome {
    std::string words;
    std::size_t bytes = 0;
    unsigned first_byte = 0;

    friend bool operator==(const outcome&, const outcome&) = default;
    friend std::ostream& operator<<(std::ostream& to, const outcome& one) {
        return to << one.words << ' ' << one.bytes << " from " << one.first_byte;
    }
};

outcome outcome_of(const std::expected<io::io_result, std::error_code>& got) {
    if (!got) return {"waits"};
    return {words_of(got->error), got->bytes};
}

/// @param expected  The outcome elsewhere; null where this is the first run. A call that ended there may take long
/// here,
///                  and a kernel may bring in two parts what the other brought in one.
template <class Stream>
io::task<outcome> perform(Stream* on, step what, const outcome* expected, std::uint8_t* next_byte) {
    if (!on->is_open()) co_return outcome{"closed before"};
    const bool should_end = expected != nullptr && expected->words != "waits";
    const std::chrono::milliseconds limit = should_end ? long_time : short_time;
    std::vector<std::byte> room(what.bytes);
    switch (what.what) {
        case call::write: {
            for (std::byte& each : room) each = static_cast<std::byte>((*next_byte)++);
            const auto sent = co_await io::with_timeout(limit, on->write_all(room));
            co_return outcome_of(sent);
        }
        case call::read: {
            const std::size_t least = expected != nullptr && expected->bytes != 0 ? expected->bytes : 1;
            std::expected<io::io_result, std::error_code> got;
            if (least > 1) {
                got = co_await io::with_timeout(limit, on->read_exact(std::span(room).first(least)));
            } else {
                got = co_await io::with_timeout(limit, on->read_some(room));
            }
            outcome ended = outcome_of(got);
            if (ended.bytes != 0) ended.first_byte = static_cast<unsigned>(room.front());
            co_return ended;
        }
        case call::end_sending: co_return outcome{words_of(on->shutdown_send())};
        case call::close: on->close(); co_return outcome{"closed"};
        case call::cut_off:
            static_cast<void>(on->set_option(io::linger_seconds(0)));
            on->close();
            co_return outcome{"cut off"};
    }
    co_return outcome();
}

using outcomes = std::vector<outcome>;

/// Performs a program.
template <class Stream>
io::task<outcomes> perform_all(std::array<Stream, 2>* ends, const std::vector<step>* program,
                               const outcomes* expected) {
    outcomes all;
    std::array<std::uint8_t, 2> next_bytes{0, 100};
    for (std::size_t i = 0; i < program->size(); ++i) {
        const step& what = (*program)[i];
        const std::size_t by = what.by_second ? 1 : 0;
        outcome one =
            co_await perform(&(*ends)[by], what, expected != nullptr ? &(*expected)[i] : nullptr, &next_bytes[by]);
        all.push_back(std::move(one));
    }
    co_return all;
}

outcomes run_tcp(io::platform& on, const std::vector<step>& program, const outcomes* expected) {
    io::context here{io::context_options(on)};
    return io::block_on(
        here, [](io::context* where, const std::vector<step>* all, const outcomes* like) -> io::task<outcomes> {
            auto acceptor = io::tcp_acceptor::open(*where, io::endpoint::loopback(0));
            auto both =
                co_await io::when_all(acceptor->accept(), io::tcp_stream::connect(*where, *acceptor->local_endpoint()));
            std::array<io::tcp_stream, 2> ends{std::move(*std::get<0>(both)), std::move(*std::get<1>(both))};
            for (io::tcp_stream& each : ends) static_cast<void>(each.set_option(io::no_delay(true)));
            outcomes ended = co_await perform_all(&ends, all, like);
            co_return ended;
        }(&here, &program, expected));
}

outcomes run_unix(io::platform& on, const std::vector<step>& program, const outcomes* expected) {
    io::context here{io::context_options(on)};
    auto pair = io::unix_stream::pair(here);
    if (!pair) return {outcome{"no pair"}};
    std::array<io::unix_stream, 2> ends{std::move(pair->first), std::move(pair->second)};
    return io::block_on(here, perform_all(&ends, &program, expected));
}

std::string words_of(const std::vector<step>& program) {
    static constexpr std::array<const char*, 5> names{"write", "read", "end sending", "close", "cut off"};
    std::string all;
    for (const step& each : program) {
        all += std::string(each.by_second ? "second " : "first ") + names[static_cast<std::size_t>(each.what)] + ' ' +
               std::to_string(each.bytes) + "; ";
    }
    return all;
}

constexpr std::uint64_t programs_count = 200;

TEST(kernel_comparison, tcp_sockets_behave_as_the_kernels) {
    for (std::uint64_t seed = 1; seed <= programs_count; ++seed) {
        const std::vector<step> program = random_program(seed, true);
        world w(seed);
        const outcomes simulated = run_tcp(w.machine(), program, nullptr);
        ASSERT_EQ(run_tcp(io::epoll_platform(), program, &simulated), simulated) << seed << ": " << words_of(program);
    }
}

TEST(kernel_comparison, unix_sockets_behave_as_the_kernels) {
    for (std::uint64_t seed = 1; seed <= programs_count; ++seed) {
        const std::vector<step> program = random_program(seed, false);
        world w(seed);
        const outcomes simulated = run_unix(w.machine(), program, nullptr);
        ASSERT_EQ(run_unix(io::epoll_platform(), program, &simulated), simulated) << seed << ": " << words_of(program);
    }
}

}  // namespace
}  // namespace corro::sim
