// SPDX-License-Identifier: Apache-2.0
// One end of the link between a facility's process and a gateway's: frames in, frames out.
//
// Records are put into one buffer while the other is being sent, so that a batch costs one system call; adjacent
// records of one kind share a frame.
//
// Threads: one context. Limits: node/links/link_messages.hpp; callers check `is_full` before they put, because no
// record is ever dropped. Cost: a copy per record at each end; allocates only when a buffer grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "gateway/transport/transport.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "node/links/link_messages.hpp"
#include "node/links/link_path.hpp"

namespace corro::node {

struct link_frame {
    link_frame() noexcept {}

    link_message kind{};
    std::span<const std::byte> payload;

    [[nodiscard]] std::string text() const { return {reinterpret_cast<const char*>(payload.data()), payload.size()}; }
    /// The number of whole records of this type in the payload.
    template <class Record>
    [[nodiscard]] std::size_t count() const noexcept {
        return payload.size() / sizeof(Record);
    }
    template <class Record>
    [[nodiscard]] Record record(std::size_t index) const noexcept {
        Record r;
        std::memcpy(static_cast<void*>(&r), payload.data() + index * sizeof r, sizeof r);
        return r;
    }
};

class link_channel {
 public:
    explicit link_channel(gateway::transport_stream stream);
    link_channel(const link_channel&) = delete;
    link_channel& operator=(const link_channel&) = delete;

    /// Appends a record of at most link_frame_bytes_max bytes; it leaves after the next `flush`,
    /// unless the connection has ended.
    void put(link_message kind, std::span<const std::byte> record);
    /// Padding would send what was in memory before, so records have none.
    template <class Record>
        requires std::has_unique_object_representations_v<Record>
    void put_record(link_message kind, const Record& record) {
        put(kind, std::as_bytes(std::span(&record, 1)));
    }
    void flush() noexcept { ready_.set(); }

    /// Whether too many bytes wait, so that the caller should hold back records.
    [[nodiscard]] bool is_full() const noexcept { return !closed_ && filling_.size() > link_waiting_bytes_max; }
    /// Bytes that wait behind those being sent.
    [[nodiscard]] std::size_t waiting_bytes() const noexcept { return filling_.size(); }
    /// Set whenever a buffer has been sent, and when the connection has ended.
    [[nodiscard]] io::manual_event& drained() noexcept { return drained_; }

    /// Sends the records until `finish` or until the connection breaks. To be spawned, once.
    [[nodiscard]] io::task<void> write();
    /// Ends `write` when all is sent, and shuts down the sending side.
    void finish() noexcept;

    /// Sends a heartbeat when nothing else was sent, and closes the link when the peer has sent nothing for too long,
    /// or, while this end does not read, has read nothing of the waiting bytes. Ends then, or when stopped. To be
    /// spawned, once.
    [[nodiscard]] io::task<void> keep_alive();
    /// Whether `keep_alive` has closed the link.
    [[nodiscard]] bool fell_silent() const noexcept { return fell_silent_; }

    /// The next frame except heartbeats; `into` is valid until the next call. False when the connection has ended or
    /// the bytes are not a frame.
    [[nodiscard]] io::task<bool> read(link_frame* into);
    /// Whether a whole frame has arrived, so that `read` will not wait.
    [[nodiscard]] bool has_frame() noexcept;

    /// Accepts frames of up to link_frame_bytes_max from now on. Before, the limit is link_stranger_frame_bytes_max, so
    /// that an unauthenticated connection costs little memory.
    void trust();

    /// Ends the connection at once.
    void close() noexcept;

 private:
    io::task<std::error_code> send_leaving();
    [[nodiscard]] bool is_unresponsive() const noexcept;
    [[nodiscard]] bool has_any_frame() const noexcept;
    [[nodiscard]] bool next_frame(link_frame& into) noexcept;
    [[nodiscard]] std::size_t buffered_frame_bytes() const noexcept;

    static constexpr std::size_t no_frame = SIZE_MAX;

    gateway::transport_stream stream_;
    std::vector<std::byte> filling_;
    std::vector<std::byte> leaving_;
    std::size_t open_frame_ = no_frame;  ///< where the last frame in `filling_` begins
    io::auto_event ready_;
    io::manual_event drained_;
    bool finished_ = false;
    bool closed_ = false;
    bool said_ = false;    ///< a record was put since the last check
    bool heard_ = false;   ///< bytes came since the last check
    bool taken_ = false;   ///< the kernel took bytes since the last check, so the peer has read
    bool awaits_ = false;  ///< `read` waits for the peer
    bool sends_ = false;   ///< `write` waits for the kernel
    bool fell_silent_ = false;
    std::size_t frame_bytes_max_ = link_stranger_frame_bytes_max;
    std::vector<std::byte> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
};

/// The address of a link: a Unix socket or a TCP address.
using link_address = std::variant<io::endpoint, io::unix_endpoint>;

/// Parses the address of a link: a TCP address has a colon and a port; everything else is a path, or a name after an
/// '@'.
/// @throws configuration_error when it is neither.
[[nodiscard]] link_address link_address_of(const std::string& text, const std::string& key);

/// Listens for links.
class link_acceptor {
 public:
    /// Takes over a path that a dead process has left, but not one on which a process listens. Fails with
    /// configuration_error, and with std::system_error when the address cannot be listened on.
    /// @param key    For messages: the place of the address (`place_of`).
    /// @param users  Ids of the users that may connect over a Unix socket, beside the process's own user
    ///               and root.
    [[nodiscard]] static io::task<link_acceptor> open(io::context* context, std::string address, std::string key,
                                                      std::vector<std::uint32_t> users);

    /// The next connection of a permitted user; others are closed at once.
    [[nodiscard]] io::task<std::expected<gateway::transport_stream, std::error_code>> accept();
    void close() noexcept;
    /// Connections that were closed because of their user.
    [[nodiscard]] std::uint64_t refused_count() const noexcept { return refused_count_; }
    /// The address, with the port that the system chose.
    [[nodiscard]] std::string address() const;

 private:
    link_acceptor() = default;
    [[nodiscard]] bool may_come(const io::unix_stream& from) const noexcept;

    link_path_lock path_lock_;  ///< the lock of a path
    std::variant<io::tcp_acceptor, io::unix_acceptor> held_;
    std::string text_;
    std::vector<std::uint32_t> users_;
    std::uint64_t refused_count_ = 0;
};

[[nodiscard]] io::task<std::expected<gateway::transport_stream, std::error_code>> connect_link(io::context* context,
                                                                                               link_address address);

}  // namespace corro::node
