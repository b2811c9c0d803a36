// SPDX-License-Identifier: Apache-2.0
#include "market/calibration/stylised_facts.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "market/metrics/sampled_statistics.hpp"
#include "market/number.hpp"
#include "market/random_stream.hpp"

namespace corro::market {
namespace {

using domain::event_kind;
using domain::side;

constexpr std::size_t resamples = 200;
constexpr double ns_per_second = 1e9;

constexpr std::array<fact_rule, facts_count> rules{{
    {"quoted_spread_ticks", fact_kind::size, 0.05},
    {"depth_at_best_lots", fact_kind::size, 0.05},
    {"transactions_per_minute", fact_kind::size, 0.05},
    {"interval_variation", fact_kind::size, 0.05},
    {"lots_per_transaction", fact_kind::size, 0.05},
    {"best_orders_per_transaction", fact_kind::size, 0.05},
    {"volatility_ticks_per_root_second", fact_kind::size, 0.05},
    {"variance_ratio_10", fact_kind::part, 0.05},
    {"variance_ratio_60", fact_kind::part, 0.05},
    {"unchanged_share", fact_kind::part, 0.02},
    {"kurtosis_10", fact_kind::size, 0.05},
    {"return_autocorrelation_1", fact_kind::part, 0.02},
    {"absolute_return_autocorrelation_1", fact_kind::part, 0.02},
    {"absolute_return_autocorrelation_10", fact_kind::part, 0.02},
    {"absolute_return_autocorrelation_60", fact_kind::part, 0.02},
    {"sign_autocorrelation_1", fact_kind::part, 0.02},
    {"sign_autocorrelation_10", fact_kind::part, 0.02},
    {"sign_autocorrelation_50", fact_kind::part, 0.02},
    {"impact_1_ticks", fact_kind::size, 0.05},
    {"impact_10_ticks", fact_kind::size, 0.05},
    {"impact_50_ticks", fact_kind::size, 0.05},
    {"life_median_seconds", fact_kind::size, 0.05},
    {"life_upper_quartile_seconds", fact_kind::size, 0.05},
    {"filled_share_at_front", fact_kind::part, 0.02},
    {"filled_share_behind_less", fact_kind::part, 0.02},
    {"filled_share_behind_more", fact_kind::part, 0.02},
}};

/// What both columns of a resample are drawn from.
using block_list = std::vector<const fact_block*>;

block_list list_of(std::span<const fact_block> blocks) {
    block_list made;
    for (const fact_block& each : blocks) made.push_back(&each);
    return made;
}

double ratio(double a, double b) noexcept {
    return b != 0 ? a / b : 0;
}

/// The mean, the variance, and the autocorrelations of a series that is in pieces: pairs lie within one piece.
class pieces {
 public:
    pieces(std::span<const fact_block* const> blocks, std::vector<double> fact_block::* of, bool is_absolute = false) {
        for (const fact_block* each : blocks) {
            std::vector<double>& piece = all_.emplace_back(each->*of);
            if (is_absolute) {
                for (double& x : piece) x = std::fabs(x);
            }
            for (const double x : piece) sum_ += x;
            count_ += static_cast<double>(piece.size());
        }
        mean_ = ratio(sum_, count_);
        for (const std::vector<double>& piece : all_) {
            for (const double x : piece) squares_ += (x - mean_) * (x - mean_);
        }
    }
    [[nodiscard]] double count() const noexcept { return count_; }
    [[nodiscard]] double mean() const noexcept { return mean_; }
    [[nodiscard]] double variance() const noexcept { return ratio(squares_, count_); }
    [[nodiscard]] double autocorrelation(std::size_t lag) const noexcept {
        double products = 0;
        double pairs = 0;
        for (const std::vector<double>& piece : all_) {
            for (std::size_t i = lag; i < piece.size(); ++i) products += (piece[i] - mean_) * (piece[i - lag] - mean_);
            if (piece.size() > lag) pairs += static_cast<double>(piece.size() - lag);
        }
        return ratio(ratio(products, pairs), variance());
    }
    /// Of sums of `length`, which do not overlap, over `length` times the variance.
    [[nodiscard]] double variance_ratio(std::size_t length) const noexcept {
        double squares = 0;
        double sums = 0;
        for (const std::vector<double>& piece : all_) {
            for (std::size_t i = 0; i + length <= piece.size(); i += length) {
                double sum = 0;
                for (std::size_t k = 0; k < length; ++k) sum += piece[i + k] - mean_;
                squares += sum * sum;
                sums += 1;
            }
        }
        return ratio(ratio(squares, sums), static_cast<double>(length) * variance());
    }
    /// Of sums of `length`, which do not overlap: 3 of normal numbers.
    [[nodiscard]] double kurtosis(std::size_t length) const noexcept {
        double squares = 0;
        double fourths = 0;
        double sums = 0;
        for (const std::vector<double>& piece : all_) {
            for (std::size_t i = 0; i + length <= piece.size(); i += length) {
                double sum = 0;
                for (std::size_t k = 0; k < length; ++k) sum += piece[i + k] - mean_;
                squares += sum * sum;
                fourths += sum * sum * sum * sum;
                sums += 1;
            }
        }
        return ratio(fourths * sums, squares * squares);
    }
    [[nodiscard]] std::vector<double> joined() const {
        std::vector<double> made;
        for (const std::vector<double>& piece : all_) made.insert(made.end(), piece.begin(), piece.end());
        return made;
    }

