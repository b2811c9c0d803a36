// SPDX-License-Identifier: Apache-2.0
#include "io/backends/kernel_transfer.hpp"

#include <poll.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "io/backends/kernel_sockets.hpp"
#include "io/loop/context.hpp"

namespace corro::io::kernel {
namespace {

/// sendfile(2) for a peer that may have gone. It has no MSG_NOSIGNAL, so the thread blocks SIGPIPE meanwhile and takes
/// back the one that the call has raised.
ssize_t send_file_without_signal(int to, int from, off_t at, std::size_t wanted) noexcept {
    sigset_t broken_pipe;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    sigemptyset(&pending);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    ::sigpending(&pending);
    const ssize_t sent = ::sendfile(to, from, &at, wanted);
    const int number = errno;
    if (sent < 0 && number == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
        const timespec at_once{};
        while (::sigtimedwait(&broken_pipe, nullptr, &at_once) < 0 && errno == EINTR) {
        }
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = number;
    return sent;
}

}  // namespace

bool attempt_receive(socket_state& on, operation& what) noexcept {
    for (;;) {
        const std::size_t wanted = what.size - what.bytes;
        const ssize_t got = ::recv(on.file, what.data + what.bytes, wanted, MSG_DONTWAIT);
        if (got > 0) {
            if (on.drained) on.reading.succeeded();
            what.bytes += static_cast<std::size_t>(got);
            // Fewer bytes than wanted: the buffer is empty, and the next bytes make a new edge. After a hang-up this
            // does not hold: its edge may have been used.
            on.drained = static_cast<std::size_t>(got) < wanted;
            if (what.bytes >= what.minimum) return true;
            if (on.drained && !on.hung_up) return false;
            continue;
        }
        if (got == 0) {
            what.status = operation::status_end_of_stream;
            return true;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN) {
            if (on.drained) on.reading.failed();
            on.drained = true;
            return false;
        }
        what.status = errno;
        return true;
    }
}

bool attempt_send(socket_state& on, operation& what) noexcept {
    for (;;) {
        const std::size_t wanted = what.size - what.bytes;
        const ssize_t sent = ::send(on.file, what.data + what.bytes, wanted, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) {
            what.bytes += static_cast<std::size_t>(sent);
            on.full = static_cast<std::size_t>(sent) < wanted;
            if (what.bytes >= what.minimum) return true;
            if (on.full && !on.hung_up) return false;
            continue;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN) {
            on.full = true;
            return false;
        }
        what.status = errno;
        return true;
    }
}

bool attempt_send_file(socket_state& on, file_send_operation& what) noexcept {
    while (what.bytes < what.minimum) {
        const auto at = static_cast<off_t>(what.offset + what.bytes);
        const ssize_t sent = send_file_without_signal(on.file, what.file, at, what.size - what.bytes);
        if (sent > 0) {
            what.bytes += static_cast<std::size_t>(sent);
            on.full = false;
            continue;
        }
        if (sent == 0) {
            what.status = operation::status_end_of_stream;
            return true;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN) {
            on.full = true;
            return false;
        }
        what.status = errno;
        return true;
    }
    return true;
}

bool attempt_receive_batch(socket_state& on, operation& what) noexcept {
    const std::size_t count = std::min(what.batch.size(), batch_max);
    mmsghdr headers[batch_max];
    iovec rooms[batch_max];
    sockaddr_storage names[batch_max];
    for (std::size_t i = 0; i < count; ++i) {
        rooms[i] = {what.batch[i].data.data(), what.batch[i].data.size()};
        headers[i] = {};
        headers[i].msg_hdr.msg_iov = &rooms[i];
        headers[i].msg_hdr.msg_iovlen = 1;
        headers[i].msg_hdr.msg_name = &names[i];
        headers[i].msg_hdr.msg_namelen = sizeof names[i];
    }
    int got = 0;
    do {
        got = ::recvmmsg(on.file, headers, static_cast<unsigned>(count), MSG_DONTWAIT, nullptr);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        if (errno == EAGAIN) {
            if (on.drained) on.reading.failed();
            on.drained = true;
            return false;
        }
        what.status = errno;
        return true;
    }
    if (on.drained) on.reading.succeeded();
    on.drained = static_cast<std::size_t>(got) < count;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
        native_address from;
        from.size = headers[i].msg_hdr.msg_namelen;
        std::memcpy(&from.storage, &names[i], std::min<std::size_t>(from.size, sizeof names[i]));
        if (from.size == 0) from.storage.ss_family = AF_UNIX;  // an unnamed peer
        datagram& filled = what.batch[i];
        filled.bytes = headers[i].msg_len;
        filled.truncated = (headers[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
        filled.peer = from_native(from);
    }
    what.bytes = static_cast<std::size_t>(got);
    return true;
}

bool attempt_send_batch(socket_state& on, operation& what) noexcept {
    mmsghdr headers[batch_max];
    iovec contents[batch_max];
    native_address names[batch_max];
    while (what.bytes < what.batch.size()) {
        const std::size_t count = std::min(what.batch.size() - what.bytes, batch_max);
        for (std::size_t i = 0; i < count; ++i) {
            const datagram& sent = what.batch[what.bytes + i];
            contents[i] = {sent.data.data(), sent.data.size()};
            headers[i] = {};
            headers[i].msg_hdr.msg_iov = &contents[i];
            headers[i].msg_hdr.msg_iovlen = 1;
            const auto* local = std::get_if<unix_endpoint>(&sent.peer);
            if (local != nullptr && local->path().empty()) continue;  // sends to the connected peer
            names[i] = to_native(sent.peer);
            headers[i].msg_hdr.msg_name = &names[i].storage;
            headers[i].msg_hdr.msg_namelen = names[i].size;
        }
        const int sent = ::sendmmsg(on.file, headers, static_cast<unsigned>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            on.full = errno == EAGAIN;
            if (on.full) return false;
            what.status = errno;
            return true;
        }
        what.bytes += static_cast<std::size_t>(sent);
    }
    return true;
}

bool attempt_wait(socket_state& on, operation& what) noexcept {
    pollfd watched{};
    watched.fd = on.file;
    watched.events = POLLIN;
    int found = 0;
    do {
        found = ::poll(&watched, 1, 0);
    } while (found < 0 && errno == EINTR);
    if (found < 0) what.status = errno;
    return found != 0;
}

bool is_passing_accept_error(int number) noexcept {
    switch (number) {
        case EINTR:
        case ECONNABORTED:
        case EPROTO:
        case ENETDOWN:
        case ENOPROTOOPT:
        case EHOSTDOWN:
        case ENONET:
        case EHOSTUNREACH:
        case ENETUNREACH: return true;
        default: return false;
    }
}

bool attempt_accept(socket_state& on, operation& what, int& accepted_file) noexcept {
    for (;;) {
        accepted_file = ::accept4(on.file, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (accepted_file >= 0) {
            if (on.drained) on.reading.succeeded();
            on.drained = false;
            return true;
        }
        if (errno == EAGAIN) {
            if (on.drained) on.reading.failed();
            on.drained = true;
            return false;
        }
        if (is_passing_accept_error(errno)) continue;
        what.status = errno;
        return true;
    }
}

bool begin_connect(const socket_state& on, operation& what) noexcept {
    const native_address address = to_native(*what.address);
    if (::connect(on.file, address.data(), address.size) == 0) return true;
    if (errno == EINPROGRESS || errno == EINTR) return false;
    what.status = errno;
    return true;
}

bool finish_connect(const socket_state& on, operation& what) noexcept {
    int number = 0;
    socklen_t size = sizeof number;
    if (::getsockopt(on.file, SOL_SOCKET, SO_ERROR, &number, &size) != 0) number = errno;
    if (number == 0) {
        // An event without an error: the socket still connects, unless the kernel has a peer.
        native_address peer;
        peer.size = sizeof peer.storage;
        if (::getpeername(on.file, peer.data(), &peer.size) != 0) {
            if (errno == ENOTCONN) return false;
            number = errno;
        }
    }
    what.status = number;
    return true;
}

}  // namespace corro::io::kernel
