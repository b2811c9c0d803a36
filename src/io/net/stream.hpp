// SPDX-License-Identifier: Apache-2.0
// Streams: the transport of HTTP, WebSocket and TLS.
//
// `stream` is the smallest interface of a connected stream of bytes. TCP and Unix streams satisfy it, and so does each
// layer over one of them. `any_stream` hides the type, for code that is compiled once for plain and encrypted
// connections. `read_exact` and `write_all` work on every stream.
//
// Threads: one context; that of the stream.
// Cost:    `any_stream`: one allocation when it is made, one virtual call and one recycled frame per operation.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include "io/net/detail/kept.hpp"
#include "io/result.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// An awaitable with the result T.
template <class Awaitable, class T>
concept awaitable_of = std::same_as<std::remove_cvref_t<detail::await_result<Awaitable>>, T>;

/// A connected stream of bytes. The four calls must satisfy, beyond their signatures:
///
/// - `read_some(into)` reads the bytes that have arrived, at least one unless `into` is empty. `end_of_stream` if the
///   peer has ended its side in an orderly way; a layer that can distinguish a cut connection reports another code for
///   it.
/// - `write_some(from)` takes at least one byte unless `from` is empty. `bytes` counts the bytes that the stream took,
///   also when `error` is set; they are sent before any later ones.
/// - `shutdown()` tells the peer that no more bytes follow; reading stays possible.
/// - `close()` gives the stream up at once; operations in progress end with `operation_canceled`. Closing twice is
///   harmless, operations on a closed stream return `bad_file_descriptor`.
///
/// Destroying a stream, or assigning another one to it, closes it: the streams of this library keep the state of their
/// operations until these have ended with `operation_canceled`.
///
/// One read and one write may be in flight at a time; a shutdown counts as a write. Each operation observes the stop
/// token of the task that awaits it; a stopped read loses no bytes.
template <class Stream>
concept stream =
    std::movable<Stream> && requires(Stream& on, std::span<std::byte> into, std::span<const std::byte> from) {
        { on.read_some(into) } -> awaitable_of<io_result>;
        { on.write_some(from) } -> awaitable_of<io_result>;
        { on.shutdown() } -> awaitable_of<std::error_code>;
        { on.close() } noexcept;
        { std::as_const(on).is_open() } noexcept -> std::same_as<bool>;
    };

namespace detail {

template <stream Stream>
task<io_result> read_in_parts(Stream* on, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done != into.size()) {
        io_result got = co_await on->read_some(into.subspan(done));
        done += got.bytes;
        if (!got) co_return io_result(got.error, done);
    }
    co_return io_result({}, done);
}

template <stream Stream>
task<io_result> write_in_parts(Stream* on, std::span<const std::byte> from) {
    std::size_t done = 0;
    while (done != from.size()) {
        io_result sent = co_await on->write_some(from.subspan(done));
        done += sent.bytes;
        if (!sent) co_return io_result(sent.error, done);
    }
    co_return io_result({}, done);
}

}  // namespace detail

/// Reads until `into` is full.
///
/// @param into  Filled from the front; stays valid until the await returns.
/// @return      {error, bytes}; `bytes` counts the bytes that arrived even when `error` is set.
/// @error       As `read_some`.
/// @suspend     Until all bytes have arrived; resumes on the stream's context.
/// @overlap     One read and one write may be in flight.
/// @cancel      Observes the task's stop token; bytes already read stay in `into`.
template <stream Stream>
[[nodiscard]] auto read_exact(Stream& on, std::span<std::byte> into) noexcept {
    if constexpr (requires { on.read_exact(into); }) {
        return on.read_exact(into);
    } else {
        return detail::read_in_parts(&on, into);
    }
}

/// Writes all of `from`, which stays valid until the await returns. Otherwise as `read_exact`, with `write_some`.
template <stream Stream>
[[nodiscard]] auto write_all(Stream& on, std::span<const std::byte> from) noexcept {
    if constexpr (requires { on.write_all(from); }) {
        return on.write_all(from);
    } else {
        return detail::write_in_parts(&on, from);
    }
}

/// Owns a stream of any kind, or none. Satisfies `stream` itself. Operations in progress end with operation_canceled
/// when it is destroyed.
class any_stream {
 public:
    /// A closed stream.
    any_stream() noexcept = default;

    /// Takes over `hidden`.
    template <class Stream>
        requires(!std::same_as<Stream, any_stream> && stream<Stream>)
    any_stream(Stream hidden) : hidden_(new holder<Stream>(std::move(hidden))) {}  // NOLINT: implicit

