// SPDX-License-Identifier: Apache-2.0
// The measures of a market, computed while it runs, in one pass over its events.
//
// docs/spec/market_metrics.md defines each of them, with its source.
//
// Units:  prices in ticks, quantities in lots, times in seconds; metric names end with what they are.
// Cost:   some ten nanoseconds for each event; memory of 32 bytes for each sample and 16 for each trade.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "market/market.hpp"
#include "market/metrics/informed_trading.hpp"

namespace corro::market {

struct metric {
    std::string name;
    double value = 0;
};

class market_metrics final : public market_observer {
 public:
    /// @param sample_ns    The grid on which middles are sampled.
    /// @param realised_ns  The delay of the realised spread.
    market_metrics(const market_options& options, std::int64_t sample_ns, std::int64_t realised_ns = 5'000'000'000);

    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;
    /// As of now; the market may go on. Metrics of one instrument have its symbol in front, if there are several.
    [[nodiscard]] std::vector<metric> result(const market& world);

 private:
    struct pending_trade {
        std::int64_t at_ns;
        double price;
        double sign;
        double lots;
    };
    struct measured {
        domain::instrument_id id;
        domain::top top;
        bool has_quotes = false;
        std::int64_t top_since_ns = 0;
        double quoted_ns = 0;  // time with both sides
        double spread_sum = 0;
        double depth_sum = 0;
        double trades_count = 0;
        double volume = 0;
        double effective_sum = 0;
        double effective_volume = 0;
        double realised_sum = 0;
        double realised_volume = 0;
        double turnover = 0;
        std::uint64_t orders_count = 0;
        std::uint64_t requests_count = 0;
        std::int64_t next_sample_ns = 0;
        double signed_volume = 0;  // since the last sample
        double sample_turnover = 0;
        std::deque<pending_trade> pending;
        std::vector<double> middles;
        std::vector<double> signed_volumes;
        std::vector<double> turnovers;
        std::vector<double> signed_lots;  // of each trade, positive if a buyer took
        std::vector<double> trade_prices;
        std::vector<period_trades> sample_trades;  // of each sample from the start on
        // Resilience: what the spread was before the trades of a command, and since when it is wider.
        std::int64_t spread_before = 0;
        std::int64_t wider_since_ns = -1;  // -1: it is not
        double widened_count = 0;
        double returned_count = 0;
        double returned_ns = 0;
    };

    void advance(measured& of, std::int64_t now_ns);
    void end_command();
    [[nodiscard]] measured* find(domain::instrument_id id) noexcept;
    void add_results(const measured& of, const std::string& prefix, std::vector<metric>& into) const;

    std::int64_t start_ns_;
    std::int64_t sample_ns_;
    std::int64_t realised_ns_;
    std::int64_t now_ns_ = 0;
    std::vector<measured> all_;
    std::vector<std::size_t> traded_;  // indices of the instruments that the last command traded with quotes before it
};

}  // namespace corro::market
