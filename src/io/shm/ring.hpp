// SPDX-License-Identifier: Apache-2.0
// A ring of bytes in memory that two processes share: one writes, the other reads.
//
// Neither side trusts the other. Each keeps its own position to itself and only publishes it. What it reads from the
// shared words is read once, checked, and then used from its own memory: a position of the peer is either possible
// (not further ahead than the capacity) or the ring is broken for ever. Bytes are copied out before anyone looks at
// them. So a peer that writes rubbish harms its own conversation only.
//
// A side that has nothing to do may sleep. It sets its word, looks once more, and sleeps; the other side looks at the
// word after everything that it publishes, and rings a bell if it is set. Both publish before they look, in the one
// order of sequentially consistent operations, so one of the two sees the other.
//
// Layout: docs/spec/shared_memory.md. Positions count bytes and wrap at 2^64.
// Threads: one writer and one reader, of any processes.
// Cost:    no system call, no allocation. A write: one copy, one ordered store, one load.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace corro::io::shm {

/// The shared words of one ring. Each line is written by one side only, except a word that both clear.
struct ring_words {
    // written, is_ended: the writer stores, the reader loads.
    alignas(128) std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint32_t> is_ended{0};  // no more bytes follow
    // read: the reader stores, the writer loads.
    alignas(128) std::atomic<std::uint64_t> read{0};
    // 0 -> 1: the reader, before it sleeps. 1 -> 0: the writer, which then owes a bell; or the reader, awake again.
    alignas(128) std::atomic<std::uint32_t> reader_sleeps{0};
    // 0 -> 1: the writer, before it sleeps for room. 1 -> 0: the reader, which then owes a bell; or the writer.
    alignas(128) std::atomic<std::uint32_t> writer_sleeps{0};
};

static_assert(sizeof(ring_words) == 512 && alignof(ring_words) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "a lock inside the atomic would not be shared");

/// Whether a word was set by a side that sleeps; clears it. The caller then rings the bell.
[[nodiscard]] inline bool take_sleep(std::atomic<std::uint32_t>& word) noexcept {
    return word.load(std::memory_order_seq_cst) != 0 && word.exchange(0, std::memory_order_seq_cst) != 0;
}

/// The writing side.
class ring_writer {
 public:
    ring_writer() noexcept = default;
    /// @param data   A power of two of bytes, at least 64 (the caller checks).
    /// @param begin  The position of the first byte; both sides agree on it.
    ring_writer(ring_words& words, std::span<std::byte> data, std::uint64_t begin = 0) noexcept
        : words_(&words), data_(data), written_(begin), seen_read_(begin) {}

    /// Copies as much of `from` as fits, and publishes it. @return the count of bytes; 0 also when broken.
    [[nodiscard]] std::size_t write(std::span<const std::byte> from) noexcept {
        if (from.size() > known_room()) look();
        const std::size_t size = std::min(from.size(), known_room());
        if (size == 0) return 0;
        const std::size_t at = static_cast<std::size_t>(written_) & (data_.size() - 1);
        const std::size_t first = std::min(size, data_.size() - at);
        std::memcpy(data_.data() + at, from.data(), first);
        std::memcpy(data_.data(), from.data() + first, size - first);
        written_ += size;
        words_->written.store(written_, std::memory_order_seq_cst);
        return size;
    }
    /// Whether at least one byte fits now.
    [[nodiscard]] bool has_room() noexcept {
        if (known_room() == 0) look();
        return known_room() != 0;
    }
    /// Tells the reader that no more bytes follow.
    void end() noexcept { words_->is_ended.store(1, std::memory_order_seq_cst); }

    /// After `write` and `end`: whether the reader sleeps, so that the caller owes it a bell.
    [[nodiscard]] bool must_wake_reader() noexcept { return take_sleep(words_->reader_sleeps); }
    /// Before a sleep for room; after it `has_room` must be asked once more.
    void announce_sleep() noexcept { words_->writer_sleeps.store(1, std::memory_order_seq_cst); }
    void withdraw_sleep() noexcept { words_->writer_sleeps.store(0, std::memory_order_relaxed); }

