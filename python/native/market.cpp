// SPDX-License-Identifier: Apache-2.0
#include "native/market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

#include "base/hash.hpp"
#include "market/agent.hpp"
#include "market/behaviour.hpp"
#include "market/metrics/comparison.hpp"
#include "market/recorded_day/recorded_flow.hpp"
#include "native/book.hpp"
#include "native/market_state.hpp"
#include "native/row_frames.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::python {
namespace {

/// A run looks at signals about this often.
constexpr std::chrono::milliseconds between_looks{20};

/// Hears its answers as they arrive; what it does comes from outside, between two runs.
corro::market::behaviour listens(corro::market::agent& me) {
    for (;;) {
        const bool has_heard = co_await me.until(corro::market::next_answer());
        if (!has_heard) co_return;
    }
}

courtesy manners;

}  // namespace

void wait_with(courtesy how) { manners = how; }

void turns::lock() {
    if (mutex_.try_lock()) return;
    void* const given = manners.give_way != nullptr ? manners.give_way() : nullptr;
    mutex_.lock();
    if (given != nullptr) manners.take_back(given);
}

corro::market::scenario parse_scenario(const std::string& text, const std::string& file) {
    try {
        return corro::market::parse_scenario(text, file);
    } catch (const node::configuration_error& e) {
        throw setup_error(e.what());
    }
}

scenario_facts read_scenario(const std::string& text, const std::string& file) {
    const corro::market::scenario what = parse_scenario(text, file);
    scenario_facts made;
    made.name = what.name;
    made.about = what.about;
    made.text = what.text;
    made.duration_ns = what.duration_ns;
    made.sample_ns = what.sample_ns;
    made.start_ns = what.options.start_ns;
    made.seed = what.seed;
    for (const corro::market::agent_group& each : what.groups) made.agents += each.count;
    for (const domain::instrument& each : what.options.instruments) made.instruments.push_back(facts_of(each));
    return made;
}

market::market(const std::string& text, const std::string& file, std::uint64_t seed, recorded_tables recorded,
               const std::vector<seat_wish>& seats, const std::vector<trader_wish>& traders,
               const std::vector<crowd_wish>& crowds)
    : state_(std::make_unique<state>(std::make_shared<corro::market::scenario>(parse_scenario(text, file)), seed, recorded, true)) {
    add_seats(seats);
    for (corro::market::agent* const each : state_->seats) each->keep_fills(true);
    state_->add_traders(traders);
    state_->add_crowds(crowds);
    state_->start();
}
market::market(std::shared_ptr<const corro::market::scenario> described, std::uint64_t seed, const std::vector<seat_wish>& seats)
    : state_(std::make_unique<state>(std::move(described), seed, recorded_tables{}, false)) {
    add_seats(seats);
    state_->start();
}
market::~market() = default;

void market::add_seats(const std::vector<seat_wish>& seats) {
    for (const seat_wish& each : seats) state_->seats.push_back(&state_->add(each.name, each.beside, &listens));
}

/// While the world runs. What ends that early is a failure.
struct market::running {
    explicit running(state& of) : where(of) { where.is_running = where.has_failed = true; }
    ~running() { where.is_running = false; }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    state& where;
};

void market::run_slice(std::int64_t until_ns) {
    {
        const running now(*state_);
        state_->world->run(until_ns);
        state_->has_failed = false;
    }
    if (state_->recorder && !state_->recorder->problem().empty()) throw data_error(state_->recorder->problem());
}

