// SPDX-License-Identifier: Apache-2.0
// Who is on: the sessions of all protocols, their rights and numbers, and the way of answers to them.
//
// The registry decides whether a client that has proved a key may log on, and with which numbers. It keeps what
// outlives a connection, delivers events to the session that is on, and carries out what a session owes when its
// connection ends. It never looks at a protocol, a stream or a socket: sessions are objects behind `session`.
//
// On which stack: `deliver`, `define`, `reject_overloaded` and `deliver_admin_reply` are called by the node. Inline, a
// command is executed by the push that submits it, so they run on the stack of the session that decoded the command.
// For the answers of a command that is harmless by construction: `deliver` only appends to the answer log and marks the
// session; the session takes its answers from the log in `flush`, which the node calls from a task of its own. Only a
// batch with `news_max` answers for one session, a definition, a refusal for overload and an operator's reply reach the
// output buffer of a session at once. None of them suspends, ends a connection's task or frees memory.
//
// Threads: one context. Limits: gateway/limits.hpp.
// Cost:    `deliver` copies 64 bytes into the log and calls nothing virtual, unless `news_max` answers of one session
//          wait. `flush` makes one virtual call per session that has something to send.
// Source:  docs/spec/derived_messages.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "gateway/accounts.hpp"
#include "gateway/admin_service.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/session/daily_reset.hpp"
#include "gateway/session/disconnect_cancels.hpp"
#include "gateway/session/end_reason.hpp"
#include "gateway/session/logon_request.hpp"
#include "gateway/session/logon_throttle.hpp"
#include "gateway/session/session.hpp"
#include "gateway/session/session_table.hpp"
#include "gateway/session/wrong_proofs.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/task.hpp"
#include "telemetry/event_log.hpp"
#include "wire/instrument_table.hpp"

namespace corro::gateway {

/// Has the log give copies to the accounts that ask for them, and details to sessions whose protocol needs them: before
/// the first answer, wherever a log of these accounts is kept.
void set_receivers(const account_directory& accounts, answer_log& answers);

class session_registry {
 public:
    /// All outlive the registry. `answers` has the sessions of `accounts`, and what it held before a restart.
    session_registry(io::context& context, const gateway_options& options,
                     std::span<const domain::instrument> instruments, const account_directory& accounts,
                     command_queue& commands, answer_log& answers, gateway_statistics& statistics);
    ~session_registry();
    session_registry(const session_registry&) = delete;
    session_registry& operator=(const session_registry&) = delete;

    // --- The venue's side; order_entry_gateway describes these ------------------------------------------------------

    /// Daily resets, and cancels for sessions that are absent after a restart. @cancel  Ends.
    [[nodiscard]] io::task<void> run_daily_resets() { return resets_.run(); }
    [[nodiscard]] io::task<void> run_absent_cancels() { return cancels_.run(); }

    void set_absent_sessions(std::span<const domain::account_id> sessions,
                             std::optional<std::chrono::milliseconds> grace) {
        cancels_.set_absent(sessions, grace);
    }
    void deliver(const domain::event& event) noexcept;
    void define(const domain::event& event) noexcept;
    void define(const domain::instrument& instrument) noexcept;
    void reject_overloaded(const domain::command& command) noexcept;
    void deliver_admin_reply(const admin_reply& reply);
    void flush() noexcept;
    void end_withdrawn() noexcept;
    void refuse_logons(end_reason why) noexcept;
    void close() noexcept;

    // --- The sessions' side -----------------------------------------------------------------------------------------

    /// A connection is there, or has gone; it may have logged on meanwhile.
    void attach(session& s) { sessions_.add(s); }
    void detach(session& s) noexcept;
    [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }

    /// How long the refusal of a wrong proof has to wait, so that guessing is slow.
    [[nodiscard]] std::chrono::milliseconds wait_after_wrong_proof(const std::optional<io::endpoint>& from,
                                                                   domain::account_id claimed) noexcept;

