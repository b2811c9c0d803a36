// SPDX-License-Identifier: Apache-2.0
// An open file of a simulated disk (sim/disk_view.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "io/file/storage.hpp"
#include "io/result.hpp"
#include "io/task/task.hpp"
#include "sim/disk_view.hpp"

namespace corro::sim {

/// The parts and the marks outlive it.
class disk_file final : public io::stored_file {
 public:
    disk_file(disk_parts& on, io::disk_calls& marks, file_tree::node node, std::shared_ptr<const process_life> life,
              bool may_write) noexcept
        : on_(on), marks_(marks), node_(std::move(node)), life_(std::move(life)), may_write_(may_write) {}
    ~disk_file() override;

    io::task<io::io_result> read_at(std::uint64_t offset, std::span<std::byte> into) override;
    io::task<io::io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) override;
    io::task<std::error_code> sync_data() override;
    io::task<std::error_code> preallocate(std::uint64_t bytes) override;
    io::task<std::error_code> truncate(std::uint64_t bytes) override;
    [[nodiscard]] std::expected<std::uint64_t, std::error_code> size() const override;
    [[nodiscard]] std::error_code try_lock() override;
    [[nodiscard]] bool is_at(const std::string& path) const override;

 private:
    /// What one call of the kernel writes.
    struct write_plan {
        int error = 0;          // after the bytes
        std::size_t bytes = 0;  // that the call reports
        bool is_dropped = false;
    };

    [[nodiscard]] io::io_result read_now(std::uint64_t offset, std::span<std::byte> into) const;
    [[nodiscard]] write_plan plan_write(std::uint64_t offset, std::size_t bytes);
    [[nodiscard]] int preallocate_now(std::uint64_t bytes);
    [[nodiscard]] int truncate_now(std::uint64_t bytes);
    io::task<std::error_code> change_length(disk_call kind, std::uint64_t bytes);

    disk_parts& on_;
    io::disk_calls& marks_;
    file_tree::node node_;
    std::shared_ptr<const process_life> life_;
    bool may_write_;
};

}  // namespace corro::sim
