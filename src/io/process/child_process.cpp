// SPDX-License-Identifier: Apache-2.0
#include "io/process/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "io/backends/kernel_sockets.hpp"
#include "io/loop/detail/io_awaiter.hpp"
#include "io/task/detail/lazily.hpp"

extern char** environ;

namespace corro::io {
namespace {

using kernel::system_code;
using waiting = lazily<detail::plain_awaiter, operation_kind, descriptor*, const socket_address*>;

/// A file that is closed at the end of its scope.
class owned_file {
 public:
    explicit owned_file(int file = -1) noexcept : file_(file) {}
    owned_file(const owned_file&) = delete;
    owned_file& operator=(const owned_file&) = delete;
    ~owned_file() { reset(-1); }
    [[nodiscard]] int get() const noexcept { return file_; }
    [[nodiscard]] int release() noexcept { return std::exchange(file_, -1); }
    void reset(int file) noexcept {
        if (file_ >= 0) ::close(file_);
        file_ = file;
    }

 private:
    int file_;
};

/// The settings of `posix_spawn` for files and signals.
class spawn_settings {
 public:
    spawn_settings() noexcept {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
        sigset_t none{};
        sigset_t all{};
        sigemptyset(&none);
        sigfillset(&all);
        ::posix_spawnattr_setsigmask(&attributes, &none);
        ::posix_spawnattr_setsigdefault(&attributes, &all);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    spawn_settings(const spawn_settings&) = delete;
    spawn_settings& operator=(const spawn_settings&) = delete;
    ~spawn_settings() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& each : texts) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Prepares the child's stream `number`. `ours` becomes our end. `theirs` stays open until the child has it.
std::error_code prepare(context& on, child_stream kind, int number, spawn_settings& settings, unix_stream& ours,
                        owned_file& theirs) noexcept {
    int outcome = 0;
    switch (kind) {
        case child_stream::inherited: break;
        case child_stream::nothing:
            outcome = ::posix_spawn_file_actions_addopen(&settings.actions, number, "/dev/null",
                                                         number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
            break;
        case child_stream::piped: {
            int pair[2] = {-1, -1};
            // The child's end is blocking, as programs expect. Ours is not.
            if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return system_code(errno);
            owned_file mine(pair[0]);
            theirs.reset(pair[1]);
            // Uses a number above the standard streams, which are replaced soon.
            const int moved = ::fcntl(pair[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
            if (moved < 0 || ::fcntl(mine.get(), F_SETFL, O_NONBLOCK) != 0) return system_code(errno);
            theirs.reset(moved);
            auto adopted = unix_stream::adopt(on, mine.get());
            if (!adopted) return adopted.error();
            (void)mine.release();
            ours = std::move(*adopted);
            outcome = ::posix_spawn_file_actions_adddup2(&settings.actions, moved, number);
            break;
        }
    }
    return outcome == 0 ? std::error_code() : system_code(outcome);
}

int open_process(int id) noexcept {
    // glibc 2.36 has a function for this; older ones, and some headers, do not.
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
}

/// P_PIDFD; some headers lack it.
constexpr auto by_descriptor = static_cast<idtype_t>(3);

/// Signals by the descriptor if there is one. If SIGCHLD is ignored, another process may have the number by now.
int signal_process(int id, int process, int number) noexcept {
    if (process < 0) return ::kill(id, number);
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, process, number, nullptr, 0));
}

/// Returns when the process has ended, or earlier. Leaves EAGAIN in `errno`.
void await_end(int process) noexcept {
    pollfd watched{process, POLLIN, 0};
    ::poll(&watched, 1, -1);
    errno = EAGAIN;
}

}  // namespace

child_process& child_process::operator=(child_process&& other) noexcept {
    if (this == &other) return *this;
    end();
    state_ = std::move(other.state_);
    input_ = std::move(other.input_);
    output_ = std::move(other.output_);
    error_ = std::move(other.error_);
    return *this;
}

std::expected<child_process, std::error_code> child_process::start(context& on, const child_options& options) noexcept {
    child_process made;
    spawn_settings settings;
    owned_file theirs[3];
    std::error_code failed = prepare(on, options.input, STDIN_FILENO, settings, made.input_, theirs[0]);
    if (!failed) failed = prepare(on, options.output, STDOUT_FILENO, settings, made.output_, theirs[1]);
    if (!failed) failed = prepare(on, options.error, STDERR_FILENO, settings, made.error_, theirs[2]);
    if (failed) return std::unexpected(failed);
    int outcome = 0;
    if (!options.directory.empty()) {
        outcome = ::posix_spawn_file_actions_addchdir_np(&settings.actions, options.directory.c_str());
        if (outcome != 0) return std::unexpected(system_code(outcome));
    }
    std::vector<std::string> arguments{options.program};
    arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
    std::vector<std::string> environment = options.environment;
    const std::vector<char*> argument_pointers = pointers_to(arguments);
    const std::vector<char*> environment_pointers = pointers_to(environment);
    pid_t id = 0;
    outcome =
        ::posix_spawnp(&id, options.program.c_str(), &settings.actions, &settings.attributes, argument_pointers.data(),
                       options.inherit_environment ? environ : environment_pointers.data());
    if (outcome != 0) return std::unexpected(system_code(outcome));
    made.state_ = detail::kept<state>(new state);
    made.state_->id = id;
    // The child keeps its number until we wait for it, so the descriptor is the child's too. From here on `made` ends
    // the child if something fails.
    owned_file process(open_process(id));
    if (process.get() < 0) return std::unexpected(system_code(errno));
    const auto watched = on.io().adopt(process.get());
    if (!watched) return std::unexpected(watched.error());
    made.state_->process = process.release();
    made.state_->watch = watcher(**watched);
    return made;
}

std::error_code child_process::send_signal(int number) const noexcept {
    if (id() == 0) return std::make_error_code(std::errc::no_such_process);
    return signal_process(state_->id, state_->process, number) == 0 ? std::error_code() : system_code(errno);
}

child_process::outcome child_process::state::reap() noexcept {
    siginfo_t about{};
    int result = -1;
    do {
        result = process >= 0 ? ::waitid(by_descriptor, static_cast<id_t>(process), &about, WEXITED)
                              : ::waitid(P_PID, static_cast<id_t>(id), &about, WEXITED);
        // Asio makes the descriptor non-blocking.
        if (result != 0 && errno == EAGAIN) await_end(process);
    } while (result != 0 && (errno == EINTR || errno == EAGAIN));
    id = 0;
    process = -1;
    // If SIGCHLD is ignored, the system drops the child's exit status.
    ended = result == 0 ? outcome(child_status(about.si_status, about.si_code != CLD_EXITED))
                        : outcome(std::unexpected(std::make_error_code(std::errc::no_child_process)));
    watch.close();
    return *ended;
}

void child_process::state::end() noexcept {
    if (id == 0) return;
    signal_process(id, process, SIGKILL);
    (void)reap();
}

task<child_process::outcome> child_process::wait_for(detail::kept<state> on) {
    if (!on) co_return std::unexpected(std::make_error_code(std::errc::no_child_process));
    if (on->ended) co_return *on->ended;
    const std::error_code error = co_await waiting(operation_kind::wait_readable, on->watch.get(), nullptr);
    if (error) {
        on->end();
        co_return std::unexpected(error);
    }
    // Another wait or the destructor may have come first.
    co_return on->ended ? *on->ended : on->reap();
}

}  // namespace corro::io
