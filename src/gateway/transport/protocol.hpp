// SPDX-License-Identifier: Apache-2.0
// What the acceptor hands connections to: a protocol, which makes a session of each.
//
// The acceptor knows neither the messages of a protocol nor its sessions. It keeps a place for every connection. Until
// a session has logged on over the connection, a newer connection may take the place.
//
// Threads: one context.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "gateway/transport/transport.hpp"
#include "io/net/admission.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

class acceptor;

/// What a protocol runs on a connection.
struct conversation {
    /// Another connection takes the place of this one, which ends. Called again when its end takes too long.
    virtual void evict() noexcept = 0;

 protected:
    ~conversation() = default;
};

/// The place of one connection among those of the acceptor, from accept to the end.
class connection_place final : public io::admission::guest {
 public:
    /// @param from  nothing: a local socket.
    connection_place(acceptor& at, const std::optional<io::endpoint>& from) noexcept;
    ~connection_place();
    connection_place(const connection_place&) = delete;
    connection_place& operator=(const connection_place&) = delete;

    /// Where the peer is; nothing of a local socket.
    [[nodiscard]] const std::optional<io::endpoint>& from() const noexcept { return from_; }
    /// Whether the place was taken away.
    [[nodiscard]] bool is_evicted() const noexcept { return is_evicted_; }

    /// From now on `with` is called when the place is taken away; nullptr: the conversation has ended.
    void set_conversation(conversation* with) noexcept { conversation_ = with; }
    /// The peer has proved a key: its place is not taken away any more.
    void prove();
    /// Whether the peer may be sent a reason although that takes a while. Only a few may at the same time.
    [[nodiscard]] bool reserve_refusal() noexcept;

 private:
    friend class acceptor;
    void evict() noexcept override;
    void end_greeting() noexcept;

    acceptor& acceptor_;
    std::optional<io::endpoint> from_;
    io::task_scope* greeting_ = nullptr;  ///< of the transport, before the conversation
    conversation* conversation_ = nullptr;
    bool is_evicted_ = false;
    bool is_request_awaited_ = false;  ///< of HTTP: a refusal can be its response
    bool has_reserved_refusal_ = false;
};

struct protocol {
    /// Serves one connection until it has ended. @param place  Outlives the returned task.
    [[nodiscard]] virtual io::task<void> serve(transport_stream stream, connection_place* place) = 0;
    /// What a connection is sent for which there is no room.
    [[nodiscard]] virtual std::span<const std::byte> words_without_room() const noexcept = 0;

 protected:
    ~protocol() = default;
};

}  // namespace corro::gateway