    any_stream(any_stream&& other) noexcept = default;
    any_stream& operator=(any_stream&& other) noexcept {
        if (this != &other) {
            close_for_others();
            hidden_ = std::move(other.hidden_);
        }
        return *this;
    }
    ~any_stream() { close_for_others(); }

    [[nodiscard]] bool is_open() const noexcept { return hidden_ && hidden_->is_open(); }

    /// As the hidden stream's own. `bad_file_descriptor` if there is none.
    [[nodiscard]] task<io_result> read_some(std::span<std::byte> into) {
        return hidden_ ? hidden_->read_some(into) : refused();
    }
    /// As `read_some`, until `into` is full.
    [[nodiscard]] task<io_result> read_exact(std::span<std::byte> into) {
        return hidden_ ? hidden_->read_exact(into) : refused();
    }
    /// As the hidden stream's own.
    [[nodiscard]] task<io_result> write_some(std::span<const std::byte> from) {
        return hidden_ ? hidden_->write_some(from) : refused();
    }
    /// As `write_some`, until all of `from` is taken.
    [[nodiscard]] task<io_result> write_all(std::span<const std::byte> from) {
        return hidden_ ? hidden_->write_all(from) : refused();
    }
    /// As the hidden stream's own.
    [[nodiscard]] task<std::error_code> shutdown() { return hidden_ ? hidden_->shutdown() : refused_shutdown(); }
    void close() noexcept {
        if (hidden_) hidden_->close();
    }

    /// The hidden stream if it is a `Stream`; null otherwise.
    template <stream Stream>
    [[nodiscard]] Stream* get_if() noexcept {
        auto* held = dynamic_cast<holder<Stream>*>(hidden_.get());
        return held != nullptr ? &held->held : nullptr;
    }

 private:
    struct interface : detail::keepable {
        virtual ~interface() = default;
        [[nodiscard]] virtual bool is_open() const noexcept = 0;
        [[nodiscard]] virtual task<io_result> read_some(std::span<std::byte> into) = 0;
        [[nodiscard]] virtual task<io_result> read_exact(std::span<std::byte> into) = 0;
        [[nodiscard]] virtual task<io_result> write_some(std::span<const std::byte> from) = 0;
        [[nodiscard]] virtual task<io_result> write_all(std::span<const std::byte> from) = 0;
        [[nodiscard]] virtual task<std::error_code> shutdown() = 0;
        virtual void close() noexcept = 0;
    };

    template <stream Stream>
    struct holder final : interface {
        explicit holder(Stream hidden) : held(std::move(hidden)) {}
        [[nodiscard]] bool is_open() const noexcept override { return held.is_open(); }
        [[nodiscard]] task<io_result> read_some(std::span<std::byte> into) override {
            return keep(held.read_some(into));
        }
        [[nodiscard]] task<io_result> read_exact(std::span<std::byte> into) override {
            return keep(io::read_exact(held, into));
        }
        [[nodiscard]] task<io_result> write_some(std::span<const std::byte> from) override {
            return keep(held.write_some(from));
        }
        [[nodiscard]] task<io_result> write_all(std::span<const std::byte> from) override {
            return keep(io::write_all(held, from));
        }
        [[nodiscard]] task<std::error_code> shutdown() override { return keep(held.shutdown()); }
        void close() noexcept override { held.close(); }

        /// The operation as a task that keeps the stream alive.
        template <class Operation>
        [[nodiscard]] auto keep(Operation begun) -> task<detail::task_value_of<Operation>> {
            if constexpr (detail::is_task<Operation> && requires { typename Stream::operations_keep_it; }) {
                return begun;
            } else {
                return run(detail::kept<holder>(this), std::move(begun));
            }
        }
        template <class Operation>
        [[nodiscard]] static task<detail::task_value_of<Operation>> run([[maybe_unused]] detail::kept<holder> self,
                                                                        Operation begun) {
            co_return co_await std::move(begun);
        }

        Stream held;
    };

    static task<io_result> refused() { co_return io_result(std::make_error_code(std::errc::bad_file_descriptor), 0); }
    static task<std::error_code> refused_shutdown() { co_return std::make_error_code(std::errc::bad_file_descriptor); }

    /// Ends the operations that would outlive this object.
    void close_for_others() noexcept {
        if (hidden_.shared()) hidden_->close();
    }

    detail::kept<interface> hidden_;
};

}  // namespace corro::io
