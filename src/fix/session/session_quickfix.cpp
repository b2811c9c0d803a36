// SPDX-License-Identifier: Apache-2.0
// What the peer's messages do in QuickFIX's style: fields are checked before names, times and numbers; a Logout waits
// for its answer; and some faults end the connection without a word.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix/session/session.hpp"
#include "fix/session/session_words.hpp"

namespace corro::fix {
namespace {

/// An optional '-' and digits.
bool is_integer(std::string_view text) {
    return signed_value(text).has_value();
}

/// The name of a faulty tag as RefTagID (371) has it: its number, or what stood in its place.
std::string name_of(std::uint32_t tag, reject_reason why, const field_index& message) {
    if (tag != 0) return std::to_string(tag);
    if (why != reject_reason::invalid_tag) return {};
    for (const bad_field& each : message.bad_fields()) {
        if (each.tag == 0) return std::string(message.tag_text(each));
    }
    return {};
}

std::string_view words_as_quickfix(reject_reason why) noexcept {
    return why == reject_reason::group_fields_out_of_order ? "Out of order repeating group members" : words_for(why);
}

}  // namespace

taken session::dispatch_as_quickfix(const std::optional<message_problem>& indexed, instant now) {
    const session_message kind = kind_of(message_.message_type());
    const bool is_logon = kind == session_message::logon;
    const bool is_first = phase_ == session_phase::logging_on;
    if (is_first && (!is_logon || is_garbled_as_quickfix())) {
        finish("the first message is not a sound Logon");
        return taken::by_session;
    }
    if (is_garbled_as_quickfix()) return taken::by_session;
    const auto number = unsigned_value(message_.get(tag::msg_seq_num).value_or(std::string_view()));
    if (!number || *number > message_number_max || !message_.find(tag::sending_time)) {
        finish("MsgSeqNum (34) or SendingTime (52) is missing");
        return taken::by_session;
    }
    number_ = *number;
    is_duplicate_ = message_.get(tag::poss_dup_flag) == "Y";
    // These had their turn when they came.
    if (is_kept_ && (is_logon || kind == session_message::resend_request)) {
        count(number_);
        return taken::by_session;
    }
    if (message_.begin_string() != settings_.identity.begin_string) {
        take_other_version_as_quickfix(now);
        return taken::by_session;
    }
    if (!has_names_as_quickfix(now)) return taken::by_session;
    if (is_logon) {
        const auto version = message_.get(tag::default_appl_ver_id);
        if (!version && settings_.identity.begin_string == "FIXT.1.1") {
            finish("DefaultApplVerID (1137) is missing");
            return taken::by_session;
        }
        if (validator_) validator_->set_default_version(version.value_or(std::string_view()));
    }
    if (const auto problem = checked(indexed)) {
        reject(*problem, now);
        if (is_first) finish("the Logon has " + std::string(words_for(problem->reason)));
        return taken::by_session;
    }
    return take_sound_as_quickfix(now);
}

// A message whose fields are sound.
taken session::take_sound_as_quickfix(instant now) {
    switch (kind_of(message_.message_type())) {
        case session_message::logon: return take_logon_as_quickfix(now);
        case session_message::sequence_reset: take_sequence_reset_as_quickfix(now); break;
        case session_message::test_request:
            if (!is_next_as_quickfix(true, true, now)) break;
            take_test_request(now);
            count(number_);
            break;
        case session_message::heartbeat:
            if (is_next_as_quickfix(true, true, now)) count(number_);
            break;
        case session_message::reject:
            if (!is_next_as_quickfix(false, true, now) || where_is(number_) != place::next) break;
            count(number_);
            return taken::reject;
        case session_message::resend_request:
            if (!is_next_as_quickfix(false, false, now)) break;
            take_resend_request(now);
            if (where_is(number_) == place::next) count(number_);
            break;
        case session_message::logout:
            if (!is_next_as_quickfix(false, false, now)) break;
            count(store_.next_received());
            take_logout(now);
            break;
        case session_message::none:
            if (!is_next_as_quickfix(true, true, now)) break;
            count(number_);
            if (phase_ == session_phase::active) return taken::by_application;
            break;
    }
    return taken::by_session;
}

// --- What comes before the fields ------------------------------------------------------------------------------------

// A piece without '=', or with something else than a number in front of it.
bool session::is_garbled_as_quickfix() const {
    return std::ranges::any_of(message_.bad_fields(), [this](const bad_field& each) {
        return !each.has_equals || (each.tag == 0 && !is_integer(message_.tag_text(each)));
    });
}

void session::take_other_version_as_quickfix(instant now) {
    if (phase_ == session_phase::logging_on) return finish("Incorrect BeginString");
    if (kind_of(message_.message_type()) == session_message::logout) {
        count(store_.next_received());
        return take_logout(now);
    }
    log_out("Incorrect BeginString", now);
    count(store_.next_received());
}

// CompIDs that are not there at all; those that are wrong come later.
bool session::has_names_as_quickfix(instant now) {
    for (const std::uint32_t each : {tag::sender_comp_id, tag::target_comp_id}) {
        const auto bad = message_.bad_fields();
        if (message_.find(each) != nullptr || std::ranges::find(bad, each, &bad_field::tag) != bad.end()) continue;
        const bool is_of_application = kind_of(message_.message_type()) == session_message::none;
        const bool is_active = phase_ == session_phase::active;
        if (is_active && is_of_application && !is_before_4_2(settings_.identity.begin_string)) {
            constexpr std::uint32_t conditionally_required_field_missing = 5;
            reject_business(conditionally_required_field_missing,
                            "Conditionally Required Field Missing (" + std::to_string(each) + ")", now);
            count(store_.next_received());
        } else {
            reject_as(reject_reason::required_tag_missing, each, now);
        }
        if (phase_ == session_phase::logging_on) finish("the Logon lacks a CompID");
        return false;
    }
    return true;
}

// --- Time, names and number ------------------------------------------------------------------------------------------

/// @param asks_for_missing  A number that is too high means a gap.
/// @param ends_for_low      A number that is too low is a duplicate, or ends the session.
/// @return                  Whether the message is to be processed.
bool session::is_next_as_quickfix(bool asks_for_missing, bool ends_for_low, instant now) {
    const auto time = timestamp_value(*message_.get(tag::sending_time));
    const std::int64_t tolerance = std::chrono::nanoseconds(settings_.sending_time_tolerance).count();
    if (!time) {
        finish("SendingTime (52) is no time");
        return false;
    }
    if (tolerance != 0 && (now.wall - *time > tolerance || *time - now.wall > tolerance)) {
        end_as_quickfix(reject_reason::sending_time_accuracy, now);
        return false;
    }
    if (!has_right_names()) {
        end_as_quickfix(reject_reason::comp_id_problem, now);
        return false;
    }
    const place where = where_is(number_);
    if (where == place::ahead && asks_for_missing) {
        keep();
        request_missing(now);
        return false;
    }
    if (where == place::behind && ends_for_low) {
        take_low_as_quickfix(now);
        return false;
    }
    return true;
}

// A Reject, and a Logout whose answer is awaited.
void session::end_as_quickfix(reject_reason why, instant now) {
    if (phase_ == session_phase::logging_on) return finish(words_for(why));
    reject_as(why, 0, now);
    log_out({}, now);
}

void session::take_low_as_quickfix(instant now) {
    if (!is_duplicate_) {
        return fail("MsgSeqNum too low, expecting " + std::to_string(store_.next_received()) + " but received " +
                        std::to_string(number_),
                    now);
    }
    if (kind_of(message_.message_type()) == session_message::sequence_reset) return;
    const auto original_text = message_.get(tag::orig_sending_time);
    if (!original_text) return reject_as(reject_reason::required_tag_missing, tag::orig_sending_time, now);
    const auto original = timestamp_value(*original_text);
    if (!original) return reject_as(reject_reason::incorrect_format, tag::orig_sending_time, now);
    if (*original > *timestamp_value(*message_.get(tag::sending_time))) {
        end_as_quickfix(reject_reason::sending_time_accuracy, now);
    }
}

// --- Messages that differ --------------------------------------------------------------------------------------------

// A Logon with ResetSeqNumFlag (141) begins the numbers again at any time.
taken session::take_logon_as_quickfix(instant now) {
    const bool is_first = phase_ == session_phase::logging_on;
    const bool is_acceptor = settings_.side == session_side::acceptor;
    const bool resets = message_.get(tag::reset_seq_num_flag) == "Y";
    const auto interval_text = message_.get(tag::heart_bt_int);
    const auto interval = interval_text ? unsigned_value(*interval_text) : std::nullopt;
    constexpr std::uint64_t heartbeat_max = 86'400;
    if (is_closed(now)) {
        finish("the session is closed at this time");
        return taken::by_session;
    }
    const bool is_in_place = is_first || (resets && phase_ == session_phase::active);
    if (!interval || *interval > heartbeat_max || !is_in_place) {
        finish(interval ? "Logon state is not valid" : "HeartBtInt (108) is missing");
        return taken::by_session;
    }
    if (!is_first && is_acceptor) return taken::restart;
    if ((resets || settings_.resets_on_logon) && is_acceptor) {
        stop_resend();
        forget_gap();
        if (!store_.reset()) {
            store_failed();
            return taken::by_session;
        }
    }
    if (!is_next_as_quickfix(false, true, now)) return taken::by_session;
    heartbeat_ = std::chrono::seconds(static_cast<std::int64_t>(*interval));
    if (is_first && is_acceptor) return taken::logon;
    accept_logon(now);
    return taken::by_session;
}

void session::take_sequence_reset_as_quickfix(instant now) {
    const bool fills = message_.get(tag::gap_fill_flag) == "Y";
    if (!is_next_as_quickfix(fills, fills, now)) return;
    const auto text = message_.get(tag::new_seq_no);
    const auto number = text ? unsigned_value(*text) : std::nullopt;
    if (!number || *number > message_number_max) return;
    if (*number > store_.next_received()) return count(*number - 1);
    if (*number < store_.next_received()) reject_as(reject_reason::value_out_of_range, 0, now);
}

// --- Rejects ---------------------------------------------------------------------------------------------------------

// OnBehalfOf becomes DeliverTo, and the other way round.
void session::write_reversed_route() {
    constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 6> turned{{
        {tag::on_behalf_of_comp_id, tag::deliver_to_comp_id},
        {tag::on_behalf_of_sub_id, tag::deliver_to_sub_id},
        {tag::deliver_to_comp_id, tag::on_behalf_of_comp_id},
        {tag::deliver_to_sub_id, tag::on_behalf_of_sub_id},
        {tag::on_behalf_of_location_id, tag::deliver_to_location_id},
        {tag::deliver_to_location_id, tag::on_behalf_of_location_id},
    }};
    for (const auto& [to, from] : turned) {
        const bool is_location = to >= tag::on_behalf_of_location_id;
        if (is_location && settings_.identity.begin_string == "FIX.4.0") continue;
        if (const auto value = message_.get(from)) writer_.put(to, *value);
    }
}

void session::reject_as_quickfix(reject_reason why, std::uint32_t tag, instant now) {
    if (phase_ == session_phase::logging_on) return;
    const std::string& version = settings_.identity.begin_string;
    const bool has_reason = !is_before_4_2(version);
    const std::string name = name_of(tag, why, message_);
    begin_session_message("3", now);
    write_reversed_route();
    writer_.put(tag::ref_seq_num, number_);
    std::string text(words_as_quickfix(why));
    if (!has_reason && !name.empty()) text += " (" + name + ")";
    writer_.put(tag::text, text);
    if (has_reason) {
        if (!name.empty()) writer_.put(tag::ref_tag_id, name);
        writer_.put(tag::ref_msg_type, message_.message_type());
        if (has_number(why, version)) writer_.put(tag::session_reject_reason, static_cast<unsigned>(why));
    }
    emit(now);
    const session_message kind = kind_of(message_.message_type());
    const bool counts = kind != session_message::logon && kind != session_message::sequence_reset;
    if (counts && where_is(number_) == place::next) count(number_);
}

void session::reject_business_as_quickfix(std::uint32_t reason, std::string_view text, instant now) {
    const std::string& version = settings_.identity.begin_string;
    const bool has_message = !is_before_4_2(version);
    message_writer& writer = begin_message(has_message ? "j" : "3", now);
    writer.put(tag::ref_seq_num, number_);
    if (!text.empty()) writer.put(tag::text, text);
    if (!has_message) return emit(now);
    writer.put(tag::ref_msg_type, message_.message_type());
    writer.put(tag::business_reject_reason, reason);
    if (version.starts_with("FIXT") && !settings_.identity.default_appl_ver_id.empty()) {
        writer.put(tag::default_appl_ver_id, settings_.identity.default_appl_ver_id);
    }
    static_cast<void>(send(now));
}

}  // namespace corro::fix
