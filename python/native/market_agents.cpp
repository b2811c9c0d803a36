// SPDX-License-Identifier: Apache-2.0
// Agents whose code is outside of the market: traders one by one, and crowds that act together.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "market/agent.hpp"
#include "market/behaviour.hpp"
#include "market/new_order.hpp"
#include "native/book.hpp"
#include "native/market_state.hpp"
#include "native/row_frames.hpp"

namespace corro::python {
namespace {

namespace mk = corro::market;

std::int32_t number_of(const mk::answer& got) noexcept {
    if (!got.arrived) return -1;
    return got.is_accepted() ? 0 : static_cast<std::int32_t>(got.reason);
}

/// A member of a crowd. The last one that wakes lets all of them act, so what each knows is of that moment.
mk::behaviour belongs_to(mk::agent& me, crowd& all, std::size_t index, const std::unique_ptr<outside>& code) {
    for (;;) {
        const bool goes_on = co_await me.sleep(all.every_ns);
        if (goes_on) {
            ++all.members_due;
        } else {
            --all.members_left;
        }
        if (all.members_due == all.members_left && all.members_due != 0) {
            all.members_due = 0;
            code->act(index);
        }
        if (!goes_on) co_return;
    }
}

}  // namespace

market::state::state(std::shared_ptr<const mk::scenario> described, std::uint64_t seed, recorded_tables what, bool measures)
    : scenario(std::move(described)), world(scenario->build(seed, false)), measured(world->options(), scenario->sample_ns) {
    for (std::size_t i = 0; i < world->agents_count(); ++i) names.insert(world->name_of(i));
    if (measures) world->observe_with(measured);
    if (what.orders || what.trades || what.levels || what.quotes) {
        recorder.emplace(world->options().instruments, what);
        world->observe_with(*recorder);
    }
}

mk::agent& market::state::add(const std::string& name, const std::string& beside,
                              std::function<mk::behaviour(mk::agent&)> make) {
    mk::agent_options who;
    who.name = name;
    if (!names.insert(name).second) {
        throw argument_error(fmt::format("\"{}\": an agent has this name; choose another", name));
    }
    if (!beside.empty()) {
        const auto group = std::ranges::find(scenario->groups, beside, &mk::agent_group::name);
        if (group == scenario->groups.end()) {
            std::string known;
            for (const mk::agent_group& each : scenario->groups) known += (known.empty() ? "" : ", ") + each.name;
            throw argument_error(fmt::format("\"{}\": no group \"{}\" beside which it could be; there are: {}", name, beside, known));
        }
        who.way = group->way;
    }
    if (world->agents_count() >= mk::agents_max) {
        throw argument_error(fmt::format("\"{}\": a market has at most {} agents", name, mk::agents_max));
    }
    return world->add_agent(std::move(who), std::move(make));
}

mk::behaviour market::state::behave(mk::agent& me, std::size_t index) {
    // There is a venue from then on, and the first call belongs to a run.
    const bool begins = co_await me.sleep(std::int64_t{1});
    std::int32_t result = begins ? 1 : 0;
    for (;;) {
        const next_wait next = code->proceed(index, result);
        switch (next.what) {
            case next_wait::kind::over: co_return;
            case next_wait::kind::sleep: {
                const bool goes_on = co_await me.sleep(next.ns);
                result = goes_on ? 1 : 0;
                break;
            }
            case next_wait::kind::answer: {
                const mk::answer got = co_await mk::agent::sent(me, next.number);
                result = number_of(got);
                break;
            }
            case next_wait::kind::news: {
                const domain::instrument_id id = instrument(next.instrument).id;
                const bool has_come = co_await me.until(mk::awaited_news(next.news, id), next.ns);
                result = has_come ? 1 : 0;
                break;
            }
        }
    }
}

void market::state::add_traders(const std::vector<trader_wish>& wishes) {
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        mk::agent& made =
            add(wishes[i].name, wishes[i].beside, [this, i](mk::agent& me) { return behave(me, i); });
        made.keep_fills(true);
        seats.push_back(&made);
    }
}

void market::state::add_crowds(const std::vector<crowd_wish>& wishes) {
    for (const crowd_wish& wish : wishes) {
        const std::size_t index = crowds.size();
        crowd& made = *crowds.emplace_back(std::make_unique<crowd>());
        // No venue yet: its instruments are the options'.
        const std::vector<domain::instrument>& all = world->options().instruments;
        const auto found = wish.instrument.empty() && all.size() == 1
                               ? all.begin()
                               : std::ranges::find_if(all, [&](const auto& i) { return i.name.view() == wish.instrument; });
        if (found == all.end()) {
            std::string known;
            for (const domain::instrument& each : all) known += (known.empty() ? "" : ", ") + std::string(each.name.view());
            throw argument_error(fmt::format("\"{}\": give its instrument, one of: {}", wish.name, known));
        }
        made.instrument = found->id;
        made.every_ns = wish.every_ns;
        made.members_left = wish.count;
        for (std::uint32_t i = 0; i < wish.count; ++i) {
            made.members.push_back(&add(fmt::format("{}-{}", wish.name, i + 1), wish.beside,
                                        [this, &made, index](mk::agent& me) { return belongs_to(me, made, index, code); }));
        }
    }
}