 private:
    std::vector<std::vector<double>> all_;
    double sum_ = 0;
    double count_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

/// Of a list that is put in order.
double quantile(std::vector<double>& x, double part) {
    if (x.empty()) return 0;
    std::ranges::sort(x);
    return x[std::min(static_cast<std::size_t>(part * static_cast<double>(x.size())), x.size() - 1)];
}

/// The share of orders with a fill: at the front, behind at most the mean depth, behind more.
std::array<double, 3> filled_shares(std::span<const fact_block* const> blocks, double mean_depth) {
    std::array<double, 3> filled{};
    std::array<double, 3> all{};
    for (const fact_block* block : blocks) {
        for (const fact_block::best_order& each : block->ended) {
            const std::size_t place = each.ahead_lots == 0 ? 0 : each.ahead_lots <= mean_depth ? 1 : 2;
            all[place] += 1;
            if (each.is_filled) filled[place] += 1;
        }
    }
    return {ratio(filled[0], all[0]), ratio(filled[1], all[1]), ratio(filled[2], all[2])};
}

/// The value on the scale on which distances are differences.
double scaled(fact_kind kind, double value) noexcept {
    if (kind == fact_kind::part) return value;
    return log_of(std::max(value, 1e-9));
}

std::vector<fact_values> resampled(std::span<const fact_block> blocks, random_stream& random) {
    std::vector<fact_values> made;
    block_list drawn(blocks.size());
    for (std::size_t i = 0; i < resamples; ++i) {
        for (const fact_block*& each : drawn) each = &blocks[random.below(blocks.size())];
        made.push_back(facts_of(drawn));
    }
    return made;
}

std::pair<double, double> interval_of(std::vector<double> values) {
    std::ranges::sort(values);
    return {values[values.size() * 25 / 1'000], values[values.size() * 975 / 1'000 - 1]};
}

std::vector<double> column(const std::vector<fact_values>& all, std::size_t fact) {
    std::vector<double> made;
    for (const fact_values& each : all) made.push_back(each[fact]);
    return made;
}

double error_of(const std::vector<fact_values>& all, std::size_t fact) {
    std::vector<double> values = column(all, fact);
    for (double& each : values) each = scaled(rules[fact].kind, each);
    return std::max(sqrt_of(variance_of(values)), rules[fact].tolerance);
}

double distance_between(std::size_t fact, double a, double b, double error) noexcept {
    return std::fabs(scaled(rules[fact].kind, a) - scaled(rules[fact].kind, b)) / error;
}

}  // namespace

std::span<const fact_rule, facts_count> fact_rules() noexcept {
    return rules;
}

stylised_facts::stylised_facts(const market& world, fact_window window)
    : instrument_(world.options().instruments.front().id),
      start_ns_(world.options().start_ns),
      window_(window),
      block_ns_((window.end_ns - window.begin_ns) / static_cast<std::int64_t>(window.blocks_count)),
      blocks_(window.blocks_count),
      next_sample_ns_(window.begin_ns) {
    CORRO_ASSERT(window.begin_ns >= 0 && window.sample_ns > 0 && block_ns_ >= window.sample_ns,
                 "a block has a sample at least");
    top_.bid_price = top_.ask_price = domain::no_price;
    for (fact_block& each : blocks_) each.length_ns = static_cast<double>(block_ns_);
}

fact_block* stylised_facts::block_at(std::int64_t at_ns) noexcept {
    if (at_ns < window_.begin_ns) return nullptr;
    const auto index = static_cast<std::size_t>((at_ns - window_.begin_ns) / block_ns_);
    return index < blocks_.size() ? &blocks_[index] : nullptr;
}

bool stylised_facts::has_quotes() const noexcept {
    return top_.bid_price != domain::no_price && top_.ask_price != domain::no_price && top_.bid_price < top_.ask_price;
}

double stylised_facts::middle() const noexcept {
    return static_cast<double>(top_.bid_price.value + top_.ask_price.value) / 2;
}

/// Time passes with the present best prices.
void stylised_facts::advance(std::int64_t to_ns) {
    while (advanced_ns_ < to_ns) {
        // To the end of the block, or to the first one.
        std::int64_t until = to_ns;
        fact_block* const block = block_at(advanced_ns_);
        if (block != nullptr) {
            const std::int64_t passed = advanced_ns_ - window_.begin_ns;
            until = std::min(until, window_.begin_ns + (passed / block_ns_ + 1) * block_ns_);
        } else if (advanced_ns_ < window_.begin_ns) {
            until = std::min(until, window_.begin_ns);
        }
        if (block != nullptr && has_quotes()) {
            const auto passed = static_cast<double>(until - advanced_ns_);
            block->quoted_ns += passed;
            block->spread_sum += passed * static_cast<double>(top_.ask_price.value - top_.bid_price.value);
            block->depth_sum += passed * static_cast<double>(top_.bid_quantity.value + top_.ask_quantity.value) / 2;
        }
        advanced_ns_ = until;
    }
    for (; next_sample_ns_ <= to_ns; next_sample_ns_ += window_.sample_ns) {
        const double now = has_quotes() ? middle() : last_sample_;
        fact_block* const block = block_at(next_sample_ns_ - 1);
        if (block != nullptr && last_sample_ != 0) block->changes.push_back(now - last_sample_);
        last_sample_ = now;
    }
}

void stylised_facts::end_command() {
    for (const domain::event& e : entered_) {
        const domain::price_ticks best = e.side == side::buy ? top_.bid_price : top_.ask_price;
        fact_block* const block = block_at(now_ns_);
        const auto side_index = static_cast<std::size_t>(e.side == side::buy ? 0 : 1);
        if (block == nullptr || e.order.price != best || left_ns_[side_index] == now_ns_) continue;
        const auto level = std::ranges::find_if(levels_.rbegin(), levels_.rend(), [&](const domain::event& each) {
            return each.side == e.side && each.level.price == e.order.price;
        });
        if (level == levels_.rend()) continue;
        block->best_orders_count += 1;
        followed one;
        one.since_ns = now_ns_;
        one.price = e.order.price;
        one.ahead_lots = static_cast<double>(level->level.quantity.value) - static_cast<double>(e.order.quantity.value);
        orders_.insert_or_assign(e.order.order.value, one);
    }
    entered_.clear();
    levels_.clear();
}

void stylised_facts::on_command(const domain::command& command) {
    end_command();
    now_ns_ = command.time.value - start_ns_;
}

void stylised_facts::end_order(std::uint64_t order, bool is_cancelled) {
    const auto known = orders_.find(order);
    if (known == orders_.end()) return;
    if (fact_block* const block = block_at(now_ns_); block != nullptr) {
        const followed& of = known->second;
        block->ended.push_back({of.ahead_lots, of.is_filled});
        if (is_cancelled) block->lives.push_back(static_cast<double>(now_ns_ - of.since_ns) / ns_per_second);
    }
    orders_.erase(known);
}

void stylised_facts::take_trade(const domain::event& e) {
    fact_block* const block = block_at(now_ns_);
    if (block == nullptr || !has_quotes()) return;
    const double lots = e.trade.quantity.value;
    if (traded_ns_ == now_ns_ && traded_side_ == e.side && !block->lots.empty()) {
        block->lots.back() += lots;
        return;
    }
    if (traded_ns_ >= window_.begin_ns) {
        block->intervals.push_back(static_cast<double>(now_ns_ - traded_ns_) / ns_per_second);
    }
    traded_ns_ = now_ns_;
    traded_side_ = e.side;
    const double sign = e.side == side::buy ? 1 : -1;
    block->signs.push_back(sign);
    block->lots.push_back(lots);
    for (std::size_t i = 0; i < impact_lags.size(); ++i) {
        if (recent_.size() < impact_lags[i]) continue;
        const transaction& before = recent_[impact_lags[i] - 1];
        fact_block::impact& into = blocks_[before.block].impacts[i];
        into.sum_ticks += before.sign * (middle() - before.middle);
        into.count += 1;
    }
    recent_.push_front({static_cast<std::size_t>(block - blocks_.data()), middle(), sign});
    if (recent_.size() > impact_lags.back()) recent_.pop_back();
}

void stylised_facts::take_top(const domain::top& now) {
    const auto is_worse = [](domain::price_ticks after, domain::price_ticks before, bool is_bid) {
        if (before == domain::no_price || after == before) return false;
        return after == domain::no_price || (is_bid ? after < before : after > before);
    };
    if (is_worse(now.bid_price, top_.bid_price, true)) left_ns_[0] = now_ns_;
    if (is_worse(now.ask_price, top_.ask_price, false)) left_ns_[1] = now_ns_;
    top_ = now;
}

void stylised_facts::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.instrument != instrument_) continue;
        switch (e.kind) {
            case event_kind::top_of_book:
                advance(now_ns_);
                take_top(e.top);
                break;
            case event_kind::trade:
                advance(now_ns_);
                take_trade(e);
                break;
            case event_kind::level_changed: levels_.push_back(e); break;
            case event_kind::order_entered: entered_.push_back(e); break;
            case event_kind::order_cancelled: end_order(e.order.order.value, true); break;
            case event_kind::order_amended:
                // At another price it is another order.
                if (const auto known = orders_.find(e.order.order.value);
                    known != orders_.end() && known->second.price != e.order.price) {
                    end_order(e.order.order.value, true);
                }
                break;
            case event_kind::order_executed:
                if ((e.flags & domain::event_flag::aggressor) != 0) break;
                if (const auto known = orders_.find(e.execution.order.value); known != orders_.end()) {
                    known->second.is_filled = true;
                    if (e.execution.leaves.value == 0) end_order(e.execution.order.value, false);
                }
                break;
            default: break;
        }
    }
}

