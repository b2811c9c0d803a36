// SPDX-License-Identifier: Apache-2.0
// Memory for coroutine frames: blocks in classes of 64 bytes, recycled per thread.
//
// Coroutine frames are short-lived and have few sizes. Each thread keeps its freed blocks in one list per size class,
// so that steady state never reaches the general allocator.
//
// Limits:  frames up to 2,048 bytes are recycled; each class keeps at most 1 MiB of idle blocks per thread. What a
//          thread has beyond that, others take, in batches of 16 KiB; 32 batches of a class wait for them. The rest
//          goes to the general allocator.
// Threads: a block may be freed on another thread than the one that allocated it. Blocks that a thread has cached are
//          released when it ends.
// Cost:    two loads and two stores; no atomics, no locks. A program that lists its tasks (`context::list_tasks`) takes
//          every block from the general allocator and notes each frame under a lock; others pay nothing for that. Under
//          the address sanitizer every frame comes from the general allocator, so that a use after free is detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORRO_IO_FRAMES_UNCACHED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CORRO_IO_FRAMES_UNCACHED 1
#endif

namespace corro::io {

/// Whether this build caches freed frames.
#if defined(CORRO_IO_FRAMES_UNCACHED)
inline constexpr bool frames_are_recycled = false;
#else
inline constexpr bool frames_are_recycled = true;
#endif

namespace detail {

inline constexpr std::size_t frame_class_bytes = 64;
inline constexpr std::size_t frame_class_count = 32;
inline constexpr std::size_t frame_class_cache_bytes = std::size_t{1} << 20;

struct frame_block {
    frame_block* next;
};

/// One size class: its idle blocks, and the number of further ones that it may keep.
struct frame_class {
    frame_block* idle = nullptr;
    std::uint32_t room = 0;
};

struct frame_pool {
    frame_class classes[frame_class_count];
    bool reaper_armed = false;
    bool closed = false;
};

#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
inline constinit thread_local frame_pool this_thread_frames{};

/// Frees a block that the fast path could not keep: the class is full, or was never used on this thread.
[[gnu::cold, gnu::noinline]] void free_frame_slowly(void* block, std::size_t class_index) noexcept;

/// What a block is for: only the frames of tasks are listed.
enum class frame_use : bool { other, task };

/// A block from the general allocator for a task's frame, which is noted if tasks are listed.
[[nodiscard, gnu::returns_nonnull]] void* new_task_frame(std::size_t bytes);

/// A block from the general allocator. One argument only: with two, GCC's code for the fast path has more instructions.
template <frame_use Use>
[[nodiscard]] inline void* new_frame(std::size_t bytes) {
    if constexpr (Use == frame_use::task) return new_task_frame(bytes);
    return ::operator new(bytes);
}

/// Gives one back to it.
void delete_frame(void* block) noexcept;

template <frame_use Use = frame_use::other>
inline void* allocate_frame(std::size_t bytes) {
    const std::size_t class_index = (bytes - 1) / frame_class_bytes;
    if (!frames_are_recycled || class_index >= frame_class_count) return new_frame<Use>(bytes);
    frame_class& own = this_thread_frames.classes[class_index];
    if (frame_block* block = own.idle; block != nullptr) [[likely]] {
        own.idle = block->next;
        ++own.room;
        return block;
    }
    return new_frame<Use>((class_index + 1) * frame_class_bytes);
}

inline void free_frame(void* block, std::size_t bytes) noexcept {
    const std::size_t class_index = (bytes - 1) / frame_class_bytes;
    if (!frames_are_recycled || class_index >= frame_class_count) {
        delete_frame(block);
        return;
    }
    frame_class& own = this_thread_frames.classes[class_index];
    if (own.room != 0) [[likely]] {
        auto* idle = static_cast<frame_block*>(block);
        idle->next = own.idle;
        own.idle = idle;
        --own.room;
        return;
    }
    free_frame_slowly(block, class_index);
}

}  // namespace detail

/// The base of objects that are allocated like a frame: coroutine promises and the small objects of the backends.
struct frame_allocated {
    static void* operator new(std::size_t bytes) { return detail::allocate_frame(bytes); }
    static void operator delete(void* block, std::size_t bytes) noexcept { detail::free_frame(block, bytes); }
};

namespace detail {

/// The same for the promises of tasks.
struct task_allocated {
    static void* operator new(std::size_t bytes) { return allocate_frame<frame_use::task>(bytes); }
    static void operator delete(void* block, std::size_t bytes) noexcept { free_frame(block, bytes); }
};

/// One frame of a task: where it is, and the bytes that it has at most.
struct listed_frame {
    /// The coroutine's address.
    void* address;
    /// Of the block.
    std::size_t bytes;
    /// Counts the frames, in the order in which they were made.
    std::uint64_t number;
};

/// From now on the frames of tasks are noted, zeroed when they are made. @pre No other thread makes tasks (asserted as
/// far as possible).
void list_frames() noexcept;
/// Whether they are.
[[nodiscard]] bool frames_are_listed() noexcept;
/// The frames that there are, by address. Any thread; they are alive while their threads stand still.
[[nodiscard]] std::vector<listed_frame> listed_frames();

}  // namespace detail

}  // namespace corro::io
