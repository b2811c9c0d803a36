// SPDX-License-Identifier: Apache-2.0
#include "client/venue_connection.hpp"

#include <cstring>
#include <utility>

#include "io/loop/timer.hpp"
#include "io/result.hpp"

namespace corro::client {

venue_connection::venue_connection(io::transport_stream stream, std::size_t input_bytes, std::size_t output_bytes)
    : stream_(std::move(stream)), socket_(stream_.socket()), output_(output_bytes), input_(input_bytes) {}

void venue_connection::replace(io::transport_stream stream) noexcept {
    stream_ = std::move(stream);
    socket_ = stream_.socket();
    output_.clear();
    input_begin_ = input_end_ = 0;
}

io::task<void> venue_connection::close_orderly() {
    // A socket needs no farewell: its end of the stream is the close itself.
    if (socket_ == nullptr) static_cast<void>(co_await stream_.shutdown());
    stream_.close();
}

io::task<std::error_code> venue_connection::fill() {
    if (input_begin_ != 0) {
        std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
        input_end_ -= input_begin_;
        input_begin_ = 0;
    }
    const std::span<std::byte> free = std::span(input_).subspan(input_end_);
    io::io_result read;
    if (socket_ != nullptr) [[likely]] {
        read = co_await socket_->read_some(free);
    } else {
        read = co_await stream_.layered().read_some(free);
    }
    input_end_ += read.bytes;
    co_return read.error;
}

io::task<std::error_code> venue_connection::flush() {
    if (flushing_) co_return std::error_code();
    flushing_ = true;
    std::error_code error;
    while (!error) {
        const auto ready = output_.readable();
        if (ready.empty()) break;
        has_sent_ = true;
        io::io_result written;
        if (socket_ != nullptr) [[likely]] {
            written = co_await socket_->write_some(ready);
        } else {
            written = co_await stream_.layered().write_some(ready);
        }
        output_.consume(written.bytes);
        error = written.error;
    }
    flushing_ = false;
    co_return error;
}

io::task<void> venue_connection::keep_alive(std::chrono::milliseconds interval, std::span<const std::byte> heartbeat) {
    // Half the interval, because a silence may begin up to one look before it is noticed.
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(interval / 2);
        if (stopped) co_return;
        if (!has_sent_) {
            // Without space, the messages that wait serve as heartbeats.
            const std::span<std::byte> space = output_.reserve(heartbeat.size());
            if (!space.empty()) {
                std::memcpy(space.data(), heartbeat.data(), heartbeat.size());
                output_.commit(space.size());
            }
        }
        has_sent_ = false;
        const std::error_code failed = co_await flush();
        if (failed) co_return;
    }
}

}  // namespace corro::client
