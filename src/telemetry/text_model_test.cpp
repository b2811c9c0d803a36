// SPDX-License-Identifier: Apache-2.0
// The log's lines against a naive version that appends column by column.
//
// Random kinds, sides, flags, reasons, payloads. CORRO_SEED repeats a run.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "domain/decimal.hpp"
#include "telemetry/text.hpp"
#include "wire/binary_codec.hpp"

namespace corro::telemetry {
namespace {

/// The columns that kinds of events share; 0 and no_price are left empty.
struct columns {
    std::uint32_t account = 0;
    std::uint32_t session = 0;
    std::uint32_t request = 0;
    std::uint64_t order = 0;
    std::uint64_t client_order = 0;
    std::uint64_t trade = 0;
    domain::price_ticks price = domain::no_price;
    std::uint64_t quantity = 0;
    std::uint64_t leaves = 0;
    domain::price_ticks price_2 = domain::no_price;
    std::uint64_t quantity_2 = 0;
};

columns columns_of(const domain::event& e) noexcept {
    using domain::event_kind;
    columns c;
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_rejected:
        case event_kind::order_status:
        case event_kind::request_done:
            c.account = e.order.account.value;
            c.session = e.order.session.value;
            c.request = e.order.request;
            c.order = e.order.order.value;
            c.client_order = e.order.client_order.value;
            c.price = e.order.price;
            c.quantity = e.order.quantity.value;
            break;
        case event_kind::order_executed:
            c.account = e.execution.account.value;
            c.session = e.execution.session.value;
            c.order = e.execution.order.value;
            c.client_order = e.execution.client_order.value;
            c.price = e.execution.price;
            c.quantity = e.execution.quantity.value;
            c.leaves = e.execution.leaves.value;
            break;
        case event_kind::trade_capture:
            c.account = e.capture.account.value;
            c.session = e.capture.session.value;
            c.order = e.capture.order.value;
            c.trade = e.capture.trade.value;
            c.price = e.capture.price;
            c.quantity = e.capture.quantity.value;
            break;
        case event_kind::leg_capture:
        case event_kind::leg_trade:  // its price may not be a multiple of the leg's tick
            c.account = e.leg_fill.account.value;
            c.session = e.leg_fill.session.value;
            c.order = e.leg_fill.order.value;
            c.trade = e.leg_fill.trade.value;
            c.quantity = e.leg_fill.quantity.value;
            break;
        case event_kind::quote_entered:
            c.account = e.quote.account.value;
            c.session = e.quote.session.value;
            c.request = e.quote.request;
            c.client_order = e.quote.client_order.value;
            c.quantity = e.quote.bid_quantity.value;
            c.quantity_2 = e.quote.ask_quantity.value;
            break;
        case event_kind::session_numbers_reset:
            c.account = e.numbers_reset.account.value;
            c.session = e.numbers_reset.session.value;
            break;
        case event_kind::messages_counted:
            c.account = e.counted.account.value;
            c.session = e.counted.session.value;
            c.quantity = e.counted.count;
            break;
        case event_kind::request_named:
            c.account = e.named.account.value;
            c.session = e.named.session.value;
            c.request = e.named.request;
            c.order = e.named.order.value;
            c.client_order = e.named.name.value;
            break;
        case event_kind::order_named:
            c.account = e.name.account.value;
            c.session = e.name.session.value;
            c.client_order = e.name.name.value;
            c.quantity = e.name.length;
            break;
        case event_kind::position_reported:
            c.account = e.position.account.value;
            c.session = e.position.session.value;
            c.request = e.position.request;
            c.price = e.position.last;
            c.quantity = e.instrument.value == 0 ? e.position.count : e.position.quantity.value;
            break;
        case event_kind::protection_changed:
            c.account = e.protection.account.value;
            c.session = e.protection.session.value;
            c.request = e.protection.request;
            c.quantity = e.protection.quantity.value;
            break;
        case event_kind::order_added:
        case event_kind::order_reduced:
        case event_kind::order_deleted:
            c.order = e.book.order.value;
            c.price = e.book.price;
            c.quantity = e.book.quantity.value;
            break;
        case event_kind::level_changed:
            c.price = e.level.price;
            c.quantity = e.level.quantity.value;
            break;
        case event_kind::top_of_book:
        case event_kind::implied_top:
            c.price = e.top.bid_price;
            c.quantity = e.top.bid_quantity.value;
            c.price_2 = e.top.ask_price;
            c.quantity_2 = e.top.ask_quantity.value;
            break;
        case event_kind::trade:
            c.trade = e.trade.trade.value;
            c.price = e.trade.price;
            c.quantity = e.trade.quantity.value;
            break;
        case event_kind::price_update: c.price = e.prices.last; break;
        case event_kind::statistics: c.quantity = e.volumes.volume.value; break;
        case event_kind::auction_indicative:
        case event_kind::auction_ended:
            c.price = e.auction.price;
            c.quantity = e.auction.volume.value;
            break;
        case event_kind::instrument_settled:
            c.price = e.settlement.price;
            c.quantity = e.settlement.open_interest.value;
            break;
        default: break;  // only the columns that every event has
    }
    return c;
}

bool has_side(domain::event_kind kind) noexcept {
    using domain::event_kind;
    return kind != event_kind::top_of_book && kind != event_kind::implied_top && kind != event_kind::price_update &&
           kind != event_kind::statistics && kind != event_kind::phase_changed &&
           kind != event_kind::protection_changed && kind != event_kind::request_done &&
           kind != event_kind::quote_entered && kind != event_kind::auction_indicative &&
           kind != event_kind::auction_ended && kind != event_kind::instrument_settled &&
           kind != event_kind::instrument_terms && kind != event_kind::instrument_legs &&
           kind != event_kind::instrument_defined && kind != event_kind::session_numbers_reset &&
           kind != event_kind::messages_counted && kind != event_kind::order_named;
}

std::string_view name_of(domain::event_kind kind) noexcept {
    if (kind == domain::event_kind::session_numbers_reset) return "session_numbers_reset";
    if (kind == domain::event_kind::messages_counted) return "messages_counted";
    if (kind == domain::event_kind::request_named) return "request_named";
    if (kind == domain::event_kind::order_named) return "order_named";
    if (kind == domain::event_kind::position_reported) return "position_reported";
    // The template ids of the messages are the numbers of the events plus 32.
    return wire::to_string(static_cast<wire::template_id>(static_cast<unsigned>(kind) + 32));
}

std::string column(std::uint64_t n) {
    return n == 0 ? std::string() : std::to_string(n);
}

std::string naive_time(std::int64_t time) {
    const std::chrono::sys_time<std::chrono::nanoseconds> at{std::chrono::nanoseconds{time}};
    const auto second = std::chrono::floor<std::chrono::seconds>(at);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", second, (at - second).count());
}

std::string naive_price(const domain::instrument* i, domain::price_ticks price) {
    if (i == nullptr || price == domain::no_price) return {};
    return std::string(domain::format_decimal(domain::to_nano(*i, price).value).view());
}

std::string naive_line(const domain::event& e, std::span<const domain::instrument> instruments) {
    const domain::instrument* of = nullptr;
    for (const domain::instrument& i : instruments) {
        if (i.id == e.instrument) of = &i;
    }
    const columns c = columns_of(e);
    const std::string side = !has_side(e.kind) ? "" : e.side == domain::side::buy ? "buy" : "sell";
    const std::string_view reason =
        e.reason == domain::reject_reason::none ? std::string_view() : domain::to_string(e.reason);
    const std::vector<std::string> all = {std::to_string(e.command.value),
                                          naive_time(e.time.value),
                                          std::string(name_of(e.kind)),
                                          std::string(of != nullptr ? of->name.view() : std::string_view()),
                                          side,
                                          std::string(reason),
                                          column(e.flags),
                                          column(c.account),
                                          column(c.session),
                                          column(c.request),
                                          column(c.order),
                                          column(c.client_order),
                                          column(c.trade),
                                          naive_price(of, c.price),
                                          column(c.quantity),
                                          column(c.leaves),
                                          naive_price(of, c.price_2),
                                          column(c.quantity_2)};
    return fmt::format("{}\n", fmt::join(all, ","));
}

/// Every magnitude is equally likely, including 0.
std::uint64_t any_magnitude(base::prng& by, unsigned bits_max) {
    const auto bits = static_cast<unsigned>(by.below(bits_max + 1));
    return bits == 0 ? 0 : by() >> (64 - bits);
}

domain::event any_event(base::prng& by, const domain::event& before) {
    domain::event e;
    // Mostly another event of the command before.
    e.command = before.command;
    e.time = before.time;
    if (by.below(3) == 0) e.command = domain::sequence_number{any_magnitude(by, 64)};
    if (by.below(3) == 0) e.time.value += static_cast<std::int64_t>(any_magnitude(by, 32));
    if (by.below(9) == 0) e.time.value = static_cast<std::int64_t>(any_magnitude(by, 63)) * (by.below(2) == 0 ? 1 : -1);
    e.instrument = domain::instrument_id{static_cast<std::uint32_t>(by.below(7))};
    e.kind = static_cast<domain::event_kind>(by.below(by.below(8) == 0 ? 256 : 32));
    e.side = by.below(2) == 0 ? domain::side::buy : domain::side::sell;
    if (by.below(4) == 0) e.reason = static_cast<domain::reject_reason>(by.below(256));
    e.flags = static_cast<std::uint8_t>(any_magnitude(by, 8));
    // The first three words of a payload are ids, 64-bit quantities and prices, whose product with a tick must fit 64
    // bits; the others are 32-bit numbers.
    std::int64_t words[3];
    for (std::int64_t& w : words) {
        w = static_cast<std::int64_t>(any_magnitude(by, 33)) * (by.below(2) == 0 ? 1 : -1);
        if (by.below(8) == 0) w = domain::no_price.value;
    }
    std::uint32_t halves[4];
    for (std::uint32_t& h : halves) h = static_cast<std::uint32_t>(any_magnitude(by, 32));
    std::memcpy(static_cast<void*>(&e.order), words, sizeof(words));
    std::memcpy(reinterpret_cast<char*>(&e.order) + sizeof(words), halves, sizeof(halves));
    return e;
}

std::vector<domain::instrument> instruments() {
    std::vector<domain::instrument> made(4);
    const std::string_view names[] = {"", "A", "ESZ6-ESH7", "ABCDEFGHIJKLMNOPQRSTUVWX"};
    const std::int64_t ticks[] = {1, 1'000'000'000, 250'000'000, 1'500'000};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
        made[i].id = domain::instrument_id{i == 3 ? 5 : i + 1};  // there is no number 4
        made[i].name = domain::symbol(names[i]);
        made[i].tick_size = domain::price_nano{ticks[i]};
    }
    return made;
}

TEST(event_text_model, writes_every_event_as_the_naive_version_does) {
    base::prng by(base::test_seed());
    std::vector<domain::instrument> all = instruments();
    event_text fast(all);
    char line[line_bytes_max];
    domain::event e;
    for (int i = 0; i < 50'000; ++i) {
        e = any_event(by, e);
        if (by.below(1'000) == 0) {
            e.kind = domain::event_kind::instrument_defined;
            e.instrument = domain::instrument_id{static_cast<std::uint32_t>(3 + by.below(8))};
            e.defined = {domain::symbol(by.below(2) == 0 ? "NEW" : "OTHER"), {}, domain::instrument_id{2}, {}};
            domain::instrument made = all[1];
            made.id = e.instrument;
            made.name = e.defined.name;
            std::erase_if(all, [&](const domain::instrument& other) { return other.id == made.id; });
            all.push_back(made);
        } else if (e.kind == domain::event_kind::instrument_defined) {
            continue;  // with a random name and model
        }
        const std::string_view written(line, fast.write(e, line));
        ASSERT_EQ(written, naive_line(e, all)) << "event " << i;
    }
}

TEST(event_text_model, has_room_for_the_longest_line) {
    const std::vector<domain::instrument> all = instruments();
    event_text fast(all);
    domain::event e;
    e.command = domain::sequence_number{~std::uint64_t{0}};
    e.instrument = domain::instrument_id{5};
    e.flags = 255;
    std::memset(static_cast<void*>(&e.order), 0xff, sizeof(e.order));
    e.order.price = domain::price_ticks{-6'000'000'000'000};
    for (unsigned reason = 0; reason < 256; ++reason) {
        e.reason = static_cast<domain::reject_reason>(reason);
        char line[line_bytes_max + 64];
        std::memset(line, '?', sizeof(line));
        const std::string_view written(line, fast.write(e, line));
        ASSERT_EQ(written, naive_line(e, all));
        // The bytes behind the buffer are untouched.
        ASSERT_EQ(std::string_view(line + line_bytes_max, 64), std::string(64, '?'));
    }
}

}  // namespace
}  // namespace corro::telemetry
