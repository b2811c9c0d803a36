#include "io/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "io/io_awaiter.hpp"
#include "io/kernel_sockets.hpp"
#include "io/lazily.hpp"

extern char** environ;

namespace corro::io {
namespace {

using kernel::system_code;
using waiting = lazily<detail::plain_awaiter, operation_kind, descriptor*, const socket_address*>;

/// A file that goes with its scope.
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

/// What `posix_spawn` is told about files and signals.
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

/// Prepares the child's stream `number`. `ours` becomes our end of it, `theirs` stays open until the child has it.
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
            // The child's end waits like any program expects; ours does not.
            if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return system_code(errno);
            owned_file mine(pair[0]);
            theirs.reset(pair[1]);
            // Above the numbers that are about to be given away.
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

}  // namespace

child_process::child_process(child_process&& other) noexcept
    : id_(std::exchange(other.id_, 0)),
      ended_(other.ended_),
      status_(other.status_),
      watcher_(std::move(other.watcher_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      error_(std::move(other.error_)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
    if (this == &other) return *this;
    end();
    id_ = std::exchange(other.id_, 0);
    ended_ = other.ended_;
    status_ = other.status_;
    watcher_ = std::move(other.watcher_);
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
    made.id_ = id;
    // The number is the child's until we have waited for it, so the descriptor is the child's too. From here on `made`
    // ends the child if something fails.
    owned_file process(open_process(id));
    if (process.get() < 0) return std::unexpected(system_code(errno));
    const auto watched = on.io().adopt(process.get());
    if (!watched) return std::unexpected(watched.error());
    (void)process.release();
    made.watcher_ = watcher(**watched);
    return made;
}

std::error_code child_process::send_signal(int number) const noexcept {
    if (id_ == 0) return std::make_error_code(std::errc::no_such_process);
    return ::kill(id_, number) == 0 ? std::error_code() : system_code(errno);
}

child_status child_process::reap() noexcept {
    siginfo_t about{};
    while (::waitid(P_PID, static_cast<id_t>(id_), &about, WEXITED) != 0 && errno == EINTR) {
    }
    id_ = 0;
    ended_ = true;
    status_ = child_status(about.si_status, about.si_code != CLD_EXITED);
    watcher_.close();
    return status_;
}

void child_process::end() noexcept {
    if (id_ == 0) return;
    ::kill(id_, SIGKILL);
    (void)reap();
}

task<std::expected<child_status, std::error_code>> child_process::wait_for(child_process* self) {
    if (self->ended_) co_return self->status_;
    if (self->id_ == 0) co_return std::unexpected(std::make_error_code(std::errc::no_child_process));
    const std::error_code error = co_await waiting(operation_kind::wait_readable, self->watcher_.get(), nullptr);
    if (error) {
        self->end();
        co_return std::unexpected(error);
    }
    co_return self->reap();
}

}  // namespace corro::io
