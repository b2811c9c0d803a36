// SPDX-License-Identifier: Apache-2.0
#include "simulation/operator_flow.hpp"

#include <fmt/format.h>

#include <array>

#include "domain/definition.hpp"

namespace corro::simulation {
namespace {

constexpr std::int64_t phase_ns_min = 20'000'000;
constexpr std::int64_t phase_ns_max = 800'000'000;

}  // namespace

// What was interrupted goes on soon, so that there is a market.
domain::command operator_flow::next_request(domain::time_ns wall) {
    const std::uint64_t draw = random().below(100);
    if (stopped_.value != 0 && draw < 60) return switch_account(stopped_, domain::switch_state::off);
    if (draw < 20) return switch_account(some_account(), domain::switch_state::on);
    if (draw < 50) return limit_account();
    if (draw < 90 || defined_count_ == instruments_max_) return change_phase(wall);
    return define();
}

domain::account_id operator_flow::some_account() {
    return accounts_[random().below(accounts_.size())];
}

domain::command operator_flow::switch_account(domain::account_id account, domain::switch_state state) {
    stopped_ = state == domain::switch_state::on ? account : domain::account_id{};
    domain::command c;
    c.kind = domain::command_kind::kill_switch;
    c.kill_switch().kill_scope = domain::kill_scope::account;
    c.kill_switch().other_account = account;
    c.kill_switch().state = state;
    return c;
}

domain::command operator_flow::limit_account() {
    domain::command c;
    c.kind = domain::command_kind::set_limits;
    domain::set_limits& limits = c.set_limits();
    limits.other_account = some_account();
    if (random().below(3) != 0) {
        limits.position_max = domain::quantity_lots{5 + static_cast<std::uint32_t>(random().below(100))};
    }
    if (random().below(3) == 0) limits.open_orders_max = 3 + static_cast<std::uint32_t>(random().below(40));
    if (random().below(3) == 0) {
        limits.order_quantity_max = domain::quantity_lots{3 + static_cast<std::uint32_t>(random().below(7))};
    }
    return c;
}

domain::command operator_flow::change_phase(domain::time_ns wall) {
    using phase = domain::trading_phase;
    constexpr std::array<phase, 5> others{phase::halted, phase::pre_open, phase::opening_auction,
                                          phase::volatility_auction, phase::closed};
    domain::command c;
    c.kind = domain::command_kind::change_phase;
    if (interrupted_.value != 0 && random().below(10) < 8) {
        c.instrument = std::exchange(interrupted_, domain::instrument_id{});
        c.change_phase().phase = phase::continuous;
        return c;
    }
    c.instrument = interrupted_ = instruments()[random().below(instruments().size())].id;
    c.change_phase().phase = others[random().below(others.size())];
    if (random().below(2) == 0) {
        c.change_phase().resume_time = domain::time_ns{wall.value + random().between(phase_ns_min, phase_ns_max)};
    }
    return c;
}

/// The new instrument is closed until a change of its phase.
domain::command operator_flow::define() {
    domain::definition d;
    d.id = domain::instrument_id{first_defined_ + static_cast<std::uint32_t>(defined_count_++)};
    d.like = instruments()[random().below(instruments().size())].id;
    d.name = domain::symbol{fmt::format("N{}", d.id.value)};
    interrupted_ = d.id;
    return domain::command_of(d);
}

}  // namespace corro::simulation
