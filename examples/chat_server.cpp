// SPDX-License-Identifier: Apache-2.0
// A room in which everybody hears what anybody says, a line at a time. The first line that a guest sends is his name.
//
//     chat_server ADDRESS:PORT
#include <chrono>
#include <csignal>
#include <cstddef>
#include <expected>
#include <iostream>
#include <list>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/sync/channel.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "line_reader.hpp"

namespace io = corro::io;

// [room]
/// Lines on their way to one guest. If he does not read, they pile up; at 64 he is shown out.
struct guest {
    explicit guest(std::string called) : name(std::move(called)), outbox(64) {}
    std::string name;
    io::channel<std::string> outbox;
};

/// Everybody who is here. All tasks run on one thread, so a list needs no lock.
class room {
 public:
    void say(const std::string& line) {
        for (guest* listener : guests_) {
            std::string copy = line + '\n';
            if (!listener->outbox.try_send(copy)) listener->outbox.close();
        }
    }
    void enter(guest& who) {
        guests_.push_back(&who);
        ++guests_count_;
        say("* " + who.name + " comes in");
    }
    void leave(guest& who) {
        guests_.remove(&who);
        say("* " + who.name + " leaves");
    }
    [[nodiscard]] std::size_t admitted_count() const { return guests_count_; }

 private:
    std::list<guest*> guests_;
    std::size_t guests_count_ = 0;
};
// [/room]

// [guest]
/// What he says goes to the room.
io::task<> hear(line_reader* lines, room* here, guest* who) {
    for (;;) {
        const auto line = co_await lines->next();
        if (!line) co_return;
        here->say(who->name + ": " + *line);
    }
}

/// What the room says goes to him.
io::task<> tell(io::tcp_stream* stream, guest* who) {
    for (;;) {
        const auto line = co_await who->outbox.receive();
        if (!line) co_return;
        const io::io_result put = co_await stream->write_all(std::as_bytes(std::span(*line)));
        if (put.error) co_return;
    }
}

/// One guest, from entry to exit.
io::task<> receive(io::tcp_stream stream, room* here) {
    line_reader lines(&stream);
    const auto name = co_await io::with_timeout(std::chrono::seconds(10), lines.next());
    if (!name || !*name) co_return;  // said nothing in time, or left, or we are asked to stop
    guest self(**name);
    here->enter(self);
    co_await io::when_any(hear(&lines, here, &self), tell(&stream, &self));
    here->leave(self);
}
// [/guest]

io::task<> accept_all(io::tcp_acceptor* acceptor, io::task_scope* guests, room* here) {
    for (;;) {
        std::expected<io::tcp_stream, std::error_code> stream = co_await acceptor->accept();
        if (!stream) co_return;
        guests->spawn(receive(std::move(*stream), here));
    }
}

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: chat_server ADDRESS:PORT\n", 2;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;
    std::cout << "listening on " << acceptor->local_endpoint()->to_string() << std::endl;

    room here;
    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    auto service = io::with_scope([&](io::task_scope& guests) { return accept_all(&*acceptor, &guests, &here); });
    io::block_on(ctx, io::when_any(std::move(service), interrupt.wait()));
    std::cout << "closed after " << here.admitted_count() << " guests" << std::endl;
}
