// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of bytes into lines.
//
// Limits:  lines of `line_bytes_max` bytes.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <system_error>

#include "io/net/tcp.hpp"
#include "io/result.hpp"
#include "io/task/task.hpp"

// [line_reader]
class line_reader {
 public:
    static constexpr std::size_t line_bytes_max = 1024;

    explicit line_reader(corro::io::tcp_stream* from) : from_(from) {}

    /// The next line, without its end. Bytes after it are kept for the next call.
    corro::io::task<std::expected<std::string, std::error_code>> next() {
        for (;;) {
            if (const std::size_t end = held_.find('\n'); end != std::string::npos) {
                std::string line = held_.substr(0, end);
                held_.erase(0, end + 1);
                co_return line;
            }
            if (held_.size() > line_bytes_max) co_return std::unexpected(make_error_code(std::errc::message_size));
            std::array<char, 512> part;
            const corro::io::io_result got = co_await from_->read_some(std::as_writable_bytes(std::span(part)));
            if (got.error) co_return std::unexpected(got.error);
            held_.append(part.data(), got.bytes);
        }
    }

 private:
    corro::io::tcp_stream* from_;
    std::string held_;
};
// [/line_reader]
