// SPDX-License-Identifier: Apache-2.0
// Callback code for Boost.Asio, as one finds it: the left-hand column of the migration guide. migration.cpp is what it
// becomes. Compiled, so that it is real; run in the same order.
#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

// [timer]
class inventory_poller : public std::enable_shared_from_this<inventory_poller> {
 public:
    inventory_poller(asio::io_context& on, int times) : timer_(on), left_(times) {}

    void start() {
        timer_.expires_after(10ms);
        timer_.async_wait([self = shared_from_this()](error_code failed) {
            if (failed) return;
            std::cout << "poll " << ++self->count_ << std::endl;
            if (--self->left_ > 0) self->start();
        });
    }

 private:
    asio::steady_timer timer_;
    int left_;
    int count_ = 0;
};
// [/timer]

// [request]
class request : public std::enable_shared_from_this<request> {
 public:
    using handler = std::function<void(error_code, std::string)>;

    request(asio::io_context& on, asio::ip::tcp::endpoint where, std::string text, handler done)
        : socket_(on), limit_(on), pause_(on), where_(where), text_(std::move(text)), done_(std::move(done)) {}

    void start() {
        limit_.expires_after(2s);
        limit_.async_wait([self = shared_from_this()](error_code failed) {
            if (!failed) self->finish(asio::error::timed_out);
        });
        connect();
    }

 private:
    void connect() {
        socket_.async_connect(where_, [self = shared_from_this()](error_code failed) {
            if (failed) return self->try_again(failed);
            self->socket_.set_option(asio::ip::tcp::no_delay(true));  // may throw, here of all places
            self->write();
        });
    }
    void try_again(error_code failed) {
        if (done_ == nullptr || --attempts_left_ == 0) return finish(failed);
        socket_ = asio::ip::tcp::socket(socket_.get_executor());
        pause_.expires_after(10ms);
        pause_.async_wait([self = shared_from_this()](error_code stopped) {
            if (!stopped) self->connect();
        });
    }
    void write() {
        asio::async_write(socket_, asio::buffer(text_), [self = shared_from_this()](error_code failed, std::size_t) {
            if (failed) return self->finish(failed);
            self->read();
        });
    }
    void read() {
        asio::async_read(socket_, asio::buffer(text_),
                         [self = shared_from_this()](error_code failed, std::size_t) { self->finish(failed); });
    }
    void finish(error_code failed) {
        if (done_ == nullptr) return;  // the other path was first
        limit_.cancel();
        pause_.cancel();
        error_code ignored;
        socket_.close(ignored);
        std::exchange(done_, nullptr)(failed, text_);
    }

    asio::ip::tcp::socket socket_;
    asio::steady_timer limit_;
    asio::steady_timer pause_;
    asio::ip::tcp::endpoint where_;
    std::string text_;
    handler done_;
    int attempts_left_ = 3;
};
// [/request]

// [strand]
struct session : std::enable_shared_from_this<session> {
    explicit session(asio::io_context& on) : strand(asio::make_strand(on)) {}
    void received_one() {
        asio::post(strand, [self = shared_from_this()] { ++self->received; });
    }
    void reported_one() {
        asio::post(strand, [self = shared_from_this()] { ++self->reported; });
    }

    asio::strand<asio::io_context::executor_type> strand;
    int received = 0;
    int reported = 0;
};
// [/strand]

int main() {
    asio::io_context loop;
    std::make_shared<inventory_poller>(loop, 2)->start();
    loop.run();

    asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
    const asio::ip::tcp::endpoint where = acceptor.local_endpoint();
    const auto tell = [](error_code failed, const std::string& answer) {
        if (failed) {
            std::cout << "failed: " << failed.message() << std::endl;
        } else {
            std::cout << "answer: " << answer << std::endl;
        }
    };
    loop.restart();
    asio::ip::tcp::socket peer(loop);
    std::array<char, 64> buffer{};
    const std::string text = "a dozen..";
    acceptor.async_accept(peer, [&](error_code failed) {
        if (failed) return;
        peer.async_read_some(asio::buffer(buffer), [&](error_code broken, std::size_t bytes) {
            if (!broken) asio::async_write(peer, asio::buffer(text, bytes), [](error_code, std::size_t) {});
        });
    });
    std::make_shared<request>(loop, where, "how much?", tell)->start();
    loop.run();

    loop.restart();
    acceptor.close();
    std::make_shared<request>(loop, where, "how much?", tell)->start();
    loop.run();

    loop.restart();
    const auto state = std::make_shared<session>(loop);
    for (int i = 0; i < 3; ++i) {
        state->received_one();
        state->reported_one();
    }
    loop.run();
    std::cout << "received " << state->received << ", reported " << state->reported << std::endl;
}