    /// Whether the peer has published an impossible position. Stays true.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    [[nodiscard]] std::uint64_t position() const noexcept { return written_; }

 private:
    [[nodiscard]] std::size_t known_room() const noexcept {
        return is_broken_ ? 0 : data_.size() - static_cast<std::size_t>(written_ - seen_read_);
    }
    void look() noexcept {
        const std::uint64_t read = words_->read.load(std::memory_order_seq_cst);
        // The reader can be no further than the writer, and no further back than before.
        if (written_ - read > written_ - seen_read_) {
            is_broken_ = true;
        } else {
            seen_read_ = read;
        }
    }

    ring_words* words_ = nullptr;
    std::span<std::byte> data_;
    std::uint64_t written_ = 0;
    std::uint64_t seen_read_ = 0;  ///< at most `data_.size()` before written_
    bool is_broken_ = false;
};

/// The reading side.
class ring_reader {
 public:
    ring_reader() noexcept = default;
    /// As the writer's.
    ring_reader(ring_words& words, std::span<const std::byte> data, std::uint64_t begin = 0) noexcept
        : words_(&words), data_(data), read_(begin), seen_written_(begin) {}

    /// Copies the next bytes into `into`, as many as there are. @return their count; 0 also when broken.
    [[nodiscard]] std::size_t read(std::span<std::byte> into) noexcept {
        if (seen_written_ - read_ < into.size()) look();
        const std::size_t size = std::min(into.size(), known_bytes());
        if (size == 0) return 0;
        const std::size_t at = static_cast<std::size_t>(read_) & (data_.size() - 1);
        const std::size_t first = std::min(size, data_.size() - at);
        std::memcpy(into.data(), data_.data() + at, first);
        std::memcpy(into.data() + first, data_.data(), size - first);
        read_ += size;
        words_->read.store(read_, std::memory_order_seq_cst);
        return size;
    }
    /// Whether a read would return at least one byte now.
    [[nodiscard]] bool has_bytes() noexcept {
        if (seen_written_ == read_) look();
        return known_bytes() != 0;
    }
    /// Whether the writer has ended the ring and everything was read.
    [[nodiscard]] bool is_at_end() noexcept {
        // The mark first: bytes that were published before it are then seen too.
        return words_->is_ended.load(std::memory_order_seq_cst) != 0 && !has_bytes();
    }

    /// After `read`: whether the writer sleeps for room, so that the caller owes it a bell.
    [[nodiscard]] bool must_wake_writer() noexcept { return take_sleep(words_->writer_sleeps); }
    /// Before a sleep; after it `has_bytes` and `is_at_end` must be asked once more.
    void announce_sleep() noexcept { words_->reader_sleeps.store(1, std::memory_order_seq_cst); }
    void withdraw_sleep() noexcept { words_->reader_sleeps.store(0, std::memory_order_relaxed); }

    /// As the writer's.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    [[nodiscard]] std::uint64_t position() const noexcept { return read_; }

 private:
    [[nodiscard]] std::size_t known_bytes() const noexcept {
        return is_broken_ ? 0 : static_cast<std::size_t>(seen_written_ - read_);
    }
    void look() noexcept {
        const std::uint64_t written = words_->written.load(std::memory_order_seq_cst);
        // The writer can be no further than the capacity ahead, and no further back than before.
        if (written - read_ > data_.size() || written - read_ < seen_written_ - read_) {
            is_broken_ = true;
        } else {
            seen_written_ = written;
        }
    }

    ring_words* words_ = nullptr;
    std::span<const std::byte> data_;
    std::uint64_t read_ = 0;
    std::uint64_t seen_written_ = 0;  ///< at most `data_.size()` after read_
    bool is_broken_ = false;
};

}  // namespace corro::io::shm
