// SPDX-License-Identifier: Apache-2.0
// The way back: private answers, public data, accounts.

#include <algorithm>
#include <utility>

#include "domain/private_event.hpp"
#include "market/market.hpp"

namespace corro::market {

using domain::event_kind;

std::size_t market::index_of(domain::instrument_id id) const noexcept {
    CORRO_ASSERT(id.value < index_of_id_.size() && index_of_id_[id.value] != 0, "the instrument is the market's");
    return index_of_id_[id.value] - 1;
}

const domain::instrument& market::rules(domain::instrument_id id) const noexcept {
    return options_.instruments[index_of(id)];
}

const fee& market::fees(domain::instrument_id id) const noexcept {
    return options_.fees[index_of(id)];
}

std::int64_t market::fee_of(const domain::event& e) const noexcept {
    const fee& of = options_.fees[index_of_id_[e.instrument.value] - 1];
    const bool takes = (e.flags & domain::event_flag::aggressor) != 0;
    return static_cast<std::int64_t>(e.execution.quantity.value) * (takes ? of.taker : of.maker);
}

void market::consume(std::span<const domain::event> events) noexcept {
    for (const domain::event& e : events) consume_one(e);
    for (market_observer* each : observers_) each->on_events(events);
}

void market::consume_one(const domain::event& e) {
    const auto changed = [&](std::uint8_t kinds) -> book_view& {
        const auto index = static_cast<std::uint32_t>(first_shown_ + index_of_id_[e.instrument.value] - 1);
        public_state& of = public_[index];
        if (of.changed == 0) changed_.push_back(index);
        of.changed |= kinds;
        return of.now;
    };
    switch (e.kind) {
        case event_kind::order_executed:
            if (options_.times.resting_ns != 0) follow_rest(e);
            settle_fill(e);
            post(e.execution.session, e);
            break;
        case event_kind::order_rejected:
            ++counts_.rejects;
            post(e.order.session, e);
            break;
        case event_kind::order_entered:
            if (options_.times.resting_ns != 0) follow_rest(e);
            if (executing_ != nullptr && executing_->is_tracked && e.order.session.value == executing_->agent + 1) {
                to_track_.emplace_back(executing_->agent, e);
            }
            post(e.order.session, e);
            break;
        case event_kind::order_cancelled:
            if (options_.times.resting_ns != 0) follow_rest(e);
            post(e.order.session, e);
            break;
        case event_kind::order_amended:
        case event_kind::order_status:
        case event_kind::request_done: post(e.order.session, e); break;
        case event_kind::quote_entered:
        case event_kind::protection_changed: post(domain::session_of(e), e); break;
        case event_kind::leg_capture: {
            if (const std::uint32_t owner = e.leg_fill.account.value - 1; owner < agents_.size()) {
                const auto lots = static_cast<std::int64_t>(e.leg_fill.quantity.value);
                agent::holding_in(agents_[owner].true_, e.instrument).lots +=
                    e.side == domain::side::buy ? lots : -lots;
            }
            post(e.leg_fill.session, e);
            break;
        }
        case event_kind::top_of_book: {
            book_view& now = changed(news::tops);
            now.bid = e.top.bid_price;
            now.ask = e.top.ask_price;
            now.bid_lots = e.top.bid_quantity.value;
            now.ask_lots = e.top.ask_quantity.value;
            break;
        }
        case event_kind::trade: {
            ++counts_.trades;
            book_view& now = changed(news::trades);
            now.last = e.trade.price;
            now.last_side = e.side;
            now.volume_lots += e.trade.quantity.value;
            ++now.trades_count;
            break;
        }
        case event_kind::phase_changed: changed(news::tops).phase = e.phase.phase; break;
        case event_kind::order_reduced:
        case event_kind::order_deleted:
            if (trackers_count_ != 0) track(e);
            break;
        default: break;
    }
}

void market::advance(std::int64_t to_ns) {
    CORRO_ASSERT(outside_ != nullptr, "messages come from a venue elsewhere");
    CORRO_ASSERT(to_ns >= now_ns_ && to_ns <= next_ns(), "arrivals come in their order, among the market's own events");
    now_ns_ = to_ns;
    published_at_ns_ = to_ns;
}

void market::hear(std::int64_t at_ns, const domain::event& e) {
    advance(at_ns);
    const std::uint32_t index = domain::session_of(e).value - 1;
    if (index >= agents_.size()) return;
    agent& who = agents_[index];
    who.answer_at_ns_ = at_ns;  // it has crossed its link already
    who.answered_command_ = counts_.commands;
    consume(std::span(&e, 1));
}

void market::show(std::int64_t at_ns, std::uint32_t feed, const domain::event& e) {
    advance(at_ns);
    const std::uint64_t trades = counts_.trades;
    first_shown_ = feed * options_.instruments.size();
    if (feed == 0) {
        consume(std::span(&e, 1));
    } else {
        consume_one(e);
        counts_.trades = trades;
    }
    if ((e.flags & domain::event_flag::last_of_command) == 0) return;
    for (const std::uint32_t index : changed_) publish(index);
    changed_.clear();
}

void market::settle_fill(const domain::event& e) {
    const std::uint32_t owner = e.execution.account.value - 1;
    if (owner >= agents_.size()) return;
    holding& held = agent::holding_in(agents_[owner].true_, e.instrument);
    const auto lots = static_cast<std::int64_t>(e.execution.quantity.value);
    const std::int64_t sign = e.side == domain::side::buy ? 1 : -1;
    if (!is_strategy(e.instrument)) held.lots += sign * lots;
    held.cash -= sign * lots * e.execution.price.value;
    held.traded_lots += e.execution.quantity.value;
    const std::int64_t paid = fee_of(e);
    held.fees += paid;
    fees_received_ += paid;
}

void market::post(domain::session_id to, const domain::event& e) {
    const std::uint32_t index = to.value - 1;
    if (index >= agents_.size()) return;
    agent& who = agents_[index];
    if (who.answered_command_ != counts_.commands) {  // one packet for all messages of a command
        who.answered_command_ = counts_.commands;
        const std::int64_t at = published_at_ns_ + who.draw(who.link_->answer, agent::stream::answer);
        who.answer_at_ns_ = who.link_->in_order ? std::max(at, who.answer_at_ns_) : at;
    }
    std::uint32_t place = free_message_;
    if (place != 0) {
        free_message_ = messages_[place].next;
    } else {
        place = static_cast<std::uint32_t>(messages_.size());
        messages_.emplace_back();
    }
    message& sent = messages_[place];
    sent.event = e;
    sent.at_ns = who.answer_at_ns_;
    sent.next = 0;
    if (who.inbox_first_ == 0) {
        who.inbox_first_ = who.inbox_last_ = place;
    } else if (messages_[who.inbox_last_].at_ns <= sent.at_ns) {
        messages_[who.inbox_last_].next = place;
        who.inbox_last_ = place;
    } else {  // it overtakes others
        std::uint32_t* before = &who.inbox_first_;
        while (messages_[*before].at_ns <= sent.at_ns) before = &messages_[*before].next;
        sent.next = *before;
        *before = place;
    }
    if (who.is_waiting_ && ((who.news_kinds_ & news::answers) != 0 || who.awaited_ != 0)) {
        plan_wake(who, sent.at_ns);
    }
}

void market::track(const domain::event& e) {
    auto& trackers = public_of(e.instrument).trackers;
    for (std::size_t i = 0; i < trackers.size();) {
        trackers[i].second.on_change(e, published_at_ns_);
        if (trackers[i].second.is_gone()) {
            trackers.erase(trackers.begin() + static_cast<std::ptrdiff_t>(i));
            --trackers_count_;
        } else {
            ++i;
        }
    }
}

void market::publish(std::uint32_t state_index) {
    public_state& of = public_[state_index];
    of.now.at_ns = published_at_ns_;
    of.history.add(of.now, now_ns_ - reach_ns_);
    const std::uint8_t kinds = std::exchange(of.changed, std::uint8_t{0});
    if (of.waiting_agents.empty()) return;
    told_.clear();
    std::erase_if(of.waiting_agents, [&](const waiting& each) {
        if ((each.kinds & kinds) == 0) return false;
        told_.push_back(each);
        return true;
    });
    for (const waiting& each : told_) {
        agent& who = agents_[each.agent];
        who.news_from_ns_ = published_at_ns_;
        who.news_due_ns_ = published_at_ns_ + who.draw(who.link_->market_data, agent::stream::market_data);
        plan_wake(who, who.news_due_ns_);
    }
}

}  // namespace corro::market
