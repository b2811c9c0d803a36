// SPDX-License-Identifier: Apache-2.0
#include "lab/facility/scenarios.hpp"

#include <fmt/format.h>

#include <array>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "wire/binary_codec.hpp"

namespace corro::lab {
namespace {

constexpr std::uint32_t maker = 1;
constexpr std::uint32_t taker = 2;
constexpr std::uint32_t filler = 3;

/// The price at which the scenarios trade: between the sides of a filled book, so that counts are the same in both
/// books.
constexpr std::int64_t middle = 100'000;
constexpr std::int64_t filled_bid = middle - 10'000;
constexpr std::int64_t filled_ask = middle + 10'000;
constexpr int sweep_orders = 10;
constexpr std::uint32_t amends_per_order = 100;

/// Writes the steps of a cycle, numbering its requests.
class writer {
 public:
    explicit writer(std::vector<scenario_step>& into) : into_(into) {}

    scenario_step& enter(std::uint32_t account, std::uint32_t instrument, domain::side side, std::int64_t price,
                         std::uint32_t quantity, domain::time_in_force lasting = domain::time_in_force::gtc) {
        domain::command& c = next(domain::command_kind::enter_order, account, instrument);
        c.order_terms().side = side;
        c.enter_order().price = domain::price_ticks{price};
        c.enter_order().quantity = domain::quantity_lots{quantity};
        c.order_terms().time_in_force = lasting;
        c.client_order = domain::client_order_id{c.request()};
        return into_.back();
    }
    scenario_step& amend(std::uint32_t account, std::uint32_t instrument, std::uint32_t name, std::int64_t price,
                         std::uint32_t quantity) {
        domain::command& c = next(domain::command_kind::amend_order, account, instrument);
        c.client_order = domain::client_order_id{name};
        c.amend_order().price = domain::price_ticks{price};
        c.amend_order().quantity = domain::quantity_lots{quantity};
        return into_.back();
    }
    /// Cancels an order by the request that entered it.
    scenario_step& cancel(std::uint32_t account, std::uint32_t instrument, std::uint32_t target_request) {
        next(domain::command_kind::cancel_order, account, instrument).cancel_order().target_request = target_request;
        return into_.back();
    }
    scenario_step& cancel_all(std::uint32_t account) {
        static_cast<void>(next(domain::command_kind::cancel_orders, account, 0));
        return into_.back();
    }

 private:
    domain::command& next(domain::command_kind kind, std::uint32_t account, std::uint32_t instrument) {
        domain::command& c = into_.emplace_back().command;
        c.kind = kind;
        c.account = domain::account_id{account};
        c.session = domain::session_id{account};
        c.instrument = domain::instrument_id{instrument};
        c.set_request(static_cast<std::uint32_t>(into_.size()));
        return c;
    }

    std::vector<scenario_step>& into_;
};

void fill_book(scenario& made) {
    // Fills the first market; all markets if the scenario trades in all.
    const bool every = made.number == 8;
    writer write(made.fill);
    for (std::uint32_t market = 1; market <= (every ? markets_count : 1); ++market) {
        for (int level = 0; level < (every ? 20 : 100); ++level) {
            for (int order = 0; order < (every ? 5 : 10); ++order) {
                static_cast<void>(write.enter(filler, market, domain::side::buy, filled_bid - level, 5));
                static_cast<void>(write.enter(filler, market, domain::side::sell, filled_ask + level, 5));
            }
        }
    }
}

void enter_and_cancel(scenario& made) {
    writer write(made.cycle);
    scenario_step& order = write.enter(maker, 1, domain::side::buy, middle, 10);
    order.measured = true;
    order.ends_after = 1;
    write.cancel(maker, 1, 1).with_previous = true;
    made.messages = 8;
}

void immediate_without_counterparty(scenario& made) {
    writer write(made.cycle);
    write.enter(taker, 1, domain::side::buy, middle, 10, domain::time_in_force::ioc).measured = true;
    made.messages = 1;
}

void amend_quantity_down(scenario& made) {
    writer write(made.cycle);
    static_cast<void>(write.enter(maker, 1, domain::side::buy, middle, amends_per_order + 1));
    for (std::uint32_t left = amends_per_order; left > 0; --left) {
        write.amend(maker, 1, 1, middle, left).measured = true;
    }
    static_cast<void>(write.cancel(maker, 1, 1));
    made.messages = 4;
}

// `orders` orders rest, each `step` above the one before. One order takes them all.
void sweep(scenario& made, int orders, std::int64_t step) {
    writer write(made.cycle);
    for (int i = 0; i < orders; ++i) {
        static_cast<void>(write.enter(maker, 1, domain::side::sell, middle + step * i, 1));
    }
    write
        .enter(taker, 1, domain::side::buy, middle + step * (orders - 1), static_cast<std::uint32_t>(orders),
               domain::time_in_force::day)
        .measured = true;
    made.messages = static_cast<std::uint32_t>(orders) * 10;
}

void cancel_every_quote(scenario& made) {
    writer write(made.cycle);
    for (std::uint32_t market = 1; market <= markets_count; ++market) {
        static_cast<void>(write.enter(maker, market, domain::side::buy, middle - 1, 5));
        static_cast<void>(write.enter(maker, market, domain::side::sell, middle + 1, 5));
    }
    write.cancel_all(maker).measured = true;
    made.messages = 2 * markets_count * 4;
}

constexpr std::array<const char*, scenarios_count> texts{
    "a GTC order and its cancel by sequencing id, sent together, to the last top_of_book of both",
    "an IOC order that cannot trade, to its refusal",
    "an amend of the quantity alone, priority kept, to its last message",
    "two orders that trade, from the second one to the last message",
    "an order that sweeps 10 resting orders at one level, to the last of 100 messages",
    "an order that sweeps 10 resting orders at close levels, to the last of 100 messages",
    "an order that sweeps 10 resting orders at sparse levels, to the last of 100 messages",
    "a mass cancel of an account that quotes both sides of 100 markets, to the last of 800 messages"};

}  // namespace

scenario make_scenario(int number, bool filled) {
    CORRO_ASSERT(number >= 1 && number <= scenarios_count);
    scenario made;
    made.number = number;
    made.filled = filled;
    if (filled) fill_book(made);
    switch (number) {
        case 1: enter_and_cancel(made); break;
        case 2: immediate_without_counterparty(made); break;
        case 3: amend_quantity_down(made); break;
        case 4: sweep(made, 1, 0); break;
        case 5: sweep(made, sweep_orders, 0); break;
        case 6: sweep(made, sweep_orders, 1); break;
        case 7: sweep(made, sweep_orders, 500); break;
        default: cancel_every_quote(made); break;
    }
    return made;
}

std::string scenario_text(int number) {
    return texts[static_cast<std::size_t>(number - 1)];
}

std::vector<domain::instrument> scenario_instruments() {
    std::vector<domain::instrument> made;
    for (std::uint32_t id = 1; id <= markets_count; ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.product = domain::product_id{1};
        i.name = domain::symbol(fmt::format("M{}", id));
        i.price_low = domain::price_ticks{1};
        i.price_high = domain::price_ticks{2 * middle};
        made.push_back(i);
    }
    return made;
}

void append_request(const domain::command& command, const domain::instrument& instrument, std::vector<std::byte>& to) {
    std::array<std::byte, wire::message_bytes_max> bytes;
    const std::size_t size = wire::encode(command, instrument, bytes);
    CORRO_ASSERT(size != 0);
    base::store_be<std::uint64_t>(bytes.data() + 8, std::uint64_t{command.account.value} << 32U | command.request());
    to.insert(to.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

}  // namespace corro::lab
