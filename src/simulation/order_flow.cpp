// SPDX-License-Identifier: Apache-2.0
#include "simulation/order_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "domain/private_event.hpp"

namespace corro::simulation {
namespace {

constexpr std::int64_t usual_middle_ticks = 9'000;
constexpr std::int64_t spread_ticks = 12;
constexpr std::uint32_t quantity_lots_max = 10;
constexpr std::int64_t expiry_ns_min = 200'000'000;
constexpr std::int64_t expiry_ns_max = 5'000'000'000;

/// Where an instrument trades: the usual place, or the middle of its price band.
std::int64_t middle_of(const domain::instrument& i) noexcept {
    const std::int64_t low = i.price_low.value + spread_ticks;
    const std::int64_t high = i.price_high.value - spread_ticks;
    if (low <= usual_middle_ticks && usual_middle_ticks <= high) return usual_middle_ticks;
    return low + (high - low) / 2;
}

/// What the client library sends in place of a refused request: a cancel of no order.
bool is_filler(const domain::command& c) noexcept {
    return c.kind == domain::command_kind::cancel_order && c.client_order.value == 0;
}

}  // namespace

bool is_for_all_partitions(domain::command_kind kind) noexcept {
    return kind == domain::command_kind::cancel_orders || kind == domain::command_kind::query_order ||
           kind == domain::command_kind::kill_switch || kind == domain::command_kind::set_limits;
}

domain::command order_flow::next_request(domain::time_ns wall) {
    const std::uint64_t draw = random_.below(100);
    if (open_.empty()) return enter(wall);
    if (open_.size() >= open_orders_max) return cancel();
    if (draw < 60) return enter(wall);
    if (draw < 88) return cancel();
    if (draw < 97) return amend();
    if (draw == 99) return query_all();
    domain::command c;
    c.kind = domain::command_kind::cancel_orders;
    c.cancel_orders().scope = domain::cancel_scope::session;
    return c;
}

domain::command order_flow::enter(domain::time_ns wall) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    const domain::instrument& of = instruments_[random_.below(instruments_.size())];
    c.instrument = of.id;
    c.order_terms().side = random_.below(2) == 0 ? domain::side::buy : domain::side::sell;
    c.client_order = domain::client_order_id{next_order_name_++};
    c.enter_order().quantity = quantity_for(of);
    c.enter_order().price = price_for(of, c.order_terms().side);
    draw_type(c, of, wall);
    return c;
}

void order_flow::draw_type(domain::command& order, const domain::instrument& of, domain::time_ns wall) {
    domain::enter_order& own = order.enter_order();
    domain::order_terms& terms = order.order_terms();
    const std::uint64_t draw = random_.below(100);
    if (random_.below(5) == 0) own.self_match_prevention = static_cast<domain::self_match_prevention>(1 + draw % 4);
    if (draw < 10) {
        terms.type = domain::order_type::market;
        terms.time_in_force = domain::time_in_force::ioc;
        own.price = {};
    } else if (draw < 15) {
        terms.time_in_force = draw % 2 == 0 ? domain::time_in_force::ioc : domain::time_in_force::fok;
    } else if (draw < 25) {
        terms.time_in_force = domain::time_in_force::gtd;
        own.expire_time = domain::time_ns{wall.value + random_.between(expiry_ns_min, expiry_ns_max)};
    } else if (draw < 30) {
        own.display_quantity = domain::quantity_lots{1};
    } else if (draw < 35) {
        own.flags = domain::order_flag::post_only;
    } else if (draw < 40) {
        terms.type = domain::order_type::stop_limit;
        own.trigger_price = price_for(of, terms.side);
    } else if (draw < 50) {
        terms.time_in_force = domain::time_in_force::gtc;
    }
}

// Buyers bid mostly below the middle and sellers mostly above; a quarter of the range crosses, so that orders trade.
domain::price_ticks order_flow::price_for(const domain::instrument& of, domain::side side) {
    const std::int64_t away = random_.between(-spread_ticks / 4, spread_ticks);
    const std::int64_t price = middle_of(of) + (side == domain::side::buy ? -away : away);
    return domain::price_ticks{std::clamp(price, of.price_low.value, of.price_high.value)};
}

domain::quantity_lots order_flow::quantity_for(const domain::instrument& of) {
    const std::uint32_t most = std::min(quantity_lots_max, of.order_quantity_max.value);
    return domain::quantity_lots{1 + static_cast<std::uint32_t>(random_.below(most))};
}

const domain::instrument& order_flow::instrument(domain::instrument_id id) const {
    return *std::ranges::find(instruments_, id, &domain::instrument::id);
}

std::map<std::uint64_t, order_flow::open_order>::const_iterator order_flow::some_order() {
    return std::next(open_.cbegin(), static_cast<std::ptrdiff_t>(random_.below(open_.size())));
}

domain::command order_flow::amend() {
    const auto& [name, order] = *some_order();
    domain::command c;
    c.kind = domain::command_kind::amend_order;
    c.instrument = order.instrument;
    c.client_order = domain::client_order_id{name};
    const domain::instrument& of = instrument(order.instrument);
    c.amend_order().price = price_for(of, order.side);
    c.amend_order().flags = domain::amend_flag::open_quantity;
    c.amend_order().quantity = quantity_for(of);
    return c;
}

