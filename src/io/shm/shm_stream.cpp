// SPDX-License-Identifier: Apache-2.0
#include "io/shm/shm_stream.hpp"

#include <array>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/detail/io_awaiter.hpp"
#include "io/shm/device.hpp"
#include "io/shm/handshake.hpp"
#include "io/shm/memory.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {
namespace {

using shm::bell_socket;
using waiting = lazily<detail::plain_awaiter, operation_kind, descriptor*, const socket_address*>;

std::unexpected<std::error_code> not_supported() noexcept {
    return std::unexpected(std::make_error_code(std::errc::operation_not_supported));
}

}  // namespace

void shm_stream::follow(std::uint64_t from) noexcept {
    static_cast<shm::stream_device&>(io()).follow(*get(), from);
}

void shm_stream::wake() noexcept {
    static_cast<shm::stream_device&>(io()).wake(*get());
}

// The hello is the only message that needs more than a stream's bytes: its files. So the socket is taken from the
// backend for one system call, which every backend can do without a call of its own for it.
task<std::expected<shm_stream, std::error_code>> shm_stream::connect_on(context* on, unix_endpoint peer) {
    auto connected = co_await unix_stream::connect(*on, peer);
    if (!connected) co_return std::unexpected(connected.error());
    bell_socket arriving(std::move(*connected));
    const std::error_code stopped = co_await waiting(operation_kind::wait_readable, arriving.get(), nullptr);
    if (stopped) co_return std::unexpected(stopped);
    const int file = arriving.detach();
    if (file < 0) co_return not_supported();
    auto received = shm::receive_hello(file);
    auto socket = unix_stream::adopt(*on, file);
    if (!received) co_return std::unexpected(received.error());
    if (!socket) co_return std::unexpected(socket.error());
    const shm::hello sizes = received->sizes;
    auto memory = shm::map_memory(received->files[0], sizes.memory_bytes(), shm::sharing::both_write);
    if (!memory) co_return std::unexpected(memory.error());
    shm::mapping broadcast;
    if (sizes.broadcast_bytes != 0) {
        auto mapped = shm::map_memory(received->files[1], shm::broadcast_data_offset + sizes.broadcast_bytes,
                                      shm::sharing::owner_writes);
        if (!mapped) co_return std::unexpected(mapped.error());
        broadcast = std::move(*mapped);
    }
    co_return shm_stream(shm::stream_device::of(*on).open(std::move(*memory), sizes, false, std::move(*socket), file,
                                                          std::move(broadcast)));
}

std::expected<shm_acceptor, std::error_code> shm_acceptor::open(context& on, unix_endpoint local,
                                                                shm_options options) noexcept {
    CORRO_ASSERT(shm::is_ring_size(options.to_server_bytes) && shm::is_ring_size(options.to_client_bytes),
                 "the capacity of a ring must be a power of two within its limits");
    auto sockets = unix_acceptor::open(on, local, options.backlog);
    if (!sockets) return std::unexpected(sockets.error());
    return shm_acceptor(on, std::move(*sockets), options);
}

task<std::expected<shm_stream, std::error_code>> shm_acceptor::accept() {
    for (;;) {
        auto accepted = co_await sockets_.accept();
        if (!accepted) co_return std::unexpected(accepted.error());
        auto shared = share(std::move(*accepted));
        if (shared || shared.error() == std::errc::operation_not_supported) co_return std::move(shared);
    }
}

std::expected<shm_stream, std::error_code> shm_acceptor::share(unix_stream with) {
    const int file = with.detach();
    if (file < 0) return not_supported();
    auto socket = unix_stream::adopt(*context_, file);
    if (!socket) return std::unexpected(socket.error());
    shm::hello sizes;
    sizes.to_server_bytes = options_.to_server_bytes;
    sizes.to_client_bytes = options_.to_client_bytes;
    auto made = shm::make_memory(sizes.memory_bytes(), shm::sharing::both_write);
    if (!made) return std::unexpected(made.error());
    std::array<int, 2> files{made->file.get(), -1};
    std::size_t files_count = 1;
    if (options_.broadcast != nullptr) {
        sizes.broadcast_bytes = options_.broadcast->capacity_bytes();
        files[files_count++] = options_.broadcast->file();
    }
    const std::error_code failed = shm::send_hello(file, sizes, std::span(files).first(files_count));
    if (failed) return std::unexpected(failed);
    return shm_stream(
        shm::stream_device::of(*context_).open(std::move(made->memory), sizes, true, std::move(*socket), file));
}

}  // namespace corro::io
