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

/// How many blocks threads hand over at once.
constexpr std::uint32_t batch_blocks(std::size_t class_index) noexcept {
    constexpr std::size_t batch_bytes = 16 * 1024;
    return static_cast<std::uint32_t>(batch_bytes / ((class_index + 1) * frame_class_bytes));
}
static_assert(batch_blocks(frame_class_count - 1) > 1);

/// Batches of one class that threads had too many of, for threads that have none: where one thread makes tasks and
/// others end them, blocks return without the general allocator. A place is taken or filled by one exchange.
struct frame_depot {
    static constexpr std::size_t batches_max = 32;
    std::atomic<std::uint32_t> count{0};  ///< about; spares the walk over empty places
    std::atomic<frame_block*> batches[batches_max]{};

    /// @return Whether there was a place.
    bool put(frame_block* batch) noexcept {
        for (std::atomic<frame_block*>& place : batches) {
            frame_block* none = nullptr;
            if (place.load(std::memory_order_relaxed) == nullptr &&
                place.compare_exchange_strong(none, batch, std::memory_order_release, std::memory_order_relaxed)) {
                count.fetch_add(1, std::memory_order_relaxed);
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] bool is_full() const noexcept { return count.load(std::memory_order_relaxed) >= batches_max; }
    /// A batch, or nothing.
    [[nodiscard]] frame_block* take() noexcept {
        if (count.load(std::memory_order_relaxed) == 0) return nullptr;
        for (std::atomic<frame_block*>& place : batches) {
            if (place.load(std::memory_order_relaxed) == nullptr) continue;
            if (frame_block* batch = place.exchange(nullptr, std::memory_order_acquire); batch != nullptr) {
                count.fetch_sub(1, std::memory_order_relaxed);
                return batch;
            }
        }
        return nullptr;
    }
};
constinit frame_depot depots[frame_class_count];

void release_blocks(frame_block* first) noexcept {
    while (first != nullptr) {
        frame_block* const block = first;
        first = block->next;
        ::operator delete(block);
    }
}

void release_idle_blocks(frame_pool& pool) noexcept {
    for (frame_class& own : pool.classes) {
        own.room = 0;
        release_blocks(own.idle);
        own.idle = nullptr;
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

/// From now on the thread's classes have room.
void open_classes(frame_pool& pool) noexcept {
    thread_local frame_reaper reaper;
    reaper.arm();
    for (std::size_t i = 0; i < frame_class_count; ++i) {
        pool.classes[i].room = static_cast<std::uint32_t>(frame_class_cache_bytes / ((i + 1) * frame_class_bytes));
    }
}

void keep(frame_class& own, void* block) noexcept {
    auto* idle = static_cast<frame_block*>(block);
    idle->next = own.idle;
    own.idle = idle;
    --own.room;
}

/// Makes room in a class that is full. @return Whether there is some.
bool hand_over_batch(frame_class& own, std::size_t class_index) noexcept {
    frame_depot& depot = depots[class_index];
    if (depot.is_full()) return false;
    frame_block* const first = own.idle;
    frame_block* last = first;
    for (std::uint32_t i = 1; i < batch_blocks(class_index); ++i) last = last->next;
    frame_block* const rest = last->next;
    last->next = nullptr;
    if (!depot.put(first)) {
        last->next = rest;
        return false;
    }
    own.idle = rest;
    own.room = batch_blocks(class_index);
    return true;
}

/// A block of a batch that another thread has handed over, or nothing. This thread's class has none.
void* take_batch(std::size_t class_index) noexcept {
    frame_pool& pool = this_thread_frames;
    if (pool.closed) return nullptr;
    frame_block* const batch = depots[class_index].take();
    if (batch == nullptr) return nullptr;
    if (!pool.reaper_armed) open_classes(pool);
    frame_class& own = pool.classes[class_index];
    own.idle = batch->next;
    own.room -= batch_blocks(class_index) - 1;
    return batch;
}

}  // namespace

void free_frame_slowly(void* block, std::size_t class_index) noexcept {
    frame_pool& pool = this_thread_frames;
    if (!pool.closed && !frames_are_listed()) {
        frame_class& own = pool.classes[class_index];
        if (!pool.reaper_armed) open_classes(pool);  // the first block that is freed on this thread
        if (own.room != 0 || hand_over_batch(own, class_index)) {
            keep(own, block);
            return;
        }
    }
    delete_frame(block);
}

void* new_task_frame(std::size_t bytes) {
    frame_list* const list = tasks_listed.load(std::memory_order_acquire);
    if (list == nullptr) [[likely]] {
        if (frames_are_recycled && bytes <= frame_class_count * frame_class_bytes) {
            if (void* const used = take_batch((bytes - 1) / frame_class_bytes); used != nullptr) return used;
        }
        return ::operator new(bytes);
    }
    void* const block = ::operator new(bytes);
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
    for (frame_depot& depot : depots) {
        while (frame_block* const batch = depot.take()) release_blocks(batch);
    }
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
