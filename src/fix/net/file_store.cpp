// SPDX-License-Identifier: Apache-2.0
#include "fix/net/file_store.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "fix/limits.hpp"

namespace corro::fix {
namespace {

constexpr std::size_t header_bytes = 24;
constexpr std::size_t checked_from = 4;
/// A file that is shorter is left as it is.
constexpr std::uint64_t bytes_before_writing_again = 1024U * 1024;

std::span<const std::byte> as_bytes(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The folder of a path; "." if it names none.
std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

void append_record(std::string* to, std::uint8_t kind, std::uint64_t number, std::string_view message) {
    const std::size_t begin = to->size();
    to->resize(begin + header_bytes);
    to->append(message);
    auto* const record = reinterpret_cast<std::byte*>(to->data() + begin);
    base::store_le<std::uint32_t>(record + 4, static_cast<std::uint32_t>(message.size()));
    record[8] = std::byte{kind};
    base::store_le<std::uint64_t>(record + 16, number);
    const std::span<const std::byte> whole(record, header_bytes + message.size());
    base::store_le<std::uint32_t>(record, base::crc32c(whole.subspan(checked_from)));
}

}  // namespace

file_store::file_store(std::unique_ptr<io::storage> disk, file_store_options options)
    : disk_(std::move(disk)), options_(options), state_(options.messages_max) {}

io::task<file_store::opened> file_store::open_on(io::context* on, std::string path, file_store_options options) {
    std::unique_ptr<file_store> store(new file_store(on->runs_on().make_storage(*on, nullptr), options));
    auto file = co_await store->disk_->open(path, io::file_mode::create);
    if (!file) co_return std::unexpected(file.error());
    store->file_ = std::move(*file);
    if (const std::error_code taken = store->file_->try_lock()) co_return std::unexpected(taken);
    // The name of a new file has to outlive a power cut as well.
    std::error_code failed;
    if (options.syncs) failed = co_await store->disk_->sync_directory(folder_of(path));
    if (!failed) failed = co_await store->read_all();
    if (!failed && store->end_ > bytes_before_writing_again && store->outdated_bytes() > store->end_ / 2) {
        failed = co_await store->write_again(path);
    }
    if (failed) co_return std::unexpected(failed);
    co_return store;
}

// The state is that of the records up to the first one that is not whole, and what stands behind is cut off: a later
// record must not seem to follow it.
io::task<std::error_code> file_store::read_all() {
    const auto size = file_->size();
    if (!size) co_return size.error();
    std::string bytes(static_cast<std::size_t>(*size), '\0');
    if (!bytes.empty()) {
        const io::io_result read = co_await file_->read_at(0, std::as_writable_bytes(std::span(bytes)));
        if (read.error) co_return read.error;
    }
    std::string_view left(bytes);
    while (const std::size_t taken = take_record(left)) left.remove_prefix(taken);
    end_ = bytes.size() - left.size();
    std::error_code failed;
    if (!left.empty()) failed = co_await file_->truncate(end_);
    if (!failed && !left.empty() && options_.syncs) failed = co_await file_->sync_data();
    co_return failed;
}

// Takes the first record over into the state. Returns its size; 0 if there is none that is whole.
std::size_t file_store::take_record(std::string_view bytes) {
    if (bytes.size() < header_bytes) return 0;
    const auto* const record = reinterpret_cast<const std::byte*>(bytes.data());
    const std::size_t message_bytes = base::load_le<std::uint32_t>(record + 4);
    if (message_bytes > message_bytes_max || bytes.size() - header_bytes < message_bytes) return 0;
    const std::size_t size = header_bytes + message_bytes;
    if (base::load_le<std::uint32_t>(record) !=
        base::crc32c(as_bytes(bytes.substr(checked_from, size - checked_from)))) {
        return 0;
    }
    const auto number = base::load_le<std::uint64_t>(record + 16);
    switch (static_cast<record_kind>(record[8])) {
        case record_kind::message:
            if (message_bytes == 0) {
                static_cast<void>(state_.forget(number));
            } else {
                static_cast<void>(state_.append(number, bytes.substr(header_bytes, message_bytes)));
            }
            break;
        case record_kind::next_sent: static_cast<void>(state_.set_next_sent(number)); break;
        case record_kind::next_received: static_cast<void>(state_.set_next_received(number)); break;
        case record_kind::reset: static_cast<void>(state_.reset()); break;
        case record_kind::numbers_since:
            static_cast<void>(state_.set_numbers_since(static_cast<std::int64_t>(number)));
            break;
        default: return 0;
    }
    return size;
}

// Under another name first, so that the file with this name is always whole.
io::task<std::error_code> file_store::write_again(std::string path) {
    std::string bytes;
    for (const auto& [number, message] : state_.kept()) {
        append_record(&bytes, static_cast<std::uint8_t>(record_kind::message), number, message);
    }
    append_record(&bytes, static_cast<std::uint8_t>(record_kind::next_sent), state_.next_sent(), {});
    append_record(&bytes, static_cast<std::uint8_t>(record_kind::next_received), state_.next_received(), {});
    append_record(&bytes, static_cast<std::uint8_t>(record_kind::numbers_since),
                  static_cast<std::uint64_t>(state_.numbers_since()), {});
    const std::string unfinished = path + ".unfinished";
    auto file = co_await disk_->open(unfinished, io::file_mode::overwrite);
    if (!file) co_return file.error();
    std::error_code failed = (*file)->try_lock();
    if (failed) co_return failed;
    const io::io_result written = co_await (*file)->write_at(0, as_bytes(bytes));
    failed = written.error;
    if (!failed) failed = co_await (*file)->sync_data();
    if (!failed) failed = co_await disk_->rename(unfinished, path);
    if (!failed) failed = co_await disk_->sync_directory(folder_of(path));
    if (failed) co_return failed;
    file_ = std::move(*file);
    end_ = bytes.size();
    co_return failed;
}

bool file_store::note(record_kind kind, std::uint64_t number, std::string_view message) {
    if (has_failed_) return false;
    append_record(&noted_, static_cast<std::uint8_t>(kind), number, message);
    return true;
}

bool file_store::append(std::uint64_t number, std::string_view message) {
    const record_kind kind = message.empty() ? record_kind::next_sent : record_kind::message;
    return note(kind, message.empty() ? number + 1 : number, message) && state_.append(number, message);
}

bool file_store::set_next_sent(std::uint64_t number) {
    return note(record_kind::next_sent, number, {}) && state_.set_next_sent(number);
}

bool file_store::set_next_received(std::uint64_t number) {
    return note(record_kind::next_received, number, {}) && state_.set_next_received(number);
}

bool file_store::forget(std::uint64_t number) {
    if (state_.find(number).empty()) return true;
    return note(record_kind::message, number, {}) && state_.forget(number);
}

bool file_store::reset() {
    return note(record_kind::reset, 0, {}) && state_.reset();
}

bool file_store::set_numbers_since(std::int64_t time) {
    return note(record_kind::numbers_since, static_cast<std::uint64_t>(time), {}) && state_.set_numbers_since(time);
}

// A write or a sync that failed may have reached the disk or not: nothing may be built on it.
io::task<std::error_code> file_store::commit() {
    CORRO_ASSERT(!is_committing_);
    if (has_failed_) co_return std::make_error_code(std::errc::io_error);
    if (noted_.empty()) co_return std::error_code();
    is_committing_ = true;
    writing_.clear();
    writing_.swap(noted_);
    const io::io_result written = co_await file_->write_at(end_, as_bytes(writing_));
    std::error_code failed = written.error;
    if (!failed && options_.syncs) failed = co_await file_->sync_data();
    end_ += writing_.size();
    has_failed_ = static_cast<bool>(failed);
    is_committing_ = false;
    co_return failed;
}

std::uint64_t file_store::needed_bytes() const noexcept {
    return 3 * header_bytes + state_.kept().size() * header_bytes + state_.kept_bytes();
}

}  // namespace corro::fix
