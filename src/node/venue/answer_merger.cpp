// SPDX-License-Identifier: Apache-2.0
#include "node/venue/answer_merger.hpp"

#include <algorithm>

#include "base/defect.hpp"
#include "domain/private_event.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

/// The initial capacity for a partition's events.
constexpr std::size_t waiting_at_first = 1U << 10U;

bool completes(const domain::event& e, domain::session_id session) noexcept {
    return (e.flags & domain::event_flag::last_of_request) != 0 && domain::session_of(e) == session;
}

bool is_refusal(const domain::event& e) noexcept {
    return e.kind == domain::event_kind::order_rejected;
}

/// Whether the event only completes the request.
bool only_completes(const domain::event& e) noexcept {
    return e.kind == domain::event_kind::request_done || e.kind == domain::event_kind::protection_changed ||
           e.kind == domain::event_kind::session_numbers_reset;
}

}  // namespace

answer_merger::lane::lane() : held(waiting_at_first) {}

void answer_merger::lane::pop_front() noexcept {
    if (!front()->refused) answered_sequence = front()->sequence;
    ++done_begin;
    // Finished entries are removed in blocks, so that nothing is moved per command.
    if (done_begin == done.size()) {
        done.clear();
        done_begin = 0;
    } else if (done_begin >= waiting_at_first && done_begin * 2 >= done.size()) {
        done.erase(done.begin(), done.begin() + static_cast<std::ptrdiff_t>(done_begin));
        done_begin = 0;
    }
}

answer_merger::answer_merger(std::size_t partitions_count, outcome_sink& sink)
    : sink_(sink), lanes_(partitions_count), group_(partitions_count) {}

void answer_merger::accept(std::size_t partition, std::span<const domain::event> events) {
    lane& l = lanes_[partition];
    l.received_count += events.size();
    for (const domain::event& e : events) {
        if (!domain::is_public(e.kind) && !is_progress_marker(e)) l.held.push({&e, 1});
    }
}

void answer_merger::executed(std::size_t partition, const executed_command& what) {
    lanes_[partition].done.push_back(what);
}

bool answer_merger::has_room(std::size_t partition) const noexcept {
    const lane& l = lanes_[partition];
    return l.held.size() < answers_waiting_max || has_turn(l);
}

void answer_merger::advance() {
    while (deliver_next()) continue;
}

// Delivers the next command, if all its events have arrived.
bool answer_merger::deliver_next() {
    const auto turn = std::find_if(lanes_.begin(), lanes_.end(), [this](const lane& l) { return has_turn(l); });
    if (turn == lanes_.end()) return false;
    if (turn->front()->copies == 0) {
        if (!is_complete(*turn) && !CORRO_DEFECT(answers_merged_as_they_come)) return false;
        deliver_one(*turn);
    } else {
        for (const lane& l : lanes_) {
            // Live, every partition will execute its copy; in a recovery a journal may end before it.
            if (has_turn(l) ? !is_complete(l) : first_counted_ != 0) return false;
        }
        deliver_group();
    }
    ++next_;
    return true;
}

void answer_merger::deliver_one(lane& l) {
    const executed_command what = *l.front();
    l.pop_front();
    while (!what.refused && !l.held.empty()) {
        const std::span<const domain::event> oldest = l.held.front();
        std::size_t count = 0;
        while (count < oldest.size() && oldest[count].command.value <= what.sequence) ++count;
        sink_.accept(oldest.first(count));
        l.held.pop(count);
        if (count != oldest.size()) break;
    }
    conclude(what, what.refused);
}

// All events of the command are delivered.
void answer_merger::conclude(executed_command what, bool was_refused) {
    what.emitted = 0;
    what.refused = was_refused;
    sink_.executed(what);
}

void answer_merger::take_events(lane& l, std::vector<domain::event>& into) {
    into.clear();
    if (!has_turn(l)) return;
    const executed_command what = *l.front();
    l.pop_front();
    while (!what.refused && !l.held.empty() && l.held.front().front().command.value <= what.sequence) {
        into.push_back(l.held.front().front());
        l.held.pop(1);
    }
}

// The positions of all partitions become one answer: one count, in front, and one event that completes it. Pages of
// partitions stay: each may end with more behind it.
void answer_merger::merge_positions() {
    domain::event* count = nullptr;
    domain::event* last = nullptr;
    std::uint32_t total = 0;
    for (std::vector<domain::event>& events : group_) {
        const auto is_count = [](const domain::event& e) {
            return e.kind == domain::event_kind::position_reported && e.instrument.value == 0;
        };
        for (const domain::event& e : events) total += is_count(e) ? e.position.count : 0;
        if (count != nullptr) std::erase_if(events, is_count);
        for (domain::event& e : events) {
            if (e.kind != domain::event_kind::position_reported) continue;
            if (is_count(e)) count = &e;
            e.flags &= static_cast<std::uint8_t>(~domain::event_flag::last_of_request);
            last = &e;
        }
    }
    if (count == nullptr) return;
    count->position.count = total;
    last->flags |= domain::event_flag::last_of_request;
}

// Combines the answers of all partitions: the last one that did something completes it; if none did, one reject is
// delivered.
void answer_merger::deliver_group() {
    const auto turn = std::find_if(lanes_.begin(), lanes_.end(), [this](const lane& l) { return has_turn(l); });
    const executed_command what = *turn->front();
    const bool is_refused_somewhere =
        std::any_of(lanes_.begin(), lanes_.end(), [this](const lane& l) { return has_turn(l) && l.front()->refused; });
    // In a recovery a journal may end before the command.
    const auto executed_count =
        static_cast<std::size_t>(std::ranges::count_if(lanes_, [this](const lane& l) { return has_turn(l); }));
    for (std::size_t k = 0; k < lanes_.size(); ++k) take_events(lanes_[k], group_[k]);
    merge_positions();
    constexpr std::size_t nobody = SIZE_MAX;
    std::size_t completing = nobody;
    for (std::size_t k = 0; k < group_.size(); ++k) {
        const bool did = std::any_of(group_[k].begin(), group_[k].end(), [&](const domain::event& e) {
            return completes(e, what.session) && !is_refusal(e);
        });
        if (did) completing = k;
    }
    const bool is_partial = is_refused_somewhere || executed_count != lanes_.size();
    bool is_refusal_told = completing != nobody;
    for (std::size_t k = 0; k < group_.size(); ++k) {
        for (domain::event& e : group_[k]) {
            if (completes(e, what.session) && k != completing) {
                if (is_refusal(e) ? is_refusal_told : only_completes(e)) continue;
                if (is_refusal(e)) {
                    is_refusal_told = true;
                } else {
                    e.flags &= static_cast<std::uint8_t>(~domain::event_flag::last_of_request);
                }
            }
            if (e.kind == domain::event_kind::session_numbers_reset && is_partial) e.numbers_reset.is_partial = 1;
            sink_.accept({&e, 1});
        }
    }
    // Not all partitions have executed it, and the client must be told.
    conclude(what, is_refused_somewhere);
}

}  // namespace corro::node
