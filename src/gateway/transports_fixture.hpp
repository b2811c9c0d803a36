// SPDX-License-Identifier: Apache-2.0
// Test support: the transports that sessions are tested over, both ends of each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gateway/transport/listener.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/net/stream.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/sync/event.hpp"
#include "io/testing/certificates_fixture.hpp"
#include "io/testing/tested_platform.hpp"
#include "io/testing/tls_fixture.hpp"
#include "io/tls/tls_stream.hpp"
#include "websocket/byte_stream.hpp"
#include "websocket/connection.hpp"

namespace corro::gateway::testing {

enum class test_transport : std::uint8_t { tcp, unix_socket, shared_memory, tls, websocket, secure_websocket, memory };

inline constexpr std::array all_transports{
    test_transport::tcp,       test_transport::unix_socket,      test_transport::shared_memory, test_transport::tls,
    test_transport::websocket, test_transport::secure_websocket, test_transport::memory};

inline std::string name_of(test_transport t) {
    static constexpr std::array<const char*, all_transports.size()> names{
        "tcp", "unix_socket", "shared_memory", "tls", "websocket", "secure_websocket", "memory"};
    return names[static_cast<std::size_t>(t)];
}

/// What the venues that are made from here on are reached over.
inline test_transport transport_under_test = test_transport::tcp;

/// A suite whose tests run over every transport.
class over_every_transport : public ::testing::TestWithParam<test_transport> {
 protected:
    void SetUp() override {
        transport_under_test = GetParam();
        if (GetParam() == test_transport::shared_memory && io::time_is_virtual()) {
            GTEST_SKIP() << "processes of a world in memory share none";
        }
    }
    void TearDown() override { transport_under_test = test_transport::tcp; }
};

inline std::string transport_name(const ::testing::TestParamInfo<test_transport>& info) {
    return name_of(info.param);
}

/// One direction of a connection in memory, with little room so that writers have to wait.
struct memory_pipe {
    static constexpr std::size_t room_bytes = 8 * 1024;
    std::vector<std::byte> bytes;
    io::manual_event readable;
    io::manual_event writable{true};
    bool closed = false;

    void close() {
        closed = true;
        readable.set();
        writable.set();
    }
};

/// One end of a connection in memory. Satisfies io::stream.
class memory_stream {
 public:
    memory_stream(std::shared_ptr<memory_pipe> in, std::shared_ptr<memory_pipe> out)
        : in_(std::move(in)), out_(std::move(out)) {}
    memory_stream(memory_stream&&) noexcept = default;
    memory_stream& operator=(memory_stream&&) noexcept = default;
    ~memory_stream() { close(); }

    [[nodiscard]] static std::pair<memory_stream, memory_stream> pair() {
        auto one = std::make_shared<memory_pipe>();
        auto other = std::make_shared<memory_pipe>();
        return {memory_stream(one, other), memory_stream(other, one)};
    }

    [[nodiscard]] bool is_open() const noexcept { return in_ != nullptr && !in_->closed; }
    [[nodiscard]] io::task<io::io_result> read_some(std::span<std::byte> into) {
        const std::shared_ptr<memory_pipe> pipe = in_;
        while (pipe->bytes.empty()) {
            if (pipe->closed) co_return io::io_result(make_error_code(io::errc::end_of_stream), 0);
            pipe->readable.reset();
            const std::error_code stopped = co_await pipe->readable.wait();
            if (stopped) co_return io::io_result(stopped, 0);
        }
        const std::size_t size = std::min(into.size(), pipe->bytes.size());
        std::copy_n(pipe->bytes.begin(), size, into.begin());
        pipe->bytes.erase(pipe->bytes.begin(), pipe->bytes.begin() + static_cast<std::ptrdiff_t>(size));
        pipe->writable.set();
        co_return io::io_result({}, size);
    }
    [[nodiscard]] io::task<io::io_result> write_some(std::span<const std::byte> from) {
        const std::shared_ptr<memory_pipe> pipe = out_;
        while (pipe->bytes.size() >= memory_pipe::room_bytes && !pipe->closed) {
            pipe->writable.reset();
            const std::error_code stopped = co_await pipe->writable.wait();
            if (stopped) co_return io::io_result(stopped, 0);
        }
        if (pipe->closed) co_return io::io_result(std::make_error_code(std::errc::broken_pipe), 0);
        const std::size_t size = std::min(from.size(), memory_pipe::room_bytes - pipe->bytes.size());
        pipe->bytes.insert(pipe->bytes.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(size));
        pipe->readable.set();
        co_return io::io_result({}, size);
    }
    [[nodiscard]] io::task<std::error_code> shutdown() {
        out_->close();
        co_return std::error_code();
    }
    void close() noexcept {
        if (in_ == nullptr) return;
        in_->close();
        out_->close();
    }

