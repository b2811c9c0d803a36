// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "http/server.hpp"
#include "http/write_head.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::http {
namespace {

/// A buffer larger than this is released when it is empty.
constexpr std::size_t kept_bytes_max = 1U << 20U;

constexpr bool may_have_body(unsigned status) noexcept {
    return status >= 200 && status != 204 && status != 304;
}

}  // namespace

exchange::exchange(io::any_stream& stream, io::context& on, server& owner)
    : stream_(&stream),
      context_(&on),
      server_(&owner),
      in_(owner.options().limits),
      fields_(owner.options().limits.fields_count) {}

void exchange::begin_request() noexcept {
    state_ = response_state::none;
    keep_alive_ = head_.keep_alive && !server_->draining();
    continue_owed_ = head_.expects_continue && head_.body != body_kind::none && in_.unread_bytes() == 0;
    body_bytes_ = 0;
    body_error_.clear();
    transfer_begun_ = {};
}

io::task<std::error_code> exchange::fill(std::chrono::nanoseconds allowed) {
    const auto got = co_await io::with_timeout(allowed, stream_->read_some(in_.room()));
    if (!got) co_return got.error();
    in_.commit(got->bytes);
    co_return got->error;
}

io::task<std::error_code> exchange::send(std::span<const std::byte> bytes) {
    if (broken_) co_return std::make_error_code(std::errc::broken_pipe);
    const std::chrono::nanoseconds allowed = server_->options().time.transfer_allowance(bytes.size());
    const auto sent = co_await io::with_timeout(allowed, stream_->write_all(bytes));
    const std::error_code error = sent ? sent->error : sent.error();
    if (error) {
        broken_ = true;
        keep_alive_ = false;
    }
    co_return error;
}

io::task<std::error_code> exchange::flush() {
    if (out_.empty()) co_return std::error_code();
    const std::error_code error = co_await send(std::as_bytes(std::span(out_)));
    out_.clear();
    if (out_.capacity() > kept_bytes_max) out_.shrink_to_fit();
    co_return error;
}

io::task<std::expected<std::string_view, std::error_code>> exchange::read_some_of_body() {
    const time_limits& time = server_->options().time;
    for (;;) {
        if (body_error_) co_return std::unexpected(body_error_);
        const auto piece = in_.take_body();
        if (!piece) {
            body_error_ = make_error_code(piece.error());
            continue;
        }
        body_bytes_ += piece->size();
        if (!piece->empty() || in_.body_ended()) co_return *piece;
        if (continue_owed_) {
            continue_owed_ = false;
            out_.append("HTTP/1.1 100 Continue\r\n\r\n");
        }
        if (!out_.empty()) {
            body_error_ = co_await flush();
            if (body_error_) continue;
        }
        const io::steady_time now = context_->now();
        if (transfer_begun_ == io::steady_time{}) transfer_begun_ = now;
        const std::chrono::nanoseconds left = transfer_begun_ + time.transfer_allowance(body_bytes_) - now;
        body_error_ = co_await fill(left);
        if (body_error_ == io::condition::end_of_stream) body_error_ = make_error_code(errc::incomplete_message);
    }
}

io::task<std::expected<std::string_view, std::error_code>> exchange::read_body() {
    whole_body_.clear();
    for (;;) {
        const auto piece = co_await read_some_of_body();
        if (!piece) co_return std::unexpected(piece.error());
        if (piece->empty()) co_return std::string_view(whole_body_);
        // A body that is completely in the buffer is not copied.
        if (in_.body_ended() && whole_body_.empty()) co_return *piece;
        whole_body_.append(*piece);
    }
}

io::task<> exchange::wait_for_end() {
    while (in_.body_ended()) {
        const std::span<std::byte> room = in_.room();
        if (room.empty()) break;
        const io::io_result got = co_await stream_->read_some(room);
        in_.commit(got.bytes);
        if (got.error) co_return;
    }
    io::manual_event never;
    static_cast<void>(co_await never.wait());
}

std::string_view exchange::trailer(std::string_view name) {
    if (head_.body != body_kind::chunked || !in_.body_ended()) return {};
    trailer_fields_.resize(server_->options().limits.trailers_count);
    const auto fields = detail::parse_fields(in_.trailers(), trailer_fields_);
    return fields ? find_field(*fields, name) : std::string_view();
}

bool exchange::will_discard_body() const noexcept {
    if (in_.body_ended()) return true;
    if (continue_owed_ || body_error_) return false;
    return head_.body == body_kind::chunked ||
           head_.content_length - body_bytes_ <= server_->options().discarded_bytes_max;
}

