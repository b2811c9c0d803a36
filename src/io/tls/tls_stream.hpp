// SPDX-License-Identifier: Apache-2.0
// `tls_stream`: an encrypted stream over any other stream.
//
//     auto settings = tls_context::client();
//     auto secure = co_await tls_stream<tcp_stream>::connect(std::move(*tcp), *settings, "example.com");
//
// The certificate is checked, also against the host's name, unless the context disables that. The end of the stream is
// the peer's close_notify: a connection that is cut without one gives `tls_errc::truncated`, not `end_of_stream`. The
// caller limits the time of a handshake: `with_timeout(5s, tls_stream<...>::accept(...))`.
//
// Threads: one context, that of the stream beneath.
// Cost:    a buffer of 33 KiB, another while it sends, OpenSSL's state; one recycled frame per operation, no other
//          allocation outside OpenSSL.
#pragma once

#include <cstddef>
#include <expected>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/errors.hpp"
#include "io/net/detail/kept.hpp"
#include "io/net/stream.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/environment.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_engine.hpp"
#include "io/tls/tls_errors.hpp"

namespace corro::io {

/// Decides when the next step of a handshake is computed, so that unauthenticated connections do not keep a server busy
/// with public-key operations.
struct handshake_pace {
    /// Awaited before each step that has input. @error Ends the handshake, with this error.
    [[nodiscard]] virtual task<std::error_code> next_step() = 0;

 protected:
    ~handshake_pace() = default;
};

/// An encrypted stream over another one, `Next`. Operations in progress end with operation_canceled when it is
/// destroyed.
template <stream Next>
class tls_stream {
 public:
    /// Operations keep the state alive that they need.
    using operations_keep_it = void;

    /// A closed stream.
    tls_stream() noexcept = default;
    tls_stream(tls_stream&& other) noexcept = default;
    tls_stream& operator=(tls_stream&& other) noexcept {
        if (this != &other) {
            close_for_others();
            connection_ = std::move(other.connection_);
        }
        return *this;
    }
    ~tls_stream() { close_for_others(); }

    /// Performs the handshake as the client.
    ///
    /// @param next      The connection beneath; closed when the handshake fails.
    /// @param settings  A client context.
    /// @param host      The server's name or numeric address: sent to the server (names only) and checked against its
    ///                  certificate.
    /// @error   A `tls_errc` for an error of the peer or its certificate; `truncated` if the peer closed during the
    ///          handshake; operation_canceled on stop; errors of the stream beneath.
    /// @suspend Until the handshake is over; resumes on the stream's context.
    /// @cancel  Observes the task's stop token; the connection is closed.
    [[nodiscard]] static task<std::expected<tls_stream, std::error_code>> connect(Next next, tls_context settings,
                                                                                  std::string host) {
        if (settings.is_server()) co_return std::unexpected(make_error_code(tls_errc::bad_setting));
        tls_stream made(new connection(std::move(next), settings, std::move(host)));
        const std::error_code error = co_await shake_hands(made.connection_.get());
        if (error) co_return std::unexpected(error);
        co_return std::move(made);
    }

    /// Performs the handshake as the server, with a server context. Otherwise as `connect`.
    ///
    /// @param pace  Decides when the steps are computed, and must outlive the await; nullptr: at once.
    [[nodiscard]] static task<std::expected<tls_stream, std::error_code>> accept(Next next, tls_context settings,
                                                                                 handshake_pace* pace = nullptr) {
        if (!settings.is_server()) co_return std::unexpected(make_error_code(tls_errc::bad_setting));
        tls_stream made(new connection(std::move(next), settings, std::string()));
        const std::error_code error = co_await shake_hands(made.connection_.get(), pace);
        if (error) co_return std::unexpected(error);
        co_return std::move(made);
    }

    [[nodiscard]] bool is_open() const noexcept { return connection_ && connection_->next.is_open(); }

