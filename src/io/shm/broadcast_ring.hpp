// SPDX-License-Identifier: Apache-2.0
// A ring of bytes that one process writes for any number of readers, who cannot write to it and are not waited for.
//
// The writer overwrites the oldest bytes. It first reserves, which tells readers what may be overwritten from then on,
// and then writes. A reader copies and then looks at the reservation: if it has come too far, what was copied may be a
// mixture of old and new, and is given up. So a slow reader slows nobody, and knows that it was overrun.
//
// The bytes are written and read in words of 8, each at once, so that a reader that is overrun meanwhile has no race.
//
// Layout: docs/spec/shared_memory.md. Positions count bytes and wrap at 2^64.
// Threads: one writer; any number of readers, of any processes.
// Cost:    no system call, no allocation. A write: one copy and two stores, whatever the number of readers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace corro::io::shm {

/// The shared words: the writer stores, the readers load.
struct broadcast_words {
    alignas(128) std::atomic<std::uint64_t> reserved{0};  // bytes before this, less the capacity, may be overwritten
    alignas(128) std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint32_t> is_ended{0};
};

/// Eight bytes of the ring.
using broadcast_word = std::atomic<std::uint64_t>;

inline constexpr std::size_t broadcast_data_offset = 4096;
static_assert(sizeof(broadcast_words) <= broadcast_data_offset && sizeof(broadcast_word) == 8);

/// The writing side.
class broadcast_writer {
 public:
    broadcast_writer() noexcept = default;
    /// @param data   A power of two of words. @param begin  The position of the first byte.
    broadcast_writer(broadcast_words& words, std::span<broadcast_word> data, std::uint64_t begin) noexcept
        : words_(&words), data_(data), written_(begin) {
        words_->reserved.store(begin, std::memory_order_relaxed);
        words_->written.store(begin, std::memory_order_seq_cst);
    }

    /// Writes all of `from`. Readers that are too far behind are overrun. More than the capacity overruns all of them.
    void write(std::span<const std::byte> from) noexcept {
        while (!from.empty()) {
            const std::span<const std::byte> part = from.first(std::min(from.size(), capacity() / 4));
            write_part(part);
            from = from.subspan(part.size());
        }
    }
    void end() noexcept { words_->is_ended.store(1, std::memory_order_seq_cst); }

    [[nodiscard]] std::uint64_t position() const noexcept { return written_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return data_.size() * sizeof(broadcast_word); }

 private:
    void write_part(std::span<const std::byte> from) noexcept {
        words_->reserved.store(written_ + from.size(), std::memory_order_relaxed);
        // Each store releases: who reads one of these words sees the reservation too.
        std::uint64_t at = written_;
        for (std::size_t done = 0; done < from.size();) {
            broadcast_word& word = data_[static_cast<std::size_t>(at / 8) & (data_.size() - 1)];
            const std::size_t skipped = static_cast<std::size_t>(at % 8);
            const std::size_t size = std::min<std::size_t>(8 - skipped, from.size() - done);
            std::uint64_t value = size == 8 ? 0 : word.load(std::memory_order_relaxed);
            std::memcpy(reinterpret_cast<std::byte*>(&value) + skipped, from.data() + done, size);
            word.store(value, std::memory_order_release);
            done += size;
            at += size;
        }
        written_ = at;
        words_->written.store(written_, std::memory_order_seq_cst);
    }

    broadcast_words* words_ = nullptr;
    std::span<broadcast_word> data_;
    std::uint64_t written_ = 0;
};

/// A reading side.
class broadcast_reader {
 public:
    broadcast_reader() noexcept = default;
    /// @param data  A power of two of words. @param from  The first byte to read; may lie ahead of what is written.
    broadcast_reader(const broadcast_words& words, std::span<const broadcast_word> data, std::uint64_t from) noexcept
        : words_(&words), data_(data), read_(from) {}

    /// Copies the next bytes, as many as there are. @return their count; 0 also when overrun.
    [[nodiscard]] std::size_t read(std::span<std::byte> into) noexcept {
        const std::uint64_t ahead = bytes_ahead();
        if (ahead > capacity()) is_overrun_ = true;
        if (is_overrun_) return 0;
        const std::size_t size = std::min<std::size_t>(into.size(), static_cast<std::size_t>(ahead));
        std::uint64_t at = read_;
        for (std::size_t done = 0; done < size;) {
            const broadcast_word& word = data_[static_cast<std::size_t>(at / 8) & (data_.size() - 1)];
            // Each load acquires: the look at the reservation comes after it.
            const std::uint64_t value = word.load(std::memory_order_acquire);
            const std::size_t skipped = static_cast<std::size_t>(at % 8);
            const std::size_t part = std::min<std::size_t>(8 - skipped, size - done);
            std::memcpy(into.data() + done, reinterpret_cast<const std::byte*>(&value) + skipped, part);
            done += part;
            at += part;
        }
        const std::uint64_t reserved = words_->reserved.load(std::memory_order_relaxed);
        if (static_cast<std::int64_t>(reserved - read_) > static_cast<std::int64_t>(capacity())) {
            is_overrun_ = true;
            return 0;
        }
        read_ = at;
        return size;
    }
    [[nodiscard]] bool has_bytes() const noexcept { return !is_overrun_ && bytes_ahead() != 0; }
    /// Whether the writer has ended and everything was read.
    [[nodiscard]] bool is_at_end() const noexcept {
        return words_->is_ended.load(std::memory_order_seq_cst) != 0 && bytes_ahead() == 0;
    }
    /// Whether bytes that were not read yet were overwritten. Stays true.
    [[nodiscard]] bool is_overrun() const noexcept { return is_overrun_; }
    [[nodiscard]] std::uint64_t position() const noexcept { return read_; }

 private:
    [[nodiscard]] std::size_t capacity() const noexcept { return data_.size() * sizeof(broadcast_word); }
    [[nodiscard]] std::uint64_t bytes_ahead() const noexcept {
        const std::uint64_t ahead = words_->written.load(std::memory_order_seq_cst) - read_;
        return static_cast<std::int64_t>(ahead) > 0 ? ahead : 0;
    }

    const broadcast_words* words_ = nullptr;
    std::span<const broadcast_word> data_;
    std::uint64_t read_ = 0;
    bool is_overrun_ = false;
};

/// How a reader comes from its own ring to the broadcast ring: in the memory of its stream, behind the words of the
/// rings. The server stores `from`, then `at`.
struct handover_words {
    alignas(128) std::atomic<std::uint64_t> at{0};  // 1 + the position in the ring to the client; 0: not yet
    std::atomic<std::uint64_t> from{0};             // the position in the broadcast ring
};

}  // namespace corro::io::shm
