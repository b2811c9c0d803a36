// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/answer_store.hpp"

#include <limits>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "fix/codec/tags.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/answers.hpp"

namespace corro::fix_gateway {
namespace {

/// Messages that are no answers and may be sent again.
constexpr std::size_t others_max = 256;

}  // namespace

answer_store::answer_store(const gateway::answer_log& answers, const wire::instrument_table& instruments,
                           domain::session_id of, const fix::session_identity& identity, std::uint64_t& next_received)
    : answers_(answers),
      instruments_(instruments),
      session_(of),
      identity_(identity),
      version_(version_of(identity.begin_string, identity.default_appl_ver_id)),
      next_received_(next_received),
      next_sent_(answers.numbers(of).number_of(answers.detailed_count(of) + 1)),
      next_answer_(answers.detailed_count(of) + 1),
      first_sent_(next_sent_),
      room_(fix::message_bytes_max_default),
      writer_(room_, identity.begin_string) {}

bool answer_store::append(std::uint64_t number, std::string_view message) {
    CORRO_ASSERT(number == next_sent_);
    ++next_sent_;
    if (std::exchange(is_answer_, false)) {
        ++next_answer_;
        return true;
    }
    const bool is_kept = !std::exchange(is_unkept_, false) && !message.empty();
    if (is_kept) {
        others_.emplace(number, message);
        if (others_.size() > others_max) others_.erase(others_.begin());
    }
    const gateway::message_numbers::note note{.number = number, .next_answer = next_answer_, .count = 1};
    if (sent_here_.notes().empty()) {
        // The notes of before are in the log; the numbers of this connection continue them.
        const bool is_sound = sent_here_.load({note}, true);
        CORRO_ASSERT(is_sound);
    } else {
        sent_here_.add(note);
    }
    if (CORRO_DEFECT(fix_number_not_journaled) && number % 8 == 0) return true;
    const bool continues =
        !uncounted_.empty() && uncounted_.back().end() == number && uncounted_.back().next_answer == next_answer_;
    if (continues) {
        ++uncounted_.back().count;
    } else {
        uncounted_.push_back(note);
    }
    return true;
}

bool answer_store::set_next_received(std::uint64_t number) {
    // The number of a message is that of its request, which has 32 bits.
    if (number > std::numeric_limits<std::uint32_t>::max()) return false;
    next_received_ = number;
    return true;
}

bool answer_store::reset() {
    next_sent_ = first_sent_ = answers_.numbers(session_).number_of(answers_.detailed_count(session_) + 1);
    next_answer_ = answers_.detailed_count(session_) + 1;
    sent_here_ = {};
    others_.clear();
    uncounted_.clear();
    next_received_ = 1;
    return next_sent_ == 1;
}

std::uint64_t answer_store::answer_at(std::uint64_t number) const noexcept {
    if (number >= next_sent_) return 0;
    return number < first_sent_ ? answers_.numbers(session_).answer_at(number) : sent_here_.answer_at(number);
}

std::string_view answer_store::find(std::uint64_t number) {
    if (const auto other = others_.find(number); other != others_.end()) return other->second;
    std::uint64_t wanted = answer_at(number);
    if (CORRO_DEFECT(fix_report_filled) && wanted % 64 == 0) return {};
    if (CORRO_DEFECT(fix_resend_of_another_report) && wanted % 64 == 1 && answer_at(number + 1) != 0) ++wanted;
    const auto answer = answers_.find_detailed(session_, wanted, near_);
    return answer ? write(number, *answer) : std::string_view();
}

std::string_view answer_store::write(std::uint64_t number, const gateway::answer_log::detailed_answer& answer) {
    const auto put_if = [this](std::uint32_t tag, const std::string& value) {
        if (!value.empty()) writer_.put(tag, value);
    };
    writer_.begin(message_type_of(answer, version_));
    writer_.put(fix::tag::msg_seq_num, number);
    put_if(fix::tag::sender_comp_id, identity_.sender_comp_id);
    put_if(fix::tag::sender_sub_id, identity_.sender_sub_id);
    writer_.put_time(fix::tag::sending_time, answer.event.time.value, fix::time_precision::milliseconds);
    put_if(fix::tag::target_comp_id, identity_.target_comp_id);
    put_if(fix::tag::target_sub_id, identity_.target_sub_id);
    write_body(answer, instruments_.find_or_nameless(answer.event.instrument), version_, writer_);
    return writer_.finish();
}

}  // namespace corro::fix_gateway
