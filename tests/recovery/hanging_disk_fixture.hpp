// SPDX-License-Identifier: Apache-2.0
// Test support: a disk of a forked process. The test switches its hanging on and off.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "io/file/detail/file_operation.hpp"

namespace corro::testing {

/// What a hanging disk blocks.
enum class hang_kind : std::uint8_t {
    thread,  ///< the thread of the journal's context, with all its tasks
    task,    ///< the journal's task alone, as if the backend or the pool waits for the disk
};

/// Hangs at every sync of a journal while it is on. Made before the fork; the parent switches it.
class hanging_disk final : public io::file_faults {
 public:
    explicit hanging_disk(hang_kind kind) : kind_(kind) {
        void* const shared =
            ::mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) throw std::bad_alloc();
        on_ = new (shared) std::atomic<bool>(false);
    }
    ~hanging_disk() override { ::munmap(on_, sizeof(std::atomic<bool>)); }

    void hang() noexcept { *on_ = true; }
    void answer() noexcept { *on_ = false; }

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != io::file_call::sync_data || !*on_) return io::file_fault();
        if (kind_ == hang_kind::task) return io::file_fault::hanging();
        while (*on_) ::usleep(1'000);
        return io::file_fault();
    }

 private:
    hang_kind kind_;
    std::atomic<bool>* on_;
};

}  // namespace corro::testing