void market::drive_with(std::unique_ptr<outside> code) {
    const std::lock_guard hold(state_->one_at_a_time);
    state_->code = std::move(code);
}

frame_pointer market::crowd_view(std::size_t index) {
    const std::lock_guard hold(state_->one_at_a_time);
    crowd& all = *state_->crowds.at(index);
    const domain::instrument& of = state_->world->rules(all.instrument);
    const decimal_scale scale(of.tick_size.value);
    const auto price_of = [&](domain::price_ticks ticks) {
        return ticks == domain::no_price ? std::numeric_limits<double>::quiet_NaN() : scale(ticks.value);
    };
    const double tick_value = double_of_nano(of.tick_size.value) * of.lot_size;
    const std::size_t count = all.members.size();
    std::vector<double> bid(count);
    std::vector<double> ask(count);
    std::vector<double> last(count);
    std::vector<std::int64_t> bid_quantity(count);
    std::vector<std::int64_t> ask_quantity(count);
    std::vector<std::int64_t> position(count);
    std::vector<double> cash(count);
    std::vector<std::int64_t> open_orders(count);
    for (std::size_t i = 0; i < count; ++i) {
        mk::agent& me = *all.members[i];
        const mk::book_view& view = me.book(all.instrument);
        bid[i] = price_of(view.bid);
        ask[i] = price_of(view.ask);
        last[i] = price_of(view.last);
        bid_quantity[i] = signed_of(view.bid_lots * of.lot_size);
        ask_quantity[i] = signed_of(view.ask_lots * of.lot_size);
        open_orders[i] = static_cast<std::int64_t>(me.orders().size());
        for (const mk::holding& each : me.holdings()) {
            if (each.instrument != all.instrument) continue;
            position[i] = each.lots * of.lot_size;
            cash[i] = static_cast<double>(each.cash) * tick_value - static_cast<double>(each.fees) / 1e9;
        }
    }
    std::vector<column> columns;
    columns.push_back({"bid", meaning::number, std::move(bid), {}});
    columns.push_back({"ask", meaning::number, std::move(ask), {}});
    columns.push_back({"last", meaning::number, std::move(last), {}});
    columns.push_back({"bid_quantity", meaning::number, std::move(bid_quantity), {}});
    columns.push_back({"ask_quantity", meaning::number, std::move(ask_quantity), {}});
    columns.push_back({"position", meaning::number, std::move(position), {}});
    columns.push_back({"cash", meaning::number, std::move(cash), {}});
    columns.push_back({"open_orders", meaning::number, std::move(open_orders), {}});
    return std::make_shared<frame>(std::move(columns));
}

std::uint64_t market::crowd_send(std::size_t index, const crowd_requests& requests) {
    const std::lock_guard hold(state_->one_at_a_time);
    crowd& all = *state_->crowds.at(index);
    const domain::instrument& of = state_->world->rules(all.instrument);
    const double ticks = 1 / double_of_nano(of.tick_size.value);
    const domain::time_in_force time_in_force = time_in_force_of(requests.time_in_force);
    for (std::size_t i = 0; i < requests.member.size(); ++i) {
        if (requests.member[i] < 0 || static_cast<std::size_t>(requests.member[i]) >= all.members.size()) {
            throw argument_error(fmt::format("agent[{}]={}: from 0 to {}", i, requests.member[i], all.members.size() - 1));
        }
        const bool has_order = requests.side[i] != 0 && !std::isnan(requests.price[i]);
        if (has_order && domain::to_lots(of, requests.quantity[i]).reason != domain::reject_reason::none) {
            throw argument_error(fmt::format("quantity[{}]={}: a positive multiple of {} for {}", i, requests.quantity[i],
                                             of.lot_size, of.name.view()));
        }
    }
    std::uint64_t sent = 0;
    for (std::size_t i = 0; i < requests.member.size(); ++i) {
        mk::agent& me = *all.members[static_cast<std::size_t>(requests.member[i])];
        if (requests.cancel[i] != 0 && !me.orders().empty()) {
            me.cancel_all(all.instrument);
            ++sent;
        }
        if (requests.side[i] == 0 || std::isnan(requests.price[i])) continue;
        const domain::side side = requests.side[i] > 0 ? domain::side::buy : domain::side::sell;
        const domain::quantity_lots lots = domain::to_lots(of, requests.quantity[i]).value;
        mk::new_order made = mk::at_market(side, lots);
        if (std::isfinite(requests.price[i])) {
            made = mk::limit(side, me.price_in(all.instrument, requests.price[i] * ticks), lots);
            made.time_in_force = time_in_force;
        }
        made.instrument = all.instrument;
        me.enter(made);
        ++sent;
    }
    return sent;
}

}  // namespace corro::python
