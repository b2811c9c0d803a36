// SPDX-License-Identifier: Apache-2.0
// Saves a state to bytes and loads it from them. One function does both, so that no member is saved and not loaded.
//
// A class with state has `void transfer(archive& a)`, which passes every member to the archive. The archive writes the
// member, or replaces it by what it reads. `count` and `sparse` keep archives short: `count` writes how many elements
// are in use, `sparse` leaves out elements with their initial value.
//
// Layout: blocks of a 4-byte size (from 1 to archive::block_bytes), a 4-byte CRC-32C and as many bytes as the size
// says; a size of 0 ends them. Each checksum continues the one before, so that a missing or exchanged block is noticed
// too. Values have the byte order of the machine that wrote them; a file that holds an archive records the byte order
// in front of it.
// Limits: a value is at most block_bytes long. While loading, no byte is used before its checksum is verified.
//         Checksums notice damage. Against forged bytes the bounds of `count` and `sparse` keep the caller from
//         writing beyond its memory.
// Threads: none of its own.
// Cost: no allocation; one call of the sink or source per block, and one copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/assert.hpp"
#include "base/byte_stream.hpp"

namespace corro::base {

class archive {
 public:
    static constexpr std::size_t block_bytes = 16'384;

    enum class state : std::uint8_t {
        good,
        ended,    ///< by the sink, or by a source that had no more
        damaged,  ///< a checksum is wrong, or `fail` was called: the bytes hold no valid state
    };

    explicit archive(byte_sink& sink) noexcept : sink_(&sink), end_(block_bytes) {}
    explicit archive(byte_source& source) noexcept : source_(&source) {}
    archive(const archive&) = delete;
    archive& operator=(const archive&) = delete;

    [[nodiscard]] bool loads() const noexcept { return source_ != nullptr; }
    [[nodiscard]] state status() const noexcept { return status_; }
    [[nodiscard]] bool failed() const noexcept { return status_ != state::good; }
    /// The caller found the loaded values invalid. From now on every value that is loaded is zero.
    void fail() noexcept {
        if (status_ == state::good) status_ = state::damaged;
        if (loads()) at_ = end_ = 0;
    }
    /// Calls `fail` unless `holds`.
    void require(bool holds) noexcept {
        if (!holds) fail();
    }

    /// Writes a value, or replaces it by the next one in the archive, or by zero when there is none. The type has no
    /// padding, and every bit pattern is one of its values.
    template <class Value>
        requires std::has_unique_object_representations_v<Value> && (!std::is_pointer_v<Value>)
    void value(Value& v) noexcept {
        static_assert(sizeof(Value) <= block_bytes);
        static_assert(std::is_trivially_copyable_v<Value>);
        if (end_ - at_ >= sizeof(Value)) [[likely]] {
            if (loads()) {
                std::memcpy(static_cast<void*>(&v), block_.data() + at_, sizeof(Value));
            } else {
                std::memcpy(block_.data() + at_, &v, sizeof(Value));
            }
            at_ += sizeof(Value);
            return;
        }
        across_blocks({reinterpret_cast<std::byte*>(&v), sizeof(Value)});
    }
    void value(bool& v) noexcept {
        auto byte = static_cast<std::uint8_t>(v);
        value(byte);
        v = byte != 0;
    }
    template <class... Values>
        requires(sizeof...(Values) > 1)
    void value(Values&... values) noexcept {
        (value(values), ...);
    }

    /// The number of elements: `now` while saving, the saved number while loading. More than `max` is a failure; then
    /// 0.
    [[nodiscard]] std::uint32_t count(std::size_t now, std::size_t max) noexcept {
        auto number = static_cast<std::uint32_t>(now);
        value(number);
        if (number <= max) return number;
        fail();
        return 0;
    }

    /// Calls `item(i)` for each of `size` elements that does not have its initial value. While saving, `is_default(i)`
    /// finds them. While loading, all elements must have their initial values before the call.
    template <class IsDefault, class Item>
    void sparse(std::size_t size, IsDefault&& is_default, Item&& item) noexcept {
        std::size_t at = 0;
        for (;;) {
            std::size_t begin = at;
            std::size_t end = at;
            if (!loads()) {
                while (begin < size && is_default(begin)) ++begin;
                end = begin;
                while (end < size && !is_default(end)) ++end;
            }
            begin = at + count(begin - at, size - at);
            end = begin + count(end - begin, size - begin);
            if (begin == end) return;
            for (at = begin; at < end; ++at) item(at);
        }
    }

    /// Writes the last block; while loading, checks that nothing follows. True when all went well.
    [[nodiscard]] bool finish() noexcept;

 private:
    void across_blocks(std::span<std::byte> bytes) noexcept;
    void write_block() noexcept;
    void read_block() noexcept;

    byte_sink* sink_ = nullptr;
    byte_source* source_ = nullptr;
    std::size_t at_ = 0;
    std::size_t end_ = 0;  ///< of what may be written or has been read
    std::uint32_t crc_ = 0;
    state status_ = state::good;
    std::array<std::byte, block_bytes> block_;
};

}  // namespace corro::base
