// SPDX-License-Identifier: Apache-2.0
#include "gateway/answer_log.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "base/defect.hpp"
#include "domain/private_event.hpp"

namespace corro::gateway {
namespace {

// The saved form, all numbers little-endian:
//
// | offset | size | meaning |
// |--------|------|---------|
// | 0      | 8    | "CORROANS" |
// | 8      | 4    | version of this form: 2, or 3 with detailed answers, or 4 with texts of order ids |
// | 12     | 4    | number of sessions n |
// | 16     | 48 n | of each session from 1: see below |
// |        | 64 m | the answers that are kept, session by session, oldest first; domain::event as it stands in memory |
// |        |      | versions 3 and 4: the details, see below |
// | end-4  | 4    | CRC-32C of everything before |
//
// Of a session:
//
// | offset | size | meaning |
// |--------|------|---------|
// | 0      | 8    | next request |
// | 8      | 8    | next answer |
// | 16     | 8    | first answer kept |
// | 24     | 8    | time of answer 1 |
// | 32     | 8    | day_begin of the last reset |
// | 40     | 4    | resets, and one |
// | 44     | 4    | 1 if a reset is not in all partitions |
//
// In version 1 a session has the first 24 bytes only.
//
// The details:
//
// | size | meaning |
// |------|---------|
// | 4    | sessions with detailed answers |
// |      | of each: 4 session, 4 notes, 4 bit 1: older notes are forgotten, 4 zero; per note 8 number, 8 next answer, |
// |      | 8 count |
// | 8    | partly filled open orders |
// |      | of each, by id: 8 order, 8 value of the fills, 8 lots |
// |      | version 4: texts and orders with them, see order_texts.cpp |
// | 8    | the size of all this, these 8 bytes included |
constexpr std::array<char, 8> magic{'C', 'O', 'R', 'R', 'O', 'A', 'N', 'S'};
constexpr std::uint32_t version = 4;
constexpr std::uint32_t version_without_texts = 3;
constexpr std::uint32_t version_without_details = 2;
constexpr std::size_t head_bytes = 16;
constexpr std::size_t session_bytes = 48;
constexpr std::size_t session_bytes_of_version_1 = 24;
constexpr std::size_t checksum_bytes = 4;

/// The id of an order that a message may have beside those in its details.
[[nodiscard]] domain::client_order_id order_of(const domain::event& e) noexcept {
    switch (e.kind) {
        case domain::event_kind::order_entered:
        case domain::event_kind::order_amended:
        case domain::event_kind::order_cancelled:
        case domain::event_kind::order_rejected:
        case domain::event_kind::order_status: return e.order.client_order;
        default: return {};
    }
}

[[nodiscard]] answer_details details_at(const domain::event* place) noexcept {
    answer_details details;
    std::memcpy(static_cast<void*>(&details), static_cast<const void*>(place), sizeof details);
    return details;
}

[[nodiscard]] std::uint32_t blocks_for(std::size_t answers) {
    const std::size_t blocks =
        std::max<std::size_t>(1, (answers + answer_log::answers_per_block - 1) / answer_log::answers_per_block);
    CORRO_ASSERT(blocks < std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(blocks);
}

}  // namespace

answer_log::answer_log(std::uint32_t sessions_count, const answer_log_options& options)
    : session_blocks_max_(blocks_for(options.session_answers_max)),
      blocks_count_(blocks_for(options.answers_max)),
      equal_share_(blocks_count_ / std::max(1U, sessions_count)),
      sessions_(std::size_t{sessions_count} + 1),
      next_block_(blocks_count_, no_block),
      previous_block_(blocks_count_, no_block),
      events_(base::make_raw_array<domain::event>(std::size_t{blocks_count_} * answers_per_block)) {
    if (options.touch != base::page_touch::yes) return;
    base::touch_pages(events_.get(), std::size_t{blocks_count_} * answers_per_block * sizeof(domain::event));
}

const answer_log::session& answer_log::at(domain::session_id id) const noexcept {
    CORRO_ASSERT(id.value != 0 && id.value < sessions_.size());
    return sessions_[id.value];
}

void answer_log::note(const domain::command& command) noexcept {
    if (command.request() == 0) return;
    CORRO_ASSERT(command.session.value < sessions_.size());
    session& s = sessions_[command.session.value];
    s.next_request = std::max(s.next_request, std::uint64_t{command.request()} + 1);
}

std::uint64_t answer_log::append(const domain::event& event) noexcept {
    if (CORRO_DEFECT(fill_not_reported) && event.kind == domain::event_kind::order_executed &&
        event.command.value % 64 == 0) {
        return 0;
    }
    const domain::session_id id = domain::session_of(event);
    CORRO_ASSERT(id.value != 0 && id.value < sessions_.size());
    if (event.kind == domain::event_kind::session_numbers_reset) [[unlikely]] {
        begin_again(sessions_[id.value], event.numbers_reset);
        if (is_detailed(id) && event.numbers_reset.is_partial == 0) {
            detailed_[detailed_by_session_[id.value] - 1] = detailed_session(id);
        }
        return 0;
    }
    if (event.kind == domain::event_kind::messages_counted) [[unlikely]] {
        if (!is_detailed(id)) return 0;
        message_numbers& numbers = detailed_[detailed_by_session_[id.value] - 1].numbers;
        session& s = sessions_[id.value];
        if (s.next_answer == 1 && numbers.notes().empty()) s.begun = event.time;
        numbers.add({event.counted.number, event.counted.next_answer, event.counted.count});
        numbers.forget_before(first_detailed_kept(id));
        return 0;
    }
    if (event.kind == domain::event_kind::order_named) [[unlikely]] {
        if (!detailed_.empty()) texts_.take(event.name);
        return 0;
    }
    if (!detailed_.empty()) event_fills_ = fills_.take(event);
    if (!texts_.is_empty()) [[unlikely]]
        texts_.follow(event);
    // Positions change by what a drop copy receives anyway.
    const bool is_copied = event.kind != domain::event_kind::position_reported;
    for (const domain::session_id copy : copies_of(domain::account_of(event))) {
        if (copy != id && is_copied) append_to(copy, event);
    }
    const bool is_misled = CORRO_DEFECT(answer_to_another_session) && event.command.value % 64 == 0;
    return append_to(is_misled ? domain::session_id{id.value % sessions_count() + 1} : id, event);
}

std::uint64_t answer_log::append_to(domain::session_id id, const domain::event& event) noexcept {
    if (is_detailed(id)) return append_detailed(detailed_[detailed_by_session_[id.value] - 1], event);
    const bool has_message =
        event.kind != domain::event_kind::request_named && event.kind != domain::event_kind::position_reported;
    if (!has_message) return 0;
    return append(sessions_[id.value], event);
}

// A request_named is kept until the messages that it announces. Only of a mass cancel that is not refused it is an
// answer of its own. Of captures, those that no order_executed tells of are answers: legs, and settlements.
std::uint64_t answer_log::append_detailed(detailed_session& d, const domain::event& event) noexcept {
    session& s = sessions_[d.id.value];
    answer_details details;
    details.value = event_fills_.value;
    details.filled = domain::quantity_lots{event_fills_.lots};
    details.is_foreign = is_detailed(domain::session_of(event)) ? 0 : 1;
    switch (event.kind) {
        case domain::event_kind::request_named:
            // In a venue of partitions each of them tells the name of a mass cancel, and of a query of all.
            if (event.named.request == d.named.request && (d.has_report || d.orders_count != 0)) return 0;
            d.named = event.named;
            d.has_report = false;
            d.orders_count = 0;
            return 0;
        case domain::event_kind::order_executed:
            details.name = event.execution.client_order;
            return append_pair(s, event, details);
        case domain::event_kind::order_entered:
        case domain::event_kind::order_amended:
        case domain::event_kind::order_cancelled:
        case domain::event_kind::order_rejected:
        case domain::event_kind::order_status: break;
        case domain::event_kind::quote_entered:
            details.name = event.quote.client_order;
            return append_pair(s, event, details);
        case domain::event_kind::protection_changed:
        case domain::event_kind::leg_capture: return append_pair(s, event, details);
        case domain::event_kind::trade_capture:
            return event.capture.order.value == 0 ? append_pair(s, event, details) : 0;
        case domain::event_kind::position_reported:
            details.name = d.named.name;
            details.request_kind = d.named.kind;
            return append_pair(s, event, details);
        case domain::event_kind::request_done: return append_of_query(d, event, details);
        default: return 0;
    }
    details.name = event.order.client_order;
    const bool is_named = d.named.request != 0 && event.order.request == d.named.request;
    if (!is_named) return append_pair(s, event, details);
    const bool is_mass = d.named.kind == static_cast<std::uint8_t>(domain::command_kind::cancel_orders);
    const bool is_refusal = event.kind == domain::event_kind::order_rejected;
    if (d.named.order.value == 0 && event.kind == domain::event_kind::order_status) {
        return append_of_query(d, event, details);
    }
    if (is_mass && !is_refusal) {
        if (!d.has_report) {
            domain::event report;
            report.command = event.command;
            report.time = event.time;
            report.kind = domain::event_kind::request_named;
            report.named = d.named;
            answer_details of_report;
            of_report.name = d.named.name;
            of_report.request_kind = d.named.kind;
            of_report.is_foreign = details.is_foreign;
            append_pair(s, report, of_report);
            d.has_report = true;
        }
        return append_pair(s, event, details);
    }
    details.name = d.named.name;
    details.of_order = d.named.client_order;
    details.request_kind = d.named.kind;
    // An amend has consequences behind its answer, and those are of the order.
    if (!is_mass) d.named = {};
    return append_pair(s, event, details);
}

// The answers to a query of all orders: each order, and the end with their number.
std::uint64_t answer_log::append_of_query(detailed_session& d, const domain::event& event,
                                          answer_details details) noexcept {
    const bool is_done = event.kind == domain::event_kind::request_done;
    const bool is_of_query = d.named.request != 0 && event.order.request == d.named.request &&
                             d.named.kind == static_cast<std::uint8_t>(domain::command_kind::query_order);
    if (!is_of_query) return 0;
    details.name = d.named.name;
    details.request_kind = d.named.kind;
    if (is_done) {
        details.orders_count = d.orders_count;
        d.named = {};
        d.orders_count = 0;
    } else {
        // The place of another session's order, from which a next query continues, does not belong to the answer.
        if ((event.flags & domain::event_flag::only_a_place) == 0) ++d.orders_count;
    }
    return append_pair(sessions_[d.id.value], event, details);
}

std::uint64_t answer_log::append_pair(session& s, const domain::event& event, const answer_details& details) noexcept {
    append(s, event);
    domain::event place;
    static_assert(sizeof place == sizeof details);
    std::memcpy(static_cast<void*>(&place), &details, sizeof details);
    if (!texts_.is_empty()) [[unlikely]] {
        answer_details held = details;
        hold_texts(event, held);
        std::memcpy(static_cast<void*>(&place), &held, sizeof held);
    }
    return append(s, place);
}

// An answer keeps the texts of its names until it is dropped.
void answer_log::hold_texts(const domain::event& event, answer_details& details) noexcept {
    if (domain::is_public(event.kind)) return;
    const domain::account_id account = domain::account_of(event);
    const auto hold = [&](domain::client_order_id name, std::uint8_t bit) {
        if (domain::is_long_name(name) && texts_.hold(account, name)) details.texts |= bit;
    };
    hold(details.name, text_of::name);
    hold(details.of_order, text_of::of_order);
    const domain::client_order_id order = order_of(event);
    if (order != details.name && order != details.of_order) hold(order, text_of::order_of_event);
}

// Of answers of one block, from `begin` to before `end`.
void answer_log::release_texts(const session& s, std::uint32_t block, std::uint64_t begin, std::uint64_t end) noexcept {
    if (!is_detailed(s)) return;
    for (std::uint64_t number = begin | 1U; number + 1 < end; number += numbers_per_detailed) {
        const domain::event& event = *slot(block, number);
        const answer_details details = details_at(slot(block, number + 1));
        if (details.texts == 0) continue;
        const domain::account_id account = domain::account_of(event);
        if ((details.texts & text_of::name) != 0) texts_.release(account, details.name);
        if ((details.texts & text_of::of_order) != 0) texts_.release(account, details.of_order);
        if ((details.texts & text_of::order_of_event) != 0) texts_.release(account, order_of(event));
    }
}

/// Calls `f(event, place of its details)` for the answers of a session with detailed ones.
template <class F>
void answer_log::for_each_detailed(const session& s, F&& f) const {
    std::uint32_t block = s.first_block;
    for (std::uint64_t number = s.first_kept | 1U; number + 1 < s.next_answer; number += numbers_per_detailed) {
        if (number != s.first_kept && (number - 1) % answers_per_block == 0) block = next_block_[block];
        f(*slot(block, number), slot(block, number + 1));
    }
}

bool answer_log::is_of_before(domain::session_id id, domain::time_ns moment) const noexcept {
    const session& s = at(id);
    const bool is_used = s.next_answer != 1 || (is_detailed(id) && !numbers(id).notes().empty());
    return s.is_partly_reset || (is_used && s.begun < moment && s.day_begin != moment);
}

void answer_log::set_detailed(domain::session_id id) {
    CORRO_ASSERT(id.value != 0 && id.value < sessions_.size());
    if (is_detailed(id)) return;
    if (detailed_by_session_.empty()) detailed_by_session_.resize(sessions_.size());
    detailed_.emplace_back(id);
    detailed_by_session_[id.value] = static_cast<std::uint32_t>(detailed_.size());
}

const message_numbers& answer_log::numbers(domain::session_id id) const noexcept {
    CORRO_ASSERT(is_detailed(id));
    return detailed_[detailed_by_session_[id.value] - 1].numbers;
}

std::optional<answer_log::detailed_answer> answer_log::find_detailed(domain::session_id id, std::uint64_t answer,
                                                                     cursor& near) const noexcept {
    if (answer == 0) return std::nullopt;
    const std::uint64_t number = (answer - 1) * numbers_per_detailed + 1;
    const std::span<const domain::event> found = find_run(id, number, near);
    if (found.size() < numbers_per_detailed) return std::nullopt;
    std::optional<detailed_answer> answered(std::in_place);
    answered->event = found[0];
    std::memcpy(static_cast<void*>(&answered->details), static_cast<const void*>(&found[1]), sizeof(answer_details));
    answered->texts = &texts_;
    return answered;
}

void answer_log::copy(domain::account_id account, domain::session_id to) {
    CORRO_ASSERT(to.value != 0 && to.value < sessions_.size());
    if (copies_.size() <= account.value) copies_.resize(std::size_t{account.value} + 1);
    copies_[account.value].push_back(to);
}

std::uint64_t answer_log::append(session& s, const domain::event& event) noexcept {
    const std::uint64_t number = s.next_answer;
    if (number == 1 && s.begun.value == 0) s.begun = event.time;
    if ((number - 1) % answers_per_block == 0 || s.last_block == no_block) {
        const std::uint32_t block = free_block_for(s);
        next_block_[block] = no_block;
        if (s.last_block == no_block) {
            s.first_block = block;
        } else {
            next_block_[s.last_block] = block;
            previous_block_[block] = s.last_block;
        }
        s.last_block = block;
        ++s.blocks_count;
    }
    std::memcpy(static_cast<void*>(slot(s.last_block, number)), &event, sizeof event);
    ++s.next_answer;
    return number;
}

// After a partial reset the session's requests count from 1 in some partitions and go on in the others. A whole reset
// follows before the session is used.
void answer_log::begin_again(session& s, const domain::numbers_reset& reset) noexcept {
    if (reset.is_partial != 0) {
        s.is_partly_reset = true;
        return;
    }
    if (!texts_.is_empty()) [[unlikely]] {
        for (std::uint32_t block = s.first_block; block != no_block; block = next_block_[block]) {
            const std::uint64_t behind = s.first_kept + answers_per_block - (s.first_kept - 1) % answers_per_block;
            release_texts(s, block, s.first_kept, std::min(behind, s.next_answer));
            s.first_kept = behind;
        }
    }
    if (s.last_block != no_block) {
        next_block_[s.last_block] = free_block_;
        free_block_ = s.first_block;
    }
    const std::uint32_t days_count = s.days_count + 1;
    s = session();
    s.days_count = days_count;
    s.day_begin = reset.day_begin;
}

// An unused block, or else the oldest one of a session that has more than its share.
std::uint32_t answer_log::free_block_for(session& wanting) noexcept {
    if (wanting.blocks_count >= session_blocks_max_) return drop_oldest_answers(wanting);
    if (free_block_ != no_block) return std::exchange(free_block_, next_block_[free_block_]);
    if (blocks_used_ < blocks_count_) return blocks_used_++;
    if (wanting.blocks_count != 0 && wanting.blocks_count >= equal_share_) return drop_oldest_answers(wanting);
    // All blocks are in use and this session has less than its share, so another one has more.
    while (sessions_[steal_from_].blocks_count <= equal_share_) {
        if (++steal_from_ == sessions_.size()) steal_from_ = 1;
    }
    return drop_oldest_answers(sessions_[steal_from_]);
}

std::uint32_t answer_log::drop_oldest_answers(session& s) noexcept {
    const std::uint32_t block = s.first_block;
    CORRO_ASSERT(block != no_block);
    if (!texts_.is_empty()) [[unlikely]] {
        const std::uint64_t behind = s.first_kept + answers_per_block - (s.first_kept - 1) % answers_per_block;
        release_texts(s, block, s.first_kept, std::min(behind, s.next_answer));
    }
    s.first_block = next_block_[block];
    --s.blocks_count;
    if (s.first_block == no_block) {
        s.last_block = no_block;
        s.first_kept = s.next_answer;
    } else {
        // The next block begins with the number after this one's last.
        s.first_kept += answers_per_block - (s.first_kept - 1) % answers_per_block;
    }
    return block;
}

// From the nearer end: a client that asks for n answers costs a walk over no more blocks than they are in.
std::uint32_t answer_log::block_of(const session& s, std::uint64_t number) const noexcept {
    const std::uint64_t wanted = (number - 1) / answers_per_block;
    const std::uint64_t from_first = wanted - (s.first_kept - 1) / answers_per_block;
    const std::uint64_t from_last = (s.next_answer - 2) / answers_per_block - wanted;
    blocks_walked_count_ += std::min(from_first, from_last);
    if (from_first <= from_last) {
        std::uint32_t block = s.first_block;
        for (std::uint64_t steps = from_first; steps != 0; --steps) block = next_block_[block];
        return block;
    }
    std::uint32_t block = s.last_block;
    for (std::uint64_t steps = from_last; steps != 0; --steps) block = previous_block_[block];
    return block;
}

const domain::event* answer_log::find(domain::session_id id, std::uint64_t number, cursor& near) const noexcept {
    const session& s = at(id);
    if (number < s.first_kept || number >= s.next_answer) return nullptr;
    // While the answer that it found is kept, so is its block.
    const bool is_kept = near.number_ >= s.first_kept;
    const bool is_same_block = is_kept && (number - 1) / answers_per_block == (near.number_ - 1) / answers_per_block;
    if (!is_same_block && !(is_kept && number == near.number_ + 1)) {
        near.block_ = block_of(s, number);
    } else if (!is_same_block) {
        near.block_ = next_block_[near.block_];
        ++blocks_walked_count_;
    }
    near.number_ = number;
    return slot(near.block_, number);
}

std::span<const domain::event> answer_log::find_run(domain::session_id id, std::uint64_t number,
                                                    cursor& near) const noexcept {
    const domain::event* const first = find(id, number, near);
    if (first == nullptr) return {};
    const std::uint64_t end_of_block = number + answers_per_block - (number - 1) % answers_per_block;
    const std::uint64_t end = std::min(end_of_block, at(id).next_answer);
    near.number_ = end - 1;
    return {first, static_cast<std::size_t>(end - number)};
}

void answer_log::clear() noexcept {
    std::fill(sessions_.begin(), sessions_.end(), session());
    blocks_used_ = 0;
    free_block_ = no_block;
    steal_from_ = 1;
    fills_.clear();
    texts_.clear();
    for (detailed_session& d : detailed_) d = detailed_session(d.id);
}

void answer_log::save(std::vector<std::byte>& into, const std::vector<bool>& chosen) const {
    CORRO_ASSERT(chosen.empty() || chosen.size() == sessions_.size());
    const auto is_chosen = [&](std::size_t id) { return chosen.empty() || chosen[id]; };
    const session nothing;
    const std::size_t begin = into.size();
    for (const char letter : magic) into.push_back(static_cast<std::byte>(letter));
    base::append_le<std::uint32_t>(into, detailed_.empty()   ? version_without_details
                                         : texts_.is_empty() ? version_without_texts
                                                             : version);
    base::append_le<std::uint32_t>(into, sessions_count());
    for (std::size_t id = 1; id < sessions_.size(); ++id) {
        const session& s = is_chosen(id) ? sessions_[id] : nothing;
        base::append_le<std::uint64_t>(into, s.next_request);
        base::append_le<std::uint64_t>(into, s.next_answer);
        base::append_le<std::uint64_t>(into, s.first_kept);
        base::append_le<std::int64_t>(into, s.begun.value);
        base::append_le<std::int64_t>(into, s.day_begin.value);
        base::append_le<std::uint32_t>(into, s.days_count);
        base::append_le<std::uint32_t>(into, s.is_partly_reset ? 1 : 0);
    }
    for (std::size_t id = 1; id < sessions_.size(); ++id) {
        if (!is_chosen(id)) continue;
        const session& s = sessions_[id];
        std::uint32_t block = s.first_block;
        for (std::uint64_t number = s.first_kept; number < s.next_answer; ++number) {
            if (number != s.first_kept && (number - 1) % answers_per_block == 0) block = next_block_[block];
            const auto* const bytes = reinterpret_cast<const std::byte*>(slot(block, number));
            into.insert(into.end(), bytes, bytes + sizeof(domain::event));
        }
    }
    if (!detailed_.empty()) save_details(into, chosen);
    base::append_le<std::uint32_t>(into, base::crc32c(std::span(into).subspan(begin)));
}

void answer_log::save_details(std::vector<std::byte>& into, const std::vector<bool>& chosen) const {
    const std::size_t begin = into.size();
    base::append_le<std::uint32_t>(into, static_cast<std::uint32_t>(detailed_.size()));
    const message_numbers nothing;
    for (const detailed_session& d : detailed_) {
        const message_numbers& numbers = chosen.empty() || chosen[d.id.value] ? d.numbers : nothing;
        base::append_le<std::uint32_t>(into, d.id.value);
        base::append_le<std::uint32_t>(into, static_cast<std::uint32_t>(numbers.notes().size()));
        base::append_le<std::uint32_t>(into, numbers.has_forgotten() ? 1 : 0);
        base::append_le<std::uint32_t>(into, 0);
        for (const message_numbers::note& n : numbers.notes()) {
            base::append_le<std::uint64_t>(into, n.number);
            base::append_le<std::uint64_t>(into, n.next_answer);
            base::append_le<std::uint64_t>(into, n.count);
        }
    }
    // By id, so that equal logs are saved as equal bytes.
    std::vector<std::pair<std::uint64_t, order_fills::totals>> orders;
    fills_.for_each([&](std::uint64_t order, const order_fills::totals& t) { orders.emplace_back(order, t); });
    std::ranges::sort(orders, {}, [](const auto& each) { return each.first; });
    base::append_le<std::uint64_t>(into, orders.size());
    for (const auto& [order, t] : orders) {
        base::append_le<std::uint64_t>(into, order);
        base::append_le<std::int64_t>(into, t.value);
        base::append_le<std::uint64_t>(into, t.lots);
    }
    if (!texts_.is_empty()) texts_.save(into, texts_of(chosen));
    base::append_le<std::uint64_t>(into, into.size() - begin + sizeof(std::uint64_t));
}

// The orders of the chosen sessions, and those that they receive copies of; the texts that their answers hold.
order_texts::filter answer_log::texts_of(const std::vector<bool>& chosen) const {
    if (chosen.empty()) return {};
    auto held = std::make_shared<std::set<std::pair<std::uint32_t, std::uint64_t>>>();
    for (std::size_t id = 1; id < sessions_.size(); ++id) {
        if (!chosen[id] || !is_detailed(sessions_[id])) continue;
        for_each_detailed(sessions_[id], [&](const domain::event& event, const domain::event* place) {
            const answer_details details = details_at(place);
            if (details.texts == 0) return;
            for (const domain::client_order_id name : {details.name, details.of_order, order_of(event)}) {
                if (domain::is_long_name(name)) held->emplace(domain::account_of(event).value, name.value);
            }
        });
    }
    order_texts::filter only;
    only.order = [this, &chosen](domain::session_id owner, domain::account_id account) {
        return chosen[owner.value] ||
               std::ranges::any_of(copies_of(account), [&](domain::session_id copy) { return chosen[copy.value]; });
    };
    only.text = [held = std::move(held)](domain::account_id account, domain::client_order_id name) {
        return held->contains({account.value, name.value});
    };
    return only;
}

std::string answer_log::read_details(std::span<const std::byte> saved, std::vector<detailed_session>& into,
                                     std::vector<std::pair<domain::order_id, order_fills::totals>>& fills,
                                     order_texts* texts) const {
    constexpr const char* too_short = "their details end too early";
    constexpr std::size_t record_bytes = 24;
    std::size_t at = 0;
    const auto has = [&](std::size_t bytes) { return saved.size() - at >= bytes; };
    const auto next = [&]<class T>(std::type_identity<T>) {
        const T value = base::load_le<T>(saved.data() + at);
        at += sizeof(T);
        return value;
    };
    if (!has(4)) return too_short;
    const auto sessions = next(std::type_identity<std::uint32_t>());
    for (std::uint32_t i = 0; i < sessions; ++i) {
        if (!has(16)) return too_short;
        detailed_session d(domain::session_id{next(std::type_identity<std::uint32_t>())});
        const auto count = next(std::type_identity<std::uint32_t>());
        const bool has_forgotten = next(std::type_identity<std::uint32_t>()) != 0;
        at += 4;
        if (!has(count * record_bytes)) return too_short;
        std::vector<message_numbers::note> notes(count);
        for (message_numbers::note& n : notes) {
            n.number = next(std::type_identity<std::uint64_t>());
            n.next_answer = next(std::type_identity<std::uint64_t>());
            n.count = next(std::type_identity<std::uint64_t>());
        }
        if (!d.numbers.load(std::move(notes), has_forgotten)) return "the numbers of messages contradict each other";
        into.push_back(std::move(d));
    }
    if (!has(8)) return too_short;
    const auto orders = next(std::type_identity<std::uint64_t>());
    if (orders > saved.size() / record_bytes || !has(static_cast<std::size_t>(orders) * record_bytes)) return too_short;
    for (std::uint64_t i = 0; i < orders; ++i) {
        const domain::order_id order{next(std::type_identity<std::uint64_t>())};
        order_fills::totals t;
        t.value = next(std::type_identity<std::int64_t>());
        t.lots = static_cast<std::uint32_t>(next(std::type_identity<std::uint64_t>()));
        fills.emplace_back(order, t);
    }
    if (texts != nullptr) {
        const std::size_t bytes = texts->load(saved.subspan(at));
        if (bytes == 0) return "the texts of orders contradict each other";
        at += bytes;
    }
    return at == saved.size() ? std::string() : too_short;
}

std::string answer_log::load(std::span<const std::byte> saved) {
    if (saved.size() < head_bytes + checksum_bytes || std::memcmp(saved.data(), magic.data(), magic.size()) != 0) {
        return "these are not the answers of a venue";
    }
    const std::span<const std::byte> body = saved.first(saved.size() - checksum_bytes);
    if (base::load_le<std::uint32_t>(saved.data() + body.size()) != base::crc32c(body)) {
        return "the checksum is wrong";
    }
    const std::uint32_t form = base::load_le<std::uint32_t>(body.data() + 8);
    if (form == 0 || form > version) return "they have a version that is not known";
    const std::size_t record_bytes = form == 1 ? session_bytes_of_version_1 : session_bytes;
    const std::size_t count = base::load_le<std::uint32_t>(body.data() + 12);
    if (body.size() < head_bytes + count * record_bytes) return "they end too early";

    const std::size_t events_begin = head_bytes + count * record_bytes;
    std::vector<detailed_session> detailed;
    std::vector<std::pair<domain::order_id, order_fills::totals>> fills;
    order_texts texts;
    std::size_t details_bytes = 0;
    if (form > version_without_details) {
        if (body.size() < events_begin + sizeof(std::uint64_t)) return "they end too early";
        details_bytes = base::load_le<std::uint64_t>(body.data() + body.size() - sizeof(std::uint64_t));
        if (details_bytes < sizeof(std::uint64_t) || details_bytes > body.size() - events_begin) {
            return "they end too early";
        }
        const std::string problem = read_details(body.last(details_bytes).first(details_bytes - sizeof(std::uint64_t)),
                                                 detailed, fills, form > version_without_texts ? &texts : nullptr);
        if (!problem.empty()) return problem;
    }
    std::vector<session> sessions(std::max(sessions_.size(), count + 1));
    std::size_t answers = 0;
    const std::size_t answers_there = (body.size() - events_begin - details_bytes) / sizeof(domain::event);
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* const from = body.data() + head_bytes + i * record_bytes;
        session& s = sessions[i + 1];
        s.next_request = base::load_le<std::uint64_t>(from);
        s.next_answer = base::load_le<std::uint64_t>(from + 8);
        s.first_kept = base::load_le<std::uint64_t>(from + 16);
        if (form != 1) {
            s.begun.value = base::load_le<std::int64_t>(from + 24);
            s.day_begin.value = base::load_le<std::int64_t>(from + 32);
            s.days_count = base::load_le<std::uint32_t>(from + 40);
            s.is_partly_reset = base::load_le<std::uint32_t>(from + 44) != 0;
        }
        if (s.next_request == 0 || s.first_kept == 0 || s.first_kept > s.next_answer ||
            s.next_answer - s.first_kept > answers_there) {
            return "the numbers of a session contradict each other";
        }
        answers += static_cast<std::size_t>(s.next_answer - s.first_kept);
        // Room for sessions that were never used need not be there again.
        if (i >= sessions_count() && (s.next_request != 1 || s.next_answer != 1)) {
            return "they are of more sessions than the venue has now";
        }
    }
    if (body.size() != events_begin + answers * sizeof(domain::event) + details_bytes) return "they end too early";
    for (std::size_t id = 1; id <= std::min<std::size_t>(count, sessions_count()); ++id) {
        const session& s = sessions[id];
        if (s.next_answer == 1) continue;
        const bool was_detailed = std::ranges::any_of(detailed, [id](const auto& d) { return d.id.value == id; });
        if (was_detailed == is_detailed(domain::session_id{static_cast<std::uint32_t>(id)})) continue;
        return "session " + std::to_string(id) + (was_detailed ? " spoke FIX" : " spoke Corro Binary") +
               ", and its numbers are of that protocol: give the account another session for the new one";
    }

