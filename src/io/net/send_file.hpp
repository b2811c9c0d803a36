// SPDX-License-Identifier: Apache-2.0
// Sending bytes of a file over a stream.
//
//     auto page = co_await disk.open("index.html", file_mode::read);
//     const io_result sent = co_await send_file(stream, *page, 0, *page->size());
//
// Over TCP and Unix sockets the kernel copies from its page cache to the socket (sendfile); no byte enters this
// process. Over other streams (TLS, shared memory, a simulated network), and for files whose calls a test breaks, the
// bytes are read into a buffer and written from there.
//
// Threads: one context, that of the stream and of the file system.
// Limits:  a buffer of `send_file_buffer_bytes`, only where bytes are read and written.
// Cost:    one frame. Over kernel sockets four system calls per `send_file_part_bytes`, three of which suppress
// SIGPIPE.
//          The kernel reads a part that is not in the page cache from the disk within its call, and the loop waits for
//          that; a file on a slow disk is better read with `file::read_at`.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/file/file.hpp"
#include "io/file/storage.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"
#include "io/result.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// What one call of the kernel sends: more would let the other tasks of the context wait.
inline constexpr std::size_t send_file_part_bytes = std::size_t{256} * 1024;
/// What is read before it is written, on streams that are not the kernel's.
inline constexpr std::size_t send_file_buffer_bytes = std::size_t{64} * 1024;

namespace detail {

/// Sends over the kernel's sockets.
class file_sender {
 public:
    [[nodiscard]] static task<io_result> by_socket(stream_socket* to, file* from, std::uint64_t offset,
                                                   std::uint64_t count);
    [[nodiscard]] static task<io_result> by_any(any_stream* to, file* from, std::uint64_t offset, std::uint64_t count);
};

/// Writes all bytes. `stream_socket` has the calls of a stream but cannot be moved, so it does not satisfy `stream`.
template <class Stream>
auto write_whole(Stream& on, std::span<const std::byte> from) noexcept {
    if constexpr (std::same_as<Stream, stream_socket>) {
        return on.write_all(from);
    } else {
        return write_all(on, from);
    }
}

/// Reads and writes in turn. A `File` has `read_at`.
template <class Stream, class File>
task<io_result> send_file_in_parts(Stream* to, File* from, std::uint64_t offset, std::uint64_t count) {
    const auto buffer_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(count, send_file_buffer_bytes));
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    std::size_t done = 0;
    while (done != count) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, buffer_bytes));
        io_result read = co_await from->read_at(offset + done, std::span(buffer.get(), part));
        io_result sent = co_await write_whole(*to, std::span<const std::byte>(buffer.get(), read.bytes));
        done += sent.bytes;
        if (!sent) co_return io_result(sent.error, done);
        if (!read) co_return io_result(read.error, done);
    }
    co_return io_result({}, done);
}

}  // namespace detail

/// Sends `count` bytes of `from`, from `offset` on.
///
/// @param to      Stays alive until the await returns.
/// @param from    Stays alive, and is neither moved nor closed, until the await returns (asserted).
/// @param offset  Of the first byte, in bytes from the beginning of the file.
/// @param count   In bytes; 0 sends nothing.
/// @return        {error, bytes}; `bytes` counts what the stream took even when `error` is set.
/// @error         end_of_stream if the file is shorter than `offset + count`; broken_pipe, connection_reset and the
///                like if the peer has gone; the file's errors (io_error, ...); operation_canceled on stop and on
///                `close` of the stream; bad_file_descriptor if the stream or the file is closed.
/// @suspend       While the send buffer is full; on streams that are not the kernel's also until the disk has answered.
///                Resumes on the stream's context.
/// @overlap       Counts as a write: one read of the stream may be in flight, a second write may not (asserted). Any
///                number of operations on the file.
/// @cancel        Observes the task's stop token; the bytes that were taken are sent.
template <stream Stream>
[[nodiscard]] task<io_result> send_file(Stream& to, file& from, std::uint64_t offset, std::uint64_t count) {
    if constexpr (std::derived_from<Stream, stream_socket>) {
        return detail::file_sender::by_socket(&to, &from, offset, count);
    } else if constexpr (std::same_as<Stream, any_stream>) {
        return detail::file_sender::by_any(&to, &from, offset, count);
    } else {
        return detail::send_file_in_parts(&to, &from, offset, count);
    }
}

/// The same for a file of a platform's disk, real or simulated: reads and writes in turn.
template <stream Stream>
[[nodiscard]] task<io_result> send_file(Stream& to, stored_file& from, std::uint64_t offset, std::uint64_t count) {
    return detail::send_file_in_parts(&to, &from, offset, count);
}

}  // namespace corro::io
