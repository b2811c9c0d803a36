// SPDX-License-Identifier: Apache-2.0
// One end of a FIX session, as a function of the messages that come and of the time: what it answers, what it delivers,
// and when it ends. It does no I/O; `take` gets frames, and what is to be sent stands in `output`.
//
//   logging_on ----> active ----> logging_out ----> over
//        |              |                             ^
//        +--------------+-----------------------------+
//
// Messages come to the application in the order of their numbers, each once. What is behind a gap is kept until the gap
// is filled by the answer to one ResendRequest. A message that the peer asks for again is written again from the store,
// with PossDupFlag (43) and OrigSendingTime (122); session messages become a gap fill, and so do messages that the peer
// has refused with a Reject (3) or a BusinessMessageReject (j).
//
// The sources: session.cpp (connecting, time, sending), session_taking.cpp (what messages do), session_resend.cpp,
// session_quickfix.cpp (what they do in QuickFIX's style).
//
// Units:   times are nanoseconds; of the wall clock since 1970, UTC.
// Limits:  settings.messages_kept_max and bytes_kept_max behind a gap; a resend goes on only while the caller takes the
//          output away.
// Threads: one.
// Cost:    no allocation for a message in order, after the buffers have grown; one copy of each message that is sent.
// Source:  FIX session layer (FIX.4.2, FIX.4.4, FIXT.1.1).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/dictionary/validator.hpp"
#include "fix/session/message_store.hpp"
#include "fix/session/session_scratch.hpp"
#include "fix/session/settings.hpp"

namespace corro::fix {

/// A moment on both clocks.
struct instant {
    std::int64_t steady = 0;  ///< nanoseconds since any moment; never goes back
    std::int64_t wall = 0;    ///< nanoseconds since 1970, UTC
};

/// How far a session is.
enum class session_phase : std::uint8_t {
    logging_on,   ///< the peer's Logon is awaited
    active,       ///< messages go both ways
    logging_out,  ///< the answer to a Logout is awaited
    over,         ///< the connection is to be closed when the output is written
};

/// What a message was.
enum class taken : std::uint8_t {
    by_session,      ///< of the session itself; or it was ignored, rejected, or kept behind a gap
    logon,           ///< an acceptor's: call accept_logon or refuse_logon
    restart,         ///< an acceptor's: a Logon with ResetSeqNumFlag (141) on a session that is active. Call `restart`
                     ///< and take the same message again, or call refuse_logon
    by_application,  ///< read it with `message`
    reject,          ///< the peer's Reject (3) of a message of this end: read it with `message`
};

/// One end of a session. It outlives its connections: `begin` and `end` enclose each.
class session {
 public:
    /// @param store  Outlives the session.
    session(session_settings settings, message_store& store);
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    // --- The connection ---------------------------------------------------------------------------------------------

    /// The connection is there. An initiator sends its Logon.
    /// @param credentials  Writes further fields of the Logon, as Username and Password; may be empty.
    void begin(instant now, const std::function<void(message_writer&)>& credentials = {});
    /// The connection has ended.
    void end();

    /// @param received  Begins with the frame.
    /// @param frame     Complete.
    taken take(std::string_view received, const frame_result& frame, instant now);
    /// Takes the next message that was kept behind a gap, if the gap is filled. To be called until it returns nothing,
    /// whenever `take` has returned.
    [[nodiscard]] std::optional<taken> take_kept(instant now);
    /// Whether there is one.
    [[nodiscard]] bool has_kept() const noexcept {
        return !kept_.empty() && kept_.begin()->first <= store_.next_received();
    }

    /// The message that was taken last on this connection; none yet: it has no fields, and its type is empty. Valid as
    /// long as the bytes that `take` got, and until the next one is taken or the next connection begins, by any session
    /// with the same scratch.
    [[nodiscard]] const field_index& message() const noexcept { return message_; }
    /// How much of a garbled frame in front of `received` is skipped; 0: more bytes must come first.
    [[nodiscard]] std::size_t garbled_bytes(std::string_view received, const frame_result& garbled) const noexcept;
    /// The version of the application that the message belongs to, as "9" for FIX 5.0 SP2: its ApplVerID (1128), or
    /// else the DefaultApplVerID (1137) of the peer's Logon. Empty if the peer has sent neither.
    [[nodiscard]] std::string_view application_version() const noexcept;
    /// MsgSeqNum (34) of that message.
    [[nodiscard]] std::uint64_t message_number() const noexcept { return number_; }

