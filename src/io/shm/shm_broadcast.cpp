// SPDX-License-Identifier: Apache-2.0
#include "io/shm/shm_broadcast.hpp"

#include <utility>

#include "base/assert.hpp"
#include "io/shm/broadcast_ring.hpp"
#include "io/shm/layout.hpp"
#include "io/shm/memory.hpp"

namespace corro::io {

struct shm_broadcast::state {
    state(shm::made_memory made, std::uint64_t begin) noexcept
        : file(std::move(made.file)), memory(std::move(made.memory)) {
        const std::span<std::byte> bytes = memory.bytes();
        auto* const words = reinterpret_cast<shm::broadcast_words*>(bytes.data());
        auto* const data = reinterpret_cast<shm::broadcast_word*>(bytes.data() + shm::broadcast_data_offset);
        const std::size_t count = (bytes.size() - shm::broadcast_data_offset) / sizeof(shm::broadcast_word);
        writer = shm::broadcast_writer(*words, {data, count}, begin);
    }

    shm::owned_file file;
    shm::mapping memory;
    shm::broadcast_writer writer;
};

std::expected<shm_broadcast, std::error_code> shm_broadcast::make(std::size_t bytes, std::uint64_t begin) {
    CORRO_ASSERT(shm::is_ring_size(bytes), "the capacity of a ring must be a power of two within its limits");
    auto made = shm::make_memory(shm::broadcast_data_offset + bytes, shm::sharing::owner_writes);
    if (!made) return std::unexpected(made.error());
    return shm_broadcast(std::make_unique<state>(std::move(*made), begin));
}

shm_broadcast::shm_broadcast(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
shm_broadcast::shm_broadcast(shm_broadcast&&) noexcept = default;
shm_broadcast& shm_broadcast::operator=(shm_broadcast&&) noexcept = default;
shm_broadcast::~shm_broadcast() = default;

void shm_broadcast::write(std::span<const std::byte> from) noexcept {
    state_->writer.write(from);
}
void shm_broadcast::end() noexcept {
    state_->writer.end();
}
std::uint64_t shm_broadcast::position() const noexcept {
    return state_->writer.position();
}
std::size_t shm_broadcast::capacity_bytes() const noexcept {
    return state_->writer.capacity();
}
int shm_broadcast::file() const noexcept {
    return state_->file.get();
}

}  // namespace corro::io
