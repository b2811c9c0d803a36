// SPDX-License-Identifier: Apache-2.0
// The base of all sockets: ownership of a descriptor, options, names, closing.
//
// Threads: one context.
#pragma once

#include <coroutine>
#include <cstddef>
#include <expected>
#include <span>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/detail/io_awaiter.hpp"
#include "io/net/socket_options.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {

namespace detail {
class file_sender;
/// Ends the pause of a task that accepts on a descriptor which is being closed.
void end_pause(accept_pause& of) noexcept;
}  // namespace detail

/// Owns a descriptor of a backend, or none. Move-only; closes on destruction.
class socket_base {
 public:
    socket_base() noexcept = default;
    socket_base(socket_base&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
    socket_base& operator=(socket_base&& other) noexcept {
        if (this != &other) {
            close();
            descriptor_ = std::exchange(other.descriptor_, nullptr);
        }
        return *this;
    }

    [[nodiscard]] bool is_open() const noexcept { return descriptor_ != nullptr; }

    /// Sets one option, such as `no_delay(true)`. @error the system's; bad_file_descriptor when closed.
    template <class Option>
    [[nodiscard]] std::error_code set_option(Option option) noexcept {
        if (descriptor_ == nullptr) return std::make_error_code(std::errc::bad_file_descriptor);
        return io().set_option(*descriptor_, Option::name, option.value);
    }
    /// Reads one option: `get_option<send_buffer>()`. The number is in the option's own unit.
    template <class Option>
    [[nodiscard]] std::expected<int, std::error_code> get_option() const noexcept {
        if (descriptor_ == nullptr) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
        return io().get_option(*descriptor_, Option::name);
    }

    /// Gives up the socket and returns its file of the operating system, for another context to `adopt`.
    /// @pre Open, and no operation waits on it (asserted). @return -1 if the backend has no files; then the socket is
    ///         kept.
    [[nodiscard]] int detach() noexcept {
        CORRO_ASSERT(descriptor_ != nullptr, "only an open socket can be detached");
        const int file = io().detach(*descriptor_);
        if (file >= 0) descriptor_ = nullptr;
        return file;
    }

    /// Closes the socket; harmless when it is closed already. Operations in progress end with operation_canceled.
    void close() noexcept {
        if (descriptor_ == nullptr) return;
        if (descriptor_->pause != nullptr) [[unlikely]]
            detail::end_pause(*descriptor_->pause);
        io().close(*std::exchange(descriptor_, nullptr));
    }

 protected:
    explicit socket_base(descriptor& owned) noexcept : descriptor_(&owned) {}
    /// Gives the descriptor up without closing it.
    [[nodiscard]] descriptor* release() noexcept { return std::exchange(descriptor_, nullptr); }
    ~socket_base() { close(); }

    [[nodiscard]] device& io() const noexcept { return *descriptor_->by; }
    [[nodiscard]] descriptor* get() const noexcept { return descriptor_; }
    [[nodiscard]] std::expected<socket_address, std::error_code> local_address() const noexcept {
        if (descriptor_ == nullptr) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
        return io().local_address(*descriptor_);
    }
    [[nodiscard]] std::expected<socket_address, std::error_code> remote_address() const noexcept {
        if (descriptor_ == nullptr) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
        return io().remote_address(*descriptor_);
    }

 private:
    descriptor* descriptor_ = nullptr;
};

namespace detail {

/// Ends the sending side; never suspends.
class shutdown_awaiter {
 public:
    explicit shutdown_awaiter(descriptor* on) noexcept : on_(on) {}
    [[nodiscard]] bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    [[nodiscard]] std::error_code await_resume() const noexcept {
        if (on_ == nullptr) return std::make_error_code(std::errc::bad_file_descriptor);
        return on_->by->shutdown_send(*on_);
    }