    /// Whether the account of a proven key has this session.
    [[nodiscard]] static bool has_session(const account& a, std::uint32_t session_number) noexcept {
        return session_number != 0 && session_number <= a.sessions_count;
    }

    /// Before `open`: ends another connection of the session if the client wants that, and begins the session's day.
    /// @pre has_session. @suspend  At most twice the logon timeout. @cancel  Ends; `open` is not for stopped sessions.
    [[nodiscard]] io::task<void> prepare(session* s, const logon_request* request);

    /// Before `prepare`: everything that earlier connections of the session have caused is answered, so that its
    /// numbers are known; and they count from 1 if the client wants that and no connection has the session.
    /// @return  False: not within the logon timeout. @pre has_session.
    /// @suspend At most the logon timeout. @cancel  Ends.
    [[nodiscard]] io::task<bool> settle_numbers(const logon_request* request, bool resets);

    /// Gives the session to a connection whose client has proved its key. Its answers come from the log if it has
    /// missed any, and live otherwise.
    /// @return  Nothing, or why not. @pre has_session; `s` is attached and is_ending() is false.
    [[nodiscard]] std::optional<end_reason> open(session& s, const logon_request& request);

    /// The session begins: journals its cancel on disconnect. @suspend  While the queue is full.
    [[nodiscard]] io::task<void> begin(session* s, const std::optional<io::endpoint>* from);
    /// The session reads no more requests. Cancels if it asked for that. @suspend  While the queue is full.
    [[nodiscard]] io::task<void> end_requests(session* s, bool has_logged_out);
    /// Resets the session's numbers if they are of an earlier day. @suspend  For the time of a farewell at most.
    [[nodiscard]] io::task<void> reset_if_due(session* s);
    /// The numbers of a session that is on count from 1, at the wish of its client. Answers go on with the first one.
    /// @return  Nothing, or why not; with `throttled` nothing has changed, otherwise the numbers are not known.
    /// @pre     Everything that the session has caused is answered and sent. @suspend  At most the logon timeout.
    [[nodiscard]] io::task<std::optional<end_reason>> restart(session* s);
    /// The connection gives its session up: another one may have it.
    void release(session& s) noexcept;

    /// Notes a logon, a refusal or an end in the event log.
    void log(const session& s, const std::optional<io::endpoint>& from, telemetry::log_record_kind what,
             std::int64_t number) const;

    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return instruments_; }
    /// However many sessions ask for their past, the one that has this lock gets a batch of answers in a turn of the
    /// loop.
    [[nodiscard]] io::mutex& resend_turn() noexcept { return resend_turn_; }

 private:
    [[nodiscard]] domain::session_id id_of(const logon_request& request) const noexcept;
    [[nodiscard]] std::optional<end_reason> refusal_of(const logon_request& request) const noexcept;
    io::task<bool> reset_until_unused(session* s);
    io::task<void> wait_until_released(domain::session_id id, const session* by);
    void announce(domain::session_id to, std::uint64_t number) noexcept;
    void take_reset(domain::session_id id, const domain::event& event) noexcept;
    void count_refusal(domain::session_id id, const domain::event& event) noexcept;
    void broadcast(const domain::instrument& added) noexcept;

    io::context& context_;
    const gateway_options& options_;
    const account_directory& accounts_;
    command_queue& commands_;
    answer_log& answers_;
    gateway_statistics& statistics_;
    wire::instrument_table instruments_;
    domain::definition_reader definitions_;
    session_table sessions_;
    disconnect_cancels cancels_;
    daily_reset resets_;
    logon_throttle logons_;
    wrong_proofs wrong_proofs_;
    std::vector<session*> news_;  ///< sessions with new answers since the last flush
    std::uint64_t news_max_;      ///< answers of one session that may wait for `flush`
    std::optional<end_reason> no_logons_;
    io::mutex resend_turn_;
    bool is_closing_ = false;
};

}  // namespace corro::gateway
