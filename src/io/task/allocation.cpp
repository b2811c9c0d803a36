#include "io/task/allocation.hpp"

namespace corro::io::detail {
namespace {

/// Releases this thread's idle blocks when the thread ends, and makes every later free on it bypass the cache.
struct frame_reaper {
    frame_reaper() = default;
    frame_reaper(const frame_reaper&) = delete;
    frame_reaper& operator=(const frame_reaper&) = delete;
    ~frame_reaper() {
        frame_pool& pool = this_thread_frames;
        pool.closed = true;
        for (frame_class& own : pool.classes) {
            own.room = 0;
            while (own.idle != nullptr) {
                frame_block* block = own.idle;
                own.idle = block->next;
                ::operator delete(block);
            }
        }
    }
    void arm() noexcept { this_thread_frames.reaper_armed = true; }
};

}  // namespace

void free_frame_slowly(void* block, std::size_t class_index) noexcept {
    frame_pool& pool = this_thread_frames;
    if (!pool.closed && !pool.reaper_armed) {
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
    ::operator delete(block);
}

}  // namespace corro::io::detail
