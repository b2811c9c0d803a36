// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/replay_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "recorded/replay/limits.hpp"

namespace corro::recorded::replay {

using domain::command_kind;
using domain::event_kind;

replay_run::replay_run(flow& what, difference_log& log, domain::instrument_id instrument)
    : flow_(what), log_(log), instrument_(instrument) {}

std::optional<outgoing> replay_run::next() {
    if (in_flight_count() >= requests_in_flight_max) return std::nullopt;
    live_step* const s = step_to_send();
    if (s == nullptr) return std::nullopt;
    const request& r = s->plan.requests[s->sent_count++];
    ++sent_count_;
    count(r);
    return outgoing{r, s->plan.time};
}

replay_run::live_step* replay_run::step_to_send() {
    for (;;) {
        while (sending_ < steps_.size()) {
            live_step& s = steps_[sending_];
            if (s.sent_count < s.plan.requests.size()) return &s;
            ++sending_;
        }
        if (planned_all_ || steps_.size() >= steps_in_flight_max) return nullptr;
        live_step fresh;
        switch (flow_.plan(fresh.plan)) {
            case plan_status::waiting: return nullptr;
            case plan_status::finished: planned_all_ = true; return nullptr;
            case plan_status::planned: break;
        }
        fresh.outcomes.resize(fresh.plan.requests.size());
        for (std::size_t i = 0; i < fresh.outcomes.size(); ++i) {
            fresh.outcomes[i].kind = fresh.plan.requests[i].kind;
            fresh.outcomes[i].client_order = fresh.plan.requests[i].client_order;
        }
        steps_.push_back(std::move(fresh));
        settle();  // a step without requests may be due at once
    }
}

void replay_run::count(const request& r) {
    switch (r.kind) {
        case command_kind::amend_order: ++counts_.amended; break;
        case command_kind::cancel_order: ++counts_.cancelled; break;
        case command_kind::change_phase: ++counts_.phase_changes; break;
        default: ++(r.time_in_force == domain::time_in_force::ioc ? counts_.entered_ioc : counts_.entered_gtc); break;
    }
}

void replay_run::take_in(outcome& o, const domain::event& event) {
    o.sequence = event.command;
    switch (event.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
            if (event.order.client_order != o.client_order) break;
            o.order = event.order.order;
            o.open = event.order.quantity;
            o.book_changed = true;
            break;
        case event_kind::order_executed:
            o.book_changed = true;
            if ((event.flags & domain::event_flag::aggressor) == 0 || o.kind == command_kind::change_phase) {
                o.fills.push_back({event.execution.client_order, event.execution.price, event.execution.quantity,
                                   event.execution.leaves, event.side});
                break;
            }
            o.order = event.execution.order;
            o.filled += event.execution.quantity;
            o.open = event.execution.leaves;
            break;
        case event_kind::order_cancelled:
            if (event.order.client_order != o.client_order) {
                o.book_changed = true;  // another order was cancelled with it
                break;
            }
            o.order = event.order.order;
            o.cancelled += event.order.quantity;
            o.open = {};
            if (o.kind != command_kind::enter_order) o.book_changed = true;
            break;
        case event_kind::order_rejected: o.refused = event.reason; break;
        case event_kind::request_done: o.book_changed = true; break;  // the feed has the phase, and the auction
        default: break;
    }
}

replay_run::live_step& replay_run::step_to_answer() {
    CORRO_ASSERT(in_flight_count() > 0);
    while (steps_[answering_].is_answered()) ++answering_;
    return steps_[answering_];
}

bool replay_run::on_private(const domain::event& event) {
    ++counts_.private_events;
    if (event.command <= answered_up_to_) return true;  // events after the last fill, such as trade captures
    if (is_marked_ && step_to_answer().outcomes[step_to_answer().answered_count].sequence < event.command) {
        complete_answer();
    }
    if (is_fill_by_visitor(event)) {
        if (event.kind == event_kind::order_executed) counts_.visitors_lots += event.execution.quantity.value;
        return true;
    }
    if (in_flight_count() == 0) return false;
    live_step& s = step_to_answer();
    outcome& o = s.outcomes[s.answered_count];
    take_in(o, event);
    const bool is_aggressor = (event.flags & domain::event_flag::aggressor) != 0;
    if (event.kind == event_kind::order_executed && is_aggressor) ++aggressor_fills_;
    if (event.kind == event_kind::order_entered) rested_.insert(event.order.order.value);
    if ((event.flags & domain::event_flag::last_of_request) != 0) is_marked_ = true;
    if (!is_marked_) return true;
    // Further events may follow the marked one: the resting order's fill follows the aggressor's, and all fills of an
    // amend follow its confirmation. The end of an amend's events shows in the next answer or in the feed, and so does
    // the end of a trade with another trader's order, whose fill does not come here.
    domain::quantity_lots matched{};
    for (const fill& f : o.fills) matched += f.quantity;
    const bool may_trade = o.kind == command_kind::amend_order && o.open != domain::quantity_lots{};
    if (o.kind == command_kind::change_phase || (matched == o.filled && !may_trade)) {
        complete_answer();
    } else {
        complete_by_feed();
    }
    return true;
}

// A recorded order rests, and another trader's order has hit it: no command of the replay caused the event. The first
// event of each of its commands is about the order of that command, but for the end of an auction.
bool replay_run::is_fill_by_visitor(const domain::event& event) {
    const bool is_fill = event.kind == event_kind::order_executed || event.kind == event_kind::trade_capture;
    if (!is_fill || (event.flags & domain::event_flag::aggressor) != 0) return false;
    if (in_flight_count() == 0) return true;
    const live_step& s = step_to_answer();
    const outcome& o = s.outcomes[s.answered_count];
    return o.kind != command_kind::change_phase && o.sequence != event.command;
}

void replay_run::complete_answer() {
    live_step& s = step_to_answer();
    const outcome& o = s.outcomes[s.answered_count];
    answered_up_to_ = std::max(answered_up_to_, o.sequence);
    if (o.kind != command_kind::change_phase) {
        std::uint64_t own_lots = 0;
        for (const fill& f : o.fills) own_lots += f.quantity.value;
        if (o.filled.value > own_lots) counts_.visitors_lots += o.filled.value - own_lots;
    }
    ++s.answered_count;
    ++answered_count_;
    is_marked_ = false;
    aggressor_fills_ = 0;
    if (s.is_answered()) settle();
}

void replay_run::complete_by_feed() {
    if (!is_marked_) return;
    live_step& s = step_to_answer();
    const outcome& o = s.outcomes[s.answered_count];
    if (public_complete_ < o.sequence) return;
    std::size_t trades = 0;
    std::size_t own_fills = 0;
    for (auto e = held_.rbegin(); e != held_.rend() && e->command >= o.sequence; ++e) {
        trades += e->command == o.sequence && e->kind == event_kind::trade ? 1U : 0U;
        const bool is_of_other = e->command == o.sequence && e->instrument == instrument_ &&
                                 (e->kind == event_kind::order_reduced || e->kind == event_kind::order_deleted) &&
                                 e->book.order != o.order;
        own_fills += is_of_other && rested_.contains(e->book.order.value) ? 1U : 0U;
    }
    if (own_fills == o.fills.size() && trades == aggressor_fills_) complete_answer();
}

void replay_run::on_public(const domain::event& event) {
    if (event.instrument != instrument_) return;
    CORRO_ASSERT(feed_has_room(), "the driver must stop reading the feed when there is no room");
    ++counts_.public_events;
    const bool new_command = held_.empty() || held_.back().command != event.command;
    held_.push_back(event);
    if (new_command) settle();
}

void replay_run::on_public_complete(domain::sequence_number sequence) {
    public_complete_ = std::max(public_complete_, sequence);
    complete_by_feed();
    settle();
}

void replay_run::take_in_uncross(live_step& s, const domain::event& event) {
    const auto ended = std::ranges::find(s.outcomes, event.command, &outcome::sequence);
    if (ended == s.outcomes.end()) return;
    ended->uncross_price = event.auction.price;
    ended->uncross_lots = event.auction.volume;
}

bool replay_run::book_is_at(live_step& s) {
    domain::sequence_number last{};
    domain::sequence_number last_change{};
    for (const outcome& o : s.outcomes) {
        last = std::max(last, o.sequence);
        if (o.book_changed) last_change = std::max(last_change, o.sequence);
    }
    while (!held_.empty() && held_.front().command <= last) {
        const domain::event& e = held_.front();
        if (e.kind == event_kind::auction_ended) take_in_uncross(s, e);
        const feed::image_status status = book_.apply(e);
        if (status != feed::image_status::applied) {
            log_.add(cause::feed_contradicts, 0, [&] {
                return difference{fmt::format("venue command {}", e.command.value),
                                  fmt::format("public event of kind {}: status {}", static_cast<int>(e.kind),
                                              static_cast<int>(status))};
            });
        }
        held_.pop_front();
    }
    return last_change == domain::sequence_number{} || public_complete_ >= last_change || !held_.empty();
}

void replay_run::settle() {
    // A flow that receives outcomes does not call back, but `next` settles while it plans: avoids recursion.
    if (std::exchange(settling_, true)) return;
    while (telling_ < steps_.size() && steps_[telling_].is_answered()) {
        live_step& s = steps_[telling_++];
        const std::uint64_t before = log_.unexplained_count();
        flow_.answered(s.plan, s.outcomes);
        s.changed = log_.unexplained_count() != before;
        s.told = true;
    }
    while (!steps_.empty() && steps_.front().told && book_is_at(steps_.front())) {
        live_step& s = steps_.front();
        const std::uint64_t before = log_.unexplained_count();
        flow_.compare(s.plan, s.outcomes, book_);
        s.changed = s.changed || log_.unexplained_count() != before;
        compared_up_to_ = s.plan.time;
        ++counts_.steps_compared;
        if (s.changed) note_change(s);
        steps_.pop_front();
        for (std::size_t* index : {&sending_, &answering_, &telling_}) {
            if (*index > 0) --*index;
        }
    }
    settling_ = false;
}

void replay_run::note_change(const live_step& s) {
    if (counts_.steps_changed++ == 0) counts_.first_change = s.plan.time;
    counts_.last_change = s.plan.time;
}

}  // namespace corro::recorded::replay
