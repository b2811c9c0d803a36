// SPDX-License-Identifier: Apache-2.0
#include "simulation/clients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "fix/net/connection.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/block_on.hpp"
#include "simulation/operator_flow.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

/// The operator defines instruments from this id on, or from the first that is free behind those of a file.
constexpr std::uint32_t first_defined_least = 101;
/// A subscriber of a feed that keeps less may have to join again.
constexpr std::size_t feed_log_bytes_enough = std::size_t{16} * 1024 * 1024;

std::uint32_t first_free_id(const std::vector<domain::instrument>& instruments) noexcept {
    std::uint32_t first = first_defined_least;
    for (const domain::instrument& i : instruments) first = std::max(first, i.id.value + 1);
    return first;
}

sim::host& add_host(sim::world& in, std::size_t number) {
    const auto last = static_cast<std::uint8_t>(number + 1);
    return in.add_host(fmt::format("client {}", last), {io::endpoint::ipv4({10, 0, 1, last}, 0)});
}

/// A fault that lets a venue refuse requests.
bool is_of_disk(const fault& one) noexcept {
    return target_of(one.kind) == fault_target::facility;
}

/// A fault that keeps a session silent.
bool is_of_connections(const fault& one) noexcept {
    return target_of(one.kind) == fault_target::link || target_of(one.kind) == fault_target::host;
}

/// A fault that keeps a FIX session of the venue silent: the number of a heartbeat has to reach the journal first.
bool delays_heartbeats(const fault& one, const venue_shape& shape) noexcept {
    return is_of_connections(one) || is_of_disk(one) || (one.kind == fault_kind::kill && shape.is_in_roles());
}

bool is_clock_jump(const fault& one) noexcept {
    return one.kind == fault_kind::clock_jump;
}

/// Lowest price of orders by FIX: Corro Binary's trade around the same 9,000 ticks of 0.25.
constexpr std::uint64_t lowest_fix_price = 2'248;

}  // namespace

clients::clients(sim::world& in, const plan& whole, findings* found) : world_(in), plan_(whole), found_(found) {
    for (std::size_t k = 0; k < whole.shape.client_hosts_count; ++k) {
        places_.push_back(std::make_unique<place>(add_host(in, k)));
        hosts_.push_back(&places_.back()->host);
    }
    const std::vector<seat> seats = seats_of(whole);
    for (std::size_t k = 0; k < whole.shape.traders_count; ++k) {
        add_session(settings_of_trader(k, seats[k]), *places_[k % places_.size()]);
    }
    const std::vector<seat> fix_seats = fix_seats_of(whole);
    for (std::size_t k = 0; k < whole.shape.fix_clients_count; ++k) {
        add_fix_client(k, fix_seats[k], *places_[(whole.shape.traders_count + k) % places_.size()]);
    }
    if (whole.operator_pause != 0ns) add_session(settings_of_operator(), *places_.back());
    for (std::size_t k = 0; k < whole.shape.venue.partitions_count; ++k) add_subscriber(k);
}

void clients::add_session(trader_settings settings, place& home) {
    home.traders.push_back(std::make_unique<trader>(std::move(settings), found_));
    sessions_.push_back(home.traders.back().get());
    home.tasks.spawn(sessions_.back()->run());
}

void clients::add_fix_client(std::size_t index, const seat& own, place& home) {
    const venue_shape& shape = plan_.shape.venue;
    const node::configuration venue = configuration_of_facility(plan_);
    fix_client_settings settings;
    settings.who.name = own.fix_name();
    settings.who.venue_name = venue.fix_comp_id;
    settings.who.key = own.account.key;
    settings.who.heartbeat = fix_heartbeat;
    settings.who.cancel_on_disconnect = index % 2 == 1;
    settings.venue = fix_of(shape, gateway_of(own.account, plan_));
    settings.session = session_of(own, plan_);
    settings.account = own.account.id;
    fix_trader_settings& trades = settings.trades;
    for (const domain::instrument& i : venue.instruments) {
        if (i.legs_count == 0) trades.symbols.emplace_back(i.name.view());
    }
    trades.lowest_price = lowest_fix_price;
    trades.first_name = 1 + (plan_.shape.traders_count + index) * order_names_count;
    trades.outstanding_max = plan_.outstanding_max;
    trades.think_time = plan_.think_time;
    trades.seed = world_.seed_of(fmt::format("FIX client {}", index));
    trades.disk_may_fail = std::ranges::any_of(plan_.faults, is_of_disk);
    trades.facility_may_be_away = shape.is_in_roles();
    trades.clocks_may_jump = std::ranges::any_of(plan_.faults, is_clock_jump);
    trades.is_divided = shape.partitions_count > 1;
    trades.may_be_silent =
        std::ranges::any_of(plan_.faults, [&shape](const fault& one) { return delays_heartbeats(one, shape); });
    trades.may_quote = std::ranges::none_of(
        by_fix_, [&own](const fix_client* each) { return each->settings().account == own.account.id; });
    trades.set_clock = [&home](std::int64_t time) {
        home.host.set_wall_clock_forward(std::chrono::nanoseconds(time - fix::moment_on(home.context).wall));
    };
    home.by_fix.push_back(std::make_unique<fix_client>(home.context, std::move(settings), found_));
    by_fix_.push_back(home.by_fix.back().get());
    by_fix_.back()->start(home.tasks);
}

