// SPDX-License-Identifier: Apache-2.0
// Connecting, time, sending.
#include "fix/session/session.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

std::int64_t nanoseconds(std::chrono::nanoseconds time) noexcept {
    return time.count();
}

}  // namespace

session::session(session_settings settings, message_store& store)
    : settings_(std::move(settings)),
      store_(store),
      own_scratch_(settings_.scratch == nullptr ? std::make_unique<session_scratch>() : nullptr),
      scratch_(settings_.scratch == nullptr ? *own_scratch_ : *settings_.scratch),
      message_(scratch_.message),
      writer_(scratch_.room, settings_.identity.begin_string),
      stored_(scratch_.stored) {
    if (settings_.checked_by != nullptr) validator_.emplace(settings_.checked_by);
    if (settings_.style == session_style::quickfix) writer_.set_finest_time(settings_.precision);
}

std::size_t session::garbled_bytes(std::string_view received, const frame_result& garbled) const noexcept {
    const bool is_quickfix = settings_.style == session_style::quickfix;
    if (!is_quickfix || garbled.fault != frame_fault::wrong_length) return garbled.bytes;
    const std::size_t bytes = next_frame_of_quickfix(received, garbled);
    return bytes == 0 && received.size() >= message_bytes_max_default ? garbled.bytes : bytes;
}

void session::begin(instant now, const std::function<void(message_writer&)>& credentials) {
    phase_ = session_phase::logging_on;
    phase_since_ = last_sent_ = last_received_ = now.steady;
    why_.clear();
    heartbeat_ = settings_.heartbeat;
    test_sent_ = 0;
    forget_gap();
    stop_resend();
    output_.clear();
    output_begin_ = 0;
    message_.clear();  // its bytes were in a buffer of the connection before
    begin_period(now);
    if (phase_ == session_phase::over || settings_.side == session_side::acceptor) return;
    if (is_closed(now)) return finish("the session is closed at this time");
    if (settings_.resets_on_logon && !store_.reset()) return store_failed();
    send_logon(now, settings_.resets_on_logon, credentials);
}

void session::restart(instant now) {
    phase_ = session_phase::logging_on;
    phase_since_ = now.steady;
    test_sent_ = 0;
    forget_gap();
    stop_resend();
    if (!store_.reset()) store_failed();
}

void session::forget_gap() noexcept {
    requested_until_ = 0;
    requested_last_ = 0;
    kept_.clear();
    kept_bytes_ = 0;
}

void session::end() {
    if (phase_ != session_phase::over) finish("the connection has ended");
    if (settings_.resets_on_disconnect) static_cast<void>(store_.reset());
}

// With the first connection of a period the numbers begin at 1.
void session::begin_period(instant now) {
    closes_at_ = 0;
    const auto period = settings_.schedule ? settings_.schedule->at(now.wall) : std::nullopt;
    if (!period) return;
    closes_at_ = period->end;
    closes_steady_ = now.steady + (closes_at_ - now.wall);
    if (store_.numbers_since() >= period->begin) return;
    if (!store_.reset() || !store_.set_numbers_since(now.wall)) store_failed();
}

bool session::is_closed(instant now) const noexcept {
    return settings_.schedule && (closes_at_ == 0 || now.wall >= closes_at_);
}

// --- Time ------------------------------------------------------------------------------------------------------------

// A heartbeat may be late by a fifth of the interval.
void session::pass(instant now) {
    switch (phase_) {
        case session_phase::over: return;
        case session_phase::logging_on:
            if (now.steady - phase_since_ >= nanoseconds(settings_.logon_timeout)) finish("no Logon in time");
            return;
        case session_phase::logging_out:
            if (now.steady - phase_since_ >= nanoseconds(settings_.logout_timeout)) finish("no Logout in time");
            return;
        case session_phase::active: break;
    }
    if (closes_at_ != 0) {
        if (now.wall >= closes_at_) return log_out("The session's time is over", now);
        closes_steady_ = now.steady + (closes_at_ - now.wall);  // the wall clock may have been set
    }
    const std::int64_t interval = nanoseconds(heartbeat_);
    if (interval == 0) return;
    const std::int64_t patience = interval + interval / 5;
    const bool is_quickfix = settings_.style == session_style::quickfix;
    if (test_sent_ != 0 && now.steady - test_sent_ >= patience) {
        constexpr std::string_view why = "no answer to a TestRequest";
        return is_quickfix ? finish(why) : fail(why, now);
    }
    if (test_sent_ == 0 && now.steady - last_received_ >= patience) {
        begin_session_message("1", now);
        if (is_quickfix) {
            writer_.put(tag::test_req_id, "TEST");
        } else {
            writer_.put(tag::test_req_id, ++tests_count_);
        }
        emit(now);
        test_sent_ = now.steady;
    }
    // The answer to a ResendRequest may have been cut short.
    if (requested_until_ != 0 && now.steady - requested_at_ >= 2 * patience) request_missing(now);
    if (now.steady - last_sent_ >= interval && !is_waiting_for_test()) {
        if (is_resending()) {
            // It would wait for the end of the resend, and be due again at once. What is sent again is as good.
            last_sent_ = now.steady;
            return;
        }
        begin_session_message("0", now);
        emit(now);
    }
}

// QuickFIX sends no Heartbeat while its TestRequest is not answered.
bool session::is_waiting_for_test() const noexcept {
    return test_sent_ != 0 && settings_.style == session_style::quickfix;
}

