// SPDX-License-Identifier: Apache-2.0
// A guest of chat_server. With lines to say, it leaves when it has heard them; without, it listens until Ctrl-C.
//
//     chat_client ADDRESS:PORT NAME [LINE...]
#include <csignal>
#include <cstddef>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"
#include "line_reader.hpp"

namespace io = corro::io;

// [visit]
io::task<std::error_code> visit(io::context* on, io::endpoint where, std::string name, std::vector<std::string> lines) {
    auto stream = co_await io::tcp_stream::connect(*on, where);
    if (!stream) co_return stream.error();
    std::string text = name + '\n';
    for (const std::string& line : lines) text += line + '\n';
    const io::io_result put = co_await stream->write_all(std::as_bytes(std::span(text)));
    if (put.error) co_return put.error;

    const std::string last = lines.empty() ? std::string() : name + ": " + lines.back();
    line_reader heard(&*stream);
    for (;;) {
        const auto line = co_await heard.next();
        if (!line) co_return line.error();
        std::cout << *line << std::endl;
        if (*line == last) co_return std::error_code();
    }
}
// [/visit]

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc > 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: chat_client ADDRESS:PORT NAME [LINE...]\n", 2;

    io::context ctx;
    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    const auto first =
        io::block_on(ctx, io::when_any(visit(&ctx, *where, argv[2], {argv + 3, argv + argc}), interrupt.wait()));
    if (first.index == 1) return 0;  // Ctrl-C; the visit was stopped and has ended
    const std::error_code error = *std::get<0>(first.values);
    if (error == io::condition::end_of_stream) return std::cerr << "the room has closed\n", 1;
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
// [/main]
