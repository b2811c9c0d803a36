// SPDX-License-Identifier: Apache-2.0
#include "websocket/byte_stream.hpp"

#include <algorithm>
#include <cstring>

#include "io/errors.hpp"
#include "websocket/errors.hpp"

namespace corro::websocket {

io::task<io::io_result> byte_stream::read_some(std::span<std::byte> into) {
    if (peer_ == nullptr) co_return io::io_result(std::make_error_code(std::errc::bad_file_descriptor), 0);
    if (into.empty()) co_return io::io_result();
    while (rest_.empty()) {
        const auto received = co_await peer_->receive();
        if (!received) {
            const bool closed = received.error() == make_error_code(errc::closed);
            co_return io::io_result(closed ? make_error_code(io::errc::end_of_stream) : received.error(), 0);
        }
        if (received->is_text) {
            const std::error_code error = co_await peer_->close(close_code::unsupported_data, "binary messages only");
            co_return io::io_result(error ? error : make_error_code(io::errc::end_of_stream), 0);
        }
        rest_ = received->data;
    }
    const std::size_t bytes = std::min(into.size(), rest_.size());
    std::memcpy(into.data(), rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    co_return io::io_result({}, bytes);
}

io::task<io::io_result> byte_stream::write_some(std::span<const std::byte> from) {
    if (peer_ == nullptr) co_return io::io_result(std::make_error_code(std::errc::bad_file_descriptor), 0);
    if (from.empty()) co_return io::io_result();
    const std::span<const std::byte> message = from.first(std::min(from.size(), message_bytes_max_));
    // Queued bytes are taken: after a stop the next write sends them.
    if (!peer_->queue(false, message)) co_return io::io_result(std::make_error_code(std::errc::broken_pipe), 0);
    const std::error_code error = co_await peer_->flush();
    co_return io::io_result(error, message.size());
}

io::task<std::error_code> byte_stream::shutdown() {
    if (peer_ == nullptr) co_return std::make_error_code(std::errc::bad_file_descriptor);
    rest_ = {};
    const std::error_code error = co_await peer_->close();
    co_return error;
}

}  // namespace corro::websocket
