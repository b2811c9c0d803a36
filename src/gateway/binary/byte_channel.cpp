// SPDX-License-Identifier: Apache-2.0
#include "gateway/binary/byte_channel.hpp"

#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace corro::gateway {

void byte_channel::grow(std::unique_ptr<std::byte[]> buffers, std::size_t output_bytes) noexcept {
    CORRO_ASSERT(output_.empty());
    const std::span<std::byte> fresh(buffers.get(), input_buffer_bytes);
    std::memcpy(fresh.data(), input_.data() + input_begin_, input_end_ - input_begin_);
    input_ = fresh;
    input_end_ -= input_begin_;
    input_begin_ = 0;
    output_ = base::byte_queue(std::span(buffers.get() + input_buffer_bytes, output_bytes));
    memory_ = std::move(buffers);
}

std::span<std::byte> byte_channel::make_room() noexcept {
    if (input_begin_ != 0) {
        std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
        input_end_ -= input_begin_;
        input_begin_ = 0;
        prefetched_ = 0;
    }
    return input_.subspan(input_end_);
}

io::task<io::io_result> byte_channel::fill() {
    const std::span<std::byte> room = make_room();
    io::io_result read;
    if (socket_ != nullptr) [[likely]] {
        read = co_await socket_->read_some(room);
    } else {
        read = co_await stream_.layered().read_some(room);
    }
    take_in(read.bytes);
    co_return read;
}

io::task<io::io_result> byte_channel::write_all(std::span<const std::byte> bytes) {
    io::io_result written;
    if (socket_ != nullptr) {
        written = co_await socket_->write_all(bytes);
    } else {
        written = co_await stream_.layered().write_all(bytes);
    }
    co_return written;
}

std::size_t byte_channel::try_write() noexcept {
    const io::io_result written = socket_->try_write(output_.readable());
    output_.consume(written.bytes);
    return written.bytes;
}

}  // namespace corro::gateway
