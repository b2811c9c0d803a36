// SPDX-License-Identifier: Apache-2.0
// Streams: bytes without borders, ends, both directions at a time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/file/file.hpp"
#include "io/loop/context.hpp"
#include "io/net/send_file.hpp"
#include "io/net/stream.hpp"
#include "io/net/unix_socket.hpp"
#include "io/result.hpp"
#include "io/task/block_on.hpp"
#include "io/task/generator.hpp"
#include "io/task/task.hpp"
#include "io/task/when_all.hpp"

namespace io = corro::io;

// [no_borders]
io::task<> two_writes_one_read(io::unix_stream* here, io::unix_stream* there) {
    const std::string_view first = "hel";
    const std::string_view second = "lo";
    co_await here->write_all(std::as_bytes(std::span(first)));
    co_await here->write_all(std::as_bytes(std::span(second)));

    std::array<char, 64> buffer;
    const io::io_result got = co_await there->read_some(std::as_writable_bytes(std::span(buffer)));
    std::cout << "read " << got.bytes << " bytes: " << std::string_view(buffer.data(), got.bytes) << std::endl;
}
// [/no_borders]

// [frames]
/// A message is one byte with the length of its text, and the text.
io::task<std::error_code> send_message(io::unix_stream* to, std::string text) {
    const std::string framed = static_cast<char>(text.size()) + text;
    const io::io_result put = co_await to->write_all(std::as_bytes(std::span(framed)));
    co_return put.error;
}

io::task<std::expected<std::string, std::error_code>> receive_message(io::unix_stream* from) {
    std::array<std::byte, 1> size;
    io::io_result got = co_await from->read_exact(size);
    if (got.error) co_return std::unexpected(got.error);
    std::string text(std::to_integer<std::size_t>(size[0]), '\0');
    got = co_await from->read_exact(std::as_writable_bytes(std::span(text)));
    if (got.error) co_return std::unexpected(got.error);
    co_return text;
}
// [/frames]

// [end]
io::task<> until_the_end(io::unix_stream* here, io::unix_stream* there) {
    co_await send_message(here, "first");
    co_await send_message(here, "second");
    if (const std::error_code failed = here->shutdown_send()) std::cout << failed.message() << std::endl;
    for (;;) {
        const auto text = co_await receive_message(there);
        if (!text) {
            std::cout << "ended: " << text.error().message() << std::endl;
            co_return;
        }
        std::cout << "message: " << *text << std::endl;
    }
}
// [/end]

// [both]
/// One task reads while another writes; a single one that first wrote everything could wait for ever.
io::task<> pour(io::unix_stream* to, std::size_t bytes_count) {
    const std::array<std::byte, 4096> block{};
    for (std::size_t sent = 0; sent < bytes_count; sent += block.size()) co_await to->write_all(block);
}

io::task<> drain(io::unix_stream* from, std::size_t bytes_count) {
    std::array<std::byte, 4096> block;
    std::size_t received = 0;
    while (received < bytes_count) {
        const io::io_result got = co_await from->read_some(block);
        if (got.error) break;
        received += got.bytes;
    }
    std::cout << "drained " << received << " bytes" << std::endl;
}

io::task<> both_ways(io::unix_stream* here, io::unix_stream* there) {
    constexpr std::size_t much = std::size_t{1} << 20;
    co_await io::when_all(pour(here, much), drain(here, much), pour(there, much), drain(there, much));
}
// [/both]

// [sequence]
/// The messages of a stream, until it ends.
io::generator<std::string> messages(io::unix_stream* from) {
    for (;;) {
        auto text = co_await receive_message(from);
        if (!text) co_return;  // the end, a failure or a stop
        co_yield std::move(*text);
    }
}

io::task<> print_all(io::unix_stream* from) {
    io::generator<std::string> all = messages(from);
    for (int number = 1;; ++number) {
        const auto text = co_await all.next();
        if (!text) break;
        std::cout << "number " << number << ": " << *text << std::endl;
    }
}
// [/sequence]

// [any]
/// Works on any stream: TCP, Unix, or one layered over another.
io::task<std::size_t> count_bytes(io::any_stream from) {
    std::array<std::byte, 512> block;
    std::size_t count = 0;
    for (;;) {
        const io::io_result got = co_await from.read_some(block);
        count += got.bytes;
        if (got.error) co_return count;
    }
}
// [/any]

// [file]
/// Sends three bytes of this very program, which name the format of its file.
io::task<> part_of_a_file(io::context* on, io::unix_stream* here, io::unix_stream* there) {
    io::file_system disk(*on);
    auto program = co_await disk.open("/proc/self/exe", io::file_mode::read);
    if (!program) co_return;
    const io::io_result sent = co_await io::send_file(*here, *program, 1, 3);
    std::string text(sent.bytes, ' ');
    co_await there->read_exact(std::as_writable_bytes(std::span(text)));
    std::cout << "sent " << sent.bytes << " bytes of a file: " << text << std::endl;
}
// [/file]

io::task<> all_of_it() {
    io::context& here = co_await io::this_context();
    auto pair = io::unix_stream::pair(here);
    if (!pair) co_return;
    co_await two_writes_one_read(&pair->first, &pair->second);
    co_await both_ways(&pair->first, &pair->second);
    co_await part_of_a_file(&here, &pair->first, &pair->second);
    co_await until_the_end(&pair->first, &pair->second);

    auto sequence = io::unix_stream::pair(here);
    if (!sequence) co_return;
    co_await send_message(&sequence->first, "buy");
    co_await send_message(&sequence->first, "sell");
    sequence->first.close();
    co_await print_all(&sequence->second);

    auto another = io::unix_stream::pair(here);
    if (!another) co_return;
    co_await send_message(&another->first, "counted");
    another->first.close();
    const std::size_t count = co_await count_bytes(std::move(another->second));
    std::cout << "counted " << count << " bytes" << std::endl;
}

int main() {
    io::context ctx;
    io::block_on(ctx, all_of_it());
}
