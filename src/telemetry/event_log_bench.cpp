// SPDX-License-Identifier: Apache-2.0
// The writer's processor time for a line of the event log.
//
//     corro_event_log_bench [--smoke] [--commands N]
//
// The events of a venue with ten markets: of ten commands five enter an order, three cancel one, one amends one, one
// trades.
// --smoke: a few commands, to check that the row runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/text.hpp"

namespace corro::telemetry {
namespace {

using domain::event_kind;

constexpr std::uint32_t markets_count = 10;
constexpr std::uint64_t commands_different = 4096;  // in memory, and used repeatedly

std::vector<domain::instrument> instruments() {
    std::vector<domain::instrument> made(markets_count);
    for (std::uint32_t i = 0; i < markets_count; ++i) {
        made[i].id = domain::instrument_id{i + 1};
        made[i].name = domain::symbol("FUT" + std::to_string(i));
        made[i].tick_size = domain::price_nano{250'000'000};
    }
    return made;
}

void set_payload(domain::event& e, std::uint64_t n, domain::price_ticks price) {
    switch (e.kind) {
        case event_kind::order_added:
        case event_kind::order_deleted:
        case event_kind::order_reduced:
            e.book = {};
            e.book.order = domain::order_id{1'000'000 + n};
            e.book.price = price;
            e.book.quantity = domain::quantity_lots{5};
            break;
        case event_kind::level_changed:
            e.level = {};
            e.level.price = price;
            e.level.quantity = domain::volume_lots{230 + n % 100};
            break;
        case event_kind::top_of_book:
            e.top = {};
            e.top.bid_price = price;
            e.top.bid_quantity = domain::volume_lots{230};
            e.top.ask_price = price + domain::price_ticks{1};
            e.top.ask_quantity = domain::volume_lots{170};
            break;
        case event_kind::trade:
        case event_kind::price_update:
        case event_kind::statistics:
            e.trade = {};
            e.trade.trade = domain::trade_id{300'000 + n};
            e.trade.price = price;
            e.trade.quantity = domain::quantity_lots{3};
            break;
        default:  // the private ones, whose shapes are alike
            e.order.order = domain::order_id{1'000'000 + n};
            e.order.client_order = domain::client_order_id{n % 10'000};
            e.order.price = price;
            e.order.quantity = domain::quantity_lots{5};
            e.order.account = domain::account_id{1 + static_cast<std::uint32_t>(n % 1000)};
            e.order.session = domain::session_id{1 + static_cast<std::uint32_t>(n % 1000)};
            e.order.request = static_cast<std::uint32_t>(n % 10'000);
            break;
    }
}

std::vector<domain::event> events() {
    const std::vector<event_kind> entering = {event_kind::order_entered, event_kind::order_added,
                                              event_kind::level_changed, event_kind::top_of_book};
    const std::vector<event_kind> cancelling = {event_kind::order_cancelled, event_kind::order_deleted,
                                                event_kind::level_changed};
    const std::vector<event_kind> amending = {event_kind::order_amended, event_kind::order_reduced,
                                              event_kind::level_changed};
    const std::vector<event_kind> trading = {
        event_kind::order_executed, event_kind::order_executed, event_kind::trade_capture, event_kind::trade_capture,
        event_kind::trade,          event_kind::order_deleted,  event_kind::level_changed, event_kind::top_of_book,
        event_kind::price_update,   event_kind::statistics};
    std::vector<domain::event> made;
    for (std::uint64_t n = 0; n < commands_different; ++n) {
        const std::uint64_t which = n * 7 % 10;
        const auto& kinds = which < 5 ? entering : which < 8 ? cancelling : which == 8 ? amending : trading;
        for (const event_kind kind : kinds) {
            domain::event e;
            e.command = domain::sequence_number{50'000'000 + n};
            e.time = domain::time_ns{1'700'000'000'000'000'000 + static_cast<std::int64_t>(n * 2'113)};
            e.instrument = domain::instrument_id{1 + static_cast<std::uint32_t>(n % markets_count)};
            e.kind = kind;
            e.side = n % 3 == 0 ? domain::side::buy : domain::side::sell;
            e.flags = kind == kinds.back() ? domain::event_flag::last_of_command : 0;
            set_payload(e, n, domain::price_ticks{19'200 + static_cast<std::int64_t>(n * 13 % 40)});
            made.push_back(e);
        }
    }
    return made;
}

int run(std::uint64_t commands) {
    const std::vector<domain::instrument> markets = instruments();
    const std::vector<domain::event> all = events();
    event_text text(markets);
    std::vector<char> lines((std::size_t{1} << 18U) + line_bytes_max);
    std::uint64_t written = 0;
    std::uint64_t bytes = 0;
    char* end = lines.data();
    const auto flush = [&] {
        bytes += static_cast<std::uint64_t>(end - lines.data());
        end = lines.data();
    };
    // Processor time, so that other load on the machine does not count.
    const std::clock_t start = std::clock();
    for (std::uint64_t done = 0; done < commands; done += commands_different) {
        for (const domain::event& e : all) {
            if (end - lines.data() > std::int64_t{1} << 18U) flush();
            end = text.write(e, end);
        }
        written += all.size();
    }
    flush();
    const double took_ns = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const auto count = static_cast<double>(written);
    std::printf("event_log_line: %.1f ns and %.1f bytes per event, %llu events\n", took_ns / count,
                static_cast<double>(bytes) / count, static_cast<unsigned long long>(written));
    return bytes > written * 40 ? 0 : 1;
}

}  // namespace
}  // namespace corro::telemetry

int main(int argc, char** argv) {
    std::uint64_t commands = 4'000'000;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument(argv[i]);
        if (argument == "--smoke") {
            commands = 1;
        } else if (argument == "--commands" && i + 1 < argc) {
            commands = std::strtoull(argv[++i], nullptr, 10);
        } else {
            std::fprintf(stderr, "usage: corro_event_log_bench [--smoke] [--commands N]\n");
            return 2;
        }
    }
    return corro::telemetry::run(commands);
}