    /// Both numbers begin at 1, and the Logon that wants that is taken again, as the first message of the connection.
    /// What is in the output stays there.
    /// @pre The store may be reset.
    void restart(instant now);
    /// Answers the Logon, and the session is active.
    void accept_logon(instant now);
    /// Answers it with a Logout that contains the text.
    void refuse_logon(std::string_view why, instant now);

    // --- Time -------------------------------------------------------------------------------------------------------

    /// Sends what is due: heartbeats, test requests. Ends the session when the peer is silent for too long.
    void pass(instant now);
    /// The steady time at which `pass` has something to do.
    [[nodiscard]] std::int64_t next_time() const noexcept;

    // --- Sending ----------------------------------------------------------------------------------------------------

    /// Whether the application may send: the session is active.
    [[nodiscard]] bool may_send() const noexcept { return phase_ == session_phase::active; }
    /// Begins an application message: MsgType and the header are written, and the caller writes the body.
    /// @pre may_send() (asserted).
    [[nodiscard]] message_writer& begin_message(std::string_view type, instant now);
    /// Sends it; while a resend is under way, behind that.
    /// @return  Its number; 0 if it is too long, or if the store has failed, which ends the session.
    std::uint64_t send(instant now);
    /// Sends BusinessMessageReject (j) for the message that was taken last. In QuickFIX's style, a Reject (3) before
    /// FIX 4.2, which has no such message.
    void reject_business(std::uint32_t reason, std::string_view text, instant now);
    /// Sends a Reject (3) for the message that was taken last, which the application could not read.
    void reject(message_problem problem, instant now);
    /// Begins the end. @param text  May be empty.
    void log_out(std::string_view text, instant now);

    /// Whether messages that the peer has asked for, or new ones behind those, are still to be written: call `resend`
    /// when the output is short.
    [[nodiscard]] bool is_resending() const noexcept { return resend_next_ <= resend_last_ || held_from_ != 0; }
    /// Whether the peer has asked again before what it asked for was written: read no more from it until that is. One
    /// that asks and does not read would cost for ever.
    [[nodiscard]] bool is_asking_too_much() const noexcept { return was_asked_again_ && is_resending(); }
    /// Writes the next of them, until the output has this size.
    void resend(std::size_t output_bytes, instant now);

    /// What is to be written to the connection.
    [[nodiscard]] std::string_view output() const noexcept { return std::string_view(output_).substr(output_begin_); }
    /// Drops the first bytes of the output, which have been written.
    void consume(std::size_t bytes) noexcept;
    /// Exchanges the output with an empty `into`, so that it stays in place while it is written.
    void take_output(std::string* into) noexcept;

    // --- State ------------------------------------------------------------------------------------------------------

    /// Whether the Logons of an initiator reset the numbers from now on.
    void set_resets_on_logon(bool resets) noexcept { settings_.resets_on_logon = resets; }
    [[nodiscard]] session_phase phase() const noexcept { return phase_; }
    /// Why it is over, in words; for logs.
    [[nodiscard]] std::string_view ended_because() const noexcept { return why_; }
    [[nodiscard]] const session_settings& settings() const noexcept { return settings_; }
    /// HeartBtInt (108), as agreed.
    [[nodiscard]] std::chrono::seconds heartbeat() const noexcept { return heartbeat_; }

 private:
    enum class place : std::uint8_t { next, ahead, behind };

    // session_taking.cpp
    taken dispatch(const std::optional<message_problem>& indexed, instant now);
    [[nodiscard]] std::optional<message_problem> checked(const std::optional<message_problem>& indexed) noexcept;
    [[nodiscard]] bool has_sound_header(instant now);
    [[nodiscard]] std::optional<message_problem> missing_name() const;
    [[nodiscard]] bool has_right_names() const;
    void take_duplicate(instant now);
    taken take_logon(instant now);
    [[nodiscard]] bool wants_restart() const;
    [[nodiscard]] bool has_sound_logon(instant now);
    void take_test_request(instant now);
    void take_resend_request(instant now);
    void take_sequence_reset(instant now);
    void take_logout(instant now);
    [[nodiscard]] place where_is(std::uint64_t number) const noexcept;
    void keep();
    void request_missing(instant now);
    void request_part(instant now);
    void request_next_part(instant now);
    void count(std::uint64_t number);
    void forget_refused();
    void forget_gap() noexcept;
    void reject_as(reject_reason why, std::uint32_t tag, instant now);
    void put_invalid_tag();