 private:
    std::shared_ptr<memory_pipe> in_;
    std::shared_ptr<memory_pipe> out_;
};

/// What a venue of the tests listens with; empty for connections in memory.
inline std::vector<listener> listeners_of(test_transport kind, io::context& on, const io::unix_endpoint& unix_address) {
    std::vector<listener> all;
    if (kind == test_transport::memory) return all;
    if (kind == test_transport::unix_socket) {
        auto acceptor = io::unix_acceptor::open(on, unix_address);
        EXPECT_TRUE(acceptor);
        if (acceptor) all.emplace_back(std::move(*acceptor));
        return all;
    }
    if (kind == test_transport::shared_memory) {
        auto acceptor = io::shm_acceptor::open(on, unix_address);
        EXPECT_TRUE(acceptor);
        if (acceptor) all.emplace_back(std::move(*acceptor));
        return all;
    }
    auto acceptor = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
    EXPECT_TRUE(acceptor);
    if (!acceptor) return all;
    switch (kind) {
        case test_transport::tls:
            all.emplace_back(transport_kind::tls, std::move(*acceptor), io::server_context());
            break;
        case test_transport::websocket: all.emplace_back(transport_kind::websocket, std::move(*acceptor)); break;
        case test_transport::secure_websocket:
            all.emplace_back(transport_kind::secure_websocket, std::move(*acceptor), io::server_context());
            break;
        default: all.emplace_back(transport_kind::tcp, std::move(*acceptor)); break;
    }
    return all;
}

/// A client's connection; a closed stream, and a failure, when it cannot be made. Not for connections in memory.
inline io::task<io::any_stream> connect_over(test_transport kind, io::context* on, io::endpoint where,
                                             io::unix_endpoint unix_address) {
    if (kind == test_transport::unix_socket) {
        auto stream = co_await io::unix_stream::connect(*on, unix_address);
        if (stream) co_return io::any_stream(std::move(*stream));
        ADD_FAILURE() << "connecting: " << stream.error().message();
        co_return io::any_stream();
    }
    if (kind == test_transport::shared_memory) {
        auto stream = co_await io::shm_stream::connect(*on, unix_address);
        if (stream) co_return io::any_stream(std::move(*stream));
        ADD_FAILURE() << "connecting: " << stream.error().message();
        co_return io::any_stream();
    }
    auto tcp = co_await io::tcp_stream::connect(*on, where);
    if (!tcp) {
        ADD_FAILURE() << "connecting: " << tcp.error().message();
        co_return io::any_stream();
    }
    static_cast<void>(tcp->set_option(io::no_delay(true)));
    io::any_stream stream;
    if (kind == test_transport::tls || kind == test_transport::secure_websocket) {
        auto secure =
            co_await io::tls_stream<io::tcp_stream>::connect(std::move(*tcp), io::client_context(), "localhost");
        if (!secure) {
            ADD_FAILURE() << "TLS: " << secure.error().message();
            co_return io::any_stream();
        }
        stream = io::any_stream(std::move(*secure));
    } else {
        stream = io::any_stream(std::move(*tcp));
    }
    if (kind == test_transport::websocket || kind == test_transport::secure_websocket) {
        const websocket::connection_options options;
        auto opened = co_await websocket::connect(std::move(stream), where.to_string(), "/", options);
        if (!opened) {
            ADD_FAILURE() << "WebSocket: " << opened.error().message();
            co_return io::any_stream();
        }
        co_return io::any_stream(websocket::byte_stream(std::move(*opened)));
    }
    co_return stream;
}

}  // namespace corro::gateway::testing