    /// Reads the bytes that have arrived, at least one.
    ///
    /// @param into  Filled from the front; stays valid until the await returns.
    /// @return      {error, bytes}.
    /// @error       end_of_stream after the peer's close_notify; `tls_errc::truncated` if the connection ends without
    ///              one; other `tls_errc` when the peer breaks the protocol; operation_canceled on stop and `close`.
    /// @suspend     Until something has arrived and is decrypted; resumes on the stream's context.
    /// @overlap     One read and one write may be in flight.
    /// @cancel      Observes the task's stop token; no byte is lost.
    [[nodiscard]] task<io_result> read_some(std::span<std::byte> into) { return read(connection_, into, 1); }
    /// Reads until `into` is full. Otherwise as `read_some`; bytes that arrived before an error stay in `into`.
    [[nodiscard]] task<io_result> read_exact(std::span<std::byte> into) { return read(connection_, into, into.size()); }

    /// Writes at least one byte, at most two records' worth.
    ///
    /// @param from  Stays valid until the await returns.
    /// @return      {error, bytes}; `bytes` counts the encrypted bytes. On an error some of them may not have been
    ///              sent yet; they are sent before later writes.
    /// @error       operation_canceled on stop and `close`; errors of the stream beneath; broken_pipe after
    ///              `shutdown`.
    /// @suspend     While the stream beneath takes no more; resumes on the stream's context.
    /// @overlap     One read and one write may be in flight.
    /// @cancel      Observes the task's stop token.
    [[nodiscard]] task<io_result> write_some(std::span<const std::byte> from) { return write(connection_, from, 1); }
    /// Writes all of `from`. Otherwise as `write_some`.
    [[nodiscard]] task<io_result> write_all(std::span<const std::byte> from) {
        return write(connection_, from, from.size());
    }

    /// Sends close_notify and ends the sending side of the stream beneath; reading stays possible. Counts as a write.
    [[nodiscard]] task<std::error_code> shutdown() { return shut_down(connection_); }

    /// Closes the stream beneath at once, without a close_notify: the peer sees a truncated stream unless `shutdown`
    /// came first.
    void close() noexcept {
        if (connection_) connection_->next.close();
    }

    // The results of the handshake; empty for a stream that was never opened. Views are valid as long as the stream.

    /// The application protocol (ALPN), or nothing if none was agreed.
    [[nodiscard]] std::string_view protocol() const noexcept {
        return connection_ ? connection_->engine.protocol() : std::string_view();
    }
    /// "TLSv1.2" or "TLSv1.3".
    [[nodiscard]] std::string_view version() const noexcept {
        return connection_ ? connection_->engine.version() : std::string_view();
    }
    /// The cipher suite's name, such as "TLS_AES_256_GCM_SHA384".
    [[nodiscard]] std::string_view cipher() const noexcept {
        return connection_ ? connection_->engine.cipher() : std::string_view();
    }
    /// The host that the client asked for (SNI).
    [[nodiscard]] std::string_view server_name() const noexcept {
        return connection_ ? connection_->engine.server_name() : std::string_view();
    }
    /// Whether the handshake resumed an earlier session.
    [[nodiscard]] bool resumed() const noexcept { return connection_ && connection_->engine.resumed(); }

    /// The stream beneath, for its options and addresses. @pre Opened once.
    [[nodiscard]] Next& next() noexcept { return connection_->next; }

 private:
    using step = detail::tls_engine::step;

    struct connection : detail::keepable {
        connection(Next beneath, const tls_context& settings, std::string host)
            : next(std::move(beneath)), engine(settings, std::move(host)) {}
        Next next;
        detail::tls_engine engine;
        mutex sending;  // its holder sends ciphertext
    };

    explicit tls_stream(connection* made) noexcept : connection_(made) {}

    /// Ends the operations that would outlive this object.
    void close_for_others() noexcept {
        if (connection_.shared()) connection_->next.close();
    }

    /// The error to return for `error`. The operation began on an open stream; if the stream is closed now, it was
    /// closed during the operation.
    static std::error_code reason(const connection& on, std::error_code error) noexcept {
        return error == std::errc::bad_file_descriptor && !on.next.is_open() ? operation_canceled() : error;
    }

    /// Sends all pending ciphertext, including what others add during the call.
    static task<std::error_code> flush(connection* on) {
        const std::error_code stopped = co_await on->sending.lock();
        if (stopped) co_return stopped;
        co_return co_await send_pending(on);
    }