 private:
    descriptor* on_;
};

}  // namespace detail

/// A connected stream of bytes: the base of TCP and Unix streams. Satisfies `stream` (stream.hpp).
class stream_socket : public socket_base {
 public:
    /// The awaitable of reads and writes; its result is an io_result.
    using transfer = lazily<detail::transfer_awaiter, operation_kind, descriptor*, std::span<std::byte>, std::size_t>;

    /// Reads the bytes that have arrived, at least one.
    ///
    /// @param into  Filled from the front; stays valid until the await returns. If empty, nothing is read.
    /// @return      {error, bytes}.
    /// @error       end_of_stream when the peer has closed its sending side; operation_canceled on stop and on `close`;
    ///              the system's errors (connection_reset, ...).
    /// @suspend     Until something arrives; resumes on the stream's context.
    /// @overlap     One read and one write may be in flight; two reads may not (asserted).
    /// @cancel      Observes the task's stop token; a stopped read takes no bytes from the stream.
    transfer read_some(std::span<std::byte> into) noexcept {
        return transfer(operation_kind::receive, get(), into, std::size_t{1});
    }

    /// Reads until `into` is full. Otherwise as `read_some`; on an error `bytes` counts the bytes that arrived; they
    /// stay in `into`.
    transfer read_exact(std::span<std::byte> into) noexcept {
        return transfer(operation_kind::receive, get(), into, into.size());
    }

    /// Writes as much as the kernel takes, at least one byte.
    ///
    /// @param from  Stays valid until the await returns. If empty, nothing is written.
    /// @return      {error, bytes}; `bytes` counts the bytes that the kernel took even when `error` is
    ///              set.
    /// @error       operation_canceled on stop and on `close`; broken_pipe, connection_reset and the like.
    /// @suspend     While the send buffer is full; resumes on the stream's context.
    /// @overlap     One read and one write may be in flight; two writes may not (asserted).
    /// @cancel      Observes the task's stop token.
    transfer write_some(std::span<const std::byte> from) noexcept { return write(from, 1); }

    /// Writes all of `from`. Otherwise as `write_some`.
    transfer write_all(std::span<const std::byte> from) noexcept { return write(from, from.size()); }

    /// Writes as much as the kernel takes at once, and never waits: for plain code that writes to many sockets one
    /// after the other.
    ///
    /// @param from  Not empty.
    /// @return      {error, bytes}. Neither: nothing was written, so await `write_some`. The send buffer is full,
    ///              another write is in progress, or the backend gathers sends (io_uring).
    /// @error       bad_file_descriptor when closed; broken_pipe, connection_reset and the like.
    [[nodiscard]] io_result try_write(std::span<const std::byte> from) noexcept {
        if (get() == nullptr) return {std::make_error_code(std::errc::bad_file_descriptor), 0};
        operation what(operation_kind::send, get());
        // A backend never writes through the buffer of a send.
        what.data = const_cast<std::byte*>(from.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        what.size = from.size();
        if (from.empty() || !io().try_send(what)) return {};
        return {detail::status_code(what.status), what.bytes};
    }

    /// Tells the peer that no more bytes follow; reading stays possible.
    [[nodiscard]] std::error_code shutdown_send() noexcept {
        if (get() == nullptr) return std::make_error_code(std::errc::bad_file_descriptor);
        return io().shutdown_send(*get());
    }
    /// The same for `co_await`, as on every stream; here it never suspends.
    lazily<detail::shutdown_awaiter, descriptor*> shutdown() noexcept {
        return lazily<detail::shutdown_awaiter, descriptor*>(get());
    }

 protected:
    using socket_base::socket_base;
    stream_socket() noexcept = default;
    stream_socket(stream_socket&&) noexcept = default;
    stream_socket& operator=(stream_socket&&) noexcept = default;
    ~stream_socket() = default;

 private:
    friend class detail::file_sender;
    transfer write(std::span<const std::byte> from, std::size_t minimum) noexcept {
        // A backend never writes through the buffer of a send.
        auto* data = const_cast<std::byte*>(from.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        return transfer(operation_kind::send, get(), std::span(data, from.size()), minimum);
    }
};

}  // namespace corro::io
