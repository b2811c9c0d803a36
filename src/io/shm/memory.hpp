// SPDX-License-Identifier: Apache-2.0
// Anonymous shared memory: its file, its seals, its mapping.
//
// The memory has no name: only who is given its file can map it. Its size is sealed when it is made, so that no holder
// of the file can shrink it under another's mapping, where an access would end the process.
//
// Threads: a mapping is used by one context. Cost: a few system calls each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <system_error>
#include <utility>

namespace corro::io::shm {

/// Owns a file of the operating system, or none. Closes it on destruction.
class owned_file {
 public:
    owned_file() noexcept = default;
    explicit owned_file(int file) noexcept : file_(file) {}
    owned_file(owned_file&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    owned_file& operator=(owned_file&& other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~owned_file();

    [[nodiscard]] int get() const noexcept { return file_; }
    [[nodiscard]] int release() noexcept { return std::exchange(file_, -1); }

 private:
    int file_ = -1;
};

/// Owns mapped memory, or none. Unmaps it on destruction.
class mapping {
 public:
    mapping() noexcept = default;
    explicit mapping(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
    mapping(mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    mapping& operator=(mapping&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~mapping();

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
    std::span<std::byte> bytes_;
};

/// What the other processes may do with the memory.
enum class sharing : std::uint8_t { both_write, owner_writes };

/// Memory of `size` zero bytes, mapped, and the file to pass on. @error the system's.
struct made_memory {
    made_memory(owned_file f, mapping m) noexcept : file(std::move(f)), memory(std::move(m)) {}
    owned_file file;
    mapping memory;
};
[[nodiscard]] std::expected<made_memory, std::error_code> make_memory(std::size_t size, sharing how) noexcept;

/// Maps memory that another process has made.
/// @error protocol_error: it is no memory, not of `size` bytes, or its size is not sealed; else the system's.
[[nodiscard]] std::expected<mapping, std::error_code> map_memory(const owned_file& file, std::size_t size,
                                                                 sharing how) noexcept;

}  // namespace corro::io::shm
