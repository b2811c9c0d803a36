// SPDX-License-Identifier: Apache-2.0
// What a market of the package consists of; for its own sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "market/market.hpp"
#include "market/metrics/market_metrics.hpp"
#include "market/scenario/scenario.hpp"
#include "native/market.hpp"
#include "native/row_frames.hpp"

namespace corro::python {

/// Keeps what is to become tables.
class table_recorder final : public corro::market::market_observer {
 public:
    table_recorder(std::span<const domain::instrument> instruments, recorded_tables what)
        : what_(what), rows_(instruments, {}, {.orders = what.orders, .trades = what.trades, .levels = what.levels}) {}

    void on_command(const domain::command& command) override { rows_.executing(command); }
    void on_events(std::span<const domain::event> events) override {
        rows_.consume(events);
        if (!what_.quotes || !problem_.empty()) return;
        try {
            quotes_.consume(events);
        } catch (const std::exception& e) {
            problem_ = e.what();
        }
    }
    [[nodiscard]] const std::string& problem() const noexcept {
        return problem_.empty() ? rows_.problem() : problem_;
    }
    [[nodiscard]] market_tables copy(std::span<const domain::instrument> instruments) const {
        row_frames made = rows_.copy();
        return {std::move(made.orders), std::move(made.trades), std::move(made.levels),
                what_.quotes ? quotes_.copy(instruments) : nullptr};
    }

 private:
    recorded_tables what_;
    frame_exporter rows_;
    quote_recorder quotes_;
    std::string problem_;
};

/// One thread at a time uses a market; a thread may take several turns at once.
class turns {
 public:
    void lock();
    void unlock() { mutex_.unlock(); }

 private:
    std::recursive_mutex mutex_;
};

struct crowd {
    std::vector<corro::market::agent*> members;
    domain::instrument_id instrument{};
    std::int64_t every_ns = 0;
    std::size_t members_left = 0;  ///< that were not told to stop
    std::size_t members_due = 0;   ///< that have woken for the next act
};

/// @throws setup_error
[[nodiscard]] corro::market::scenario parse_scenario(const std::string& text, const std::string& file);

/// @throws argument_error
[[nodiscard]] domain::time_in_force time_in_force_of(const std::string& name);

struct market::state {
    /// @throws setup_error, argument_error
    state(std::shared_ptr<const corro::market::scenario> described, std::uint64_t seed, recorded_tables what, bool measures);

    /// @throws argument_error
    corro::market::agent& add(const std::string& name, const std::string& beside,
                              std::function<corro::market::behaviour(corro::market::agent&)> make);
    /// A trader: waits for what its code says, and calls its code.
    corro::market::behaviour behave(corro::market::agent& me, std::size_t index);
    /// @throws argument_error
    void add_traders(const std::vector<trader_wish>& wishes);
    /// @throws argument_error
    void add_crowds(const std::vector<crowd_wish>& wishes);
    void start() { world->run(0); }

    /// @throws argument_error
    [[nodiscard]] const domain::instrument& instrument(const std::string& name) const;

    std::shared_ptr<const corro::market::scenario> scenario;  ///< outlives the world, whose operator reads its events
    std::unique_ptr<corro::market::market> world;
    corro::market::market_metrics measured;
    std::optional<table_recorder> recorder;
    std::unordered_set<std::string> names;  ///< of agents
    std::vector<corro::market::agent*> seats;
    std::vector<std::unique_ptr<crowd>> crowds;
    std::unique_ptr<outside> code;
    turns one_at_a_time;
    std::int64_t slice_ns = 1'000'000;  ///< between two looks at signals; as long as the market's pace allows
    std::uint32_t short_runs_count = 0;
    bool is_running = false;
    bool has_failed = false;
};

}  // namespace corro::python
