// SPDX-License-Identifier: Apache-2.0
// Servers on one connection by Boost.Beast, as its authors show them: asynchronous, with callbacks and its own
// deadlines.
//
// Threads: one.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/version.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <chrono>
#include <memory>
#include <utility>

namespace corro::lab::beast_sessions {

namespace beast = boost::beast;
namespace net = boost::asio;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
// No type-erased executor: the fastest that Asio offers.
using plain_stream = beast::basic_stream<net::ip::tcp, net::io_context::executor_type>;
using secure_stream = beast::ssl_stream<plain_stream>;

template <class Stream>
plain_stream& lowest(Stream& stream) {
    return beast::get_lowest_layer(stream);
}

/// HTTP on one connection.
template <class Stream>
class http_session : public std::enable_shared_from_this<http_session<Stream>> {
 public:
    http_session(Stream stream, std::size_t bytes) : stream_(std::move(stream)), bytes_(bytes) {}
    Stream& stream() { return stream_; }

    void start() {
        request_ = {};
        lowest(stream_).expires_after(std::chrono::seconds(30));
        http::async_read(stream_, buffer_, request_, [self = this->shared_from_this()](error_code error, std::size_t) {
            if (!error) self->answer();
        });
    }

 private:
    void answer() {
        response_ = {};
        response_.version(request_.version());
        response_.result(http::status::ok);
        response_.set(http::field::content_type, "text/plain");
        response_.keep_alive(request_.keep_alive());
        response_.body().assign(bytes_, 'x');
        response_.prepare_payload();
        http::async_write(stream_, response_, [self = this->shared_from_this()](error_code error, std::size_t) {
            if (!error) self->start();
        });
    }

    Stream stream_;
    std::size_t bytes_;
    beast::flat_buffer buffer_;
    http::request<http::string_body> request_;
    http::response<http::string_body> response_;
};

/// WebSocket echo on one connection.
template <class Stream>
class websocket_session : public std::enable_shared_from_this<websocket_session<Stream>> {
 public:
    websocket_session(Stream stream, std::size_t) : socket_(std::move(stream)) {}
    Stream& stream() { return socket_.next_layer(); }

    void start() {
        lowest(stream()).expires_never();
        socket_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
        // One frame per message, as the other subjects send.
        socket_.auto_fragment(false);
        socket_.async_accept([self = this->shared_from_this()](error_code error) {
            if (!error) self->read();
        });
    }

 private:
    void read() {
        socket_.async_read(buffer_, [self = this->shared_from_this()](error_code error, std::size_t) {
            if (!error) self->write();
        });
    }
    void write() {
        socket_.text(socket_.got_text());
        socket_.async_write(buffer_.data(), [self = this->shared_from_this()](error_code error, std::size_t) {
            self->buffer_.clear();
            if (!error) self->read();
        });
    }

    websocket::stream<Stream> socket_;
    beast::flat_buffer buffer_;
};

}  // namespace corro::lab::beast_sessions
