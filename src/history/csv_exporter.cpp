// SPDX-License-Identifier: Apache-2.0
// Orders, trades and levels as comma-separated lines. The columns are docs/spec/export.md.

#include <optional>
#include <string>
#include <string_view>

#include "domain/decimal.hpp"
#include "domain/price_text.hpp"
#include "history/csv_field.hpp"
#include "history/event_rows.hpp"
#include "history/exporter.hpp"
#include "history/moment.hpp"
#include "history/text_file.hpp"

namespace corro::history {
namespace {

class csv_exporter final : public row_exporter {
 public:
    csv_exporter(const std::filesystem::path& directory, std::span<const domain::instrument> instruments,
                 domain::instrument_id only, export_choice what)
        : row_exporter(instruments, only, what) {
        if (what.orders) {
            orders_.emplace(directory / "orders.csv");
            *orders_ << "sequence,time,event,instrument,side,order,client_order,account,session,price,quantity,open,"
                        "aggressor,reason,type,time_in_force,trigger_price,display_quantity,minimum_quantity";
            orders_->end_line();
        }
        if (what.trades) {
            trades_.emplace(directory / "trades.csv");
            *trades_ << "sequence,time,trade,instrument,price,quantity,aggressor,buy_order,buy_account,sell_order,"
                        "sell_account";
            trades_->end_line();
        }
        if (what.levels) {
            levels_.emplace(directory / "levels.csv");
            *levels_ << "sequence,time,instrument,side,price,quantity,orders";
            levels_->end_line();
        }
    }

    void finish() override {
        for (auto* file : {&orders_, &trades_, &levels_}) {
            if (*file) (*file)->close();
        }
    }
    [[nodiscard]] std::uint64_t lines_count() const noexcept override {
        std::uint64_t count = 0;
        for (const auto* file : {&orders_, &trades_, &levels_}) {
            if (*file) count += (*file)->lines_count();
        }
        return count;
    }

 protected:
    void write_order(const order_row& row) override {
        domain::decimal_text price;
        text_file& to = *orders_;
        to << row.sequence.value << ',' << time_text(row.time) << ',' << name_of(row.event) << ','
           << (row.instrument == nullptr ? std::string_view{} : name_text(*row.instrument)) << ',' << name_of(row.side)
           << ',' << row.order.value << ',' << row.client_order.value << ',' << row.account.value << ','
           << row.session.value << ',' << price_text(row.instrument, row.price, price) << ',' << row.quantity << ','
           << row.open << ',' << (row.is_aggressor ? 1 : 0) << ','
           << (row.reason == domain::reject_reason::none ? std::string_view{} : domain::to_string(row.reason)) << ',';
        if (row.event == order_event::accepted) {
            to << name_of(row.type) << ',' << name_of(row.time_in_force) << ','
               << price_text(row.instrument, row.trigger_price, price) << ',' << row.display_quantity << ','
               << row.minimum_quantity;
        } else {
            to << ",,,,";
        }
        to.end_line();
    }
    void write_trade(const trade_row& row) override {
        domain::decimal_text price;
        *trades_ << row.sequence.value << ',' << time_text(row.time) << ',' << row.trade.value << ','
                 << name_text(*row.instrument) << ',' << price_text(row.instrument, row.price, price) << ','
                 << row.quantity << ',' << name_of(row.aggressor) << ',';
        write_party(row.buy_order, row.buy_account);
        *trades_ << ',';
        write_party(row.sell_order, row.sell_account);
        trades_->end_line();
    }
    void write_level(const level_row& row) override {
        domain::decimal_text price;
        *levels_ << row.sequence.value << ',' << time_text(row.time) << ',' << name_text(*row.instrument) << ','
                 << name_of(row.side) << ',' << price_text(row.instrument, row.price, price) << ',' << row.quantity
                 << ',' << row.orders;
        levels_->end_line();
    }

 private:
    static std::string_view price_text(const domain::instrument* i, domain::price_ticks price,
                                       domain::decimal_text& room) noexcept {
        if (i == nullptr || price == domain::no_price) return {};
        room = domain::price_text(*i, price);
        return room.view();
    }
    std::string_view name_text(const domain::instrument& i) { return csv_field(i.name.view(), quoted_); }
    std::string_view time_text(domain::time_ns time) {
        if (time != time_ || time_text_.empty()) {
            time_ = time;
            time_text_ = format_time(time);
        }
        return time_text_;
    }
    void write_party(domain::order_id order, domain::account_id account) {
        if (order.value != 0) {
            *trades_ << order.value << ',' << account.value;
        } else {
            *trades_ << ',';
        }
    }

    std::optional<text_file> orders_;
    std::optional<text_file> trades_;
    std::optional<text_file> levels_;
    domain::time_ns time_{};
    std::string time_text_;
    std::string quoted_;  // the name of an instrument that needs quotes
};

}  // namespace

std::unique_ptr<exporter> make_csv_exporter(const std::filesystem::path& directory,
                                            std::span<const domain::instrument> instruments, domain::instrument_id only,
                                            export_choice what) {
    return std::make_unique<csv_exporter>(directory, instruments, only, what);
}

}  // namespace corro::history
