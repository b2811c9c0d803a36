// SPDX-License-Identifier: Apache-2.0
// A text file that is written line by line.
//
// Cost: a system call per 64 KiB. Threads: none of its own.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace corro::history {

class text_file {
 public:
    /// Makes the file, or empties it. @throws std::system_error.
    explicit text_file(const std::filesystem::path& path);

    text_file& operator<<(std::string_view text) {
        buffer_ += text;
        return *this;
    }
    text_file& operator<<(char c) {
        buffer_ += c;
        return *this;
    }
    template <std::integral Integer>
    text_file& operator<<(Integer number) {
        char digits[24];
        const auto end = std::to_chars(digits, digits + sizeof digits, number);
        buffer_.append(digits, end.ptr);
        return *this;
    }
    /// Ends a line; writes the buffer when it is large. @throws std::system_error, for example when the disk is full.
    void end_line() {
        buffer_ += '\n';
        ++lines_count_;
        if (buffer_.size() >= buffer_bytes) flush();
    }
    /// Writes the rest and closes the file. @throws std::system_error.
    void close();

    [[nodiscard]] std::uint64_t lines_count() const noexcept { return lines_count_; }

 private:
    static constexpr std::size_t buffer_bytes = 65'536;
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    void flush();
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    std::unique_ptr<std::FILE, closer> file_;
    std::string buffer_;
    std::uint64_t lines_count_ = 0;
};

}  // namespace corro::history
