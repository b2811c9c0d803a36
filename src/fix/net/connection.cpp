// SPDX-License-Identifier: Apache-2.0
#include "fix/net/connection.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <utility>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/result.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::fix {
namespace {

/// A resend is written in pieces of this size, between which other messages are read.
constexpr std::size_t resend_bytes = 64U * 1024;

/// The longest time that the last bytes of a session may take to leave.
constexpr std::chrono::seconds farewell_timeout{2};

io::task<io::io_result> read_some(io::transport_stream* stream, std::span<char> into) {
    const std::span<std::byte> bytes = std::as_writable_bytes(into);
    io::io_result read;
    if (io::stream_socket* const socket = stream->socket()) [[likely]] {
        read = co_await socket->read_some(bytes);
    } else {
        read = co_await stream->layered().read_some(bytes);
    }
    co_return read;
}

io::task<io::io_result> write_some(io::transport_stream* stream, std::string_view from) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(from.data(), from.size()));
    io::io_result written;
    if (io::stream_socket* const socket = stream->socket()) [[likely]] {
        written = co_await socket->write_some(bytes);
    } else {
        written = co_await stream->layered().write_some(bytes);
    }
    co_return written;
}

}  // namespace

instant moment_on(const io::context& context) noexcept {
    instant now;
    now.steady = std::chrono::nanoseconds(context.now().time_since_epoch()).count();
    now.wall = std::chrono::duration_cast<std::chrono::nanoseconds>(context.wall_now().time_since_epoch()).count();
    return now;
}

connection::connection(io::context& context, io::transport_stream stream, session& on, application& app,
                       committer* store)
    : context_(context),
      stream_(std::move(stream)),
      session_(on),
      application_(app),
      store_(store),
      input_(2 * message_bytes_max_default) {}

io::task<void> connection::run(std::string received) {
    std::memcpy(input_.data(), received.data(), std::min(received.size(), input_.size()));
    input_end_ = std::min(received.size(), input_.size());
    io::task_scope writing(context_);
    writing.spawn(write());
    {
        io::task_scope talking(context_);
        talking_ = &talking;
        talking.spawn(read());
        talking.spawn(keep_time());
        co_await talking.join();
        talking_ = nullptr;
    }
    // A Logout may still have to leave.
    output_ready_.set();
    const bool has_farewell = is_over() && !(session_.output().empty() && writing_.empty());
    if (has_farewell) {
        const auto written = co_await io::with_timeout(farewell_timeout, writing.join());
        if (written) static_cast<void>(co_await stream_.shutdown());
    }
    writing.request_stop();
    co_await writing.join();
    session_.end();
    if (store_ != nullptr) static_cast<void>(co_await store_->commit());
    stream_.close();
    application_.on_end(session_);
}

void connection::log_out(std::string_view text) {
    session_.log_out(text, moment_on(context_));
    output_ready_.set();
    time_changed_.set();
}

void connection::close() noexcept {
    if (talking_ != nullptr) talking_->request_stop();
}

io::task<void> connection::read() {
    take_messages();
    while (!is_over()) {
        if (session_.output().size() > output_bytes_max || session_.is_asking_too_much()) {
            const std::error_code stopped = co_await output_written_.wait();
            if (stopped) break;
            take_messages();
            continue;
        }
        if (input_begin_ != 0) {
            std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
            input_end_ -= input_begin_;
            input_begin_ = 0;
        }
        const io::io_result got = co_await read_some(&stream_, std::span(input_).subspan(input_end_));
        input_end_ += got.bytes;
        take_messages();
        stream_error_ = got.error;
        if (got.error) break;
    }
    close();
}

void connection::take_messages() {
    const instant now = moment_on(context_);
    while (!is_over() && session_.output().size() <= output_bytes_max && !session_.is_asking_too_much()) {
        const std::string_view received(input_.data() + input_begin_, input_end_ - input_begin_);
        const frame_result frame = next_frame(received, message_bytes_max_default);
        if (frame.state == frame_state::incomplete) break;
        if (frame.state == frame_state::garbled) {
            const std::size_t bytes = session_.garbled_bytes(received, frame);
            if (bytes == 0) break;
            input_begin_ += bytes;
            continue;
        }
        taken what = session_.take(received, frame, now);
        if (what == taken::restart) {
            session_.restart(now);
            what = session_.take(received, frame, now);
        }
        act_on(what, now);
        while (const auto kept = session_.take_kept(now)) act_on(*kept, now);
        input_begin_ += frame.bytes;
    }
    // A Logout must be answered soon, and an answered TestRequest brings the next Heartbeat nearer.
    if (session_.next_time() < wakes_at_) time_changed_.set();
    if (!session_.output().empty() || session_.is_resending()) output_ready_.set();
}

void connection::act_on(taken what, instant now) {
    if (what == taken::logon) {
        const std::string refusal = application_.on_logon(session_);
        if (refusal.empty()) {
            session_.accept_logon(now);
        } else {
            session_.refuse_logon(refusal, now);
        }
    }
    if (!was_active_ && session_.phase() == session_phase::active) {
        was_active_ = true;
        time_changed_.set();
        application_.on_active(session_, now);
    }
    if (what == taken::by_application) application_.on_message(session_, now);
    if (what == taken::reject) application_.on_reject(session_, now);
}

// Takes the whole output at once, so that the session may go on while it is written.
io::task<void> connection::write() {
    while (true) {
        session_.resend(resend_bytes, moment_on(context_));
        session_.take_output(&writing_);
        if (writing_.empty()) {
            if (is_over()) co_return;
            const std::error_code stopped = co_await output_ready_.wait();
            if (stopped) co_return;
            continue;
        }
        if (store_ != nullptr) {
            const std::error_code failed = co_await store_->commit();
            if (failed) {
                // What is not stored must not leave.
                close();
                co_return;
            }
        }
        for (std::size_t done = 0; done != writing_.size();) {
            const io::io_result put = co_await write_some(&stream_, std::string_view(writing_).substr(done));
            done += put.bytes;
            if (!put.error) continue;
            close();  // the peer is gone
            co_return;
        }
        writing_.clear();
        output_written_.set();
        application_.on_written(session_);
    }
}

// The session may set a nearer time when a Logout begins, and when the Logon has told the interval.
io::task<void> connection::keep_time() {
    while (!is_over()) {
        const instant now = moment_on(context_);
        const std::int64_t next = session_.next_time();
        if (next <= now.steady) {
            session_.pass(now);
            output_ready_.set();
            continue;
        }
        constexpr std::int64_t longest = 3'600'000'000'000;
        wakes_at_ = next;
        const std::chrono::nanoseconds wait{std::min(next - now.steady, longest)};
        static_cast<void>(co_await io::with_timeout(wait, time_changed_.wait()));
        if (talking_->stop_requested()) co_return;
    }
    close();
}

}  // namespace corro::fix