    /// The same for the holder of the lock; releases it.
    static task<std::error_code> send_pending(connection* on) {
        std::error_code error;
        while (!error && !on->engine.pending().empty()) {
            io_result sent = co_await on->next.write_some(on->engine.pending());
            on->engine.sent(sent.bytes);
            error = sent.error;
        }
        on->sending.unlock();
        co_return error;
    }

    /// Receives more ciphertext. An end of the stream here is a truncation.
    static task<std::error_code> fetch(connection* on) {
        const io_result got = co_await on->next.read_some(on->engine.room());
        on->engine.received(got.bytes);
        if (got.error == condition::end_of_stream) co_return make_error_code(tls_errc::truncated);
        co_return got.error;
    }

    static task<std::error_code> shake_hands(connection* on, handshake_pace* pace = nullptr) {
        for (;;) {
            const step came_to = on->engine.handshake();
            std::error_code error;
            // Sends an alert as well, so that the peer gets the reason.
            if (!on->engine.pending().empty()) error = co_await flush(on);
            if (came_to == step::failed) {
                on->next.close();
                co_return on->engine.error();
            }
            if (!error && came_to == step::done) co_return std::error_code();
            if (!error && came_to == step::wants_input) error = co_await fetch(on);
            if (!error && pace != nullptr) error = co_await pace->next_step();
            if (error) {
                on->next.close();
                co_return error;
            }
        }
    }

    static task<io_result> read(detail::kept<connection> on, std::span<std::byte> into, std::size_t minimum) {
        if (!on || !on->next.is_open()) {
            co_return io_result(std::make_error_code(std::errc::bad_file_descriptor), 0);
        }
        if (into.empty()) co_return io_result();
        const stop_token stop = co_await this_stop_token();
        if (stop.stop_requested()) co_return io_result(operation_canceled(), 0);
        std::size_t done = 0;
        for (;;) {
            const std::size_t pending_before = on->engine.pending().size();
            const step came_to = on->engine.read(into.subspan(done), done);
            std::error_code error;
            // A read sometimes has to send, for example an alert. A write in progress sends it too: waiting for that
            // write here would stop reading for as long as the peer does.
            if (came_to == step::wants_output) {
                error = co_await flush(on.get());
            } else if (on->engine.pending().size() > pending_before && on->sending.try_lock()) {
                error = co_await send_pending(on.get());
            }
            if (came_to == step::failed) co_return io_result(on->engine.error(), done);
            if (came_to == step::ended) co_return io_result(make_error_code(errc::end_of_stream), done);
            if (done >= minimum) co_return io_result({}, done);
            if (!error && came_to == step::wants_input) error = co_await fetch(on.get());
            if (error) co_return io_result(reason(*on, error), done);
        }
    }

    static task<io_result> write(detail::kept<connection> on, std::span<const std::byte> from, std::size_t minimum) {
        if (!on || !on->next.is_open()) {
            co_return io_result(std::make_error_code(std::errc::bad_file_descriptor), 0);
        }
        if (on->engine.shut_down_sent()) co_return io_result(std::make_error_code(std::errc::broken_pipe), 0);
        const stop_token stop = co_await this_stop_token();
        if (stop.stop_requested()) co_return io_result(operation_canceled(), 0);
        std::size_t done = 0;
        while (done < from.size()) {
            const step came_to = on->engine.write(from.subspan(done), done);
            const std::error_code error = co_await flush(on.get());
            if (came_to == step::failed) co_return io_result(on->engine.error(), done);
            if (error) co_return io_result(reason(*on, error), done);
            if (done >= minimum && done != 0) break;
        }
        co_return io_result({}, done);
    }

    static task<std::error_code> shut_down(detail::kept<connection> on) {
        if (!on || !on->next.is_open()) co_return std::make_error_code(std::errc::bad_file_descriptor);
        // First sends the rest of an earlier, stopped write; then there is space for the close_notify.
        std::error_code error = co_await flush(on.get());
        if (error) co_return reason(*on, error);
        const step came_to = on->engine.shut_down();
        error = co_await flush(on.get());
        if (error) co_return reason(*on, error);
        if (came_to == step::failed) co_return on->engine.error();
        error = co_await on->next.shutdown();
        co_return reason(*on, error);
    }

    detail::kept<connection> connection_;
};

}  // namespace corro::io