std::vector<fact_block> stylised_facts::take() {
    end_command();
    advance(window_.end_ns);
    return std::move(blocks_);
}

fact_values facts_of(std::span<const fact_block* const> blocks) {
    CORRO_ASSERT(!blocks.empty(), "there is something to measure");
    double length_ns = 0;
    double quoted_ns = 0;
    double spread = 0;
    double depth = 0;
    double best_orders = 0;
    double transactions = 0;
    std::array<fact_block::impact, impact_lags.size()> impacts;
    std::vector<double> lives;
    for (const fact_block* each : blocks) {
        length_ns += each->length_ns;
        quoted_ns += each->quoted_ns;
        spread += each->spread_sum;
        depth += each->depth_sum;
        best_orders += each->best_orders_count;
        transactions += static_cast<double>(each->signs.size());
        lives.insert(lives.end(), each->lives.begin(), each->lives.end());
        for (std::size_t i = 0; i < impacts.size(); ++i) {
            impacts[i].sum_ticks += each->impacts[i].sum_ticks;
            impacts[i].count += each->impacts[i].count;
        }
    }
    const double mean_depth = ratio(depth, quoted_ns);
    const pieces changes(blocks, &fact_block::changes);
    const pieces sizes(blocks, &fact_block::changes, true);
    const pieces signs(blocks, &fact_block::signs);
    const pieces intervals(blocks, &fact_block::intervals);
    const pieces lots(blocks, &fact_block::lots);
    const std::vector<double> all_changes = changes.joined();
    const double unchanged = static_cast<double>(std::ranges::count(all_changes, 0.0));
    const std::array<double, 3> filled = filled_shares(blocks, mean_depth);
    const double samples_per_second = ratio(changes.count() * ns_per_second, length_ns);
    const double life_median = quantile(lives, 0.5);
    const double life_upper = quantile(lives, 0.75);
    return {ratio(spread, quoted_ns),
            mean_depth,
            ratio(transactions * 60 * ns_per_second, length_ns),
            ratio(sqrt_of(intervals.variance()), intervals.mean()),
            lots.mean(),
            ratio(best_orders, transactions),
            sqrt_of(changes.variance() * samples_per_second),
            changes.variance_ratio(10),
            changes.variance_ratio(60),
            ratio(unchanged, changes.count()),
            changes.kurtosis(10),
            changes.autocorrelation(1),
            sizes.autocorrelation(1),
            sizes.autocorrelation(10),
            sizes.autocorrelation(60),
            signs.autocorrelation(1),
            signs.autocorrelation(10),
            signs.autocorrelation(50),
            ratio(impacts[0].sum_ticks, impacts[0].count),
            ratio(impacts[1].sum_ticks, impacts[1].count),
            ratio(impacts[2].sum_ticks, impacts[2].count),
            life_median,
            life_upper,
            filled[0],
            filled[1],
            filled[2]};
}

