// SPDX-License-Identifier: Apache-2.0
#include "market/metrics/market_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "market/metrics/sampled_statistics.hpp"
#include "market/number.hpp"

namespace corro::market {
namespace {

using domain::command_kind;
using domain::event_kind;

/// Whether the best prices are quotes: while an auction collects, the book may be crossed.
bool is_two_sided(const domain::top& t) noexcept {
    return t.bid_price != domain::no_price && t.ask_price != domain::no_price && t.bid_price < t.ask_price;
}
std::int64_t spread_of(const domain::top& t) noexcept {
    return t.ask_price.value - t.bid_price.value;
}
double middle_of(const domain::top& t) noexcept {
    return static_cast<double>(t.bid_price.value + t.ask_price.value) / 2;
}

constexpr std::size_t vpin_buckets = 50;
constexpr std::size_t pin_periods = 40;

/// The whole samples, in `pin_periods` periods of the same length; none if there are fewer samples.
std::vector<period_trades> periods_of(std::span<const period_trades> samples) {
    const std::size_t length = (samples.size() - 1) / pin_periods;  // the last sample has only begun
    std::vector<period_trades> made(length == 0 ? 0 : pin_periods);
    for (std::size_t i = 0; i < made.size() * length; ++i) {
        made[i / length].buys += samples[i].buys;
        made[i / length].sells += samples[i].sells;
    }
    return made;
}

}  // namespace

market_metrics::market_metrics(const market_options& options, std::int64_t sample_ns, std::int64_t realised_ns)
    : start_ns_(options.start_ns), sample_ns_(sample_ns), realised_ns_(realised_ns) {
    for (const domain::instrument& each : options.instruments) {
        measured one;
        one.id = each.id;
        one.top.bid_price = one.top.ask_price = domain::no_price;
        one.next_sample_ns = sample_ns;
        one.sample_trades.emplace_back();
        all_.push_back(std::move(one));
    }
}

market_metrics::measured* market_metrics::find(domain::instrument_id id) noexcept {
    if (const std::size_t guess = id.value - 1; guess < all_.size() && all_[guess].id == id) return &all_[guess];
    const auto found = std::ranges::find(all_, id, &measured::id);
    return found == all_.end() ? nullptr : &*found;
}

/// Time passes with the present best prices.
void market_metrics::advance(measured& of, std::int64_t now_ns) {
    const auto settle = [&](std::int64_t until_ns) {
        while (!of.pending.empty() && of.pending.front().at_ns + realised_ns_ <= until_ns) {
            const pending_trade& t = of.pending.front();
            if (of.has_quotes) {
                of.realised_sum += 2 * t.sign * (t.price - middle_of(of.top)) * t.lots;
                of.realised_volume += t.lots;
            }
            of.pending.pop_front();
        }
    };
    while (of.next_sample_ns <= now_ns) {
        if (of.has_quotes) {
            of.middles.push_back(middle_of(of.top));
        } else if (!of.middles.empty()) {
            of.middles.push_back(of.middles.back());
        }
        if (!of.middles.empty()) {
            of.signed_volumes.push_back(std::exchange(of.signed_volume, 0));
            of.turnovers.push_back(std::exchange(of.sample_turnover, 0));
        }
        of.sample_trades.emplace_back();
        of.next_sample_ns += sample_ns_;
    }
    settle(now_ns);
    if (of.has_quotes) {
        const auto passed = static_cast<double>(now_ns - of.top_since_ns);
        of.quoted_ns += passed;
        of.spread_sum += passed * static_cast<double>(of.top.ask_price.value - of.top.bid_price.value);
        of.depth_sum += passed * static_cast<double>(of.top.bid_quantity.value + of.top.ask_quantity.value) / 2;
    }
    of.top_since_ns = now_ns;
}

/// The trades of one command are one transaction: what they did to the spread is known now.
void market_metrics::end_command() {
    for (const std::size_t index : traded_) {
        measured& of = all_[index];
        if (of.has_quotes && spread_of(of.top) <= of.spread_before) continue;
        of.widened_count += 1;
        of.wider_since_ns = now_ns_;
    }
    traded_.clear();
}

void market_metrics::on_command(const domain::command& command) {
    end_command();
    now_ns_ = command.time.value - start_ns_;
    measured* of = find(command.instrument);
    if (of == nullptr) return;
    ++of->requests_count;
    if (command.kind == command_kind::enter_order) ++of->orders_count;
}

void market_metrics::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.kind == event_kind::top_of_book) {
            measured& of = *find(e.instrument);
            advance(of, now_ns_);
            of.top = e.top;
            of.has_quotes = is_two_sided(e.top);
            if (of.wider_since_ns >= 0 && of.has_quotes && spread_of(of.top) <= of.spread_before) {
                of.returned_count += 1;
                of.returned_ns += static_cast<double>(now_ns_ - of.wider_since_ns);
                of.wider_since_ns = -1;
            }
        } else if (e.kind == event_kind::trade) {
            // The best prices of before: top_of_book follows the trade that changes it.
            measured& of = *find(e.instrument);
            advance(of, now_ns_);
            const double lots = e.trade.quantity.value;
            const auto price = static_cast<double>(e.trade.price.value);
            const double sign = e.side == domain::side::buy ? 1 : -1;
            of.trades_count += 1;
            of.volume += lots;
            of.turnover += price * lots;
            of.signed_volume += sign * lots;
            of.sample_turnover += price * lots;
            of.signed_lots.push_back(sign * lots);
            (sign > 0 ? of.sample_trades.back().buys : of.sample_trades.back().sells) += 1;
            const auto index = static_cast<std::size_t>(&of - all_.data());
            if (of.has_quotes && std::ranges::find(traded_, index) == traded_.end()) {
                of.spread_before = spread_of(of.top);
                of.wider_since_ns = -1;  // the next transaction came before the spread had returned
                traded_.push_back(index);
            }
            of.trade_prices.push_back(price);
            if (of.has_quotes) {
                of.effective_sum += 2 * sign * (price - middle_of(of.top)) * lots;
                of.effective_volume += lots;
                of.pending.push_back({now_ns_, price, sign, lots});
            }
        }
    }
}