    clear();
    for (detailed_session& d : detailed) {
        if (!is_detailed(d.id)) continue;  // never used
        detailed_session& here = detailed_[detailed_by_session_[d.id.value] - 1];
        here.numbers = std::move(d.numbers);
    }
    for (const auto& [order, t] : fills) fills_.load(order, t);
    if (!detailed_.empty()) texts_ = std::move(texts);
    const std::byte* from = body.data() + events_begin;
    for (std::size_t id = 1; id <= std::min<std::size_t>(count, sessions_count()); ++id) {
        session& s = sessions_[id];
        s.next_request = sessions[id].next_request;
        s.next_answer = s.first_kept = sessions[id].first_kept;
        s.day_begin = sessions[id].day_begin;
        s.days_count = sessions[id].days_count;
        s.is_partly_reset = sessions[id].is_partly_reset;
        while (s.next_answer != sessions[id].next_answer) {
            domain::event event;
            std::memcpy(static_cast<void*>(&event), from, sizeof event);
            from += sizeof event;
            append(s, event);
        }
        s.begun = sessions[id].begun;
    }
    if (texts_.is_empty()) return {};
    for (const detailed_session& d : detailed_) {
        for_each_detailed(at(d.id), [this](const domain::event& event, domain::event* place) {
            answer_details details = details_at(place);
            if (std::exchange(details.texts, std::uint8_t{0}) == 0) return;
            hold_texts(event, details);
            std::memcpy(static_cast<void*>(place), &details, sizeof details);
        });
    }
    return {};
}

}  // namespace corro::gateway
