// SPDX-License-Identifier: Apache-2.0
// Writes the order flow of each instrument in LOBSTER's format; recorded/lobster.hpp has the columns and reads them.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "domain/decimal.hpp"
#include "domain/definition.hpp"
#include "history/exporter.hpp"
#include "history/moment.hpp"
#include "history/text_file.hpp"

namespace corro::history {
namespace {

using domain::event_kind;

constexpr std::int64_t day_ns = 86'400'000'000'000;
constexpr std::int64_t price_unit_nano = 100'000;
constexpr std::int64_t no_level = 9'999'999'999;

/// The symbol in the name of a file: a slash would lead to another folder.
std::string file_name_of(std::string_view symbol) {
    std::string text;
    for (const char c : symbol) {
        if (c == '/') {
            text += "%2F";
        } else if (c == '%') {
            text += "%25";
        } else {
            text += c;
        }
    }
    return text;
}

/// One instrument: its book by levels, and its files of the day.
class flow {
 public:
    flow(std::filesystem::path directory, const domain::instrument& i, std::uint32_t depth)
        : directory_(std::move(directory)), instrument_(i), depth_(depth) {}

    void set_level(domain::side side, const domain::level& level) {
        const std::int64_t key = side == domain::side::buy ? -level.price.value : level.price.value;
        auto& levels = side == domain::side::buy ? bids_ : asks_;
        if (level.quantity.value == 0) {
            levels.erase(key);
        } else {
            levels[key] = level.quantity.value;
        }
    }
    void hear(const domain::event& e) {
        switch (e.kind) {
            case event_kind::trade: is_execution_ = true; break;
            case event_kind::order_added: announce(e, '1'); break;
            case event_kind::order_reduced:
            case event_kind::order_deleted:
                announce(e, is_execution_ ? '4' : e.kind == event_kind::order_reduced ? '2' : '3');
                is_execution_ = false;
                break;
            // The last message of a trade: after one at an implied price no message about an order of the aggressor
            // follows.
            case event_kind::statistics: is_execution_ = false; break;
            case event_kind::level_changed:
                set_level(e.side, e.level);
                complete();
                break;
            case event_kind::phase_changed: {
                complete();
                open_day(e.time);
                const bool trades = e.phase.phase == domain::trading_phase::continuous;
                write_message(e.time, '7', 0, 0, trades ? 1 : -1, -1);
                write_book();
                break;
            }
            default: break;
        }
    }
    void finish() {
        complete();
        if (!messages_) return;
        messages_->close();
        books_->close();
        lines_count_ += messages_->lines_count() + books_->lines_count();
        messages_.reset();
        books_.reset();
    }
    [[nodiscard]] std::uint64_t lines_count() const noexcept {
        return lines_count_ + (messages_ ? messages_->lines_count() + books_->lines_count() : 0);
    }

 private:
    /// Writes the message of a changed order; the book's line follows with the level.
    void announce(const domain::event& e, char type) {
        complete();
        announced_ = e;
        type_ = type;
    }
    void complete() {
        if (!announced_) return;
        const domain::event& e = *announced_;
        open_day(e.time);
        write_message(e.time, type_, e.book.order.value, units(e.book.change.value), price_of(e.book.price),
                      e.side == domain::side::buy ? 1 : -1);
        write_book();
        announced_.reset();
    }
    void open_day(domain::time_ns time) {
        const std::int64_t day = time.value / day_ns;
        if (messages_ && day == day_) return;
        if (messages_) {
            messages_->close();
            books_->close();
            lines_count_ += messages_->lines_count() + books_->lines_count();
        }
        day_ = day;
        const std::string date = format_time(domain::time_ns{day * day_ns}).substr(0, 10);
        const std::string front = fmt::format("{}_{}_0_86400000", file_name_of(instrument_.name.view()), date);
        messages_.emplace(directory_ / fmt::format("{}_message_{}.csv", front, depth_));
        books_.emplace(directory_ / fmt::format("{}_orderbook_{}.csv", front, depth_));
    }
    void write_message(domain::time_ns time, char type, std::uint64_t order, std::uint64_t size, std::int64_t price,
                       int direction) {
        const std::int64_t of_day = time.value - day_ * day_ns;
        text_file& to = *messages_;
        to << of_day / 1'000'000'000 << '.';
        char decimals[9];
        std::int64_t rest = of_day % 1'000'000'000;
        for (std::size_t i = 9; i > 0; --i, rest /= 10) decimals[i - 1] = static_cast<char>('0' + rest % 10);
        to << std::string_view{decimals, 9} << ',' << type << ',' << order << ',' << size << ',' << price << ','
           << direction;
        to.end_line();
    }
    void write_book() {
        auto ask = asks_.begin();
        auto bid = bids_.begin();
        for (std::uint32_t i = 0; i < depth_; ++i) {
            if (i != 0) *books_ << ',';
            if (ask != asks_.end()) {
                *books_ << price_of(domain::price_ticks{ask->first}) << ',' << ask->second * instrument_.lot_size;
                ++ask;
            } else {
                *books_ << no_level << ",0";
            }
            if (bid != bids_.end()) {
                *books_ << ',' << price_of(domain::price_ticks{-bid->first}) << ','
                        << bid->second * instrument_.lot_size;
                ++bid;
            } else {
                *books_ << ',' << -no_level << ",0";
            }
        }
        books_->end_line();
    }
    [[nodiscard]] std::int64_t price_of(domain::price_ticks price) const {
        const std::int64_t nano = domain::to_nano(instrument_, price).value;
        const std::int64_t units = nano / price_unit_nano;
        if (units <= 0 || units >= no_level || units * price_unit_nano != nano) {
            throw std::runtime_error(
                fmt::format("{}: a LOBSTER file cannot hold the price {}; it allows multiples of 0.0001 from "
                            "0.0001 to 999999.9998, so export as csv",
                            instrument_.name.view(), domain::format_decimal(nano).view()));
        }
        return units;
    }
    [[nodiscard]] std::uint64_t units(std::uint64_t lots) const {
        const std::uint64_t size = lots * instrument_.lot_size;
        if (size > std::numeric_limits<std::uint32_t>::max()) {
            throw std::runtime_error(fmt::format("{}: a LOBSTER file cannot hold the size {}, so export as csv",
                                                 instrument_.name.view(), size));
        }
        return size;
    }

