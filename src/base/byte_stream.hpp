// SPDX-License-Identifier: Apache-2.0
// A sink and a source of bytes, for code that works the same with a file, a socket and memory.
//
// Threads: none of their own.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace corro::base {

struct byte_sink {
    /// Takes all of `bytes`. False when it cannot; the caller then stops writing.
    [[nodiscard]] virtual bool write(std::span<const std::byte> bytes) noexcept = 0;

 protected:
    ~byte_sink() = default;
};

struct byte_source {
    /// Fills all of `into`. False when fewer bytes are left or they cannot be read; the caller then stops reading.
    [[nodiscard]] virtual bool read(std::span<std::byte> into) noexcept = 0;

 protected:
    ~byte_source() = default;
};

/// Appends to a vector, which must outlive it. Running out of memory ends the process.
class memory_sink final : public byte_sink {
 public:
    explicit memory_sink(std::vector<std::byte>& bytes) noexcept : bytes_(&bytes) {}
    [[nodiscard]] bool write(std::span<const std::byte> bytes) noexcept override {
        bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
        return true;
    }

 private:
    std::vector<std::byte>* bytes_;
};

/// Reads bytes that must outlive it.
class memory_source final : public byte_source {
 public:
    explicit memory_source(std::span<const std::byte> bytes) noexcept : left_(bytes) {}
    [[nodiscard]] bool read(std::span<std::byte> into) noexcept override {
        if (into.size() > left_.size()) return false;
        if (!into.empty()) std::memcpy(into.data(), left_.data(), into.size());
        left_ = left_.subspan(into.size());
        return true;
    }
    [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }

 private:
    std::span<const std::byte> left_;
};

}  // namespace corro::base
