// SPDX-License-Identifier: Apache-2.0
// A writer and a reader on two threads. Forbidden outcomes:
//   - a byte that is lost, repeated or out of order
//   - a byte that is read before it is written (the thread sanitizer sees an unordered copy)
//   - both sides asleep: a reader that sleeps although bytes have come, or a writer although there is room
//   - an end that is seen before the last byte
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <thread>

#include "io/shm/ring.hpp"
#include "io/shm/ring_fixture.hpp"

namespace corro::io::shm {
namespace {

/// Rung once per ring, heard once per wait.
class bell {
 public:
    void ring() noexcept {
        rung_.fetch_add(1);
        rung_.notify_one();
    }
    void wait() noexcept {
        while (rung_.load() == heard_) rung_.wait(heard_);
        ++heard_;
    }

 private:
    std::atomic<std::uint32_t> rung_{0};
    std::uint32_t heard_ = 0;
};

/// Some thousand times around: on a busy machine each time is two changes of the running thread.
void run(std::size_t capacity, std::uint64_t begin, std::size_t sent_size, std::size_t read_size) {
    constexpr std::uint32_t rounds_count = 3'000;
    const auto bytes_count = static_cast<std::uint32_t>(capacity * rounds_count);
    ring_memory memory(capacity, begin);
    bell for_reader;
    bell for_writer;
    std::thread writing([&] {
        ring_writer writer = memory.writer(begin);
        std::array<std::byte, 256> bytes{};
        std::uint32_t sent = 0;
        while (sent != bytes_count) {
            const std::size_t size = std::min<std::size_t>(sent_size, bytes_count - sent);
            for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((sent + i) % 251);
            const std::size_t taken = writer.write(std::span(bytes).first(size));
            sent += static_cast<std::uint32_t>(taken);
            if (taken != 0) {
                if (writer.must_wake_reader()) for_reader.ring();
                continue;
            }
            writer.announce_sleep();
            if (!writer.has_room()) for_writer.wait();
        }
        writer.end();
        if (writer.must_wake_reader()) for_reader.ring();
    });
    ring_reader reader = memory.reader(begin);
    std::array<std::byte, 256> bytes{};
    std::uint32_t received = 0;
    std::uint32_t wrong_count = 0;
    while (!reader.is_at_end()) {
        const std::size_t got = reader.read(std::span(bytes).first(read_size));
        for (std::size_t i = 0; i < got; ++i) {
            if (bytes[i] != static_cast<std::byte>((received + i) % 251)) ++wrong_count;
        }
        received += static_cast<std::uint32_t>(got);
        if (got != 0) {
            if (reader.must_wake_writer()) for_writer.ring();
            continue;
        }
        reader.announce_sleep();
        if (!reader.has_bytes() && !reader.is_at_end()) for_reader.wait();
    }
    writing.join();
    EXPECT_EQ(received, bytes_count);
    EXPECT_EQ(wrong_count, 0U);
    EXPECT_FALSE(reader.is_broken());
}

TEST(ring_race, bytes_arrive_once_and_in_order_and_nobody_sleeps_for_ever) {
    run(4096, 0, 100, 256);
    run(64, 0 - std::uint64_t{1000}, 64, 7);
    run(256, (std::uint64_t{1} << 32U) - 1000, 13, 64);
}

}  // namespace
}  // namespace corro::io::shm
