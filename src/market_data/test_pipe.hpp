// SPDX-License-Identifier: Apache-2.0
// Test support: connections in memory, and a listener for them.
//
// Threads: one context.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <expected>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "io/errors.hpp"
#include "io/net/stream.hpp"
#include "io/result.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"

namespace corro::market_data::testing {

/// One end of a connection. It takes any number of bytes.
class pipe_stream {
 public:
    [[nodiscard]] static std::pair<pipe_stream, pipe_stream> make() {
        const auto one = std::make_shared<direction>();
        const auto other = std::make_shared<direction>();
        return {pipe_stream(one, other), pipe_stream(other, one)};
    }
    pipe_stream(pipe_stream&&) noexcept = default;
    pipe_stream& operator=(pipe_stream&& other) noexcept {
        close();
        in_ = std::move(other.in_);
        out_ = std::move(other.out_);
        return *this;
    }
    ~pipe_stream() { close(); }

    io::task<io::io_result> read_some(std::span<std::byte> into) { return read(in_, into); }
    io::task<io::io_result> write_some(std::span<const std::byte> from) { return write(out_, from); }
    io::task<std::error_code> shutdown() { return end(out_); }
    void close() noexcept {
        for (const auto& each : {std::exchange(in_, nullptr), std::exchange(out_, nullptr)}) {
            if (each == nullptr) continue;
            each->has_ended = true;
            each->changed.set();
        }
    }
    [[nodiscard]] bool is_open() const noexcept { return in_ != nullptr; }

 private:
    struct direction {
        std::deque<std::byte> bytes;
        io::auto_event changed;
        bool has_ended = false;
    };
    using shared_direction = std::shared_ptr<direction>;

    pipe_stream(shared_direction in, shared_direction out) : in_(std::move(in)), out_(std::move(out)) {}

    static io::task<io::io_result> read(shared_direction from, std::span<std::byte> into) {
        while (from->bytes.empty() && !from->has_ended) {
            const std::error_code stopped = co_await from->changed.wait();
            if (stopped) co_return io::io_result(stopped, 0);
        }
        const std::size_t count = std::min(into.size(), from->bytes.size());
        if (count == 0) co_return io::io_result(io::make_error_code(io::errc::end_of_stream), 0);
        const auto end = from->bytes.begin() + static_cast<std::ptrdiff_t>(count);
        std::copy(from->bytes.begin(), end, into.begin());
        from->bytes.erase(from->bytes.begin(), end);
        co_return io::io_result({}, count);
    }
    static io::task<io::io_result> write(shared_direction to, std::span<const std::byte> from) {
        if (to->has_ended) co_return io::io_result(std::make_error_code(std::errc::broken_pipe), 0);
        to->bytes.insert(to->bytes.end(), from.begin(), from.end());
        to->changed.set();
        co_return io::io_result({}, from.size());
    }
    static io::task<std::error_code> end(shared_direction to) {
        to->has_ended = true;
        to->changed.set();
        co_return std::error_code();
    }

    shared_direction in_;
    shared_direction out_;
};
static_assert(io::stream<pipe_stream>);

/// Accepts the streams that are sent to its channel.
class pipe_acceptor {
 public:
    explicit pipe_acceptor(io::channel<pipe_stream>& from) : from_(&from) {}
    io::task<std::expected<pipe_stream, std::error_code>> accept() { return take(from_); }
    void close() noexcept { from_->close(); }

 private:
    static io::task<std::expected<pipe_stream, std::error_code>> take(io::channel<pipe_stream>* from) {
        auto taken = co_await from->receive();
        co_return std::move(taken);
    }
    io::channel<pipe_stream>* from_;
};

}  // namespace corro::market_data::testing
