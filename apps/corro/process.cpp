// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>

namespace corro::app {
namespace {

/// Writes as much as possible, and always reports success.
ssize_t write_regardless(void* descriptor, const char* from, std::size_t size) {
    const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor));
    for (std::size_t done = 0; done < size;) {
        const ssize_t written = ::write(fd, from + done, size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        done += static_cast<std::size_t>(written);
    }
    return static_cast<ssize_t>(size);
}

std::FILE* stream_without_errors(int fd, int buffering) {
    cookie_io_functions_t calls{};
    calls.write = &write_regardless;
    std::FILE* const stream = ::fopencookie(reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)), "w", calls);
    if (stream != nullptr) static_cast<void>(std::setvbuf(stream, nullptr, buffering, BUFSIZ));
    return stream;
}

sigset_t orders_to_end() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

void ignore_sigpipe() {
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    std::fflush(stdout);
    if (std::FILE* const out = stream_without_errors(STDOUT_FILENO, _IOFBF)) stdout = out;
    if (std::FILE* const errors = stream_without_errors(STDERR_FILENO, _IONBF)) stderr = errors;
}

void hold_signals() noexcept {
    const sigset_t held = orders_to_end();
    ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

void release_signals() noexcept {
    const sigset_t held = orders_to_end();
    ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
}

void report_descriptors(std::uint64_t needed) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || needed <= limit.rlim_cur) return;
    fmt::print(
        stderr,
        "notice: with all connections that the limits allow, this process needs {} descriptors, but can open only {}. "
        "Raise the limit (ulimit -n, LimitNOFILE); otherwise connections, and perhaps the journal, will wait\n",
        needed, limit.rlim_cur);
}

void raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // on failure the old limit stays
}

void keep_files_from_others() noexcept {
    constexpr mode_t taken = S_IWGRP | S_IRWXO;
    ::umask(::umask(taken) | taken);
}

}  // namespace corro::app
