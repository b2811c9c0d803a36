// SPDX-License-Identifier: Apache-2.0
#include "gateway/transport/listener.hpp"

#include <utility>

#include "base/assert.hpp"

namespace corro::gateway {

listener::listener(transport_kind kind, io::tcp_acceptor acceptor, std::optional<io::tls_context> tls)
    : kind_(kind), acceptor_(std::move(acceptor)), tls_(std::move(tls)) {
    const bool is_encrypted = kind == transport_kind::tls || kind == transport_kind::secure_websocket;
    CORRO_ASSERT(is_encrypted == tls_.has_value() && kind != transport_kind::unix_socket &&
                 kind != transport_kind::shared_memory);
}

listener::listener(io::unix_acceptor acceptor) : kind_(transport_kind::unix_socket), acceptor_(std::move(acceptor)) {}

listener::listener(io::shm_acceptor acceptor) : kind_(transport_kind::shared_memory), acceptor_(std::move(acceptor)) {}

std::optional<io::endpoint> listener::local_endpoint() const noexcept {
    const auto* const tcp = std::get_if<io::tcp_acceptor>(&acceptor_);
    if (tcp == nullptr) return std::nullopt;
    const auto found = tcp->local_endpoint();
    return found ? std::optional(*found) : std::nullopt;
}

io::task<std::expected<accepted_stream, std::error_code>> listener::accept() {
    if (auto* const tcp = std::get_if<io::tcp_acceptor>(&acceptor_)) {
        auto stream = co_await tcp->accept();
        if (!stream) co_return std::unexpected(stream.error());
        // Answers are batched by the gateway; the kernel must not wait for more.
        static_cast<void>(stream->set_option(io::no_delay(true)));
        co_return accepted_stream(std::move(*stream));
    }
    if (auto* const shared = std::get_if<io::shm_acceptor>(&acceptor_)) {
        auto stream = co_await shared->accept();
        if (!stream) co_return std::unexpected(stream.error());
        co_return accepted_stream(std::move(*stream));
    }
    auto stream = co_await std::get_if<io::unix_acceptor>(&acceptor_)->accept();
    if (!stream) co_return std::unexpected(stream.error());
    co_return accepted_stream(std::move(*stream));
}

void listener::close() noexcept {
    std::visit([](auto& acceptor) { acceptor.close(); }, acceptor_);
}

}  // namespace corro::gateway
