// SPDX-License-Identifier: Apache-2.0
// `child_process`: another program, its standard streams, and its end.
//
//     child_options options("/usr/bin/sort", {"-n"});
//     options.input = child_stream::piped;
//     options.output = child_stream::piped;
//     auto child = child_process::start(ctx, options);
//     co_await child->input().write_all(lines);  child->input().close();
//     ...
//     auto status = co_await child->wait();
//
// A child never outlives its object: destroying the object, or stopping its wait, kills the child. No zombie is
// left.
//
// Limits:  Linux 5.4 (a descriptor for the process, `pidfd_open`).
// Threads: one context.
// Cost:    starting: one `posix_spawn` and some milliseconds; nothing runs on a thread of its own.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/detail/kept.hpp"
#include "io/net/socket.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The target of one of a child's standard streams.
enum class child_stream : std::uint8_t {
    inherited,  // the same as this process's
    nothing,    // /dev/null
    piped,      // to this process, as a stream of the context
};

/// The program to start, and its options.
struct child_options {
    /// A program and what follows its name on the command line.
    child_options(std::string path, std::vector<std::string> arguments_after)
        : program(std::move(path)), arguments(std::move(arguments_after)) {}

    std::string program;                 // a path, or a name that is searched for in PATH
    std::vector<std::string> arguments;  // after the program's name
    /// "NAME=value" each; used only without `inherit_environment`.
    std::vector<std::string> environment;
    bool inherit_environment = true;                // the child gets this process's environment
    std::string directory;                          // its working directory; empty for this process's
    child_stream input = child_stream::nothing;     // standard input
    child_stream output = child_stream::inherited;  // standard output
    child_stream error = child_stream::inherited;   // standard error
};

/// How a child ended.
struct child_status {
    child_status() noexcept : number(0), by_signal(false) {}
    /// An exit code, or the number of a signal.
    child_status(int what, bool killed) noexcept : number(what), by_signal(killed) {}

    [[nodiscard]] bool ok() const noexcept { return number == 0 && !by_signal; }

    int number;      // its exit code, or the signal that ended it
    bool by_signal;  // which of the two
};

/// A child, or none. Move-only.
class child_process {
 public:
    /// No child.
    child_process() noexcept = default;
    /// A wait in progress continues.
    child_process(child_process&& other) noexcept = default;
    child_process& operator=(child_process&& other) noexcept;
    /// Kills the child if it still runs, and waits for its end. A wait in progress ends with operation_canceled.
    ~child_process() { end(); }

    /// Starts the program. Signals are unblocked and at their defaults in the child. Never throws.
    /// @error no_such_file_or_directory, permission_denied and other errors of the system.
    [[nodiscard]] static std::expected<child_process, std::error_code> start(context& on,
                                                                             const child_options& options) noexcept;

    /// This process's end of the child's streams; closed streams where nothing is piped.
    [[nodiscard]] unix_stream& input() noexcept { return input_; }
    [[nodiscard]] unix_stream& output() noexcept { return output_; }
    [[nodiscard]] unix_stream& error() noexcept { return error_; }

    /// The process id; 0 after its end has been noticed.
    [[nodiscard]] int id() const noexcept { return state_ ? state_->id : 0; }

    /// Sends a signal. @error no_such_process after its end.
    [[nodiscard]] std::error_code send_signal(int number) const noexcept;

    /// Waits for the child's end. Piped streams stay open and can be read to their end.
    ///
    /// @return  How it ended; later waits return the same.
    /// @error   operation_canceled on stop: then the child has been killed and is gone. no_child_process without a
    ///          child, and in a process that ignores SIGCHLD, where the status is lost.
    /// @suspend Until the child has ended; resumes on its context.
    /// @overlap One wait at a time (asserted).
    /// @cancel  Observes the task's stop token, and kills the child.
    [[nodiscard]] task<std::expected<child_status, std::error_code>> wait() { return wait_for(state_); }

 private:
    class watcher : public socket_base {
     public:
        watcher() noexcept = default;
        explicit watcher(descriptor& owned) noexcept : socket_base(owned) {}
        using socket_base::get;
    };

    using outcome = std::expected<child_status, std::error_code>;

    /// The state that a wait keeps alive when the object moves.
    struct state : detail::keepable {
        int id = 0;
        int process = -1;  // the descriptor that `watch` owns
        std::optional<outcome> ended;
        watcher watch;

        outcome reap() noexcept;
        void end() noexcept;
    };

    static task<outcome> wait_for(detail::kept<state> on);
    void end() noexcept {
        if (state_) state_->end();
    }

    detail::kept<state> state_;
    unix_stream input_;
    unix_stream output_;
    unix_stream error_;
};

}  // namespace corro::io