void clients::add_subscriber(std::size_t partition) {
    place& home = *places_.front();
    subscriber_settings settings;
    settings.feed = feed_of(plan_.shape.venue, partition);
    settings.snapshots = snapshots_of(plan_.shape.venue, partition);
    settings.may_join_again =
        plan_.shape.venue.has_distributors || configuration_of_facility(plan_).feed_log_bytes < feed_log_bytes_enough;
    settings.disk_may_fail = std::ranges::any_of(plan_.faults, is_of_disk);
    home.subscribers.push_back(std::make_unique<subscriber>(settings, found_));
    subscribers_.push_back(home.subscribers.back().get());
    home.tasks.spawn(subscribers_.back()->run());
}

trader_settings clients::settings_of_session(const seat& of) const {
    const venue_shape& shape = plan_.shape.venue;
    const std::size_t gateway = gateway_of(of.account, plan_);
    trader_settings settings;
    settings.venue = order_entry_of(shape, gateway);
    if (shape.gateways_count > 1) {
        settings.wrong_gateway = order_entry_of(shape, (gateway + 1) % shape.gateways_count);
    }
    settings.disk_may_fail = std::ranges::any_of(plan_.faults, is_of_disk);
    settings.facility_may_be_away = shape.is_in_roles();
    settings.has_one_clock = shape.partitions_count == 1;
    settings.may_be_silent = std::ranges::any_of(plan_.faults, is_of_connections);
    settings.who.account = of.account.id;
    settings.who.session_number = of.session_number;
    settings.who.key = of.account.key;
    settings.who.heartbeat = client_heartbeat;
    settings.who.cancel_on_disconnect = false;
    return settings;
}

trader_settings clients::settings_of_trader(std::size_t index, const seat& own) const {
    trader_settings settings = settings_of_session(own);
    settings.who.cancel_on_disconnect = index % 3 == 1;
    settings.outstanding_max = plan_.outstanding_max;
    settings.think_time = plan_.think_time;
    settings.first_order_name = 1 + index * order_names_count;
    settings.seed = world_.seed_of(fmt::format("trader {}", index));
    settings.make_flow = [first = settings.first_order_name, seed = world_.seed_of(fmt::format("flow {}", index)),
                          found = found_](std::vector<domain::instrument> instruments) {
        return std::make_unique<order_flow>(std::move(instruments), first, seed, found);
    };
    return settings;
}

trader_settings clients::settings_of_operator() const {
    trader_settings settings = settings_of_session({operator_of(plan_), 1});
    std::vector<domain::account_id> accounts;
    for (const trader* each : sessions_) {
        const domain::account_id own = each->settings().who.account;
        if (std::ranges::find(accounts, own) == accounts.end()) accounts.push_back(own);
    }
    const node::configuration venue = configuration_of_facility(plan_);
    settings.outstanding_max = 1;
    settings.think_time = plan_.operator_pause;
    settings.seed = world_.seed_of("operator");
    settings.make_flow = [accounts, first = first_free_id(venue.instruments), most = venue.instruments_reserved,
                          seed = world_.seed_of("flow of the operator"),
                          found = found_](std::vector<domain::instrument> instruments) {
        return std::make_unique<operator_flow>(std::move(instruments), accounts, first, most, seed, found);
    };
    return settings;
}

void clients::finish() noexcept {
    for (trader* each : sessions_) each->finish();
    for (fix_client* each : by_fix_) each->finish();
}

void clients::end() {
    for (trader* each : sessions_) each->end();
    for (fix_client* each : by_fix_) each->end();
    for (subscriber* each : subscribers_) each->end();
    const auto have_ended = [this] {
        return std::ranges::all_of(places_, [](const auto& each) { return each->tasks.size() == 0; });
    };
    while (!have_ended()) world_.run_for(1ms);
    for (const auto& each : places_) io::block_on(each->context, each->tasks.join());
}

}  // namespace corro::simulation
