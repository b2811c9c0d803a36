// SPDX-License-Identifier: Apache-2.0
// What the peer asks for again.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/defect.hpp"
#include "fix/codec/tags.hpp"
#include "fix/session/session.hpp"

namespace corro::fix {
namespace {

struct time_characters {
    std::array<char, timestamp_format::bytes_max> all{};
    std::size_t size = 0;

    [[nodiscard]] std::string_view view() const noexcept { return {all.data(), size}; }
};

time_characters time_text(instant now, time_precision precision) noexcept {
    time_characters text;
    text.size = timestamp_format().write(now.wall, precision, text.all.data());
    return text;
}

/// Whether the session writes the field itself.
bool is_of_header(std::uint32_t tag) noexcept {
    switch (tag) {
        case tag::msg_type:
        case tag::msg_seq_num:
        case tag::poss_dup_flag:
        case tag::sender_comp_id:
        case tag::sender_sub_id:
        case tag::sending_time:
        case tag::target_comp_id:
        case tag::target_sub_id:
        case tag::orig_sending_time:
        case tag::sender_location_id:
        case tag::target_location_id: return true;
        default: return false;
    }
}

}  // namespace

// A second request while one is under way begins where it says: the peer asks again for what it lacks. What it cannot
// have seen yet comes behind that, for the first time.
void session::begin_resend(std::uint64_t first, std::uint64_t last) {
    was_asked_again_ = is_resending();
    resend_next_ = first;
    resend_last_ = held_from_ != 0 ? std::min(last, held_from_ - 1) : last;
}

void session::stop_resend() noexcept {
    resend_next_ = 1;
    resend_last_ = 0;
    held_from_ = 0;
    held_.clear();
}

void session::resend(std::size_t output_bytes, instant now) {
    std::uint64_t gap = 0;  // the first of some numbers that are not sent again; 0: none
    while (resend_next_ <= resend_last_ && output().size() < output_bytes) {
        const std::uint64_t number = resend_next_++;
        const std::string_view stored = store_.find(number);
        if (stored.empty()) {
            if (gap == 0) gap = number;
            resend_next_ = std::clamp(store_.next_kept(resend_next_), resend_next_, resend_last_ + 1);
            // A store that has forgotten millions of numbers is left in steps.
            if (number - gap < 100'000 || resend_next_ > resend_last_) continue;
        }
        if (gap != 0) write_gap_fill(gap, stored.empty() ? resend_next_ : number, now);
        gap = 0;
        if (!stored.empty() && !write_again(number, stored, now)) write_gap_fill(number, number + 1, now);
    }
    if (gap != 0) write_gap_fill(gap, resend_next_, now);
    if (resend_next_ > resend_last_) write_held(output_bytes, now);
}

// The messages that have waited for the end of the resend, as they were made.
void session::write_held(std::size_t output_bytes, instant now) {
    while (held_from_ != 0 && output().size() < output_bytes) {
        const std::uint64_t number = held_from_;
        held_from_ = number + 1 == store_.next_sent() ? 0 : number + 1;
        const auto own = held_.find(number);
        const std::string_view message = own != held_.end() ? std::string_view(own->second) : store_.find(number);
        if (message.empty()) {
            write_gap_fill(number, number + 1, now);  // the store has forgotten it
        } else {
            output_.append(message);
            last_sent_ = now.steady;
        }
        if (own != held_.end()) held_.erase(own);
    }
}

// SequenceReset-GapFill: session messages are not sent again.
void session::write_gap_fill(std::uint64_t first, std::uint64_t next, instant now) {
    write_header("4", first, now, time_text(now, settings_.precision).view());
    writer_.put(tag::new_seq_no, next);
    writer_.put(tag::gap_fill_flag, true);
    output_.append(writer_.finish());
    last_sent_ = now.steady;
}

// The body as it was; a header of today. A clock that was set back since must not make OrigSendingTime (122) later than
// SendingTime (52), which the peer would take for an error. False if the message that was stored is not one.
bool session::write_again(std::uint64_t number, std::string_view stored, instant now) {
    const frame_result frame = next_frame(stored, message_bytes_max);
    if (frame.state != frame_state::complete || stored_.index(stored, frame)) return false;
    const auto original = stored_.get(tag::sending_time);
    if (!original) return false;
    const auto sent_at = timestamp_value(*original);
    const time_characters today = time_text(now, settings_.precision);
    const bool is_of_tomorrow = sent_at && *sent_at > now.wall;
    const std::string_view sent_first = is_of_tomorrow ? today.view() : *original;
    write_header(stored_.message_type(), number, now,
                 CORRO_DEFECT(fix_possible_duplicate_not_marked) ? std::string_view() : sent_first);
    for (const field& each : stored_.fields()) {
        if (!is_of_header(each.tag)) writer_.put(each.tag, stored_.value(each));
    }
    const std::string_view message = writer_.finish();
    if (message.empty()) return false;
    output_.append(message);
    last_sent_ = now.steady;
    return true;
}

}  // namespace corro::fix
