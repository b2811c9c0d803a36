// SPDX-License-Identifier: Apache-2.0
#include "telemetry/log_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "io/errors.hpp"

namespace corro::telemetry {
namespace {

/// N of "BASE.N.SUFFIX", or 0.
std::uint64_t number_in(std::string_view name, std::string_view base, std::string_view suffix) {
    if (name.size() < base.size() + suffix.size() + 3 || !name.starts_with(base) || !name.ends_with(suffix)) return 0;
    std::string_view digits = name.substr(base.size(), name.size() - base.size() - suffix.size());
    if (!digits.starts_with('.') || !digits.ends_with('.')) return 0;
    digits = digits.substr(1, digits.size() - 2);
    std::uint64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return read.ec == std::errc{} && read.ptr == digits.data() + digits.size() ? number : 0;
}

}  // namespace

log_files::log_files(io::context& context, std::string directory, std::string base, std::string suffix,
                     heading_maker heading, std::uint64_t bytes_max, std::uint32_t files_max)
    : disk_(context.runs_on().make_storage(context, nullptr)),
      directory_(std::move(directory)),
      base_(std::move(base)),
      suffix_(std::move(suffix)),
      heading_(std::move(heading)),
      bytes_max_(bytes_max),
      files_max_(std::max(files_max, 1U)) {}

std::string log_files::path_of(std::uint64_t number) const {
    return fmt::format("{}/{}.{}.{}", directory_, base_, number, suffix_);
}

io::task<std::error_code> log_files::open() {
    if (const std::error_code error = disk_->make_directory(directory_)) co_return error;
    if (const std::error_code error = find_files()) co_return error;
    co_return co_await begin_file();
}

std::error_code log_files::find_files() {
    const auto names = disk_->list(directory_);
    if (!names) return names.error();
    numbers_.clear();
    for (const std::string& name : *names) {
        const std::uint64_t number = number_in(name, base_, suffix_);
        if (number != 0) numbers_.push_back(number);
    }
    std::sort(numbers_.begin(), numbers_.end());
    return {};
}

io::task<std::expected<std::string, std::error_code>> log_files::newest_first_line() {
    CORRO_ASSERT(file_ == nullptr, "the files of an earlier run are read before the first one of this run begins");
    const std::error_code unlisted = find_files();
    if (unlisted == std::errc::no_such_file_or_directory || (!unlisted && numbers_.empty())) co_return std::string();
    if (unlisted) co_return std::unexpected(unlisted);
    auto file = co_await disk_->open(path_of(numbers_.back()), io::file_mode::read);
    if (!file) co_return std::unexpected(file.error());
    constexpr std::size_t first_line_bytes_max = 512;  // more than the record of the format has
    std::string line(first_line_bytes_max, '\0');
    const io::io_result read = co_await (*file)->read_at(0, std::as_writable_bytes(std::span(line)));
    if (read.error && read.error != io::condition::end_of_stream) co_return std::unexpected(read.error);
    line.resize(read.bytes);
    line.resize(std::min(line.size(), line.find('\n')));
    co_return line;
}

io::task<std::error_code> log_files::begin_file() {
    const std::uint64_t number = numbers_.empty() ? 1 : numbers_.back() + 1;
    auto opened = co_await disk_->open(path_of(number), io::file_mode::create_new);
    if (!opened) co_return opened.error();
    file_ = std::move(*opened);
    numbers_.push_back(number);
    offset_ = 0;
    while (numbers_.size() > files_max_) {
        // The file may have been removed already.
        const std::error_code removed = co_await disk_->remove(path_of(numbers_.front()));
        if (removed && removed != std::errc::no_such_file_or_directory) co_return removed;
        numbers_.pop_front();
    }
    std::string heading;
    heading_(heading);
    const io::io_result written = co_await file_->write_at(0, std::as_bytes(std::span(heading)));
    offset_ = written.bytes;
    co_return written.error;
}

io::task<std::error_code> log_files::append(std::string_view lines) {
    const io::io_result written = co_await file_->write_at(offset_, std::as_bytes(std::span(lines)));
    offset_ += written.bytes;
    bytes_ += written.bytes;
    if (written.error) co_return written.error;
    if (offset_ < bytes_max_) co_return std::error_code();
    co_return co_await begin_file();
}

}  // namespace corro::telemetry
