// SPDX-License-Identifier: Apache-2.0
#include "market/recorded_day/recorded_flow.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "market/recorded_day/book_depth.hpp"

namespace corro::market {

using domain::command_kind;
using domain::event_kind;
using recorded::replay::fill;
using recorded::replay::request;

namespace {

constexpr std::size_t index_of(domain::side side) noexcept {
    return side == domain::side::buy ? 0 : 1;
}
constexpr domain::side other(domain::side side) noexcept {
    return side == domain::side::buy ? domain::side::sell : domain::side::buy;
}
domain::quantity_lots as_lots(std::uint64_t lots) noexcept {
    return domain::quantity_lots{static_cast<std::uint32_t>(std::min<std::uint64_t>(lots, UINT32_MAX))};
}

}  // namespace

std::string_view to_string(recorded_policy which) noexcept {
    static constexpr std::array<std::string_view, static_cast<std::size_t>(recorded_policy::count)> names{
        "what_is_left", "same_orders", "scaled", "refilled"};
    return names[static_cast<std::size_t>(which)];
}

std::string_view to_string(recorded_leftovers which) noexcept {
    return which == recorded_leftovers::stay ? "stay" : "leave";
}

std::vector<std::pair<std::string_view, counted_lots>> named(const recorded_departures& all) {
    return {{"taken_by_agents", all.taken_by_agents},
            {"given_by_agents", all.given_by_agents},
            {"gone_cancels", all.gone_cancels},
            {"gone_amends", all.gone_amends},
            {"ended_amends", all.ended_amends},
            {"gone_aggressors", all.gone_aggressors},
            {"resized_aggressors", all.resized},
            {"short_aggressors", all.short_aggressors},
            {"long_aggressors", all.long_aggressors},
            {"early_trades", all.early_trades},
            {"missing_fills", all.missing_fills},
            {"additional_fills", all.additional_fills},
            {"leftovers", all.leftovers},
            {"refills", all.refills},
            {"refused_requests", all.refused}};
}

recorded_flow::recorded_flow(std::shared_ptr<const recorded_day> day, recorded_flow_options how, std::uint64_t seed)
    : day_(std::move(day)), how_(how), random_(seed, "recorded refills"), orders_(day_->orders_count + 1) {
    for (std::size_t i = 0; i < orders_.size(); ++i) orders_[i].name = i;
}

recorded_flow::order& recorded_flow::order_of(domain::client_order_id name) noexcept {
    if (name.value < orders_.size()) return orders_[name.value];
    return orders_[refilled_[name.value - orders_.size()]];
}

// --- Requests -------------------------------------------------------------------------------------------------------

std::int64_t recorded_flow::next_ns() const noexcept {
    if (!leaving_.empty()) return now_ns_;
    const std::int64_t recorded = next_ < day_->requests.size() ? day_->requests[next_].at_ns : never_ns;
    return refills_.empty() ? recorded : std::min(recorded, refills_.top().at_ns);
}

bool recorded_flow::take(const market& world, domain::command& into) {
    now_ns_ = world.now_ns();
    if (!leaving_.empty()) return take_leftover(into);
    const bool has_recorded = next_ < day_->requests.size();
    if (has_recorded && (refills_.empty() || day_->requests[next_].at_ns <= refills_.top().at_ns)) {
        return take_recorded(world, day_->requests[next_++], into);
    }
    return take_refill(into);
}

void recorded_flow::send(const request& asked, purpose why, domain::command& into) {
    purpose_ = why;
    is_phase_change_ = asked.kind == command_kind::change_phase;
    into = command_of_recording(asked, day_->instrument.id, ++requests_count_);
}

bool recorded_flow::take_recorded(const market& world, const recorded_request& r, domain::command& into) {
    request asked = r.request;
    if (!prepare(world, r, asked)) {
        advance_recording(r);
        compare(r);
        return false;
    }
    is_as_recorded_ = asked == r.request;
    send(asked, purpose::recorded, into);
    return true;
}

/// Turns a recorded request into the one of this market.
/// @return  Whether there is one.
bool recorded_flow::prepare(const market& world, const recorded_request& r, request& asked) {
    if (r.request.kind == command_kind::change_phase) return true;
    order& about = orders_[r.request.client_order.value];
    asked.client_order = domain::client_order_id{about.name};
    if (r.request.kind == command_kind::enter_order) {
        about.side = r.request.side;
        about.is_immediate = r.request.time_in_force == domain::time_in_force::ioc;
    } else if (about.open_here == 0 && !r.is_refused) {
        (r.request.kind == command_kind::cancel_order ? departures_.gone_cancels : departures_.gone_amends)
            .add(about.open_there);
        return false;
    }
    if (r.request.kind == command_kind::cancel_order) return true;
    std::int64_t total =
        std::int64_t{r.request.quantity.value} + about.granted - static_cast<std::int64_t>(about.filled_before);
    if (r.filled_lots != 0) {
        const std::uint64_t lots = lots_to_take(world, r, about.side);
        if (lots != r.filled_lots) {
            const std::int64_t change = static_cast<std::int64_t>(lots) - r.filled_lots;
            departures_.resized.add(static_cast<std::uint64_t>(change < 0 ? -change : change));
            about.granted += change;
            total += change;
        }
    }
    if (r.request.kind == command_kind::enter_order) {
        if (total <= 0) {
            departures_.gone_aggressors.add(r.filled_lots);
            return false;
        }
    } else if (total <= static_cast<std::int64_t>(about.filled_here - about.filled_before)) {
        departures_.ended_amends.add(about.open_here);
        asked = request();
        asked.kind = command_kind::cancel_order;
        asked.client_order = domain::client_order_id{about.name};
        return true;
    }
    asked.quantity = as_lots(static_cast<std::uint64_t>(total));
    return true;
}

std::uint64_t recorded_flow::lots_to_take(const market& world, const recorded_request& r, domain::side side) const {
    const std::uint64_t lots = r.filled_lots;
    if (how_.policy == recorded_policy::scaled) {
        if (r.depth_lots == 0) return lots;
        const std::uint64_t here = depth_up_to(world.venue(), day_->instrument.id, side, r.request.price);
        const double scaled = static_cast<double>(lots) *
                              std::min(how_.scale_most, static_cast<double>(here) / static_cast<double>(r.depth_lots));
        return static_cast<std::uint64_t>(scaled + 0.5);
    }
    if (how_.policy != recorded_policy::same_orders) return lots;
    std::uint64_t there = 0;  // fills of recorded orders; an agent's orders are not among them
    std::uint64_t here = 0;
    const order* last = nullptr;
    for (const fill& each : day_->fills_of(r)) {
        const order& o = orders_[each.resting.value];
        const std::uint64_t left = std::min<std::uint64_t>(each.quantity.value, o.open_here);
        there += each.quantity.value;
        here += left;
        if (left != 0) last = &o;
    }
    const bool is_blocked = last != nullptr && agents_lots_[index_of(other(side))] != 0;
    if (is_blocked) {
        here += others_before(world.venue(), day_->instrument.id, other(side), domain::account_id{recorded_account},
                              domain::client_order_id{last->name});
    }
    return lots - std::min(lots, there) + here;
}

bool recorded_flow::take_refill(domain::command& into) {
    const std::uint64_t index = refills_.top().order;
    refills_.pop();
    order& o = orders_[index];
    if (o.open_there <= o.open_here) return false;
    const std::uint32_t lots = o.open_there - o.open_here;
    departures_.refills.add(lots);
    o.granted = static_cast<std::int64_t>(o.filled_here) - static_cast<std::int64_t>(o.filled_there);
    request asked;
    asked.price = o.price;
    asked.side = o.side;
    if (o.open_here == 0) {
        o.name = orders_.size() + refilled_.size();
        refilled_.push_back(index);
        o.filled_before = o.filled_here;
        asked.quantity = as_lots(lots);
    } else {
        asked.kind = command_kind::amend_order;
        asked.quantity = as_lots(o.filled_here - o.filled_before + o.open_there);
    }
    asked.client_order = domain::client_order_id{o.name};
    send(asked, purpose::refill, into);
    return true;
}

bool recorded_flow::take_leftover(domain::command& into) {
    const order& o = orders_[leaving_.back()];
    leaving_.pop_back();
    if (o.open_here == 0) return false;
    request asked;
    asked.kind = command_kind::cancel_order;
    asked.client_order = domain::client_order_id{o.name};
    send(asked, purpose::leftover, into);
    return true;
}

// --- What became of them --------------------------------------------------------------------------------------------

void recorded_flow::on_executed(const market& /*world*/) {
    if (is_refused_ && purpose_ != purpose::recorded) departures_.refused.add(0);
    if (purpose_ == purpose::recorded) {
        const recorded_request& r = day_->requests[next_ - 1];
        if (is_refused_ != r.is_refused) departures_.refused.add(r.request.quantity.value);
        if (is_as_recorded_) ++unchanged_count_;
        advance_recording(r);
        compare(r);
    }
    purpose_ = purpose::none;
    is_phase_change_ = false;
    is_refused_ = false;
    filled_ = 0;
    met_.clear();
}

void recorded_flow::advance_recording(const recorded_request& r) {
    for (const fill& each : day_->fills_of(r)) {
        order& o = orders_[each.resting.value];
        o.open_there = each.open.value;
        o.filled_there += each.quantity.value;
    }
    if (r.request.kind == command_kind::change_phase || r.is_refused) return;
    order& about = orders_[r.request.client_order.value];
    about.open_there = r.open_lots;
    about.filled_there += r.filled_lots;
    if (r.request.kind != command_kind::cancel_order) about.price = r.request.price;
}

void recorded_flow::compare(const recorded_request& r) {
    if (filled_ < r.filled_lots) departures_.short_aggressors.add(r.filled_lots - filled_);
    if (filled_ > r.filled_lots) {
        (r.filled_lots == 0 ? departures_.early_trades : departures_.long_aggressors).add(filled_ - r.filled_lots);
    }
    compare_fills(r);
    find_leftovers(r);
}

/// Fills of recorded resting orders: by order, whatever their sequence.
void recorded_flow::compare_fills(const recorded_request& r) {
    const std::span<const fill> recorded = day_->fills_of(r);
    if (std::ranges::equal(met_, recorded, [](const met_order& here, const fill& there) {
            return here.order == there.resting.value && here.lots == there.quantity.value;
        })) {
        return;
    }
    std::vector<std::pair<std::uint64_t, std::int64_t>> balance;  // order, lots here less there
    const auto add = [&](std::uint64_t index, std::int64_t lots) {
        const auto known = std::ranges::find(balance, index, &std::pair<std::uint64_t, std::int64_t>::first);
        (known != balance.end() ? *known : balance.emplace_back(index, 0)).second += lots;
    };
    for (const met_order& each : met_) add(each.order, static_cast<std::int64_t>(each.lots));
    for (const fill& each : recorded) add(each.resting.value, -std::int64_t{each.quantity.value});
    for (const auto& [index, lots] : balance) {
        if (lots < 0) departures_.missing_fills.add(static_cast<std::uint64_t>(-lots));
        if (lots > 0) departures_.additional_fills.add(static_cast<std::uint64_t>(lots));
    }
}

void recorded_flow::find_leftovers(const recorded_request& r) {
    const auto look = [this](std::uint64_t index) {
        const order& o = orders_[index];
        if (o.open_there != 0 || o.open_here == 0) return;
        departures_.leftovers.add(o.open_here);
        if (how_.leftovers == recorded_leftovers::leave) leaving_.push_back(index);
    };
    for (const fill& each : day_->fills_of(r)) {
        if (each.open.value == 0) look(each.resting.value);
    }
    if (r.filled_lots != 0) look(r.request.client_order.value);
}

void recorded_flow::on_command(const domain::command& command) {
    if (purpose_ != purpose::none) return;
    is_phase_change_ = command.kind == command_kind::change_phase;
    agents_now_ns_ = command.time.value - day_->start_ns;
}

void recorded_flow::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        switch (e.kind) {
            case event_kind::order_executed:
                if (e.execution.account.value == recorded_account) {
                    take_own_fill(e);
                } else {
                    follow_agent(e);
                }
                break;
            case event_kind::order_entered:
            case event_kind::order_amended:
                if (e.order.account.value == recorded_account) {
                    order_of(e.order.client_order).open_here = e.order.quantity.value;
                } else {
                    follow_agent(e);
                }
                break;
            case event_kind::order_cancelled:
                if (e.order.account.value == recorded_account) {
                    order_of(e.order.client_order).open_here = 0;
                } else {
                    follow_agent(e);
                }
                break;
            case event_kind::order_rejected:
                // An immediate order that finds nobody is a short aggressor.
                if (e.order.session.value == recorded_account && e.reason != domain::reject_reason::no_counterparty) {
                    is_refused_ = true;
                }
                break;
            default: break;
        }
    }
}

