// SPDX-License-Identifier: Apache-2.0
#include "lab/facility/station_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>

#include "lab/child_process.hpp"
#include "lab/measurement.hpp"

namespace corro::lab {
namespace {

/// The same for all subjects, and large enough that a burst does not wait for the other end. With buffers that the
/// kernel resizes, runs would differ.
constexpr int socket_buffer_bytes = 256 * 1024;

raw_pair connection() {
    raw_pair made = connected_pair(wire::tcp);
    for (const int one : {made.client.get(), made.server.get()}) {
        for (const int which : {SO_SNDBUF, SO_RCVBUF}) {
            setsockopt(one, SOL_SOCKET, which, &socket_buffer_bytes, sizeof socket_buffer_bytes);
        }
    }
    return made;
}

[[noreturn]] void be_station(station& mine, const station_transport& transport, int input, int output, idling idle) {
    bind_to_processor(quiet_processor());
    try {
        transport(mine, input, output, idle);
        _exit(0);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "a station failed: %s\n", e.what());
        _exit(1);
    }
}

}  // namespace

station_line::station_line(station_role role, const station_transport& transport, idling idle) {
    raw_pair first = connection();
    input_ = std::move(first.client);
    owned_descriptor next_input = std::move(first.server);
    for (const std::unique_ptr<station>& each : make_stations(role)) {
        raw_pair behind = connection();
        const pid_t child = fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0) {
            input_.reset();
            behind.server.reset();
            be_station(*each, transport, next_input.release(), behind.client.release(), idle);
        }
        running_.push_back(child);
        next_input = std::move(behind.server);
    }
    output_ = std::move(next_input);
    bind_to_processor(other_processor());
}

station_line::~station_line() {
    for (const pid_t child : running_) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

void station_line::finish() {
    shutdown(input_.get(), SHUT_WR);
    pollfd ended{output_.get(), POLLIN, 0};
    verify(poll(&ended, 1, 10'000) == 1, "a station does not end");
    std::byte more;
    verify(recv(output_.get(), &more, 1, 0) == 0, "the stations said too much");
    bool well = true;
    for (const pid_t child : running_) {
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    running_.clear();
    verify(well, "a station failed");
}

}  // namespace corro::lab