domain::command order_flow::cancel() {
    const auto& [name, order] = *some_order();
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.instrument = order.instrument;
    c.client_order = domain::client_order_id{name};
    return c;
}

domain::command order_flow::query_all() {
    domain::command c;
    c.kind = domain::command_kind::query_order;
    c.query_order().flags = domain::query_flag::all_of_session;
    return c;
}

void order_flow::sent(std::uint32_t number, const domain::command& what, std::int64_t now_ns) {
    if (number != requests_.size() + 1) {
        found_->add("D1", fmt::format("request {} was accepted, and its number is given again", number));
        return;
    }
    requests_.push_back({what, now_ns, 0, false, 1});
    outstanding_.insert(number);
    if (is_in_doubt_ && query_in_doubt_ == 0 && what.kind == domain::command_kind::query_order)
        query_in_doubt_ = number;
}

bool order_flow::take(const domain::event& event, std::int64_t now_ns) {
    follow_order(event);
    const bool completes = domain::completes_request(event);
    if (completes) note_answer(event, now_ns);
    return completes;
}

void order_flow::note_answer(const domain::event& event, std::int64_t now_ns) {
    const std::uint32_t number = number_of_answered(event);
    if (is_lost_in_part(event, number)) return;
    if (number == 0 || number > requests_.size() || outstanding_.erase(number) == 0) {
        found_->add("C3", number == 0 ? std::string("an answer belongs to no request")
                                      : fmt::format("request {} is answered twice, or was never sent", number));
        return;
    }
    sent_request& request = requests_[number - 1];
    request.answered_ns = now_ns;
    if (is_filler(request.what) && event.kind != domain::event_kind::order_rejected) {
        found_->add("C3", fmt::format("request {} was refused, and has an effect", number));
    }
    if (number == query_in_doubt_) settle_doubts(now_ns);
}

/// The answers to all requests before the query have come. Those without one were refused.
void order_flow::settle_doubts(std::int64_t now_ns) {
    while (!outstanding_.empty() && *outstanding_.begin() < doubtful_end_) refused(*outstanding_.begin(), now_ns);
    is_in_doubt_ = false;
    query_in_doubt_ = 0;
}

/// A crash took a request to all partitions from some of them, and it was answered for the others; or a partition had
/// refused the request, and the others know later ones.
bool order_flow::is_lost_in_part(const domain::event& event, std::uint32_t number) const {
    if (event.reason != domain::reject_reason::request_lost || number == 0 || number > requests_.size()) return false;
    if (requests_[number - 1].is_refused) return true;
    return is_for_all_partitions(requests_[number - 1].what.kind) && !outstanding_.contains(number);
}

/// A fill has no number: it answers the oldest request about its order. 0 if there is none.
std::uint32_t order_flow::number_of_answered(const domain::event& event) const {
    if (event.kind != domain::event_kind::order_executed) return domain::request_of(event);
    const auto found = std::ranges::find_if(outstanding_, [&](std::uint32_t number) {
        return requests_[number - 1].what.client_order == event.execution.client_order;
    });
    return found == outstanding_.end() ? 0 : *found;
}

void order_flow::follow_order(const domain::event& event) {
    switch (event.kind) {
        case domain::event_kind::order_entered:
            open_[event.order.client_order.value] = {event.instrument, event.side, event.order.quantity.value};
            return;
        case domain::event_kind::order_amended:
            if (const auto found = open_.find(event.order.client_order.value); found != open_.end()) {
                found->second.quantity = event.order.quantity.value;
            }
            return;
        case domain::event_kind::order_cancelled: open_.erase(event.order.client_order.value); return;
        case domain::event_kind::order_executed:
            ++fills_count_;
            if (event.execution.leaves.value == 0) open_.erase(event.execution.client_order.value);
            return;
        default: return;
    }
}

void order_flow::refused(std::uint32_t number, std::int64_t now_ns) {
    if (number != 0 && number <= requests_.size() && !outstanding_.contains(number) &&
        is_for_all_partitions(requests_[number - 1].what.kind)) {
        return;  // by a partition whose disk is full, while the others have answered
    }
    if (number == 0 || number > requests_.size() || outstanding_.erase(number) == 0) {
        found_->add("C3", fmt::format("request {} is refused, and was answered before or never sent", number));
        return;
    }
    ++refused_count_;
    if (number == query_in_doubt_) query_in_doubt_ = 0;
    requests_[number - 1].is_refused = true;
    requests_[number - 1].answered_ns = now_ns;
}

void order_flow::connected_again(std::uint64_t number, bool may_have_been_refused) {
    query_in_doubt_ = 0;
    doubtful_end_ = number;
    is_in_doubt_ = may_have_been_refused && !outstanding_.empty() && *outstanding_.begin() < number;
    for (std::uint64_t each = number; each <= requests_.size(); ++each) {
        sent_request& request = requests_[each - 1];
        if (request.answered_ns != 0 && !request.is_refused) {
            return found_->add("D1", fmt::format("request {} was answered, and the venue does not know it", each));
        }
        if (std::exchange(request.is_refused, false)) {
            request.what = {};
            request.what.kind = domain::command_kind::cancel_order;
        }
        request.answered_ns = 0;
        outstanding_.insert(static_cast<std::uint32_t>(each));
    }
}

}  // namespace corro::simulation