void market::run(std::int64_t until_ns, const interruption& interrupted) {
    const std::lock_guard hold(state_->one_at_a_time);
    if (state_->is_running) throw argument_error("the market runs already: an agent of it cannot run it");
    if (state_->has_failed) throw argument_error("an agent of this market has failed; make the market again");
    corro::market::market& world = *state_->world;
    std::int64_t& slice_ns = state_->slice_ns;
    // Of many short runs, as a learner's steps are, a few are enough to see the pace: a look at the clock costs as much
    // as an order.
    if (until_ns - world.now_ns() <= slice_ns && ++state_->short_runs_count % 16 != 0) {
        if (world.now_ns() < until_ns) run_slice(until_ns);
        interrupted();
        return;
    }
    while (world.now_ns() < until_ns) {
        const auto begin = std::chrono::steady_clock::now();
        run_slice(until_ns - world.now_ns() > slice_ns ? world.now_ns() + slice_ns : until_ns);
        const auto taken = std::chrono::steady_clock::now() - begin;
        if (taken < between_looks / 2) {
            slice_ns = std::min(slice_ns * 2, std::int64_t{3'600'000'000'000});
        } else if (taken > between_looks * 2) {
            slice_ns = std::max(slice_ns / 2, std::int64_t{1'000});
        }
        interrupted();
    }
}

market_totals market::totals() const {
    const std::lock_guard hold(state_->one_at_a_time);
    const corro::market::market& world = *state_->world;
    market_totals made;
    made.now_ns = world.now_ns();
    made.commands = world.counts().commands;
    made.trades = world.counts().trades;
    made.rejects = world.counts().rejects;
    made.digest = world.digest();
    made.state_hash = world.venue().state_hash();
    return made;
}

std::int64_t market::now_ns() const {
    const std::lock_guard hold(state_->one_at_a_time);
    return state_->world->now_ns();
}

std::vector<std::string> market::instrument_names() const {
    std::vector<std::string> made;
    for (const domain::instrument& each : state_->world->options().instruments) made.emplace_back(each.name.view());
    return made;
}

std::vector<std::pair<std::string, double>> market::metrics() {
    const std::lock_guard hold(state_->one_at_a_time);
    std::vector<std::pair<std::string, double>> made;
    for (corro::market::metric& each : state_->measured.result(*state_->world)) {
        made.emplace_back(std::move(each.name), each.value);
    }
    if (const corro::market::recorded_flow* const flow = corro::market::recorded_flow_of(*state_->world)) {
        // As `corro market run` names them.
        made.emplace_back("recorded_requests", static_cast<double>(flow->position()));
        made.emplace_back("recorded_requests_unchanged", static_cast<double>(flow->unchanged_count()));
        for (const auto& [name, counted] : corro::market::named(flow->departures())) {
            made.emplace_back(fmt::format("departures.{}", name), static_cast<double>(counted.count));
            made.emplace_back(fmt::format("departures.{}_lots", name), static_cast<double>(counted.lots));
        }
    }
    return made;
}

market_tables market::tables() const {
    const std::lock_guard hold(state_->one_at_a_time);
    if (!state_->recorder) return {};
    return state_->recorder->copy(state_->world->venue().instruments());
}

frame_pointer market::positions() const {
    const std::lock_guard hold(state_->one_at_a_time);
    const corro::market::market& world = *state_->world;
    code_book agents;
    instrument_columns known;
    std::vector<std::uint32_t> account;
    std::vector<std::int32_t> agent;
    std::vector<std::int32_t> instrument;
    std::vector<std::int64_t> position;
    std::vector<double> cash;
    std::vector<std::int64_t> traded;
    std::vector<double> fees;
    std::vector<double> last;
    std::vector<double> profit;
    for (std::size_t i = 0; i < world.agents_count(); ++i) {
        for (const corro::market::holding& each : world.agent_at(i).true_holdings()) {
            const domain::instrument& of = world.rules(each.instrument);
            const domain::price_ticks price = world.venue().prices_of(of.id).last;
            const double tick_value = double_of_nano(of.tick_size.value) * of.lot_size;
            const double marked = price == domain::no_price ? 0 : static_cast<double>(each.lots * price.value);
            account.push_back(static_cast<std::uint32_t>(i + 1));
            agent.push_back(agents.code_of(world.name_of(i)));
            instrument.push_back(known.code(&of));
            position.push_back(each.lots * of.lot_size);
            cash.push_back(static_cast<double>(each.cash) * tick_value);
            traded.push_back(signed_of(each.traded_lots * of.lot_size));
            fees.push_back(static_cast<double>(each.fees) / 1e9);
            last.push_back(known.price(&of, price));
            profit.push_back((static_cast<double>(each.cash) + marked) * tick_value - fees.back());
        }
    }
    std::vector<column> columns;
    columns.push_back({"account", meaning::number, std::move(account), {}});
    columns.push_back({"agent", meaning::category, std::move(agent), agents.take()});
    columns.push_back({"instrument", meaning::category, std::move(instrument), known.names()});
    columns.push_back({"position", meaning::number, std::move(position), {}});
    columns.push_back({"cash", meaning::number, std::move(cash), {}});
    columns.push_back({"traded", meaning::number, std::move(traded), {}});
    columns.push_back({"fees", meaning::number, std::move(fees), {}});
    columns.push_back({"last", meaning::number, std::move(last), {}});
    columns.push_back({"profit", meaning::number, std::move(profit), {}});
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer market::notes() const {
    const std::lock_guard hold(state_->one_at_a_time);
    const corro::market::market& world = *state_->world;
    code_book agents;
    code_book names;
    std::vector<std::int64_t> time;
    std::vector<std::uint32_t> account;
    std::vector<std::int32_t> agent;
    std::vector<std::int32_t> what;
    std::vector<double> value;
    for (const corro::market::note& each : world.notes()) {
        time.push_back(world.options().start_ns + each.at_ns);
        account.push_back(each.agent + 1);
        agent.push_back(agents.code_of(world.name_of(each.agent)));
        what.push_back(names.code_of(world.note_name(each.what)));
        value.push_back(each.value);
    }
    std::vector<column> columns;
    columns.push_back({"time", meaning::time, std::move(time), {}});
    columns.push_back({"account", meaning::number, std::move(account), {}});
    columns.push_back({"agent", meaning::category, std::move(agent), agents.take()});
    columns.push_back({"what", meaning::category, std::move(what), names.take()});
    columns.push_back({"value", meaning::number, std::move(value), {}});
    return std::make_shared<frame>(std::move(columns));
}

book_facts market::book(const std::string& instrument, std::uint32_t depth, bool with_orders) const {
    const std::lock_guard hold(state_->one_at_a_time);
    const facility::facility& venue = state_->world->venue();
    book_facts made = book_of(venue, instrument_of(venue, instrument), depth, with_orders);
    made.time_ns = state_->world->options().start_ns + state_->world->now_ns();
    return made;
}

std::vector<paired_metric> compare_metrics(
    const std::vector<std::tuple<std::string, std::vector<double>, std::vector<double>>>& series) {
    std::vector<paired_metric> made;
    std::vector<double> p_values;
    for (const auto& [name, a, b] : series) {
        if (a.size() != b.size() || a.size() < 2) {
            throw argument_error(fmt::format("metric \"{}\": a comparison needs two or more values of each, in pairs", name));
        }
        const corro::market::paired_difference d =
            corro::market::compare_pairs(a, b, base::hash_bytes(std::as_bytes(std::span(name))));
        made.push_back({name, d.mean_first, d.mean_second, d.difference, d.low, d.high, d.p_value, 1});
        p_values.push_back(d.p_value);
    }
    const std::vector<double> corrected = corro::market::holm_correction(p_values);
    for (std::size_t i = 0; i < made.size(); ++i) made[i].p_corrected = corrected[i];
    return made;
}

}  // namespace corro::python
