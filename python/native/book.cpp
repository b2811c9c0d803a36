// SPDX-License-Identifier: Apache-2.0
#include "native/book.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "native/row_frames.hpp"

namespace corro::python {
namespace {

struct book_collector final : facility::book_visitor {
    book_collector(const domain::instrument& instrument, std::uint32_t levels_max)
        : of(instrument), price(instrument.tick_size.value), depth(levels_max) {}

    void visit_level(domain::side s, const domain::level& level) override {
        std::uint32_t& count = s == domain::side::buy ? bids : asks;
        is_beyond = depth != 0 && count == depth;
        if (is_beyond) return;
        ++count;
        side.push_back(static_cast<std::int8_t>(s));
        prices.push_back(price(level.price.value));
        quantity.push_back(signed_of(level.quantity.value * of.lot_size));
        orders.push_back(signed_of(level.orders_count));
    }
    void visit_order(domain::side s, const facility::resting_order& o) override {
        if (is_beyond) return;
        order_side.push_back(static_cast<std::int8_t>(s));
        order_price.push_back(price(o.price.value));
        order_open.push_back(signed_of(std::uint64_t{o.open.value} * of.lot_size));
        order_filled.push_back(signed_of(std::uint64_t{o.filled.value} * of.lot_size));
        order.push_back(o.order.value);
        client_order.push_back(o.client_order.value);
        account.push_back(o.account.value);
    }
    frame_pointer take_levels() {
        std::vector<column> columns;
        columns.push_back({"side", meaning::category, std::move(side), side_names()});
        columns.push_back({"price", meaning::number, std::move(prices), {}});
        columns.push_back({"quantity", meaning::number, std::move(quantity), {}});
        columns.push_back({"orders", meaning::number, std::move(orders), {}});
        return std::make_shared<frame>(std::move(columns));
    }
    frame_pointer take_orders() {
        std::vector<column> columns;
        columns.push_back({"side", meaning::category, std::move(order_side), side_names()});
        columns.push_back({"price", meaning::number, std::move(order_price), {}});
        columns.push_back({"open", meaning::number, std::move(order_open), {}});
        columns.push_back({"filled", meaning::number, std::move(order_filled), {}});
        columns.push_back({"order", meaning::number, std::move(order), {}});
        columns.push_back({"client_order", meaning::number, std::move(client_order), {}});
        columns.push_back({"account", meaning::number, std::move(account), {}});
        return std::make_shared<frame>(std::move(columns));
    }

    const domain::instrument& of;
    decimal_scale price;
    std::uint32_t depth;
    std::uint32_t bids = 0;
    std::uint32_t asks = 0;
    bool is_beyond = false;
    std::vector<std::int8_t> side;
    std::vector<double> prices;
    std::vector<std::int64_t> quantity;
    std::vector<std::int64_t> orders;
    std::vector<std::int8_t> order_side;
    std::vector<double> order_price;
    std::vector<std::int64_t> order_open;
    std::vector<std::int64_t> order_filled;
    std::vector<std::uint64_t> order;
    std::vector<std::uint64_t> client_order;
    std::vector<std::uint32_t> account;
};

std::string_view name_of(domain::instrument_kind kind) noexcept {
    switch (kind) {
        case domain::instrument_kind::future: return "future";
        case domain::instrument_kind::option: return "option";
        case domain::instrument_kind::spread: return "spread";
        case domain::instrument_kind::spot: return "spot";
    }
    return "";
}

}  // namespace

instrument_facts facts_of(const domain::instrument& i) {
    instrument_facts made;
    made.name = i.name.view();
    made.id = i.id.value;
    made.kind = name_of(i.kind);
    made.tick_size = double_of_nano(i.tick_size.value);
    made.lot_size = i.lot_size;
    made.expiry_ns = i.expiry.value;
    made.decimals = decimal_scale(i.tick_size.value).decimals();
    return made;
}

const domain::instrument* find_instrument(const facility::facility& venue, const std::string& name) {
    for (const domain::instrument& i : venue.instruments()) {
        if (i.name.view() == name) return &i;
    }
    return nullptr;
}

const domain::instrument& instrument_of(const facility::facility& venue, const std::string& name) {
    if (name.empty() && venue.instruments().size() == 1) return venue.instruments().front();
    if (const domain::instrument* const found = find_instrument(venue, name)) return *found;
    std::string known;
    for (const domain::instrument& i : venue.instruments()) {
        known += (known.empty() ? "" : ", ") + std::string(i.name.view());
    }
    throw argument_error(
        name.empty() ? fmt::format("the venue has several instruments; give one as instrument=, of: {}", known)
                     : fmt::format("no instrument \"{}\"; the venue has: {}", name, known));
}

book_facts book_of(const facility::facility& venue, const domain::instrument& of, std::uint32_t depth,
                   bool with_orders) {
    book_collector book(of, depth);
    venue.visit_book(of.id, book);
    const domain::price_summary prices = venue.prices_of(of.id);
    const domain::volume_summary volumes = venue.volumes_of(of.id);
    const auto price_of = [&](domain::price_ticks ticks) {
        return ticks == domain::no_price ? std::numeric_limits<double>::quiet_NaN() : book.price(ticks.value);
    };
    book_facts made;
    made.instrument = of.name.view();
    made.sequence = venue.position().sequence.value;
    made.time_ns = venue.position().time.value;
    made.last = price_of(prices.last);
    made.high = price_of(prices.high);
    made.low = price_of(prices.low);
    made.open = price_of(prices.open);
    made.volume = volumes.volume.value * of.lot_size;
    made.open_interest = volumes.open_interest.value * of.lot_size;
    if (with_orders) made.orders = book.take_orders();
    made.levels = book.take_levels();
    return made;
}

}  // namespace corro::python
