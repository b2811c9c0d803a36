// SPDX-License-Identifier: Apache-2.0
// A peer that writes anything into the shared memory, at every step of a conversation over it, and a hello of any
// bytes.
//
// A venue is a peer too: the broadcast ring, which this side only reads, is scribbled into as well.
//
// Both rings of a stream lie in one block, as in a connection; this side reads from one and writes into the other. What
// must hold whatever the peer does: no access outside of the block, no more bytes than were asked for, positions that
// only grow by what was copied, a broken ring that stays broken, and bytes that are copied once.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "io/shm/layout.hpp"
#include "io/shm/ring.hpp"

namespace {

using namespace corro::io::shm;

constexpr std::size_t capacity = 4096;
constexpr std::size_t memory_bytes = data_offset + 2 * capacity;

struct alignas(4096) shared_block {
    std::array<std::byte, memory_bytes> bytes{};
};

struct broadcast_block {
    broadcast_words words;
    std::vector<broadcast_word> data = std::vector<broadcast_word>(capacity / sizeof(broadcast_word));
};

/// The input, taken from its front; zeros behind its end.
class script {
 public:
    explicit script(std::span<const std::byte> of) noexcept : left_(of) {}
    [[nodiscard]] bool is_over() const noexcept { return left_.empty(); }
    template <class Number>
    [[nodiscard]] Number number() noexcept {
        Number value{};
        const std::size_t size = std::min(sizeof value, left_.size());
        std::memcpy(&value, left_.data(), size);
        left_ = left_.subspan(size);
        return value;
    }

 private:
    std::span<const std::byte> left_;
};

class conversation {
 public:
    explicit conversation(script steps) : steps_(steps), block_(std::make_unique<shared_block>()) {
        auto* const mine = ::new (block_->bytes.data() + words_to_server_offset) ring_words;
        auto* const theirs = ::new (block_->bytes.data() + words_to_client_offset) ring_words;
        const std::uint64_t begin = steps_.number<std::uint64_t>();
        for (ring_words* words : {mine, theirs}) {
            words->written.store(begin);
            words->read.store(begin);
        }
        const std::span<std::byte> data = std::span(block_->bytes).subspan(data_offset);
        reader_ = ring_reader(*mine, data.first(capacity), begin);
        writer_ = ring_writer(*theirs, data.last(capacity), begin);
        follower_ = broadcast_reader(broadcast_.words, broadcast_.data, begin);
        broadcast_.words.reserved.store(begin);
        broadcast_.words.written.store(begin);
    }

    void run() {
        while (!steps_.is_over()) {
            switch (steps_.number<std::uint8_t>() % 10) {
                case 0: read(); break;
                case 1: write(); break;
                case 2: scribble_anywhere(); break;
                case 3: scribble_words(); break;
                case 4: move_on(); break;
                case 5:
                    reader_.announce_sleep();
                    writer_.announce_sleep();
                    static_cast<void>(reader_.is_at_end());
                    break;
                case 6:
                    static_cast<void>(reader_.must_wake_writer());
                    static_cast<void>(writer_.must_wake_reader());
                    break;
                case 7: writer_.end(); break;
                case 8: follow(); break;
                case 9: scribble_broadcast(); break;
            }
        }
    }

 private:
    void read() {
        const std::size_t size = steps_.number<std::uint16_t>() % (2 * capacity);
        std::vector<std::byte> into(size);
        const bool was_broken = reader_.is_broken();
        const std::uint64_t before = reader_.position();
        const bool had_bytes = reader_.has_bytes();
        const std::size_t got = reader_.read(into);
        CORRO_ASSERT(got <= size && got <= capacity);
        CORRO_ASSERT(reader_.position() == before + got, "the position moves by what was copied");
        CORRO_ASSERT(!was_broken || (got == 0 && !had_bytes && reader_.is_broken()), "a broken ring stays broken");
        CORRO_ASSERT(!had_bytes || got != 0 || size == 0 || reader_.is_broken());
    }
    void write() {
        const std::size_t size = steps_.number<std::uint16_t>() % (2 * capacity);
        const std::vector<std::byte> from(size, std::byte{0x5a});
        const bool was_broken = writer_.is_broken();
        const std::uint64_t before = writer_.position();
        const std::size_t taken = writer_.write(from);
        CORRO_ASSERT(taken <= size && taken <= capacity);
        CORRO_ASSERT(writer_.position() == before + taken);
        CORRO_ASSERT(!was_broken || (taken == 0 && writer_.is_broken()));
    }
    void follow() {
        const std::size_t size = steps_.number<std::uint16_t>() % (2 * capacity);
        std::vector<std::byte> into(size);
        const bool was_overrun = follower_.is_overrun();
        const std::uint64_t before = follower_.position();
        static_cast<void>(follower_.is_at_end());
        const std::size_t got = follower_.read(into);
        CORRO_ASSERT(got <= size && got <= capacity);
        CORRO_ASSERT(follower_.position() == before + got);
        CORRO_ASSERT(!was_overrun || (got == 0 && follower_.is_overrun() && !follower_.has_bytes()));
    }
    /// Plausible progress, any numbers, and other bytes.
    void scribble_broadcast() {
        const auto what = steps_.number<std::uint8_t>();
        const auto value = steps_.number<std::uint64_t>();
        const std::uint64_t near = follower_.position() + value % (2 * capacity) - capacity / 2;
        const std::uint64_t chosen = what % 2 == 0 ? near : value;
        if (what % 8 < 2) broadcast_.words.reserved.store(chosen);
        if (what % 8 == 2 || what % 8 == 3) broadcast_.words.written.store(chosen);
        if (what % 8 == 4) broadcast_.words.is_ended.store(static_cast<std::uint32_t>(value));
        if (what % 8 > 4) broadcast_.data[value % broadcast_.data.size()].store(value);
    }
    void scribble_anywhere() {
        const std::size_t at = steps_.number<std::uint16_t>() % memory_bytes;
        block_->bytes[at] = steps_.number<std::byte>();
    }
    /// Any number where a number is expected.
    void scribble_words() {
        const std::size_t at = (steps_.number<std::uint8_t>() % (2 * sizeof(ring_words) / 8)) * 8;
        const auto value = steps_.number<std::uint64_t>();
        std::memcpy(block_->bytes.data() + at, &value, sizeof value);
    }
    /// Plausible progress of the peer, which alone gets far.
    void move_on() {
        auto& mine = *std::launder(reinterpret_cast<ring_words*>(block_->bytes.data() + words_to_server_offset));
        auto& theirs = *std::launder(reinterpret_cast<ring_words*>(block_->bytes.data() + words_to_client_offset));
        mine.written.store(reader_.position() + steps_.number<std::uint16_t>() % (capacity + 2));
        theirs.read.store(writer_.position() - steps_.number<std::uint16_t>() % (capacity + 2));
    }

    script steps_;
    std::unique_ptr<shared_block> block_;
    ring_reader reader_;
    ring_writer writer_;
    broadcast_block broadcast_;
    broadcast_reader follower_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span{data, size});
    if (const auto read = decode_hello(bytes.first(std::min(size, hello_bytes)))) {
        CORRO_ASSERT(decode_hello(encode(*read)) == read);
        CORRO_ASSERT(read->memory_bytes() > data_offset && read->memory_bytes() <= data_offset + 2 * ring_bytes_max);
    }
    conversation(script(bytes)).run();
    return 0;
}
