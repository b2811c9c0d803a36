// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 server: keep-alive, pipelining, limits on sizes and on time, an orderly end.
//
//     http::server pages(ctx, [](http::exchange* on) -> task<> {
//         on->respond(200, "text/plain", "hello\n");
//         co_return;
//     });
//     auto ended = co_await pages.serve(&acceptor);
//
// Requests of one connection are answered in their order, one at a time; responses to pipelined requests are sent
// together. A malformed or too large request is answered with the matching status, and the connection ends.
//
// Limits:  server_options.
// Threads: one context; for more, a server and an acceptor (with `reuse_port`) on each.
// Cost:    per request: the handler's recycled frame, one read and one write for all requests that arrived together.
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <system_error>
#include <vector>

#include "http/date_line.hpp"
#include "http/exchange.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"

namespace corro::http {

/// Answers one request; called for each request, for many connections concurrently. An escaping exception becomes 500.
using handler = std::function<io::task<>(exchange*)>;

/// Makes an encrypted stream from an accepted one and stores it at the pointer; runs in the connection's own task and
/// within its time limits. A connection for which it fails is dropped.
using securing = std::function<io::task<std::error_code>(io::tcp_stream, io::any_stream*)>;

/// Serves the connections of any number of acceptors.
class server {
 public:
    /// Serves on `on`, and calls `answer` there.
    server(io::context& on, handler answer, server_options options = server_options());
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    /// @pre No connection is served any more (asserted), except while the context is torn down.
    ~server();

    /// Accepts and serves connections until `drain` or a stop, then ends them.
    ///
    /// @param from    Stays valid until the await returns.
    /// @param secure  Applied to each connection first; empty for plain ones.
    /// @return        No error after `drain`; operation_canceled on stop; errors of accepting.
    /// @suspend       Until every connection has ended; resumes on the server's context.
    /// @overlap       Any number, with an acceptor each.
    /// @cancel        Stops the connections and joins them.
    [[nodiscard]] io::task<std::error_code> serve(io::tcp_acceptor* from, securing secure = {});

    /// Serves one connection until its end. @suspend Until then. @cancel Ends the connection.
    [[nodiscard]] io::task<> serve_stream(io::any_stream stream);

    /// Ends serving: idle connections end at once, others after the current response, and all after
    /// `server_options::drain`.
    void drain() noexcept;

    [[nodiscard]] bool draining() const noexcept { return draining_; }
    [[nodiscard]] const server_options& options() const noexcept { return options_; }
    [[nodiscard]] std::size_t connections_count() const noexcept { return connections_count_; }
    [[nodiscard]] std::uint64_t requests_count() const noexcept { return requests_count_; }

    /// The Date field for now.
    [[nodiscard]] std::string_view date() noexcept { return date_.at(context_->wall_now()); }

 private:
    class accepting;
    class counted;

    io::task<std::error_code> accept_all(io::task_scope* connections, io::tcp_acceptor* from, const securing* secure);
    io::task<> serve_accepted(io::tcp_stream stream, const securing* secure, counted one_more);
    io::task<> serve_counted(io::any_stream stream);
    io::task<bool> converse(exchange* on);
    io::task<std::error_code> read_head(exchange* on);
    io::task<std::error_code> wait_for_head(exchange* on);
    io::task<bool> answer(exchange* on);
    io::task<> run_handler(exchange* on);
    io::task<> send_close(exchange* on);
    void link(exchange& added) noexcept;
    void unlink(exchange& removed) noexcept;

    io::context* context_;
    handler handler_;
    server_options options_;
    date_line date_;
    exchange* first_ = nullptr;
    std::vector<io::stop_source*> acceptances_;
    io::manual_event room_{true};  // set while there are fewer connections than allowed
    io::manual_event none_{true};  // set while there is no connection
    std::size_t connections_count_ = 0;
    std::uint64_t requests_count_ = 0;
    bool draining_ = false;
};

}  // namespace corro::http
