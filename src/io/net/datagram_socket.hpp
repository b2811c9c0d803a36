// SPDX-License-Identifier: Apache-2.0
// Sending and receiving datagrams, one or many per system call: the base of UDP and Unix datagram
// sockets.
//
// Threads: one context.
// Cost:    no frame, no allocation; a batch of up to 64 datagrams is one system call.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <system_error>

#include "io/net/socket.hpp"

namespace corro::io {

/// A received datagram: the filled part of the buffer, and the sender.
struct received_datagram {
    /// Made by the socket.
    received_datagram(std::size_t filled, const socket_address& from, bool cut) noexcept
        : bytes(filled), peer(from), truncated(cut) {}
    /// The filled part of the buffer.
    std::size_t bytes;
    /// Where it came from.
    socket_address peer;
    bool truncated;  // it was larger than the buffer; the rest is lost
};

namespace detail {

class batch_awaiter : public plain_awaiter {
 public:
    batch_awaiter(operation_kind what, descriptor* on, std::span<datagram> messages) noexcept
        : plain_awaiter(what, on, nullptr) {
        batch = messages;
    }
    bool await_ready() const noexcept { return batch.empty() && target != nullptr; }
    std::expected<std::size_t, std::error_code> await_resume() const noexcept {
        // The datagrams that were sent or received count; the error of the next one is returned by the next call.
        if (status != 0 && bytes == 0) return std::unexpected(status_code(status));
        return bytes;
    }
};

class receive_from_awaiter : public plain_awaiter {
 public:
    receive_from_awaiter(descriptor* on, std::span<std::byte> into) noexcept
        : plain_awaiter(operation_kind::receive_batch, on, nullptr), one_(into) {
        batch = std::span(&one_, 1);
    }
    std::expected<received_datagram, std::error_code> await_resume() const noexcept {
        if (status != 0) return std::unexpected(status_code(status));
        return received_datagram(one_.bytes, one_.peer, one_.truncated);
    }

 private:
    datagram one_;
};

class send_to_awaiter : public plain_awaiter {
 public:
    send_to_awaiter(descriptor* on, std::span<const std::byte> from, socket_address to) noexcept
        : plain_awaiter(operation_kind::send_batch, on, nullptr), one_(from, to) {
        batch = std::span(&one_, 1);
    }

 private:
    datagram one_;
};

}  // namespace detail

/// A socket for datagrams, whatever its family.
class datagram_socket : public socket_base {
 public:
    /// The awaitable of sending and receiving batches; its result is the number of datagrams.
    using batch_transfer = lazily<detail::batch_awaiter, operation_kind, descriptor*, std::span<datagram>>;

    /// Receives one datagram.
    ///
    /// @param into  The buffer; stays valid until the await returns.
    /// @error       operation_canceled on stop and on `close`; connection_refused if no process received an earlier
    ///              datagram.
    /// @suspend     Until one arrives; resumes on the socket's context.
    /// @overlap     One receive and one send may be in flight; two receives may not (asserted).
    /// @cancel      Observes the task's stop token; no datagram is lost.
    lazily<detail::receive_from_awaiter, descriptor*, std::span<std::byte>> receive_from(
        std::span<std::byte> into) noexcept {
        return lazily<detail::receive_from_awaiter, descriptor*, std::span<std::byte>>(get(), into);
    }

    /// Receives the datagrams that have arrived, 1 to 64. @return The number of filled ones, from the front of `into`.
    batch_transfer receive_batch(std::span<datagram> into) noexcept {
        return batch_transfer(operation_kind::receive_batch, get(), into);
    }

    /// Sends one datagram, whole or not at all. @return Its error, if any.
    ///
    /// @error   message_size if it is too large; operation_canceled; the system's errors.
    /// @suspend While the send buffer is full.
    /// @overlap One receive and one send may be in flight; two sends may not (asserted).
    /// @cancel  Observes the task's stop token.
    lazily<detail::send_to_awaiter, descriptor*, std::span<const std::byte>, socket_address> send_to(
        std::span<const std::byte> from, const socket_address& to) noexcept {
        return lazily<detail::send_to_awaiter, descriptor*, std::span<const std::byte>, socket_address>(get(), from,
                                                                                                        to);
    }
    /// The same to the peer that the socket is connected to.
    lazily<detail::send_to_awaiter, descriptor*, std::span<const std::byte>, socket_address> send(
        std::span<const std::byte> from) noexcept {
        return send_to(from, socket_address(unix_endpoint()));
    }

    /// Sends all of `from` in order, 64 per system call. @return The number sent; fewer only if the next one failed.
    batch_transfer send_batch(std::span<datagram> from) noexcept {
        return batch_transfer(operation_kind::send_batch, get(), from);
    }

    /// Sets the peer: `send` sends to it, and only its datagrams are received. Never waits.
    /// @param peer  Stays valid until the await returns.
    lazily<detail::plain_awaiter, operation_kind, descriptor*, const socket_address*> connect(
        const socket_address* peer) noexcept {
        return lazily<detail::plain_awaiter, operation_kind, descriptor*, const socket_address*>(
            operation_kind::connect, get(), peer);
    }

 protected:
    using socket_base::socket_base;
    datagram_socket() noexcept = default;
    datagram_socket(datagram_socket&&) noexcept = default;
    datagram_socket& operator=(datagram_socket&&) noexcept = default;
    ~datagram_socket() = default;
};

}  // namespace corro::io
