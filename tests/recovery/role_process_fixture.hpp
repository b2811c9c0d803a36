// SPDX-License-Identifier: Apache-2.0
// Test support: a role of the venue in a separate process, which the test can kill at any moment.
//
// The process is a fork of the test, which therefore must not run threads. It serves until its parent closes the wire
// between them.
#pragma once

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>
#include <utility>

#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "serve_until_told_fixture.hpp"

namespace corro::testing {

/// `make(context, say)` makes the role in the new process. `say(Report)` sends a report, which is plain bytes.
template <class Report>
class role_process {
 public:
    template <class Make, class Last>
    role_process(Make make, Last last) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
        id_ = ::fork();
        if (id_ == 0) {
            ::dup2(ends[1], parents_wire);
            ::close_range(parents_wire + 1, ~0U, 0);
            serve(make, last);
        }
        ::close(ends[1]);
        wire_ = ends[0];
    }
    ~role_process() {
        if (id_ > 0) kill();
    }
    role_process(const role_process&) = delete;
    role_process& operator=(const role_process&) = delete;

    void kill() noexcept {
        ::kill(id_, SIGKILL);
        finish();
    }
    /// As `wait_for_exit`.
    [[nodiscard]] int wait_for_end() noexcept {
        const int code = wait_for_exit(id_);
        ::close(wire_);
        id_ = -1;
        return code;
    }
    /// Stops and continues the process, like a machine that hangs.
    void stop() const noexcept { ::kill(id_, SIGSTOP); }
    void go_on() const noexcept { ::kill(id_, SIGCONT); }
    /// Closes the role. @return Its last report.
    [[nodiscard]] Report close() noexcept {
        ::shutdown(wire_, SHUT_WR);
        const Report last = read();
        finish();
        return last;
    }
    /// Returns its next report; empty if it has ended.
    [[nodiscard]] Report read() const noexcept {
        Report r;
        if (::recv(wire_, &r, sizeof r, MSG_WAITALL) != static_cast<ssize_t>(sizeof r)) return Report();
        return r;
    }
    static void say(const Report& r) {
        if (::write(parents_wire, &r, sizeof r) != static_cast<ssize_t>(sizeof r)) ::_exit(3);
    }

 private:
    void finish() noexcept {
        ::waitpid(id_, nullptr, 0);
        ::close(wire_);
        id_ = -1;
    }
    template <class Make, class Last>
    [[noreturn]] static void serve(Make make, Last last) noexcept {
        try {
            io::context context;
            const auto role = make(context);
            io::block_on(context, serve_until_told(&context, role.get()));
            say(last(*role));
            // As `corro serve`.
            if constexpr (requires { role->journal(); }) ::_exit(role->failure() == nullptr ? 0 : 1);
            ::_exit(0);
        } catch (const std::exception& e) {
            static_cast<void>(!::write(2, e.what(), std::char_traits<char>::length(e.what())));
            ::_exit(1);
        }
    }

    int id_ = -1;
    int wire_ = -1;
};

}  // namespace corro::testing