/// Reads the rest of the body. @return Whether the connection can be kept.
io::task<bool> exchange::discard_body() {
    const std::uint64_t most = body_bytes_ + server_->options().discarded_bytes_max;
    while (!in_.body_ended()) {
        const auto piece = co_await read_some_of_body();
        if (!piece || body_bytes_ > most) co_return false;
    }
    co_return true;
}

void exchange::append_head(unsigned status, std::span<const field> fields) {
    CORRO_ASSERT(state_ == response_state::none, "a request must be answered only once");
    if (!will_discard_body()) keep_alive_ = false;
    append_status_line(out_, status);
    out_.append(server_->date());
    if (!keep_alive_ && status != 101) {
        out_.append("Connection: close\r\n");
    } else if (head_.version_minor == 0) {
        out_.append("Connection: keep-alive\r\n");
    }
    for (const field& one : fields) append_field(out_, one.name, one.value);
}

void exchange::respond(unsigned status, std::string_view content_type, std::string_view body) {
    const field type("Content-Type", content_type);
    respond(status, std::span(&type, content_type.empty() ? 0 : 1), body);
}

void exchange::respond(unsigned status, std::span<const field> fields, std::string_view body) {
    append_head(status, fields);
    state_ = response_state::complete;
    if (!may_have_body(status)) {
        out_.append("\r\n");
        return;
    }
    out_.append("Content-Length: ");
    append_number(out_, body.size());
    out_.append("\r\n\r\n");
    if (head_.method != method::head) out_.append(body);
}

void exchange::begin(unsigned status, std::span<const field> fields, std::optional<std::uint64_t> length) {
    const bool bodiless = !may_have_body(status);
    if (!length && !bodiless && head_.version_minor == 0) keep_alive_ = false;
    append_head(status, fields);
    if (bodiless) {
        length = 0;
    } else if (length) {
        out_.append("Content-Length: ");
        append_number(out_, *length);
        out_.append("\r\n");
    } else if (head_.version_minor != 0) {
        out_.append("Transfer-Encoding: chunked\r\n");
    }
    out_.append("\r\n");
    left_to_write_ = length.value_or(0);
    state_ = length                     ? response_state::sized
             : head_.version_minor != 0 ? response_state::chunked
                                        : response_state::until_close;
}

io::task<std::error_code> exchange::write(std::string_view piece) {
    CORRO_ASSERT(
        state_ == response_state::sized || state_ == response_state::chunked || state_ == response_state::until_close,
        "`write` is called only after `begin`");
    if (state_ == response_state::sized) {
        CORRO_ASSERT(piece.size() <= left_to_write_ || head_.method == method::head,
                     "no more bytes may be written than announced");
        left_to_write_ -= std::min<std::uint64_t>(left_to_write_, piece.size());
    }
    if (piece.empty() || head_.method == method::head) co_return std::error_code();
    const bool chunked = state_ == response_state::chunked;
    if (chunked) {
        std::array<char, 18> room;
        out_.append(chunk_size_line(piece.size(), room));
    }
    const std::size_t batch_bytes = server_->options().batch_bytes;
    std::error_code error;
    if (piece.size() < batch_bytes) {
        out_.append(piece);
    } else {
        // Too large to copy: sent directly.
        error = co_await flush();
        if (!error) error = co_await send(std::as_bytes(std::span(piece)));
    }
    if (chunked) out_.append("\r\n");
    if (!error && out_.size() >= batch_bytes) error = co_await flush();
    co_return error;
}

void exchange::finish(std::span<const field> trailers) {
    if (state_ == response_state::chunked && head_.method != method::head) {
        out_.append("0\r\n");
        for (const field& one : trailers) append_field(out_, one.name, one.value);
        out_.append("\r\n");
    }
    // Only the end of the connection can report a body shorter than announced.
    if (state_ == response_state::sized && left_to_write_ != 0 && head_.method != method::head) keep_alive_ = false;
    if (state_ == response_state::until_close) keep_alive_ = false;
    state_ = response_state::complete;
}

io::task<std::error_code> exchange::upgrade(std::string_view protocol, std::span<const field> fields) {
    append_head(101, fields);
    append_field(out_, "Connection", "Upgrade");
    append_field(out_, "Upgrade", protocol);
    out_.append("\r\n");
    state_ = response_state::upgraded;
    keep_alive_ = false;
    co_return co_await flush();
}

void exchange::refuse(unsigned status, std::string_view why) {
    keep_alive_ = false;
    std::string text(why);
    text.push_back('\n');
    respond(status, "text/plain; charset=utf-8", text);
}

}  // namespace corro::http