fact_values facts_of(std::span<const fact_block> blocks) {
    return facts_of(list_of(blocks));
}

fact_reference::fact_reference(std::span<const fact_block> recorded, std::uint64_t seed) : values_(facts_of(recorded)) {
    random_stream random(seed, "facts of the recording");
    const std::vector<fact_values> drawn = resampled(recorded, random);
    for (std::size_t i = 0; i < facts_count; ++i) errors_[i] = error_of(drawn, i);
}

double fact_reference::distance(std::size_t fact, double value) const noexcept {
    return std::min(distance_between(fact, value, values_[fact], errors_[fact]), distance_max);
}

double fact_reference::distance(const fact_values& of) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < facts_count; ++i) sum += distance(i, of[i]);
    return sum / facts_count;
}

double fact_reference::cost(const fact_values& of) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < facts_count; ++i) {
        sum += sqrt_of(distance_between(i, of[i], values_[i], errors_[i]));
    }
    return sum / facts_count;
}

std::vector<scored_fact> score(std::span<const fact_block> recorded, std::span<const fact_block> simulated,
                               std::uint64_t seed) {
    random_stream of_recorded(seed, "facts of the recording");
    random_stream of_simulated(seed, "facts of the simulation");
    const fact_values there = facts_of(recorded);
    const fact_values here = facts_of(simulated);
    const std::vector<fact_values> drawn_there = resampled(recorded, of_recorded);
    const std::vector<fact_values> drawn_here = resampled(simulated, of_simulated);
    std::vector<scored_fact> made;
    for (std::size_t i = 0; i < facts_count; ++i) {
        const double error = error_of(drawn_there, i);
        scored_fact one;
        one.rule = rules[i];
        one.recorded = there[i];
        one.simulated = here[i];
        one.distance = std::min(distance_between(i, here[i], there[i], error), distance_max);
        std::vector<double> distances;
        for (std::size_t k = 0; k < resamples; ++k) {
            distances.push_back(
                std::min(distance_between(i, drawn_here[k][i], drawn_there[k][i], error), distance_max));
        }
        std::tie(one.recorded_low, one.recorded_high) = interval_of(column(drawn_there, i));
        std::tie(one.simulated_low, one.simulated_high) = interval_of(column(drawn_here, i));
        std::tie(one.distance_low, one.distance_high) = interval_of(std::move(distances));
        made.push_back(one);
    }
    // Names break ties, so that a card has one order.
    std::ranges::sort(made, {}, [](const scored_fact& each) { return std::pair(-each.distance, each.rule.name); });
    return made;
}

}  // namespace corro::market
