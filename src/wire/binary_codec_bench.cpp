// SPDX-License-Identifier: Apache-2.0
// Measures the codec's time per message: the ten derived messages of one fill, and each request.
//
//   corro_wire_bench [MESSAGES]     default 20,000,000
//
// Prints nanoseconds per message, the median of nine rounds. A round processes a ring of different messages that fits
// the first-level cache: branches are predicted about as well as in production, and memory access does not count.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wire/binary_codec.hpp"
#include "wire/messages_fixture.hpp"

namespace {

using namespace corro;

constexpr std::uint64_t seed = 1;
constexpr int rounds_count = 9;

/// Prevents the compiler from dropping the computation of `value`.
template <class Value>
void keep(const Value& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

template <class Work>
void report(const char* name, std::uint64_t messages_count, Work&& work) {
    std::array<double, rounds_count> nanoseconds{};
    for (double& round : nanoseconds) {
        const auto start = std::chrono::steady_clock::now();
        for (std::uint64_t i = 0; i < messages_count; ++i) work(i);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        round = took.count() / static_cast<double>(messages_count);
    }
    std::ranges::sort(nanoseconds);
    std::printf("%-44s %6.2f ns   (%.2f to %.2f)\n", name, nanoseconds[rounds_count / 2], nanoseconds.front(),
                nanoseconds.back());
}

void encode_events(const char* name, const std::vector<domain::event>& events, std::uint64_t messages_count) {
    const domain::instrument instrument = wire::made_instrument(1);
    std::array<std::byte, 16'384> out;
    std::size_t at = 0;
    std::size_t next = 0;
    report(name, messages_count, [&](std::uint64_t i) {
        if (at + wire::message_bytes_max > out.size()) at = 0;
        at += wire::encode(events[next], instrument, i, std::span{out}.subspan(at));
        if (++next == events.size()) next = 0;
        keep(out);
    });
}

void decode_commands(const char* name, domain::command_kind kind, std::uint64_t messages_count) {
    wire::message_maker make{seed};
    const wire::instrument_table instruments = wire::made_instruments();
    std::vector<std::byte> stream;
    for (int made = 0; made < 64;) {
        const domain::command command = make.command();
        if (command.kind != kind) continue;
        std::array<std::byte, wire::message_bytes_max> buffer;
        const auto size = wire::encode(command, instruments.find_or_nameless(command.instrument), buffer);
        stream.insert(stream.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size));
        ++made;
    }
    std::size_t at = 0;
    domain::command command;
    report(name, messages_count, [&](std::uint64_t) {
        const auto found = wire::next_frame(std::span{std::as_const(stream)}.subspan(at));
        const auto wrong = wire::decode_command(**found, instruments, command);
        if (wrong) std::abort();
        at += (*found)->size();
        if (at == stream.size()) at = 0;
        keep(command);
    });
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t messages_count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000'000;
    if (messages_count == 0) {
        std::fprintf(stderr, "usage: corro_wire_bench [MESSAGES]\n");
        return 2;
    }
    using kind = domain::event_kind;
    wire::message_maker make{seed};
    std::vector<domain::event> fill;
    for (const kind each :
         {kind::order_executed, kind::order_executed, kind::trade_capture, kind::trade_capture, kind::trade,
          kind::order_reduced, kind::level_changed, kind::top_of_book, kind::price_update, kind::statistics}) {
        fill.push_back(make.event(each));
    }
    encode_events("encode: the ten messages of a fill", fill, messages_count);
    encode_events("encode: order_entered", {make.event(kind::order_entered)}, messages_count);
    encode_events("encode: order_added", {make.event(kind::order_added)}, messages_count);
    encode_events("encode: level_changed", {make.event(kind::level_changed)}, messages_count);

    decode_commands("frame and decode: enter_order", domain::command_kind::enter_order, messages_count);
    decode_commands("frame and decode: amend_order", domain::command_kind::amend_order, messages_count);
    decode_commands("frame and decode: cancel_order", domain::command_kind::cancel_order, messages_count);
    return 0;
}
