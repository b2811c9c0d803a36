// SPDX-License-Identifier: Apache-2.0
// Orders, trades and levels as frames: docs/spec/export.md has the meaning of each column.
//
// Units: prices are decimals of the instrument, quantities units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "history/event_rows.hpp"
#include "native/frame.hpp"

namespace corro::python {

/// What a column needs to know of each instrument.
class instrument_columns {
 public:
    struct entry {
        std::int32_t code = -1;
        decimal_scale price;
    };
    [[nodiscard]] const entry& of(const domain::instrument& i);
    [[nodiscard]] double price(const domain::instrument* i, domain::price_ticks ticks);
    [[nodiscard]] std::int32_t code(const domain::instrument* i) { return i == nullptr ? -1 : of(*i).code; }
    [[nodiscard]] std::vector<std::string> names() const { return names_; }

 private:
    std::unordered_map<std::uint32_t, entry> entries_;
    const entry* last_ = nullptr;
    std::uint32_t last_id_ = 0;
    std::vector<std::string> names_;
};

/// A null pointer where a table was not chosen.
struct row_frames {
    frame_pointer orders;
    frame_pointer trades;
    frame_pointer levels;
};

/// Collects rows in memory.
class frame_exporter final : public history::row_exporter {
 public:
    frame_exporter(std::span<const domain::instrument> instruments, domain::instrument_id only,
                   history::export_choice what)
        : row_exporter(instruments, only, what), what_(what) {}

    void finish() override {}
    [[nodiscard]] std::uint64_t lines_count() const noexcept override {
        return orders_.sequence.size() + trades_.sequence.size() + levels_.sequence.size();
    }
    /// The rows so far; the exporter is empty afterwards.
    [[nodiscard]] row_frames take();
    /// A copy of the rows so far.
    [[nodiscard]] row_frames copy() const;

 protected:
    void write_order(const history::order_row& row) override;
    void write_trade(const history::trade_row& row) override;
    void write_level(const history::level_row& row) override;

 private:
    struct order_columns {
        std::vector<std::int64_t> sequence;
        std::vector<std::int64_t> time;
        std::vector<std::int8_t> event;
        std::vector<std::int32_t> instrument;
        std::vector<std::int8_t> side;
        std::vector<std::uint64_t> order;
        std::vector<std::uint64_t> client_order;
        std::vector<std::uint32_t> account;
        std::vector<std::uint32_t> session;
        std::vector<double> price;
        std::vector<std::int64_t> quantity;
        std::vector<std::int64_t> open;
        std::vector<std::uint8_t> aggressor;
        std::vector<std::int8_t> reason;
        std::vector<std::int8_t> type;
        std::vector<std::int8_t> time_in_force;
        std::vector<double> trigger_price;
        std::vector<std::int64_t> display_quantity;
        std::vector<std::int64_t> minimum_quantity;
    };
    struct trade_columns {
        std::vector<std::int64_t> sequence;
        std::vector<std::int64_t> time;
        std::vector<std::uint64_t> trade;
        std::vector<std::int32_t> instrument;
        std::vector<double> price;
        std::vector<std::int64_t> quantity;
        std::vector<std::int8_t> aggressor;
        std::vector<std::uint64_t> buy_order;
        std::vector<std::uint32_t> buy_account;
        std::vector<std::uint64_t> sell_order;
        std::vector<std::uint32_t> sell_account;
    };
    struct level_columns {
        std::vector<std::int64_t> sequence;
        std::vector<std::int64_t> time;
        std::vector<std::int32_t> instrument;
        std::vector<std::int8_t> side;
        std::vector<double> price;
        std::vector<std::int64_t> quantity;
        std::vector<std::int64_t> orders;
    };

    [[nodiscard]] frame_pointer frame_of(order_columns&& o) const;
    [[nodiscard]] frame_pointer frame_of(trade_columns&& t) const;
    [[nodiscard]] frame_pointer frame_of(level_columns&& l) const;

    history::export_choice what_;
    instrument_columns instruments_;
    order_columns orders_;
    trade_columns trades_;
    level_columns levels_;
};

/// Collects the best prices after each change.
class quote_recorder {
 public:
    /// @param only  Only of this instrument; 0 for all.
    explicit quote_recorder(domain::instrument_id only = {}) : only_(only) {}

    void consume(std::span<const domain::event> events);
    /// A copy of the quotes so far.
    /// @param instruments  All of which there were quotes.
    [[nodiscard]] frame_pointer copy(std::span<const domain::instrument> instruments) const;

 private:
    struct row {
        std::uint64_t sequence;
        std::int64_t time;
        domain::instrument_id instrument;
        domain::top top;
    };
    domain::instrument_id only_;
    std::vector<row> rows_;
};

/// "buy", "sell".
[[nodiscard]] std::vector<std::string> side_names();

}  // namespace corro::python
