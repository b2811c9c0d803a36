// SPDX-License-Identifier: Apache-2.0
#include "lab/suites/raw_sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace corro::lab {
namespace {

int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

void make_ready(int socket, wire over) {
    checked(fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK), "fcntl");
    const int on = 1;
    if (over == wire::tcp) checked(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

raw_pair connected_tcp() {
    const owned_descriptor listener(checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    checked(bind(listener.get(), generic, size), "bind");
    checked(listen(listener.get(), 1), "listen");
    checked(getsockname(listener.get(), generic, &size), "getsockname");
    raw_pair made;
    made.client = owned_descriptor(checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    checked(connect(made.client.get(), generic, size), "connect");
    made.server = owned_descriptor(checked(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept"));
    return made;
}

raw_pair connected_unix() {
    int ends[2];
    checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
    raw_pair made;
    made.client = owned_descriptor(ends[0]);
    made.server = owned_descriptor(ends[1]);
    return made;
}

}  // namespace

void owned_descriptor::reset() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

raw_pair connected_pair(wire over) {
    raw_pair made = over == wire::tcp ? connected_tcp() : connected_unix();
    make_ready(made.client.get(), over);
    make_ready(made.server.get(), over);
    return made;
}

std::vector<raw_pair> connected_pairs(wire over, int count) {
    std::vector<raw_pair> made;
    for (int i = 0; i < count; ++i) made.push_back(connected_pair(over));
    return made;
}

}  // namespace corro::lab