void market_metrics::add_results(const measured& of, const std::string& prefix, std::vector<metric>& into) const {
    const auto add = [&](const char* name, double value) { into.push_back({prefix + name, value}); };
    const auto ratio = [](double a, double b) { return b != 0 ? a / b : 0; };
    const std::vector<double> changes = differences(of.middles, 1);
    const double effective = ratio(of.effective_sum, of.effective_volume);
    const double realised = ratio(of.realised_sum, of.realised_volume);
    add("trades", of.trades_count);
    add("volume_lots", of.volume);
    add("order_to_trade", ratio(static_cast<double>(of.requests_count), of.trades_count));
    add("quoted_time_share", ratio(of.quoted_ns, static_cast<double>(now_ns_)));
    add("quoted_spread_ticks", ratio(of.spread_sum, of.quoted_ns));
    add("effective_spread_ticks", effective);
    add("realised_spread_ticks", realised);
    add("price_impact_ticks", effective - realised);
    add("depth_at_best_lots", ratio(of.depth_sum, of.quoted_ns));
    add("resilience_share", ratio(of.returned_count, of.widened_count));
    add("resilience_seconds", ratio(of.returned_ns, of.returned_count) / 1e9);
    add("vpin", vpin_of(of.signed_lots, vpin_buckets));
    if (const std::vector<period_trades> periods = periods_of(of.sample_trades); !periods.empty()) {
        add("pin", estimate_informed_trading(periods).pin());
    }
    // Changes of the middle over the sample in which the volume traded: samples i - 1 to i.
    const std::size_t count = changes.size();
    if (count >= 2) {
        const std::span<const double> volumes(of.signed_volumes.data() + 1, count);
        add("kyle_lambda_ticks_per_lot", slope_of(volumes, changes));
        double amihud = 0;
        double used = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (of.turnovers[i + 1] <= 0 || of.middles[i] == 0) continue;
            amihud += std::fabs(changes[i] / of.middles[i]) / of.turnovers[i + 1];
            used += 1;
        }
        add("amihud_per_million", ratio(amihud, used) * 1e6);
    }
    const std::vector<double> price_changes = differences(of.trade_prices, 1);
    double covariance = 0;
    const double mean_change = mean_of(price_changes);
    for (std::size_t i = 1; i < price_changes.size(); ++i) {
        covariance += (price_changes[i] - mean_change) * (price_changes[i - 1] - mean_change);
    }
    covariance = price_changes.size() > 2 ? covariance / static_cast<double>(price_changes.size() - 1) : 0;
    add("roll_spread_ticks", covariance < 0 ? 2 * sqrt_of(-covariance) : 0);
    const double sample_seconds = static_cast<double>(sample_ns_) / 1e9;
    add("volatility_ticks_per_root_second", sqrt_of(variance_of(changes) / sample_seconds));
    for (const std::size_t step : {1U, 5U, 10U, 30U}) {
        if (changes.size() < 4 * step) continue;
        const double per_second =
            variance_of(differences(of.middles, step)) / (sample_seconds * static_cast<double>(step));
        add(("signature_" + std::to_string(step)).c_str(), sqrt_of(per_second));
    }
    add("variance_ratio_5", variance_ratio(of.middles, 5));
    add("variance_ratio_10", variance_ratio(of.middles, 10));
    std::vector<double> signs;
    for (const double each : of.signed_lots) signs.push_back(each > 0 ? 1 : -1);
    std::vector<double> sizes;
    for (const double each : changes) sizes.push_back(std::fabs(each));
    add("return_autocorrelation_1", autocorrelation(changes, 1));
    add("absolute_return_autocorrelation_1", autocorrelation(sizes, 1));
    add("absolute_return_autocorrelation_10", autocorrelation(sizes, 10));
    add("sign_autocorrelation_1", autocorrelation(signs, 1));
    add("sign_autocorrelation_10", autocorrelation(signs, 10));
    add("sign_hurst", hurst_exponent(signs));
    add("return_hurst", hurst_exponent(changes));
    add("tail_exponent", hill_tail(changes, 0.05));
}

std::vector<metric> market_metrics::result(const market& world) {
    std::vector<metric> made;
    end_command();
    now_ns_ = std::max(now_ns_, world.now_ns());
    for (measured& each : all_) {
        advance(each, now_ns_);
        const std::string prefix = all_.size() == 1 ? "" : std::string(world.rules(each.id).name.view()) + ".";
        add_results(each, prefix, made);
    }
    // Welfare: cash and fundamental values cancel out between buyers and sellers; what remains are private values.
    std::map<std::uint32_t, double> values;
    for (const note& each : world.notes()) {
        if (world.note_name(each.what) == "private_value") values[each.agent] = each.value;
    }
    if (!values.empty()) {
        double sum = 0;
        for (const auto& [agent, value] : values) sum += value;
        made.push_back({"welfare_ticks", sum});
    }
    made.push_back({"commands", static_cast<double>(world.counts().commands)});
    made.push_back({"rejects", static_cast<double>(world.counts().rejects)});
    return made;
}

}  // namespace corro::market
