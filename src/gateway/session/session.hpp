// SPDX-License-Identifier: Apache-2.0
// A session as the registry sees it, whatever protocol it speaks.
//
// Order entry has three parts. The acceptor lets connections in. The registry has what all protocols share: which
// session is on, its rights, its answers, its cancels on disconnect, the daily reset of its numbers. A session object
// exists per connection, and only it knows its protocol: it decodes and numbers requests, encodes answers, keeps
// heartbeats.
//
// Answers are pulled: the answer log numbers and keeps an event, the registry marks the session, and once per batch the
// session takes what is new out of the log (`flush`). So an answer that is sent at once and one that is sent again
// after a reconnect take the same path, and a protocol whose numbers count other messages too only needs to remember
// which of its messages an answer was.
//
// Threads: one context. Cost: one virtual call per batch and session, and one more for each `news_max` answers of a
//          batch; see session_registry.hpp.
#pragma once

#include <cstdint>

#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "gateway/admin_service.hpp"
#include "gateway/session/end_reason.hpp"

namespace corro::gateway {

class session;

/// What outlives the connections of a session, beside the answer log.
struct session_record {
    session* active = nullptr;  ///< the connection that has the session
    /// Counts the requests that were read, and numbers the commands of the session. A protocol may count its messages
    /// in another way. The answer log counts what was sequenced: requests may still be in the queue, or refused before.
    std::uint64_t next_request = 1;
    std::uint64_t logons = 0;  ///< ever
};

/// How a session gets its answers.
enum class answer_delivery : std::uint8_t {
    none,      ///< they stay in the log: not logged on yet, or nothing more can be sent
    from_log,  ///< the session reads the log at its own pace until it has caught up
    live,      ///< `flush` is called when there are new ones
};

/// The state of order entry, for an operator.
struct order_entry_report {
    std::uint64_t commands_waiting = 0;
    std::uint32_t sessions_count = 0;
    std::uint32_t sessions_max = 0;
};

class session {
 public:
    virtual ~session() = default;
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// Puts the answers that are new in the log into the output buffer if delivery is `live`.
    virtual void take_answers() noexcept = 0;
    /// The same, and starts sending what is in the buffer.
    virtual void flush() noexcept = 0;
    /// An instrument was added.
    virtual void send_definition(const domain::instrument& added) noexcept = 0;
    /// The venue did not take this request: it had no effect.
    virtual void refuse_request(std::uint32_t request, request_refusal why) noexcept = 0;
    virtual void send_admin_reply(const admin_reply& reply, const order_entry_report& report) = 0;
    /// Begins to end. @return false: it was ending already, and the first reason counts.
    virtual bool end(end_reason why) noexcept = 0;
    [[nodiscard]] virtual bool is_ending() const noexcept = 0;

    [[nodiscard]] bool is_on() const noexcept { return record_ != nullptr; }
    [[nodiscard]] domain::session_id id() const noexcept { return id_; }
    /// The account: proven while `is_on`; before, what the client claims.
    [[nodiscard]] domain::account_id owner() const noexcept { return account_; }
    [[nodiscard]] answer_delivery delivery() const noexcept { return delivery_; }
    [[nodiscard]] bool cancels_on_disconnect() const noexcept { return cancels_on_disconnect_; }

 protected:
    session() = default;

    [[nodiscard]] bool is_operator() const noexcept { return is_operator_; }
    [[nodiscard]] bool is_drop_copy() const noexcept { return is_drop_copy_; }
    [[nodiscard]] std::uint64_t& next_request() noexcept { return record_->next_request; }
    [[nodiscard]] std::uint64_t logon_number() const noexcept { return record_->logons; }
    /// The number of the answer to be sent next.
    [[nodiscard]] std::uint64_t& next_answer() noexcept { return next_answer_; }
    /// The number of the first answer on this connection.
    [[nodiscard]] std::uint64_t first_answer() const noexcept { return first_answer_; }
    /// The first answer that the client asked for and that is not kept any more; 0: none.
    [[nodiscard]] std::uint64_t first_missing() const noexcept { return first_missing_; }
    [[nodiscard]] bool has_news() const noexcept { return has_news_; }

    void claim(domain::account_id account) noexcept { account_ = account; }
    /// Nothing more can be sent.
    void stop_answers() noexcept { delivery_ = answer_delivery::none; }
    /// The session has sent what the log had.
    void go_live() noexcept {
        if (delivery_ == answer_delivery::from_log) delivery_ = answer_delivery::live;
    }

 private:
    friend class session_registry;
    friend class disconnect_cancels;

    session_record* record_ = nullptr;  ///< once the session is on
    std::uint64_t next_answer_ = 0;     ///< the number of the answer to be sent next
    domain::session_id id_{};
    domain::account_id account_{};
    answer_delivery delivery_ = answer_delivery::none;
    bool has_news_ = false;  ///< the registry will call `flush`
    bool is_operator_ = false;
    bool is_drop_copy_ = false;
    bool cancels_on_disconnect_ = false;
    std::uint64_t first_answer_ = 0;   ///< the first one of this connection
    std::uint64_t first_missing_ = 0;  ///< the first answer that the client asked for and that is not kept; 0: none
    std::uint64_t key_id_ = 0;         ///< of the key that was proven
};

}  // namespace corro::gateway
