// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/recorded_itch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "recorded/formats/itch.hpp"
#include "recorded/recorded_reader.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/limits.hpp"
#include "recorded/replay/open_recorded.hpp"

namespace corro::recorded::replay {
namespace {

using itch::message_type;
using itch_reader = recorded_reader<itch::decoder>;

/// An order record with the price of the file.
struct itch_record {
    record_action action = record_action::none;
    domain::side side = domain::side::buy;
    std::uint64_t order = 0;
    domain::price_nano price{};
    std::uint32_t size = 0;
};

bool is_add(message_type type) noexcept {
    return type == message_type::add_order || type == message_type::add_order_attributed;
}

/// Reads the messages of one stock, and turns each into order records.
class stock_messages {
 public:
    stock_messages(const std::filesystem::path& file, std::string stock)
        : reader_(open_recorded<itch::decoder>(file)), stock_(std::move(stock)) {}

    /// Goes to the next message about the stock that has records. False at the end of the file.
    bool next() {
        for (;;) {
            const auto found = reader_.next();
            if (!found) throw replay_error(reader_.explain(found.error()));
            if (!*found) return false;
            ++messages_count_;
            const itch::message& m = **found;
            if (!is_about_stock(m)) continue;
            count_ = 0;
            time_ = domain::time_ns{m.header().since_midnight_ns};
            translate(m);
            if (count_ != 0) return true;
        }
    }

    [[nodiscard]] std::span<const itch_record> records() const noexcept { return std::span(records_).first(count_); }
    [[nodiscard]] domain::time_ns time() const noexcept { return time_; }
    /// Of the message, from 0.
    [[nodiscard]] std::uint64_t number() const noexcept { return messages_count_ - 1; }
    [[nodiscard]] const itch_facts& not_replayed() const noexcept { return facts_; }
    [[nodiscard]] std::uint16_t locate() const noexcept { return locate_.value_or(0); }
    [[nodiscard]] const std::string& stock() const noexcept { return stock_; }

    [[noreturn]] void fail(std::string_view what) const {
        throw replay_error(fmt::format("{}: message {}: {}", reader_.path().string(), number(), what));
    }

 private:
    struct live_order {
        domain::side side = domain::side::buy;
        domain::price_nano price{};
        std::uint32_t size = 0;
    };

    // The locate number of the stock is known from its first order, or from the directory. Messages before that are
    // about its state.
    bool is_about_stock(const itch::message& m) {
        const std::uint16_t about = m.header().stock_locate;
        if (locate_ && about == *locate_) return true;
        if (m.type == message_type::stock_directory && !stock_.empty()) {
            return is_named(m.as_stock_directory().stock, about);
        }
        if (!is_add(m.type)) return false;
        const std::string_view name = m.as_add_order().stock;
        if (stock_.empty()) {
            stock_ = name;
            is_only_ = true;
        }
        if (is_named(name, about)) return true;
        if (is_only_) {
            fail(
                fmt::format("it is about {}, and earlier ones are about {}: choose one with --stock, or the key stock "
                            "of a scenario",
                            name, stock_));
        }
        return false;
    }
    bool is_named(std::string_view name, std::uint16_t number) {
        if (name != stock_) return false;
        if (locate_ && *locate_ != number) fail(fmt::format("{} has two locate numbers", stock_));
        locate_ = number;
        return true;
    }

    void translate(const itch::message& m) {
        switch (m.type) {
            case message_type::add_order:
            case message_type::add_order_attributed: {
                const itch::add_order a = m.as_add_order();
                return add(a.order_reference, a.side, a.price, a.shares);
            }
            case message_type::order_executed: return execute(m.as_order_executed());
            case message_type::order_executed_with_price: {
                const itch::order_executed e = m.as_order_executed();
                const live_order& o = find(e.order_reference);
                if (e.price == o.price && e.printable) return execute(e);
                ++facts_.other_price;
                facts_.other_price_lots += e.shares;
                return remove(e.order_reference, e.shares);
            }
            case message_type::order_cancel:
                return remove(m.as_order_cancel().order_reference, m.as_order_cancel().shares);
            case message_type::order_delete: {
                const std::uint64_t order = m.as_order_delete().order_reference;
                return remove(order, find(order).size);
            }
            case message_type::order_replace: {
                const itch::order_replace r = m.as_order_replace();
                const live_order before = find(r.order_reference);
                remove(r.order_reference, before.size);
                return add(r.new_order_reference, before.side, r.price, r.shares);
            }
            case message_type::trade:
                ++facts_.hidden;
                facts_.hidden_lots += m.as_trade().shares;
                return;
            case message_type::cross_trade:
                ++facts_.crosses;
                facts_.cross_lots += m.as_cross_trade().shares;
                return;
            case message_type::broken_trade: ++facts_.broken; return;
            case message_type::trading_action: ++facts_.actions; return;
            case message_type::system_event:
            case message_type::stock_directory: return;
        }
    }

