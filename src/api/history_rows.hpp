// SPDX-License-Identifier: Apache-2.0
// Rows of an instrument's trades, levels or orders, made of the events of commands.
//
// Units:   prices in billionths, quantities in units, times in nanoseconds.
// Threads: one. Source: docs/spec/api.md, "History".
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/history_query.hpp"
#include "api/row_table.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/event_buffer.hpp"

namespace corro::api {

/// Takes events; ends with the command that completes the rows that were asked for.
class history_rows final : public facility::event_consumer {
 public:
    /// @param of  The instrument; copied.
    history_rows(const history_query& asked, const domain::instrument& of);

    void consume(std::span<const domain::event> events) noexcept override;

    [[nodiscard]] const row_table& table() const noexcept { return table_; }
    /// The last command that was taken completely, once there are enough rows.
    [[nodiscard]] std::optional<std::uint64_t> full_after() const noexcept { return full_after_; }
    /// The time of the last row's command, in nanoseconds.
    [[nodiscard]] std::int64_t last_time_ns() const noexcept { return last_time_ns_; }

 private:
    void take(const domain::event& e);
    void note(const domain::event& of_row) noexcept;
    void add_trade(const domain::event& e);
    void add_level(const domain::event& e);
    void add_order(const domain::event& e);
    [[nodiscard]] std::int64_t price(domain::price_ticks ticks) const noexcept;
    [[nodiscard]] std::int64_t units(std::uint64_t lots) const noexcept;

    history_table what_;
    std::uint64_t limit_;
    domain::account_id account_;
    domain::instrument of_;
    row_table table_;
    std::uint64_t command_ = 0;  ///< of the last row
    std::int64_t last_time_ns_ = 0;
    std::optional<std::uint64_t> full_after_;
};

/// The text of a table in a format.
[[nodiscard]] std::string text_of(const row_table& table, history_format format);

}  // namespace corro::api
