// SPDX-License-Identifier: Apache-2.0
#include "http/server.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "http/write_head.hpp"
#include "io/loop/context.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::http {

/// Counts a connection for as long as it lives.
class server::counted {
 public:
    explicit counted(server& on) noexcept : on_(&on) {
        ++on_->connections_count_;
        on_->none_.reset();
        if (on_->connections_count_ >= on_->options_.connections_max) on_->room_.reset();
    }
    counted(counted&& other) noexcept : on_(std::exchange(other.on_, nullptr)) {}
    counted& operator=(counted&&) = delete;
    ~counted() {
        if (on_ == nullptr) return;
        if (--on_->connections_count_ == 0) on_->none_.set();
        on_->room_.set();
    }

 private:
    server* on_;
};

/// The body of `serve`'s scope.
class server::accepting {
 public:
    accepting(server* on, io::tcp_acceptor* from, securing secure) noexcept
        : on_(on), from_(from), secure_(std::move(secure)) {}
    io::task<std::error_code> operator()(io::task_scope& connections) {
        return on_->accept_all(&connections, from_, &secure_);
    }

 private:
    server* on_;
    io::tcp_acceptor* from_;
    securing secure_;
};

server::server(io::context& on, handler answer, server_options options)
    : context_(&on), handler_(std::move(answer)), options_(options) {}

server::~server() {
    CORRO_ASSERT(connections_count_ == 0 || context_->tearing_down(), "a server must outlive its connections");
}

void server::link(exchange& added) noexcept {
    added.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &added;
    first_ = &added;
}

void server::unlink(exchange& removed) noexcept {
    (removed.previous_ == nullptr ? first_ : removed.previous_->next_) = removed.next_;
    if (removed.next_ != nullptr) removed.next_->previous_ = removed.previous_;
}

void server::drain() noexcept {
    draining_ = true;
    for (io::stop_source* acceptance : acceptances_) acceptance->request_stop();
    for (exchange* one = first_; one != nullptr; one = one->next_) {
        if (one->idle_) one->stop_.request_stop();
    }
}

io::task<std::error_code> server::serve(io::tcp_acceptor* from, securing secure) {
    accepting body(this, from, std::move(secure));
    const std::error_code ended = co_await io::with_scope(std::move(body));
    co_return ended;
}

io::task<std::error_code> server::accept_all(io::task_scope* connections, io::tcp_acceptor* from,
                                             const securing* secure) {
    io::stop_source accept_stop;
    io::stop_relay relay(accept_stop);
    relay.listen(co_await io::this_stop_token());
    acceptances_.push_back(&accept_stop);
    std::error_code ended;
    while (!draining_ && !ended) {
        if (!room_.is_set()) {
            ended = co_await io::detail::awaited_under<std::error_code>(io::detail::as_task(room_.wait()), accept_stop);
            continue;
        }
        using accepted_stream = std::expected<io::tcp_stream, std::error_code>;
        accepted_stream accepted = co_await io::detail::awaited_under<accepted_stream>(from->accept(), accept_stop);
        if (accepted) {
            connections->spawn(serve_accepted(std::move(*accepted), secure, counted(*this)));
        } else {
            ended = accepted.error();
        }
    }
    relay.unregister();
    std::erase(acceptances_, &accept_stop);
    if (draining_) {
        ended.clear();
        from->close();
        const auto all_ended = co_await io::with_timeout(options_.drain, none_.wait());
        if (all_ended && *all_ended) ended = *all_ended;
    }
    connections->request_stop();
    co_return ended;
}

io::task<> server::serve_accepted(io::tcp_stream stream, const securing* secure, counted) {
    // Small responses are sent at once; a socket without this option works as well.
    (void)stream.set_option(io::no_delay(true));
    if (!*secure) {
        co_await serve_counted(io::any_stream(std::move(stream)));
        co_return;
    }
    io::any_stream secured;
    const auto error = co_await io::with_timeout(options_.time.head, (*secure)(std::move(stream), &secured));
    if (error && !*error) co_await serve_counted(std::move(secured));
}

io::task<> server::serve_stream(io::any_stream stream) {
    const counted one_more(*this);
    co_await serve_counted(std::move(stream));
}

io::task<> server::serve_counted(io::any_stream stream) {
    exchange on(stream, *context_, *this);
    io::stop_relay relay(on.stop_);
    relay.listen(co_await io::this_stop_token());
    link(on);
    const bool in_order = co_await io::detail::awaited_under<bool>(converse(&on), on.stop_);
    unlink(on);
    relay.unregister();
    if (in_order) (void)co_await io::with_timeout(options_.time.linger, send_close(&on));
    stream.close();
}

