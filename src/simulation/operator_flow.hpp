// SPDX-License-Identifier: Apache-2.0
// What the venue's operator does while others trade: kill switches, limits, phases and new instruments.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "simulation/findings.hpp"
#include "simulation/order_flow.hpp"

namespace corro::simulation {

class operator_flow final : public order_flow {
 public:
    /// @param accounts         Those of traders.
    /// @param first_defined    The ids from this one on are free.
    /// @param instruments_max  Of the instruments that it may define.
    operator_flow(std::vector<domain::instrument> instruments, std::vector<domain::account_id> accounts,
                  std::uint32_t first_defined, std::size_t instruments_max, std::uint64_t seed, findings* found)
        : order_flow(std::move(instruments), 1, seed, found),
          accounts_(std::move(accounts)),
          first_defined_(first_defined),
          instruments_max_(instruments_max) {}

    [[nodiscard]] domain::command next_request(domain::time_ns wall) override;

 private:
    [[nodiscard]] domain::account_id some_account();
    [[nodiscard]] domain::command switch_account(domain::account_id account, domain::switch_state state);
    [[nodiscard]] domain::command limit_account();
    [[nodiscard]] domain::command change_phase(domain::time_ns wall);
    [[nodiscard]] domain::command define();

    std::vector<domain::account_id> accounts_;
    std::uint32_t first_defined_;
    std::size_t instruments_max_;
    std::size_t defined_count_ = 0;
    domain::account_id stopped_{};         ///< by its kill switch
    domain::instrument_id interrupted_{};  ///< not continuous
};

}  // namespace corro::simulation
