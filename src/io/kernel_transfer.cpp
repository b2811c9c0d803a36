#include "io/kernel_transfer.hpp"

#include <cerrno>

#include "io/context.hpp"
#include "io/kernel_sockets.hpp"

namespace corro::io::kernel {

bool attempt_receive(socket_state& on, operation& what) noexcept {
    for (;;) {
        const std::size_t wanted = what.size - what.bytes;
        const ssize_t got = ::recv(on.file, what.data + what.bytes, wanted, MSG_DONTWAIT);
        if (got > 0) {
            if (on.drained) on.reading.succeeded();
            what.bytes += static_cast<std::size_t>(got);
            // Less than asked for: the buffer is empty, and whatever comes next makes a new edge. Not so after a
            // hang-up, whose edge may be spent.
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
        // An event without an outcome: still connecting, unless the kernel knows the peer.
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
