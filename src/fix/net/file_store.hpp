// SPDX-License-Identifier: Apache-2.0
// The numbers of a session and its messages in a file, which survives the end of the process at any byte.
//
// The file is a list of records. What a crash cut off in the middle of a record is dropped at the next start, and with
// it nothing that has left: a connection writes nothing to the peer before `commit` has returned.
//
// Layout (little-endian) of a record:
//
//   offset  size  meaning
//        0     4  CRC-32C of the bytes from offset 4 to the end of the record
//        4     4  size of the message
//        8     1  kind: 1 message sent, or without a message: that one is not to be sent again, 2 number of the next
//                 message sent, 3 number of the next message received, 4 reset, 5 time at which the numbers began
//                 because of a schedule, nanoseconds since 1970
//        9     7  zero
//       16     8  number
//       24        the message
//
// Limits:  keeps options.messages_max messages in memory; what is older is not sent again. When more than half of the
//          file is out of date, a start writes the file again without that.
// Threads: one context. Cost: one write for all records between two commits, and one sync if asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "fix/session/message_store.hpp"
#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"

namespace corro::fix {

/// What has to be stored before anything leaves.
class committer {
 public:
    committer() = default;
    committer(const committer&) = delete;
    committer& operator=(const committer&) = delete;
    virtual ~committer() = default;

    /// Stores what was noted so far. One at a time (asserted).
    /// @error As of the disk; the store then takes nothing more. @cancel Not observed.
    [[nodiscard]] virtual io::task<std::error_code> commit() = 0;
};

/// How a file is kept.
struct file_store_options {
    bool syncs = true;                  ///< a commit survives a power cut, and not only the end of the process
    std::size_t messages_max = 65'536;  ///< that can be sent again
};

/// A session's store in a file.
class file_store final : public message_store, public committer {
 public:
    /// The store, or the error of the disk.
    using opened = std::expected<std::unique_ptr<file_store>, std::error_code>;

    /// Opens the file, or makes it.
    /// @param path  Its folder exists. No other process uses it.
    /// @error As of the disk; resource_unavailable_try_again when the file is in use.
    [[nodiscard]] static io::task<opened> open(io::context& on, std::string path,
                                               file_store_options options = file_store_options()) {
        return open_on(&on, std::move(path), options);
    }

    [[nodiscard]] io::task<std::error_code> commit() override;

    [[nodiscard]] std::uint64_t next_sent() const noexcept override { return state_.next_sent(); }
    [[nodiscard]] std::uint64_t next_received() const noexcept override { return state_.next_received(); }
    [[nodiscard]] bool append(std::uint64_t number, std::string_view message) override;
    [[nodiscard]] bool set_next_sent(std::uint64_t number) override;
    [[nodiscard]] bool set_next_received(std::uint64_t number) override;
    [[nodiscard]] bool forget(std::uint64_t number) override;
    [[nodiscard]] bool reset() override;
    [[nodiscard]] std::int64_t numbers_since() const noexcept override { return state_.numbers_since(); }
    [[nodiscard]] bool set_numbers_since(std::int64_t time) override;
    [[nodiscard]] std::string_view find(std::uint64_t number) override { return state_.find(number); }

    /// Bytes of the file that a start would not write again.
    [[nodiscard]] std::uint64_t outdated_bytes() const noexcept {
        return end_ > needed_bytes() ? end_ - needed_bytes() : 0;
    }

 private:
    enum class record_kind : std::uint8_t {
        message = 1,
        next_sent = 2,
        next_received = 3,
        reset = 4,
        numbers_since = 5
    };

    file_store(std::unique_ptr<io::storage> disk, file_store_options options);

    static io::task<opened> open_on(io::context* on, std::string path, file_store_options options);
    io::task<std::error_code> read_all();
    io::task<std::error_code> write_again(std::string path);
    [[nodiscard]] std::size_t take_record(std::string_view bytes);
    [[nodiscard]] bool note(record_kind kind, std::uint64_t number, std::string_view message);
    [[nodiscard]] std::uint64_t needed_bytes() const noexcept;

    std::unique_ptr<io::storage> disk_;
    std::unique_ptr<io::stored_file> file_;
    file_store_options options_;
    memory_store state_;
    std::string noted_;      ///< records that are not written yet
    std::string writing_;    ///< those of the commit in progress
    std::uint64_t end_ = 0;  ///< of the file's records
    bool is_committing_ = false;
    bool has_failed_ = false;
};

}  // namespace corro::fix
