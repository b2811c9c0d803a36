// Memory for coroutine frames: blocks in classes of 64 bytes, recycled per thread.
//
// Coroutine frames are short-lived and have few sizes. Each thread keeps its freed blocks in one list per size class,
// so that steady state never reaches the general allocator.
//
// Limits:  frames up to 2,048 bytes are recycled; each class keeps at most 1 MiB of idle blocks per thread. The rest
//          goes to the general allocator.
// Threads: a block may be freed on another thread than the one that allocated it; it then recycles there. Blocks that
//          a thread has cached are released when it ends.
// Cost:    two loads and two stores; no atomics, no locks. Under the address sanitizer every frame comes from the
//          general allocator, so that a use after free is detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

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

inline void* allocate_frame(std::size_t bytes) {
    const std::size_t class_index = (bytes - 1) / frame_class_bytes;
    if (!frames_are_recycled || class_index >= frame_class_count) return ::operator new(bytes);
    frame_class& own = this_thread_frames.classes[class_index];
    if (frame_block* block = own.idle; block != nullptr) [[likely]] {
        own.idle = block->next;
        ++own.room;
        return block;
    }
    return ::operator new((class_index + 1) * frame_class_bytes);
}

inline void free_frame(void* block, std::size_t bytes) noexcept {
    const std::size_t class_index = (bytes - 1) / frame_class_bytes;
    if (!frames_are_recycled || class_index >= frame_class_count) {
        ::operator delete(block);
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

}  // namespace corro::io