/// Ends the connection so that the last response arrives: closing a socket with unread bytes resets the connection, and
/// the peer may lose bytes.
io::task<> server::send_close(exchange* on) {
    std::error_code error = co_await on->stream_->shutdown();
    std::array<std::byte, 4096> thrown_away;
    while (!error) {
        const io::io_result got = co_await on->stream_->read_some(thrown_away);
        error = got.error;
    }
}

/// Serves a connection. @return Whether it ends in an orderly way.
io::task<bool> server::converse(exchange* on) {
    bool go_on = true;
    while (go_on) {
        const std::error_code error = co_await read_head(on);
        if (!error) {
            go_on = co_await answer(on);
            continue;
        }
        if (error.category() == error_category()) {
            on->begin_request();
            on->refuse(status_of(static_cast<errc>(error.value())), error.message());
        } else if (error == io::condition::timed_out && on->in_.unread_bytes() != 0) {
            on->begin_request();
            on->refuse(408, "the request took too long");
        } else if (error != io::condition::end_of_stream && error != io::condition::timed_out && !on->idle_) {
            co_return false;
        }
        go_on = false;
    }
    if (on->state_ == exchange::response_state::upgraded) co_return !on->broken_;
    const std::error_code error = co_await on->flush();
    co_return !error && !on->broken_;
}

/// Reads until a head is complete and parses it.
io::task<std::error_code> server::read_head(exchange* on) {
    // A refusal refers to this until the head is known.
    on->head_ = request_head();
    std::string_view text;
    for (;;) {
        const auto found = on->in_.find_head();
        if (!found) co_return make_error_code(found.error());
        text = *found;
        if (!text.empty()) break;
        const std::error_code error = co_await wait_for_head(on);
        if (error) co_return error;
    }
    auto parsed = parse_request(text, on->fields_);
    if (parsed && on->in_.make_body_room(*parsed)) parsed = parse_request(*on->in_.find_head(), on->fields_);
    if (!parsed) co_return make_error_code(parsed.error());
    on->head_ = *parsed;
    const auto begun = on->in_.begin_body(on->head_);
    if (!begun) co_return make_error_code(begun.error());
    co_return std::error_code();
}

/// Sends waiting bytes, then reads until a head is complete.
io::task<std::error_code> server::wait_for_head(exchange* on) {
    std::error_code error = co_await on->flush();
    if (error) co_return error;
    if (on->in_.unread_bytes() == 0) {
        // Idle: there is no outstanding request, so a draining server may end the connection here.
        if (draining_) co_return io::operation_canceled();
        on->idle_ = true;
        error = co_await on->fill(options_.time.idle);
        if (error) co_return error;
        on->idle_ = false;
    }
    if (const auto found = on->in_.find_head(); !found || !found->empty()) co_return std::error_code();
    const io::steady_time deadline = context_->now() + options_.time.head;
    for (;;) {
        error = co_await on->fill(deadline - context_->now());
        if (error) co_return error;
        const auto found = on->in_.find_head();
        if (!found || !found->empty()) co_return std::error_code();
    }
}

io::task<> server::run_handler(exchange* on) {
    bool failed = false;
    try {
        co_await handler_(on);
    } catch (...) {
        failed = true;
    }
    if (!failed) co_return;
    if (!on->responded()) {
        on->refuse(500, "the request could not be handled");
    } else {
        // An incomplete response: only the end of the connection can report that.
        on->broken_ = on->state_ != exchange::response_state::complete;
        on->close_after();
    }
}

/// Answers the request. @return Whether the connection is kept.
io::task<bool> server::answer(exchange* on) {
    using state = exchange::response_state;
    ++requests_count_;
    on->begin_request();
    if (on->head_.method == method::connect) {
        on->refuse(501, "this is no proxy");
        co_return false;
    }
    co_await run_handler(on);
    if (on->state_ == state::upgraded || on->broken_) co_return false;
    if (on->state_ == state::none) {
        const std::error_code error = on->body_error_;
        if (error.category() == error_category()) {
            on->refuse(status_of(static_cast<errc>(error.value())), error.message());
        } else if (error == io::condition::timed_out) {
            on->refuse(408, "the body took too long");
        } else if (error) {
            on->broken_ = true;
            co_return false;
        } else {
            on->refuse(500, "the request was not answered");
        }
    } else if (on->state_ != state::complete) {
        on->finish();
    }
    if (!on->keep_alive_) co_return false;
    if (!on->in_.body_ended()) {
        const bool gone = co_await on->discard_body();
        if (!gone) co_return false;
    }
    on->in_.end_message();
    if (on->out_.size() >= options_.batch_bytes) {
        const std::error_code error = co_await on->flush();
        if (error) co_return false;
    }
    co_return !draining_;
}

}  // namespace corro::http
