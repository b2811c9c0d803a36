// SPDX-License-Identifier: Apache-2.0
#include "supervisor.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "io/loop/timer.hpp"

namespace corro::app {
namespace {

std::string_view variable(const char* name) noexcept {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Half of the interval in which the supervisor expects a message; nothing if it expects none of this process.
std::optional<std::chrono::microseconds> watchdog_pause() noexcept {
    const std::string_view of = variable("WATCHDOG_PID");
    if (!of.empty() && number(of) != static_cast<std::uint64_t>(::getpid())) return std::nullopt;
    const auto interval = number(variable("WATCHDOG_USEC"));
    if (!interval || *interval < 2 || *interval > INT64_MAX) return std::nullopt;
    return std::chrono::microseconds(*interval / 2);
}

}  // namespace

void tell_supervisor(std::string_view message) noexcept {
    const std::string_view path = variable("NOTIFY_SOCKET");
    sockaddr_un to{};
    if (path.size() < 2 || path.size() >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) return;
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.data(), path.size());
    if (path[0] == '@') to.sun_path[0] = '\0';  // a name in Linux's abstract space
    const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    static_cast<void>(
        ::sendto(file, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), size));
    ::close(file);
}

io::task<void> report_to_supervisor() {
    tell_supervisor("READY=1");
    const auto pause = watchdog_pause();
    while (pause) {
        const std::error_code stopped = co_await io::sleep_for(*pause);
        if (stopped) co_return;
        tell_supervisor("WATCHDOG=1");
    }
}

}  // namespace corro::app