    live_order& find(std::uint64_t order) {
        const auto found = live_.find(order);
        if (found == live_.end()) fail(fmt::format("order {} is not open", order));
        return found->second;
    }
    void put(const itch_record& r) { records_[count_++] = r; }

    void add(std::uint64_t order, domain::side side, domain::price_nano price, std::uint32_t size) {
        if (size == 0) fail(fmt::format("order {} has no shares", order));
        if (!live_.emplace(order, live_order{side, price, size}).second) {
            fail(fmt::format("order {} is open already", order));
        }
        if (live_.size() > recorded_orders_max) fail(fmt::format("more than {} open orders", recorded_orders_max));
        put({record_action::add, side, order, price, size});
    }
    void remove(std::uint64_t order, std::uint32_t size) {
        live_order& o = find(order);
        if (size == 0 || size > o.size) fail(fmt::format("{} of the {} shares of order {}", size, o.size, order));
        put({record_action::cancel, o.side, order, o.price, size});
        o.size -= size;
        if (o.size == 0) live_.erase(order);
    }
    void execute(const itch::order_executed& e) {
        const live_order o = find(e.order_reference);
        put({record_action::trade, domain::opposite(o.side), 0, o.price, e.shares});
        put({record_action::fill, o.side, e.order_reference, o.price, e.shares});
        remove(e.order_reference, e.shares);
    }

    itch_reader reader_;
    std::string stock_;
    std::optional<std::uint16_t> locate_;
    bool is_only_ = false;  ///< no stock was chosen, so there must be one
    std::unordered_map<std::uint64_t, live_order> live_;
    std::uint64_t messages_count_ = 0;
    itch_facts facts_;
    domain::time_ns time_{};
    std::array<itch_record, 3> records_;
    std::size_t count_ = 0;
};

class itch_orders final : public order_record_source {
 public:
    itch_orders(const std::filesystem::path& file, const std::string& stock, const domain::instrument& instrument)
        : messages_(file, stock), instrument_(instrument) {}

    bool next(order_record& into) override {
        if (at_ == messages_.records().size()) {
            if (!messages_.next()) return false;
            at_ = 0;
        }
        const itch_record& r = messages_.records()[at_++];
        const auto price = domain::to_ticks(instrument_, r.price);
        if (price.reason != domain::reject_reason::none) {
            messages_.fail(fmt::format("{}: price {}, tick {}", domain::to_string(price.reason),
                                       decimal_of(r.price.value), decimal_of(instrument_.tick_size.value)));
        }
        into = order_record();
        into.file = 1;
        into.record = messages_.number();
        into.time = messages_.time();
        into.order = r.order;
        into.price = price.value;
        into.size = r.size;
        into.action = r.action;
        into.side = r.side == domain::side::buy ? record_side::buy : record_side::sell;
        into.is_last = at_ == messages_.records().size();
        return true;
    }

 private:
    stock_messages messages_;
    domain::instrument instrument_;
    std::size_t at_ = 0;
};

}  // namespace

itch_survey survey_itch(const std::filesystem::path& file, const std::string& stock) {
    itch_survey s;
    s.price_low = domain::price_nano{std::numeric_limits<std::int64_t>::max()};
    s.price_high = domain::price_nano{std::numeric_limits<std::int64_t>::min()};
    stock_messages messages(file, stock);
    while (messages.next()) {
        if (s.first_time == domain::time_ns{}) s.first_time = messages.time();
        s.last_time = messages.time();
        for (const itch_record& r : messages.records()) {
            ++s.records;
            if (r.action != record_action::add) continue;
            ++s.adds;
            s.price_step.value = std::gcd(s.price_step.value, r.price.value);
            s.price_low = std::min(s.price_low, r.price);
            s.price_high = std::max(s.price_high, r.price);
            s.size_max = std::max(s.size_max, r.size);
        }
    }
    if (s.adds == 0) {
        throw replay_error(stock.empty() ? fmt::format("{}: has no orders", file.string())
                                         : fmt::format("{}: has no orders of {}", file.string(), stock));
    }
    if (s.price_step.value == 0) s.price_step = domain::price_nano{1'000'000'000};  // every price is 0
    s.recorded_instrument = messages.locate();
    s.name = messages.stock();
    s.not_replayed = messages.not_replayed();
    return s;
}

std::unique_ptr<order_record_source> open_itch(const std::filesystem::path& file, const itch_survey& survey,
                                               const domain::instrument& instrument) {
    return std::make_unique<itch_orders>(file, survey.name, instrument);
}

}  // namespace corro::recorded::replay
