// SPDX-License-Identifier: Apache-2.0
// Test support: a ring in the memory of this process, and what its peer could write into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/shm/ring.hpp"

namespace corro::io::shm {

/// The words and bytes of one ring. The bytes are an allocation of their own, so that a sanitizer sees what is outside.
struct ring_memory {
    explicit ring_memory(std::size_t capacity, std::uint64_t begin = 0)
        : words(std::make_unique<ring_words>()), data(capacity) {
        words->written.store(begin);
        words->read.store(begin);
    }
    [[nodiscard]] ring_writer writer(std::uint64_t begin = 0) { return {*words, data, begin}; }
    [[nodiscard]] ring_reader reader(std::uint64_t begin = 0) { return {*words, data, begin}; }

    std::unique_ptr<ring_words> words;
    std::vector<std::byte> data;
};

}  // namespace corro::io::shm