    std::filesystem::path directory_;
    domain::instrument instrument_;
    std::uint32_t depth_;
    std::map<std::int64_t, std::uint64_t> asks_;  ///< lots by price
    std::map<std::int64_t, std::uint64_t> bids_;  ///< lots by negated price
    std::optional<text_file> messages_;
    std::optional<text_file> books_;
    std::int64_t day_ = 0;
    std::uint64_t lines_count_ = 0;  ///< of earlier days
    std::optional<domain::event> announced_;
    char type_ = '1';
    bool is_execution_ = false;  ///< whether a trade causes the next change of an order
};

class lobster_exporter final : public exporter {
 public:
    lobster_exporter(const std::filesystem::path& directory, std::span<const domain::instrument> instruments,
                     domain::instrument_id only, std::uint32_t depth)
        : directory_(directory), only_(only), depth_(depth) {
        for (const domain::instrument& i : instruments) add(i);
    }
    void begin(const facility::facility& state) override {
        struct visitor final : facility::book_visitor {
            void visit_level(domain::side side, const domain::level& level) override { to->set_level(side, level); }
            void visit_order(domain::side, const facility::resting_order&) override {}
            flow* to = nullptr;
        } levels;
        for (auto& [id, f] : flows_) {
            levels.to = &f;
            state.visit_book(domain::instrument_id{id}, levels);
        }
    }
    void finish() override {
        for (auto& [id, f] : flows_) f.finish();
    }
    [[nodiscard]] std::uint64_t lines_count() const noexcept override {
        std::uint64_t count = 0;
        for (const auto& [id, f] : flows_) count += f.lines_count();
        return count;
    }

 protected:
    void write(const domain::event& e) override {
        if (!domain::is_public(e.kind)) return;
        if (domain::is_definition(e.kind) && definitions_.take(e)) {
            const auto like = instruments_.find(definitions_.get().like.value);
            if (like != instruments_.end()) add(domain::define_like(like->second, definitions_.get()).value);
        }
        const auto at = flows_.find(e.instrument.value);
        if (at != flows_.end()) at->second.hear(e);
    }

 private:
    void add(const domain::instrument& i) {
        instruments_.emplace(i.id.value, i);
        if (only_.value == 0 || i.id == only_) flows_.try_emplace(i.id.value, directory_, i, depth_);
    }

    std::filesystem::path directory_;
    domain::instrument_id only_;
    std::uint32_t depth_;
    std::map<std::uint32_t, domain::instrument> instruments_;  ///< all, for definitions that are like one of them
    domain::definition_reader definitions_;
    std::map<std::uint32_t, flow> flows_;
};

}  // namespace

std::unique_ptr<exporter> make_lobster_exporter(const std::filesystem::path& directory,
                                                std::span<const domain::instrument> instruments,
                                                domain::instrument_id only, std::uint32_t depth) {
    return std::make_unique<lobster_exporter>(directory, instruments, only, depth);
}

}  // namespace corro::history