    // session_quickfix.cpp
    taken dispatch_as_quickfix(const std::optional<message_problem>& indexed, instant now);
    taken take_sound_as_quickfix(instant now);
    taken take_logon_as_quickfix(instant now);
    void take_sequence_reset_as_quickfix(instant now);
    void take_other_version_as_quickfix(instant now);
    [[nodiscard]] bool is_garbled_as_quickfix() const;
    [[nodiscard]] bool has_names_as_quickfix(instant now);
    [[nodiscard]] bool is_next_as_quickfix(bool asks_for_missing, bool ends_for_low, instant now);
    void take_low_as_quickfix(instant now);
    void end_as_quickfix(reject_reason why, instant now);
    void reject_as_quickfix(reject_reason why, std::uint32_t tag, instant now);
    void reject_business_as_quickfix(std::uint32_t reason, std::string_view text, instant now);
    void write_reversed_route();

    // session_resend.cpp
    void begin_resend(std::uint64_t first, std::uint64_t last);
    void stop_resend() noexcept;
    void write_gap_fill(std::uint64_t first, std::uint64_t next, instant now);
    void write_held(std::size_t output_bytes, instant now);
    [[nodiscard]] bool write_again(std::uint64_t number, std::string_view stored, instant now);

    // session.cpp
    void begin_period(instant now);
    [[nodiscard]] bool is_closed(instant now) const noexcept;
    [[nodiscard]] bool is_waiting_for_test() const noexcept;
    void begin_session_message(std::string_view type, instant now);
    void write_header(std::string_view type, std::uint64_t number, instant now, std::string_view original_time);
    void emit(instant now);
    void write_or_hold(std::uint64_t number, std::string_view message, bool is_stored, instant now);
    void send_logon(instant now, bool resets, const std::function<void(message_writer&)>& credentials);
    void send_logout(std::string_view text, instant now);
    void fail(std::string_view why, instant now);
    void finish(std::string_view why);
    void store_failed();

    session_settings settings_;
    message_store& store_;
    session_phase phase_ = session_phase::over;
    std::string why_;

    std::unique_ptr<session_scratch> own_scratch_;  ///< if the settings have none
    session_scratch& scratch_;

    // The message that was taken last.
    field_index& message_;
    std::string current_;  ///< its bytes, if it was kept
    std::optional<validator> validator_;
    std::string peers_version_;  ///< DefaultApplVerID (1137) of the peer's Logon
    std::uint64_t number_ = 0;
    bool is_duplicate_ = false;  ///< PossDupFlag (43)
    bool is_kept_ = false;       ///< it was behind a gap

    // What is behind a gap.
    std::map<std::uint64_t, std::string> kept_;
    std::size_t kept_bytes_ = 0;
    std::uint64_t requested_until_ = 0;  ///< a ResendRequest is not answered up to here; 0: none
    std::uint64_t requested_last_ = 0;   ///< EndSeqNo (16) of that request, if it asks for a part of the gap
    std::int64_t requested_at_ = 0;

    // Time.
    std::chrono::seconds heartbeat_{};
    std::int64_t phase_since_ = 0;
    std::int64_t last_sent_ = 0;
    std::int64_t last_received_ = 0;
    std::int64_t test_sent_ = 0;  ///< 0: no TestRequest is unanswered
    std::uint64_t tests_count_ = 0;
    std::int64_t closes_at_ = 0;      ///< of the wall clock, by the schedule; 0: never
    std::int64_t closes_steady_ = 0;  ///< the same as it looked last

    // Sending.
    message_writer writer_;
    std::string output_;
    std::size_t output_begin_ = 0;
    std::uint64_t resend_next_ = 1;
    std::uint64_t resend_last_ = 0;
    bool was_asked_again_ = false;  ///< while a resend was under way
    field_index& stored_;
    std::uint64_t held_from_ = 0;                ///< the first number that waits for the end of a resend; 0: none
    std::map<std::uint64_t, std::string> held_;  ///< of those, the session's own messages
};

}  // namespace corro::fix
