// SPDX-License-Identifier: Apache-2.0
// The load of the server rows: blocking set-up, then one thread that waits on all connections with epoll.

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <deque>
#include <exception>
#include <memory>
#include <thread>

#include "lab/suites/raw_sockets.hpp"
#include "lab/suites/web_shapes.hpp"

namespace corro::lab {
namespace {

struct ssl_deleter {
    void operator()(SSL* gone) const noexcept { SSL_free(gone); }
    void operator()(SSL_CTX* gone) const noexcept { SSL_CTX_free(gone); }
};

/// The client's end of one connection.
class client {
 public:
    client(owned_descriptor socket, SSL_CTX* secured) : socket_(std::move(socket)) {
        if (secured == nullptr) return;
        ssl_.reset(SSL_new(secured));
        SSL_set_fd(ssl_.get(), socket_.get());
        for (int done = 0; done != 1;) {
            done = SSL_connect(ssl_.get());
            if (done == 1) break;
            verify(SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ, "a TLS handshake failed");
            wait_readable();
        }
    }

    [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

    void send_all(std::string_view text) {
        const auto size = static_cast<long>(text.size());
        const long sent = ssl_ ? SSL_write(ssl_.get(), text.data(), static_cast<int>(size))
                               : ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
        verify(sent == size, "a request did not fit into the socket's buffer");
    }
    /// Reads the available bytes; 0 if there are none.
    std::size_t read_some(std::span<char> into) {
        if (ssl_) {
            const int got = SSL_read(ssl_.get(), into.data(), static_cast<int>(into.size()));
            if (got > 0) return static_cast<std::size_t>(got);
            verify(SSL_get_error(ssl_.get(), got) == SSL_ERROR_WANT_READ, "the server ended a TLS connection");
            return 0;
        }
        const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), 0);
        if (got > 0) return static_cast<std::size_t>(got);
        verify(got < 0 && (errno == EAGAIN || errno == EINTR), "the server ended a connection");
        return 0;
    }
    void wait_readable() const {
        pollfd one{socket_.get(), POLLIN, 0};
        int count = -1;
        do {
            count = ::poll(&one, 1, 10'000);
        } while (count < 0 && errno == EINTR);
        verify(count == 1, "the server says nothing");
    }
    /// Reads exactly as much; for the set-up.
    std::string read_exact(std::size_t size) {
        std::string text(size, '\0');
        std::size_t done = 0;
        while (done != size) {
            const std::size_t got = read_some(std::span(text).subspan(done));
            if (got == 0) wait_readable();
            done += got;
        }
        return text;
    }
    std::string read_head() {
        std::string head;
        while (!head.ends_with("\r\n\r\n")) head += read_exact(1);
        return head;
    }

    std::uint64_t begun = 0;
    std::size_t received = 0;

 private:
    owned_descriptor socket_;
    std::unique_ptr<SSL, ssl_deleter> ssl_;
};

constexpr std::string_view handshake =
    "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

std::string request_of(const web_shape& shape) {
    if (!shape.websocket) return "GET /bytes HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    std::string frame("\x82");
    if (shape.bytes < 126) {
        frame += static_cast<char>(0x80U | shape.bytes);
    } else {
        frame += static_cast<char>(0x80U | 126U);
        frame += static_cast<char>(shape.bytes >> 8U);
        frame += static_cast<char>(shape.bytes & 0xFFU);
    }
    frame += "\x11\x22\x33\x44";
    frame += std::string(shape.bytes, 'm');
    return frame;
}

/// Asks once and looks at every byte. @return The size of a response.
std::size_t probe(client& with, const web_shape& shape, std::string_view request) {
    with.send_all(request);
    if (shape.websocket) {
        const std::size_t header = shape.bytes < 126 ? 2 : 4;
        const std::string frame = with.read_exact(header + shape.bytes);
        std::string echoed(shape.bytes, 'm');
        for (std::size_t i = 0; i != echoed.size(); ++i) echoed[i] = static_cast<char>('m' ^ "\x11\x22\x33\x44"[i % 4]);
        verify(frame.substr(header) == echoed, "the echo is not what was sent");
        return frame.size();
    }
    const std::string head = with.read_head();
    verify(head.starts_with("HTTP/1.1 200 OK\r\n"), "the response is not 200");
    static constexpr std::string_view name = "\r\nContent-Length: ";
    const std::size_t at = head.find(name);
    verify(at != std::string::npos, "a response without Content-Length");
    std::size_t length = 0;
    std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
    verify(length == shape.bytes, "a response of another size");
    verify(with.read_exact(length) == std::string(length, 'x'), "a response with another body");
    return head.size() + length;
}

measurement drive(const run_parameters& how, const web_shape& shape, std::deque<client>& clients) {
    const std::string request = request_of(shape);
    const std::size_t response_bytes = probe(clients.front(), shape, request);
    const owned_descriptor poller(::epoll_create1(0));
    for (client& one : clients) {
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        wanted.data.ptr = &one;
        verify(::epoll_ctl(poller.get(), EPOLL_CTL_ADD, one.descriptor(), &wanted) == 0, "epoll_ctl failed");
    }
    timed_run run(how.seconds);
    for (client& one : clients) {
        one.begun = run.now();
        one.send_all(request);
    }
    std::vector<char> buffer(64 * 1024);
    std::array<epoll_event, 128> events{};
    std::size_t active = clients.size();
    while (active != 0) {
        const int count = ::epoll_wait(poller.get(), events.data(), static_cast<int>(events.size()), 10'000);
        if (count < 0 && errno == EINTR) continue;
        verify(count > 0, "the server says nothing");
        for (int i = 0; i != count; ++i) {
            client& one = *static_cast<client*>(events[static_cast<std::size_t>(i)].data.ptr);
            one.received += one.read_some(buffer);
            verify(one.received <= response_bytes, "a response is too long");
            if (one.received != response_bytes) continue;
            one.received = 0;
            one.begun = run.lap(one.begun);
            if (one.begun != 0) {
                one.send_all(request);
            } else {
                --active;
            }
        }
    }
    return rate_with_latencies(run);
}

}  // namespace

measurement load_web_server(const run_parameters& how, const web_shape& shape, const web_server& server) {
    std::unique_ptr<SSL_CTX, ssl_deleter> secured;
    if (shape.secure) {
        // Does not check the certificate: the row measures the server's work.
        secured.reset(SSL_CTX_new(TLS_client_method()));
        SSL_CTX_set_verify(secured.get(), SSL_VERIFY_NONE, nullptr);
        SSL_CTX_set_mode(secured.get(), SSL_MODE_AUTO_RETRY);
    }
    std::vector<raw_pair> pairs = connected_pairs(wire::tcp, shape.connections);
    std::vector<int> served;
    for (raw_pair& pair : pairs) served.push_back(pair.server.release());
    std::exception_ptr failure;
    std::thread serving([&] {
        try {
            server(shape, std::move(served));
        } catch (...) {
            failure = std::current_exception();
        }
    });
    measurement made;
    std::exception_ptr wrong;
    std::deque<client> clients;
    try {
        for (raw_pair& pair : pairs) clients.emplace_back(std::move(pair.client), secured.get());
        if (shape.websocket) {
            for (client& one : clients) {
                one.send_all(handshake);
                verify(one.read_head().starts_with("HTTP/1.1 101 "), "the server opens no WebSocket");
            }
        }
        made = drive(how, shape, clients);
    } catch (...) {
        wrong = std::current_exception();
    }
    clients.clear();
    pairs.clear();
    serving.join();
    if (wrong) std::rethrow_exception(wrong);
    if (failure) std::rethrow_exception(failure);
    return made;
}

}  // namespace corro::lab