void recorded_flow::take_own_fill(const domain::event& e) {
    const std::uint32_t lots = e.execution.quantity.value;
    const bool is_aggressor = (e.flags & domain::event_flag::aggressor) != 0 && !is_phase_change_;
    order& o = order_of(e.execution.client_order);
    o.open_here = o.is_immediate ? 0 : e.execution.leaves.value;
    o.filled_here += lots;
    const std::int64_t signed_lots = e.side == domain::side::buy ? std::int64_t{lots} : -std::int64_t{lots};
    lots_ += signed_lots;
    cash_ -= signed_lots * e.execution.price.value;
    const auto index = static_cast<std::uint64_t>(&o - orders_.data());
    if (is_aggressor) {
        filled_ += lots;
    } else if (purpose_ != purpose::none) {
        met_.push_back({index, lots});
    } else if (is_phase_change_) {
        departures_.additional_fills.add(lots);
    } else {
        departures_.taken_by_agents.add(lots);
        if (how_.policy == recorded_policy::refilled) {
            refills_.push({agents_now_ns_ + duration_ns(random_.exponential(how_.refill_mean_ns)), index});
        }
    }
}

/// Open lots of agents, by side; and what recorded orders took from them.
void recorded_flow::follow_agent(const domain::event& e) {
    const auto set = [this](std::uint64_t id, domain::side side, std::uint32_t open) {
        const auto known = agent_orders_.find(id);
        if (known != agent_orders_.end()) {
            agents_lots_[index_of(known->second.side)] -= known->second.open;
            if (open == 0) {
                agent_orders_.erase(known);
                return;
            }
            known->second.open = open;
        } else {
            if (open == 0) return;
            agent_orders_.emplace(id, agent_order{side, open});
        }
        agents_lots_[index_of(side)] += open;
    };
    if (e.kind == event_kind::order_executed) {
        const bool rested = agent_orders_.contains(e.execution.order.value);
        if (rested) set(e.execution.order.value, e.side, e.execution.leaves.value);
        const bool is_aggressor = (e.flags & domain::event_flag::aggressor) != 0;
        if (purpose_ != purpose::none && !is_aggressor) departures_.given_by_agents.add(e.execution.quantity.value);
    } else if (e.kind == event_kind::order_cancelled) {
        set(e.order.order.value, e.side, 0);
    } else {
        set(e.order.order.value, e.side, e.order.quantity.value);
    }
}

}  // namespace corro::market
