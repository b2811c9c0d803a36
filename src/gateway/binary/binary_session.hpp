// SPDX-License-Identifier: Apache-2.0
// A session of Corro Binary: one connection, from accept to the end.
//
// It reads like the specification: connect, log on, be active, leave. While it is active three children run in its
// scope: one reads requests, one writes what waits in the output buffer, one keeps the heartbeats. When one of them
// ends, it ends the others.
//
// The sources: binary_session.cpp (the course), binary_logon.cpp (the beginning), binary_requests.cpp (from bytes to
// commands), binary_answers.cpp (from answers to bytes).
//
// Inline, a command is executed by the push in `read_requests`, on the stack of this session. Its answers do not come
// back on that stack: see session_registry.hpp for what does.
//
// Threads: one context. Limits: gateway/limits.hpp.
// Cost:    no allocation per message; one read and one write system call per batch of messages. Virtual calls per
//          batch: one (`flush`).
// Source:  docs/spec/corro_binary.md (session rules), docs/spec/derived_messages.md (what is answered).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gateway/answer_log.hpp"
#include "gateway/binary/binary_shared.hpp"
#include "gateway/binary/byte_channel.hpp"
#include "gateway/binary/heartbeat_watch.hpp"
#include "gateway/binary/session_course.hpp"
#include "gateway/session/session.hpp"
#include "gateway/transport/protocol.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "wire/binary_codec.hpp"

namespace corro::gateway {

class binary_session final : public session, public conversation {
 public:
    /// @param shared  Outlives the session. @param place  Outlives `run`.
    binary_session(binary_shared& shared, transport_stream stream, connection_place& place) noexcept
        : shared_(shared), channel_(std::move(stream)), place_(place) {}

    /// Serves the connection until it has ended.
    [[nodiscard]] static io::task<void> run(std::unique_ptr<binary_session> s);

    // --- For the registry -------------------------------------------------------------------------------------------

    void take_answers() noexcept override;
    void flush() noexcept override;
    void send_definition(const domain::instrument& added) noexcept override;
    void refuse_request(std::uint32_t request, request_refusal why) noexcept override;
    void send_admin_reply(const admin_reply& reply, const order_entry_report& report) override;
    bool end(end_reason why) noexcept override;
    [[nodiscard]] bool is_ending() const noexcept override { return course_.is_ending(); }

    // --- For the acceptor -------------------------------------------------------------------------------------------

    void evict() noexcept override;

 private:
    // The course.
    [[nodiscard]] io::task<void> give_up(bool was_active);
    [[nodiscard]] io::task<void> keep_alive();
    [[nodiscard]] io::task<void> settle();
    [[nodiscard]] io::task<void> leave();

    // The beginning.
    [[nodiscard]] io::task<void> log_on();
    [[nodiscard]] io::task<bool> wait_for_hello();
    [[nodiscard]] io::task<bool> verify(wire::frame frame, wire::hello* into, std::uint64_t* key_id);
    void start(const wire::hello& hello);
    [[nodiscard]] std::vector<std::byte> welcome();
    [[nodiscard]] std::uint32_t orders_max() const noexcept;

    // From bytes to commands.
    [[nodiscard]] io::task<void> read_requests();
    [[nodiscard]] io::task<bool> submit_mass_quote(wire::frame frame);
    [[nodiscard]] bool submit_request(const wire::frame& frame, std::uint64_t received_ticks,
                                      std::uint64_t& decoded_ticks);
    void prefetch_ahead() noexcept;
    [[nodiscard]] bool decode(const wire::frame& frame, domain::command& command);
    [[nodiscard]] bool take_number(const wire::frame& frame);
    void take_session_message(const wire::frame& frame);
    void submit_admin_request(const wire::frame& frame);
    void refuse(const wire::frame& frame, wire::refusal refusal);

    // From answers to bytes.
    [[nodiscard]] io::task<void> write_pending();
    [[nodiscard]] io::task<bool> resend();
    [[nodiscard]] io::task<bool> drain();
    void take_kept_answers();
    [[nodiscard]] bool encode(const domain::event& answer) noexcept;
    [[nodiscard]] std::span<std::byte> reserve(std::size_t size) noexcept;
    void wake_writer() noexcept;
    [[nodiscard]] bool send_now() noexcept;
    void overflow() noexcept;
    void cut(end_reason why) noexcept;
    void lose() noexcept;
    [[nodiscard]] bool take_in(const io::io_result& read) noexcept;
    template <class Message>
    void put(const Message& message) {
        const std::span<std::byte> room = reserve(Message::frame_bytes);
        if (room.empty()) return overflow();
        wire::store(message, 0, room.data());
        channel_.output().commit(room.size());
        wake_writer();
    }

    binary_shared& shared_;
    answer_log::cursor taken_;  ///< where the answer before `next_answer` is
    session_course course_;
    heartbeat_watch watch_;
    bool writer_is_idle_ = false;  ///< all of the output is written, and the writer waits for more
    io::auto_event output_ready_;
    byte_channel channel_;
    connection_place& place_;
    io::task_scope* scope_ = nullptr;  ///< of the children that run: logging on, or being active
    std::chrono::milliseconds heartbeat_{};
    std::uint16_t protocol_version_ = 0;
    std::array<std::byte, 32> challenge_{};
};

static_assert(stranger_buffer_bytes >= wire::frame_bytes_max, "a whole frame fits, or a logon would wait for ever");

}  // namespace corro::gateway
