// SPDX-License-Identifier: Apache-2.0
// One connection of a FIX session: from the first byte until both directions are closed.
//
// Three tasks share it: one reads and gives each message to the session, one writes what the session has to send, and
// one wakes the session when time has passed.
//
// Limits:  one message: message_bytes_max_default. When more than output_bytes_max wait to be written, nothing more is
//          read until the peer has taken them.
// Threads: one context.
// Cost:    no allocation per message after the buffers have grown; one system call per read and per write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "fix/net/application.hpp"
#include "fix/net/file_store.hpp"
#include "fix/session/session.hpp"
#include "io/loop/context.hpp"
#include "io/net/transport_stream.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::fix {

/// The moment on a context's clocks.
[[nodiscard]] instant moment_on(const io::context& context) noexcept;

/// Serves one session on one connected stream. Acceptor and initiator make one for each connection.
class connection {
 public:
    /// Beyond this, the peer reads more slowly than it asks.
    static constexpr std::size_t output_bytes_max = 256U * 1024;

    /// @param on     The session; begun, and used by this connection alone until `run` has ended.
    /// @param app    Outlives the connection.
    /// @param store  Commits before anything is written; nullptr for none.
    connection(io::context& context, io::transport_stream stream, session& on, application& app,
               committer* store = nullptr);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Serves the session until it is over or the peer is gone, and closes the stream.
    /// @param received  Bytes that were read from the stream before.
    /// @suspend Until then; resumes on the context. @cancel Not observed: use `log_out` or `close`.
    [[nodiscard]] io::task<void> run(std::string received = {});

    [[nodiscard]] session& of() noexcept { return session_; }
    /// Whether both ends were logged on.
    [[nodiscard]] bool was_active() const noexcept { return was_active_; }
    /// What has ended the reading of the stream: end_of_stream, or an error of it; none while it can be read.
    [[nodiscard]] std::error_code stream_error() const noexcept { return stream_error_; }
    /// Writes what was sent outside of a call of the application.
    void flush() noexcept { output_ready_.set(); }
    /// Begins the end with a Logout.
    void log_out(std::string_view text);
    /// Closes the stream at once.
    void close() noexcept;

 private:
    io::task<void> read();
    io::task<void> write();
    io::task<void> keep_time();
    void take_messages();
    void act_on(taken what, instant now);
    [[nodiscard]] bool is_over() const noexcept { return session_.phase() == session_phase::over; }

    io::context& context_;
    io::transport_stream stream_;
    session& session_;
    application& application_;
    committer* store_;
    std::vector<char> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    std::string writing_;
    io::auto_event output_ready_;
    io::auto_event output_written_;
    io::auto_event time_changed_;
    io::task_scope* talking_ = nullptr;  ///< the tasks that read and keep the time
    std::int64_t wakes_at_ = 0;          ///< the steady time for which `keep_time` waits
    std::error_code stream_error_;
    bool was_active_ = false;
};

}  // namespace corro::fix
