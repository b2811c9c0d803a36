// SPDX-License-Identifier: Apache-2.0
#include "io/shm/handshake.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "io/errors.hpp"

namespace corro::io::shm {
namespace {

constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int) * hello_files_max);

std::error_code last_error() noexcept {
    return {errno, std::generic_category()};
}

}  // namespace

std::error_code send_hello(int socket, const hello& sizes, std::span<const int> files) noexcept {
    std::array<std::byte, hello_bytes> bytes = encode(sizes);
    iovec content{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, control_bytes> control{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return last_error();
    if (static_cast<std::size_t>(sent) != bytes.size()) return std::make_error_code(std::errc::message_size);
    return {};
}

std::expected<received_hello, std::error_code> receive_hello(int socket) noexcept {
    std::array<std::byte, hello_bytes> bytes{};
    iovec content{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, control_bytes> control{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = 0;
    do {
        got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return std::unexpected(last_error());

    // Every file that came is owned before anything is judged, so that none stays open. The kernel closes those for
    // which there is no room, and marks the message.
    received_hello received;
    std::size_t files_count = 0;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int file = -1;
            std::memcpy(&file, CMSG_DATA(header) + i * sizeof file, sizeof file);
            owned_file owned(file);
            if (files_count < hello_files_max) received.files[files_count] = std::move(owned);
            ++files_count;
        }
    }
    if (got == 0) return std::unexpected(make_error_code(errc::end_of_stream));
    const auto sizes = decode_hello({bytes.data(), static_cast<std::size_t>(got)});
    const bool is_cut = (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0;
    if (!sizes || is_cut || files_count != (sizes->broadcast_bytes != 0 ? 2U : 1U)) {
        return std::unexpected(std::make_error_code(std::errc::protocol_error));
    }
    received.sizes = *sizes;
    return received;
}

}  // namespace corro::io::shm
