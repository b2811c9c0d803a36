// SPDX-License-Identifier: Apache-2.0
#include "io/task/allocation.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "base/assert.hpp"

namespace corro::io::detail {
namespace {

/// Threads that recycle frames. Blocks that they keep would be taken for tasks.
std::atomic<unsigned> recycling_threads_count{0};

/// The tasks of a program that lists them. Read by tools/gdb/corro_gdb.py too.
struct frame_list {
    std::mutex guard;
    std::map<void*, listed_frame> frames;  // by address; guarded
    std::uint64_t made_count = 0;          // guarded
};

// Used: a debugger finds it by its name, which an optimiser that takes it apart would change.
[[gnu::used]] std::atomic<frame_list*> tasks_listed{nullptr};

void release_idle_blocks(frame_pool& pool) noexcept {
    for (frame_class& own : pool.classes) {
        own.room = 0;
        while (own.idle != nullptr) {
            frame_block* block = own.idle;
            own.idle = block->next;
            ::operator delete(block);
        }
    }
}

/// Releases this thread's idle blocks when the thread ends, and makes every later free on it bypass the cache.
struct frame_reaper {
    frame_reaper() = default;
    frame_reaper(const frame_reaper&) = delete;
    frame_reaper& operator=(const frame_reaper&) = delete;
    ~frame_reaper() {
        frame_pool& pool = this_thread_frames;
        pool.closed = true;
        recycling_threads_count.fetch_sub(1, std::memory_order_relaxed);
        release_idle_blocks(pool);
    }
    void arm() noexcept {
        this_thread_frames.reaper_armed = true;
        recycling_threads_count.fetch_add(1, std::memory_order_relaxed);
    }
};

}  // namespace

void free_frame_slowly(void* block, std::size_t class_index) noexcept {
    frame_pool& pool = this_thread_frames;
    if (!pool.closed && !pool.reaper_armed && !frames_are_listed()) {
        // The first block freed on this thread: from now on the classes have room.
        thread_local frame_reaper reaper;
        reaper.arm();
        for (std::size_t i = 0; i < frame_class_count; ++i) {
            pool.classes[i].room = static_cast<std::uint32_t>(frame_class_cache_bytes / ((i + 1) * frame_class_bytes));
        }
        frame_class& own = pool.classes[class_index];
        auto* idle = static_cast<frame_block*>(block);
        idle->next = own.idle;
        own.idle = idle;
        --own.room;
        return;
    }
    delete_frame(block);
}

void* new_task_frame(std::size_t bytes) {
    void* const block = ::operator new(bytes);
    frame_list* const list = tasks_listed.load(std::memory_order_acquire);
    if (list == nullptr) [[likely]]
        return block;
    // A task that has not started has no context yet, which is what the zeros say.
    std::memset(block, 0, bytes);
    const std::scoped_lock lock(list->guard);
    list->frames.insert_or_assign(block, listed_frame{block, bytes, ++list->made_count});
    return block;
}

void delete_frame(void* block) noexcept {
    if (frame_list* const list = tasks_listed.load(std::memory_order_acquire); list != nullptr) [[unlikely]] {
        const std::scoped_lock lock(list->guard);
        list->frames.erase(block);
    }
    ::operator delete(block);
}

void list_frames() noexcept {
    frame_pool& pool = this_thread_frames;
    CORRO_ASSERT(
        recycling_threads_count.load(std::memory_order_relaxed) == (pool.reaper_armed && !pool.closed ? 1U : 0U),
        "tasks are listed before other threads make any");
    release_idle_blocks(pool);
    static frame_list list;
    tasks_listed.store(&list, std::memory_order_release);
}

bool frames_are_listed() noexcept {
    return tasks_listed.load(std::memory_order_acquire) != nullptr;
}

std::vector<listed_frame> listed_frames() {
    std::vector<listed_frame> found;
    if (frame_list* const list = tasks_listed.load(std::memory_order_acquire); list != nullptr) {
        const std::scoped_lock lock(list->guard);
        found.reserve(list->frames.size());
        for (const auto& [address, frame] : list->frames) found.push_back(frame);
    }
    return found;
}

}  // namespace corro::io::detail
