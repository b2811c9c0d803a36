// An HTTP/1.1 server: keep-alive, pipelining, limits on sizes and on time, an orderly end.
//
//     http::server pages(ctx, [](http::exchange* on) -> task<> {
//         on->respond(200, "text/plain", "hello\n");
//         co_return;
//     });
//     auto ended = co_await pages.serve(&acceptor);
//
// Requests of one connection are answered in their order, one at a time; the responses to what was pipelined leave
// together. A request that is malformed or too large is answered with the status that says so, and the connection ends.
//
// Limits:  server_options.
// Threads: one context; for more, a server and an acceptor (with `reuse_port`) on each.
// Cost:    per request: the handler's recycled frame, one read and one write for as many requests as arrived together.
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <system_error>
#include <vector>

#include "io/event.hpp"
#include "io/http/date_line.hpp"
#include "io/http/exchange.hpp"
#include "io/scope.hpp"
#include "io/stream.hpp"
#include "io/tcp.hpp"

namespace corro::io::http {

/// Answers one request; called again and again, for many connections side by side. What escapes from it becomes 500.
using handler = std::function<task<>(exchange*)>;

/// Makes an encrypted stream of an accepted one and puts it where the pointer says; runs within the connection's own
/// task and time. A connection that it fails for is dropped.
using securing = std::function<task<std::error_code>(tcp_stream, any_stream*)>;

/// Serves the connections of any number of acceptors.
class server {
 public:
    /// Serves on `on`, whose tasks then call `answer`.
    server(context& on, handler answer, server_options options = server_options());
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    /// @pre Nothing is served any more (asserted), except while the context is torn down.
    ~server();

    /// Accepts and serves connections until `drain` or a stop, then ends them.
    ///
    /// @param from    Stays valid until the await returns.
    /// @param secure  Applied to each connection first; empty for plain ones.
    /// @return        No error after `drain`; operation_canceled on stop; what accepting reports.
    /// @suspend       Until every connection has ended; resumes on the server's context.
    /// @overlap       Any number, with an acceptor each.
    /// @cancel        Stops the connections and joins them.
    [[nodiscard]] task<std::error_code> serve(tcp_acceptor* from, securing secure = {});

    /// Serves one connection until its end. @suspend Until then. @cancel Ends the connection.
    [[nodiscard]] task<> serve_stream(any_stream stream);

    /// No more connections, no more requests: idle connections end at once, others after the response under way, and
    /// after `server_options::drain` whatever they are doing.
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

    task<std::error_code> accept_all(task_scope* connections, tcp_acceptor* from, const securing* secure);
    task<> serve_accepted(tcp_stream stream, const securing* secure, counted one_more);
    task<> serve_counted(any_stream stream);
    task<bool> converse(exchange* on);
    task<std::error_code> read_head(exchange* on);
    task<std::error_code> wait_for_head(exchange* on);
    task<bool> answer(exchange* on);
    task<> run_handler(exchange* on);
    task<> say_goodbye(exchange* on);
    void link(exchange& added) noexcept;
    void unlink(exchange& removed) noexcept;

    context* context_;
    handler handler_;
    server_options options_;
    date_line date_;
    exchange* first_ = nullptr;
    std::vector<stop_source*> acceptances_;
    manual_event room_{true};  // set while there are fewer connections than allowed
    manual_event none_{true};  // set while there is no connection
    std::size_t connections_count_ = 0;
    std::uint64_t requests_count_ = 0;
    bool draining_ = false;
};

}  // namespace corro::io::http
