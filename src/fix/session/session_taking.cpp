// SPDX-License-Identifier: Apache-2.0
// What the peer's messages do.
#include <algorithm>
#include <string>

#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix/dictionary/structure.hpp"
#include "fix/session/session.hpp"
#include "fix/session/session_words.hpp"

namespace corro::fix {
namespace {

constexpr std::uint64_t all_messages_before_4_2 = 999'999;

}  // namespace

taken session::take(std::string_view received, const frame_result& frame, instant now) {
    if (phase_ == session_phase::over) return taken::by_session;
    last_received_ = now.steady;
    test_sent_ = 0;
    is_kept_ = false;
    const auto problem = message_.index(received, frame);
    const taken what = dispatch(problem, now);
    if (requested_last_ != 0) [[unlikely]]
        request_next_part(now);
    return what;
}

std::optional<taken> session::take_kept(instant now) {
    while (phase_ != session_phase::over && has_kept()) {
        auto first = kept_.extract(kept_.begin());
        kept_bytes_ -= first.mapped().size();
        if (first.key() < store_.next_received()) continue;  // it came again
        current_ = std::move(first.mapped());
        is_kept_ = true;
        const auto problem = message_.index(current_, next_frame(current_, message_bytes_max));
        return dispatch(problem, now);
    }
    return std::nullopt;
}

/// @param indexed  What the index has found. With a dictionary, more is found.
taken session::dispatch(const std::optional<message_problem>& indexed, instant now) {
    if (settings_.style == session_style::quickfix) return dispatch_as_quickfix(indexed, now);
    const session_message kind = kind_of(message_.message_type());
    // Before a Logon nothing else is answered: the peer is not known.
    if (phase_ == session_phase::logging_on && kind != session_message::logon) {
        if (settings_.side == session_side::initiator && kind == session_message::logout) {
            finish("the peer refused the Logon: " + std::string(message_.get(tag::text).value_or("without a reason")));
        } else {
            finish("the first message is not a Logon");
        }
        return taken::by_session;
    }
    if (!has_sound_header(now)) return taken::by_session;
    if (kind == session_message::logon) return take_logon(now);
    const place where = where_is(number_);
    const bool is_to_be_kept = where == place::ahead && kind != session_message::sequence_reset &&
                               kind != session_message::resend_request && kind != session_message::logout;
    const std::optional<message_problem> problem =
        !is_to_be_kept && (where != place::behind || kind == session_message::sequence_reset) ? checked(indexed)
                                                                                              : indexed;
    // These three count whatever their place: they are how two ends find back to one number.
    if (kind == session_message::sequence_reset && message_.get(tag::gap_fill_flag) != "Y") {
        if (problem && (validator_ || settings_.checks_structure)) {
            reject(*problem, now);
        } else {
            take_sequence_reset(now);
        }
        return taken::by_session;
    }
    if (where == place::ahead && kind == session_message::resend_request && !problem) {
        take_resend_request(now);
        request_missing(now);
        return taken::by_session;
    }
    if (where == place::ahead && kind == session_message::logout && !problem) {
        take_logout(now);
        return taken::by_session;
    }
    if (where == place::ahead) {
        keep();
        request_missing(now);
        return taken::by_session;
    }
    if (where == place::behind) {
        take_duplicate(now);
        return taken::by_session;
    }
    if (problem) {
        reject(*problem, now);
        count(number_);
        return taken::by_session;
    }
    switch (kind) {
        case session_message::heartbeat: break;
        case session_message::reject:
            count(number_);
            forget_refused();
            return taken::reject;
        case session_message::test_request: take_test_request(now); break;
        case session_message::resend_request: take_resend_request(now); break;
        case session_message::sequence_reset: take_sequence_reset(now); return taken::by_session;
        case session_message::logout:
            count(number_);
            take_logout(now);
            return taken::by_session;
        case session_message::logon: break;
        case session_message::none:
            count(number_);
            if (message_.message_type() == "j") forget_refused();
            // Nothing is executed for a peer that has been told to go.
            return phase_ == session_phase::active ? taken::by_application : taken::by_session;
    }
    count(number_);
    return taken::by_session;
}

// @param indexed  What the index has found.
std::optional<message_problem> session::checked(const std::optional<message_problem>& indexed) noexcept {
    const std::string_view type = message_.message_type();
    const bool is_own = type == "A" || type.starts_with('U');
    const bool has_rules = validator_ && !(is_own && settings_.checked_by->options.allows_own_messages);
    const std::optional<message_problem> problem = has_rules ? validator_->check(message_) : indexed;
    // A Reject that is rejected could go back and forth without an end.
    if (problem || !settings_.checks_structure || type == "3") return problem;
    return check_structure(message_);
}

// The fields without which no message has a place in the session.
bool session::has_sound_header(instant now) {
    if (message_.begin_string() != settings_.identity.begin_string) {
        fail("Incorrect BeginString", now);
        return false;
    }
    // A reset is taken whatever its number.
    const auto is_reset = [this] {
        return kind_of(message_.message_type()) == session_message::sequence_reset &&
               message_.get(tag::gap_fill_flag) != "Y";
    };
    const auto number_text = message_.get(tag::msg_seq_num);
    const auto number = number_text ? unsigned_value(*number_text) : std::nullopt;
    if (!number || *number > message_number_max || (*number == 0 && !is_reset())) {
        fail("MsgSeqNum (34) is missing or no number", now);
        return false;
    }
    number_ = *number;
    is_duplicate_ = message_.get(tag::poss_dup_flag) == "Y";
    if (!has_right_names()) {
        const std::optional<message_problem> missing = missing_name();
        reject(missing.value_or(message_problem{reject_reason::comp_id_problem, 0}), now);
        if (where_is(number_) == place::next) count(number_);
        if (!missing) fail("Incorrect SenderCompID (49) or TargetCompID (56)", now);
        return false;
    }
    const auto time_text = message_.get(tag::sending_time);
    const auto time = time_text ? timestamp_value(*time_text) : std::nullopt;
    const std::int64_t tolerance = std::chrono::nanoseconds(settings_.sending_time_tolerance).count();
    const bool is_near = time && (tolerance == 0 || (now.wall - *time <= tolerance && *time - now.wall <= tolerance));
    if (is_near) return true;
    const bool is_next = where_is(number_) == place::next;
    if (!time_text) {
        reject_as(reject_reason::required_tag_missing, tag::sending_time, now);
    } else if (!time) {
        reject_as(reject_reason::incorrect_format, tag::sending_time, now);
    } else {
        reject_as(reject_reason::sending_time_accuracy, tag::sending_time, now);
    }
    if (is_next) count(number_);
    if (time || phase_ == session_phase::logging_on) fail("SendingTime (52) is not accurate", now);
    return false;
}

// A CompID that is not there is no wrong one: the message is rejected, and the session goes on. Not so for a Logon; and
// a Reject that is rejected could go back and forth without an end.
std::optional<message_problem> session::missing_name() const {
    const session_message kind = kind_of(message_.message_type());
    if (phase_ == session_phase::logging_on || kind == session_message::logon || kind == session_message::reject)
        return {};
    for (const std::uint32_t each : {tag::sender_comp_id, tag::target_comp_id}) {
        const std::string& expected =
            each == tag::sender_comp_id ? settings_.identity.target_comp_id : settings_.identity.sender_comp_id;
        if (expected.empty() || message_.find(each) != nullptr) continue;
        const bool is_empty =
            std::ranges::find(message_.bad_fields(), each, &bad_field::tag) != message_.bad_fields().end();
        return message_problem{is_empty ? reject_reason::tag_without_value : reject_reason::required_tag_missing, each};
    }
    return {};
}

bool session::has_right_names() const {
    const session_identity& names = settings_.identity;
    const auto is_right = [this](std::uint32_t tag, const std::string& expected) {
        return expected.empty() || message_.get(tag) == expected;
    };
    return is_right(tag::sender_comp_id, names.target_comp_id) && is_right(tag::target_comp_id, names.sender_comp_id) &&
           is_right(tag::sender_sub_id, names.target_sub_id) && is_right(tag::target_sub_id, names.sender_sub_id) &&
           is_right(tag::sender_location_id, names.target_location_id) &&
           is_right(tag::target_location_id, names.sender_location_id);
}

session::place session::where_is(std::uint64_t number) const noexcept {
    const std::uint64_t next = store_.next_received();
    return number == next ? place::next : number > next ? place::ahead : place::behind;
}

// A number that was taken. It must be a duplicate, or the peer has lost its numbers.
void session::take_duplicate(instant now) {
    if (!is_duplicate_) {
        return fail("MsgSeqNum too low, expecting " + std::to_string(store_.next_received()) + " but received " +
                        std::to_string(number_),
                    now);
    }
    const auto original_text = message_.get(tag::orig_sending_time);
    if (!original_text) return reject_as(reject_reason::required_tag_missing, tag::orig_sending_time, now);
    const auto original = timestamp_value(*original_text);
    if (!original) return reject_as(reject_reason::incorrect_format, tag::orig_sending_time, now);
    if (*original <= *timestamp_value(*message_.get(tag::sending_time))) return;
    reject_as(reject_reason::sending_time_accuracy, tag::orig_sending_time, now);
    fail("OrigSendingTime (122) is later than SendingTime (52)", now);
}

// Behind a gap. What does not fit comes again, because the resend is asked for without an end.
void session::keep() {
    const std::string_view bytes = message_.bytes();
    if (kept_.size() >= settings_.messages_kept_max || bytes.size() > settings_.bytes_kept_max - kept_bytes_) return;
    if (kept_.emplace(number_, bytes).second) kept_bytes_ += bytes.size();
}

// One request for a gap, until it is filled or its answer is overdue.
void session::request_missing(instant now) {
    const std::int64_t interval = std::chrono::nanoseconds(heartbeat_).count();
    const bool is_overdue = interval != 0 && now.steady - requested_at_ >= 2 * (interval + interval / 5);
    if (phase_ != session_phase::active || (requested_until_ != 0 && !is_overdue)) return;
    requested_until_ = std::max(requested_until_, number_);
    request_part(now);
}

// All of the gap, without an end, or its first part.
void session::request_part(instant now) {
    const std::uint64_t first = store_.next_received();
    const std::uint64_t most = settings_.resend_request_max;
    const bool has_more = most != 0 && requested_until_ > first && requested_until_ - first > most;
    requested_last_ = has_more ? first + most - 1 : 0;
    begin_session_message("2", now);
    writer_.put(tag::begin_seq_no, first);
    writer_.put(tag::end_seq_no, has_more                                         ? requested_last_
                                 : is_before_4_2(settings_.identity.begin_string) ? all_messages_before_4_2
                                                                                  : 0U);
    emit(now);
    requested_at_ = now.steady;
}

// When a part is there. Some peers fill a gap up to the last number that was asked for, but not that one itself: behind
// a gap fill it is asked for with the next part.
void session::request_next_part(instant now) {
    if (requested_until_ == 0) requested_last_ = 0;
    if (requested_last_ == 0 || phase_ != session_phase::active) return;
    const bool is_filled = kind_of(message_.message_type()) == session_message::sequence_reset;
    if (store_.next_received() + (is_filled ? 1 : 0) > requested_last_) request_part(now);
}

// The message with this number is done.
void session::count(std::uint64_t number) {
    if (!store_.set_next_received(number + 1)) return store_failed();
    if (requested_until_ != 0 && number + 1 >= requested_until_) requested_until_ = 0;
}

// A message that the peer has refused. The application was told that it had no effect, and it must not have one later,
// when the peer has forgotten the refusal in a crash and asks for the message again: a gap fill takes its place.
void session::forget_refused() {
    const auto text = message_.get(tag::ref_seq_num);
    const auto number = text ? unsigned_value(*text) : std::nullopt;
    if (number && !store_.forget(*number)) store_failed();
}

// --- Logon and Logout ------------------------------------------------------------------------------------------------

// Whether a Logon of a session that is active begins its numbers again, as clients do once a day that never close.
bool session::wants_restart() const {
    return phase_ == session_phase::active && settings_.side == session_side::acceptor && number_ == 1 &&
           message_.get(tag::reset_seq_num_flag) == "Y" && !is_duplicate_;
}

taken session::take_logon(instant now) {
    if (wants_restart()) return taken::restart;
    if (phase_ != session_phase::logging_on) {
        if (is_duplicate_ && where_is(number_) == place::behind) {
            take_duplicate(now);
        } else {
            fail("Logon (A) while logged on", now);
        }
        return taken::by_session;
    }
    if (is_closed(now)) {
        fail("The session is closed at this time", now);
        return taken::by_session;
    }
    if (!has_sound_logon(now)) return taken::by_session;
    const auto interval_text = message_.get(tag::heart_bt_int);
    const auto interval = interval_text ? unsigned_value(*interval_text) : std::nullopt;
    constexpr std::uint64_t heartbeat_max = 86'400;
    if (!interval || *interval > heartbeat_max) {
        fail("HeartBtInt (108) must be 0 to 86400", now);
        return taken::by_session;
    }
    if (message_.get(tag::encrypt_method) != "0") {
        fail("EncryptMethod (98) must be 0", now);
        return taken::by_session;
    }
    if (message_.begin_string() == "FIXT.1.1" && !message_.get(tag::default_appl_ver_id)) {
        fail("DefaultApplVerID (1137) is missing", now);
        return taken::by_session;
    }
    const bool resets = message_.get(tag::reset_seq_num_flag) == "Y";
    if (resets && number_ != 1) {
        fail("MsgSeqNum (34) must be 1 with ResetSeqNumFlag (141)", now);
        return taken::by_session;
    }
    if (settings_.side == session_side::initiator && resets && !settings_.resets_on_logon) {
        fail("ResetSeqNumFlag (141) was not asked for", now);
        return taken::by_session;
    }
    const bool is_to_be_reset = resets && settings_.side == session_side::acceptor;
    if (!is_to_be_reset && where_is(number_) == place::behind) {
        take_duplicate(now);
        if (phase_ != session_phase::over) finish("a Logon with PossDupFlag (43)");
        return taken::by_session;
    }
    heartbeat_ = std::chrono::seconds(static_cast<std::int64_t>(*interval));
    if (settings_.side == session_side::acceptor) return taken::logon;
    accept_logon(now);
    return taken::by_session;
}

// A Logon is not rejected: there is no session yet that a Reject could belong to.
bool session::has_sound_logon(instant now) {
    if (const std::optional<message_problem> problem = checked(std::nullopt)) {
        fail("Logon (A): " + std::string(words_for(problem->reason)) + ", tag " + std::to_string(problem->tag), now);
        return false;
    }
    if (validator_)
        validator_->set_default_version(message_.get(tag::default_appl_ver_id).value_or(std::string_view()));
    return true;
}

void session::accept_logon(instant now) {
    peers_version_ = message_.get(tag::default_appl_ver_id).value_or(std::string_view());
    const bool is_acceptor = settings_.side == session_side::acceptor;
    const bool resets = is_acceptor && message_.get(tag::reset_seq_num_flag) == "Y";
    if (resets && !store_.reset()) return store_failed();
    const std::uint64_t sent_before = store_.next_sent();
    const place where = where_is(number_);
    if (where == place::next) count(number_);
    if (is_acceptor) send_logon(now, resets, {});
    if (phase_ == session_phase::over) return;
    phase_ = session_phase::active;
    phase_since_ = now.steady;
    if (const auto expected_text = message_.get(tag::next_expected_msg_seq_num)) {
        const auto expected = unsigned_value(*expected_text);
        // An initiator's Logon is counted in what the peer expects.
        if (!expected || *expected == 0 || *expected > store_.next_sent()) {
            return fail("NextExpectedMsgSeqNum (789) is higher than what was sent", now);
        }
        if (*expected < sent_before) begin_resend(*expected, sent_before - 1);
        // The peer reads in this end's Logon what it lacks, and sends it unasked.
        if (where == place::ahead && settings_.sends_next_expected) {
            requested_until_ = number_;
            requested_last_ = 0;
            requested_at_ = now.steady;
            return;
        }
    }
    if (where == place::ahead) request_missing(now);
}

void session::refuse_logon(std::string_view why, instant now) {
    fail(why, now);
}

void session::take_logout(instant now) {
    const bool is_answer = phase_ == session_phase::logging_out;
    if (!is_answer) send_logout({}, now);
    finish(is_answer ? "logged out" : "the peer logged out");
    if (settings_.resets_on_logout) static_cast<void>(store_.reset());
}

std::string_view session::application_version() const noexcept {
    return message_.get(tag::appl_ver_id).value_or(std::string_view(peers_version_));
}

// --- The other messages of the session -------------------------------------------------------------------------------

void session::take_test_request(instant now) {
    const auto id = message_.get(tag::test_req_id);
    if (!id) return reject_as(reject_reason::required_tag_missing, tag::test_req_id, now);
    begin_session_message("0", now);
    writer_.put(tag::test_req_id, *id);
    emit(now);
}

void session::take_resend_request(instant now) {
    const auto first_text = message_.get(tag::begin_seq_no);
    const auto last_text = message_.get(tag::end_seq_no);
    if (!first_text) return reject_as(reject_reason::required_tag_missing, tag::begin_seq_no, now);
    if (!last_text) return reject_as(reject_reason::required_tag_missing, tag::end_seq_no, now);
    const auto first = unsigned_value(*first_text);
    const auto last = unsigned_value(*last_text);
    if (!first) return reject_as(reject_reason::incorrect_format, tag::begin_seq_no, now);
    if (!last) return reject_as(reject_reason::incorrect_format, tag::end_seq_no, now);
    const std::uint64_t newest = store_.next_sent() - 1;
    const bool wants_all =
        *last == 0 || (is_before_4_2(settings_.identity.begin_string) && *last == all_messages_before_4_2);
    if (*first == 0 || *first > newest) return reject_as(reject_reason::value_out_of_range, tag::begin_seq_no, now);
    if (!wants_all && *last < *first) return reject_as(reject_reason::value_out_of_range, tag::end_seq_no, now);
    begin_resend(*first, wants_all ? newest : std::min(*last, newest));
}

// GapFill: the numbers up to NewSeqNo (36) have nothing for the application. Reset: go on with that number, come what
// may.
void session::take_sequence_reset(instant now) {
    const bool fills = message_.get(tag::gap_fill_flag) == "Y";
    const std::uint64_t next = store_.next_received();
    const auto text = message_.get(tag::new_seq_no);
    const auto number = text ? unsigned_value(*text) : std::nullopt;
    if (!text) {
        reject_as(reject_reason::required_tag_missing, tag::new_seq_no, now);
    } else if (!number) {
        reject_as(reject_reason::incorrect_format, tag::new_seq_no, now);
    } else if (*number > message_number_max) {
        reject_as(reject_reason::value_out_of_range, tag::new_seq_no, now);
    } else if (*number > next) {
        return count(*number - 1);
    } else if (fills || *number < next) {
        reject_as(reject_reason::value_out_of_range, tag::new_seq_no, now);
    } else {
        return;  // a reset to the number that is expected
    }
    if (fills) count(number_);
}

void session::reject(message_problem problem, instant now) {
    reject_as(problem.reason, problem.tag, now);
}

void session::reject_as(reject_reason why, std::uint32_t tag, instant now) {
    if (settings_.style == session_style::quickfix) return reject_as_quickfix(why, tag, now);
    if (phase_ == session_phase::logging_on) return;  // a Logout follows, and there is no session yet
    begin_session_message("3", now);
    write_reversed_route();
    writer_.put(tag::ref_seq_num, number_);
    writer_.put(tag::text, words_for(why));
    const std::string& version = settings_.identity.begin_string;
    if (!is_before_4_2(version)) {
        if (tag != 0) {
            writer_.put(tag::ref_tag_id, tag);
        } else if (why == reject_reason::invalid_tag) {
            put_invalid_tag();
        }
        writer_.put(tag::ref_msg_type, message_.message_type());
        if (has_number(why, version)) writer_.put(tag::session_reject_reason, static_cast<unsigned>(why));
    }
    emit(now);
}

// RefTagID (371) is a number, also one that is no tag.
void session::put_invalid_tag() {
    constexpr std::size_t digits_max = 9;
    for (const bad_field& each : message_.bad_fields()) {
        if (each.tag != 0) continue;
        const std::string_view text = message_.tag_text(each);
        const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
        const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
        if (!digits.empty() && digits.size() <= digits_max && std::ranges::all_of(digits, is_digit)) {
            writer_.put(tag::ref_tag_id, text);
        }
        return;
    }
}

void session::reject_business(std::uint32_t reason, std::string_view text, instant now) {
    if (settings_.style == session_style::quickfix) return reject_business_as_quickfix(reason, text, now);
    message_writer& writer = begin_message("j", now);
    writer.put(tag::ref_seq_num, number_);
    if (!text.empty()) writer.put(tag::text, text);
    writer.put(tag::ref_msg_type, message_.message_type());
    writer.put(tag::business_reject_reason, reason);
    static_cast<void>(send(now));
}

}  // namespace corro::fix
