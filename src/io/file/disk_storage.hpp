// SPDX-License-Identifier: Apache-2.0
// The machine's disk as a storage.
//
// Threads: one context. Cost: as file.hpp.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <vector>

#include "io/file/file.hpp"
#include "io/file/storage.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The machine's disk.
class disk_storage final : public storage {
 public:
    /// @param faults  Breaks calls, in tests; outlives the storage and its files.
    explicit disk_storage(context& on, file_faults* faults = nullptr) noexcept : files_(on, faults) {}

    task<opened> open(std::string path, file_mode mode) override;
    task<std::error_code> rename(std::string from, std::string to) override;
    task<std::error_code> rename_new(std::string from, std::string to) override;
    task<std::error_code> remove(std::string path) override;
    task<std::error_code> sync_directory(std::string path) override;
    [[nodiscard]] std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) override;
    [[nodiscard]] std::error_code make_directory(const std::string& path) override;

    [[nodiscard]] std::uint64_t free_bytes(const std::string& path) override;

 private:
    file_system files_;
};

}  // namespace corro::io