std::int64_t session::next_time() const noexcept {
    switch (phase_) {
        case session_phase::over: return never;
        case session_phase::logging_on: return phase_since_ + nanoseconds(settings_.logon_timeout);
        case session_phase::logging_out: return phase_since_ + nanoseconds(settings_.logout_timeout);
        case session_phase::active: break;
    }
    const std::int64_t interval = nanoseconds(heartbeat_);
    const std::int64_t closes = closes_at_ != 0 ? closes_steady_ : never;
    if (interval == 0) return closes;
    const std::int64_t patience = interval + interval / 5;
    std::int64_t next = (test_sent_ != 0 ? test_sent_ : last_received_) + patience;
    if (!is_waiting_for_test()) next = std::min(next, last_sent_ + interval);
    if (requested_until_ != 0) next = std::min(next, requested_at_ + 2 * patience);
    return std::min(next, closes);
}

// --- Sending ---------------------------------------------------------------------------------------------------------

// The header's fields in the order of their tags, behind MsgType.
void session::write_header(std::string_view type, std::uint64_t number, instant now, std::string_view original_time) {
    const session_identity& names = settings_.identity;
    const auto put_if = [this](std::uint32_t tag, const std::string& value) {
        if (!value.empty()) writer_.put(tag, value);
    };
    writer_.begin(type);
    writer_.put(tag::msg_seq_num, number);
    if (!original_time.empty()) writer_.put(tag::poss_dup_flag, true);
    writer_.put(tag::sender_comp_id, names.sender_comp_id);
    put_if(tag::sender_sub_id, names.sender_sub_id);
    writer_.put_time(tag::sending_time, now.wall, settings_.precision);
    writer_.put(tag::target_comp_id, names.target_comp_id);
    put_if(tag::target_sub_id, names.target_sub_id);
    if (!original_time.empty()) writer_.put(tag::orig_sending_time, original_time);
    put_if(tag::sender_location_id, names.sender_location_id);
    put_if(tag::target_location_id, names.target_location_id);
}

void session::begin_session_message(std::string_view type, instant now) {
    write_header(type, store_.next_sent(), now, {});
}

// Sends the session message that was written.
void session::emit(instant now) {
    const std::string_view message = writer_.finish();
    CORRO_ASSERT(!message.empty());
    const std::uint64_t number = store_.next_sent();
    if (!store_.append(number, {})) return store_failed();
    write_or_hold(number, message, false, now);
}

// A new message must not overtake those that are sent again.
void session::write_or_hold(std::uint64_t number, std::string_view message, bool is_stored, instant now) {
    if (!is_resending()) {
        if (output_.empty() && own_scratch_ == nullptr) scratch_.lend(output_);
        output_.append(message);
        last_sent_ = now.steady;
        return;
    }
    if (held_from_ == 0) held_from_ = number;
    if (!is_stored) held_.emplace(number, message);
}

message_writer& session::begin_message(std::string_view type, instant now) {
    CORRO_ASSERT(may_send());
    write_header(type, store_.next_sent(), now, {});
    return writer_;
}

std::uint64_t session::send(instant now) {
    CORRO_ASSERT(may_send());
    const std::string_view message = writer_.finish();
    if (message.empty()) return 0;
    const std::uint64_t number = store_.next_sent();
    if (!store_.append(number, message)) {
        store_failed();
        return 0;
    }
    write_or_hold(number, message, true, now);
    return number;
}

void session::consume(std::size_t bytes) noexcept {
    output_begin_ += bytes;
    CORRO_ASSERT(output_begin_ <= output_.size());
    if (output_begin_ != output_.size()) return;
    output_.clear();
    output_begin_ = 0;
    if (own_scratch_ == nullptr) scratch_.take_back(output_);
}

void session::take_output(std::string* into) noexcept {
    CORRO_ASSERT(into->empty());
    output_.erase(0, output_begin_);
    output_begin_ = 0;
    output_.swap(*into);
}

void session::send_logon(instant now, bool resets, const std::function<void(message_writer&)>& credentials) {
    begin_session_message("A", now);
    writer_.put(tag::encrypt_method, 0);
    writer_.put(tag::heart_bt_int, heartbeat_.count());
    if (resets) writer_.put(tag::reset_seq_num_flag, true);
    if (settings_.sends_next_expected) writer_.put(tag::next_expected_msg_seq_num, store_.next_received());
    const std::string& version = settings_.identity.default_appl_ver_id;
    if (!version.empty()) writer_.put(tag::default_appl_ver_id, version);
    if (credentials) credentials(writer_);
    emit(now);
}

void session::send_logout(std::string_view text, instant now) {
    begin_session_message("5", now);
    if (!text.empty()) writer_.put(tag::text, text);
    emit(now);
}

void session::log_out(std::string_view text, instant now) {
    if (phase_ == session_phase::logging_on) return finish("logged out before the Logon");
    if (phase_ != session_phase::active) return;
    send_logout(text, now);
    if (phase_ == session_phase::over) return;  // the store has failed
    phase_ = session_phase::logging_out;
    phase_since_ = now.steady;
}

// Nothing that the peer sends can repair this: a Logout with the reason, and the end.
void session::fail(std::string_view why, instant now) {
    stop_resend();
    send_logout(why, now);
    finish(why);
}

void session::finish(std::string_view why) {
    if (phase_ == session_phase::over && !why_.empty()) return;
    phase_ = session_phase::over;
    why_ = why;
    stop_resend();
}

void session::store_failed() {
    finish("the store has failed");
}

}  // namespace corro::fix
