// SPDX-License-Identifier: Apache-2.0
// Proves that the same commands give the same event bytes with every compiler, optimisation and sanitizer.
//
//     event_checksums FILE           compares with the committed checksums; exit code 1 and the lines when they differ
//     event_checksums FILE --saved   the same, but every run is saved in its middle and goes on in another facility
//     event_checksums FILE --write   writes them again, after a change of the rules that is meant to change events
//
// Each line is a seed and the CRC-32C of all event bytes of 20,000 commands drawn from it. The stream is made here, of
// plain fields, so that it changes only when somebody changes it on purpose: the generator of the differential test
// grows with every rule.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.hpp"
#include "base/random.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "facility/facility.hpp"

namespace {

using namespace corro;

constexpr int commands_per_seed = 20'000;
constexpr std::uint64_t seeds_count = 16;

class checksum final : public facility::event_consumer {
 public:
    void consume(std::span<const domain::event> events) noexcept override {
        value_ = base::crc32c(std::as_bytes(events), value_);
        for (const domain::event& e : events) {
            if (e.kind == domain::event_kind::order_entered) known_[entered_++ % known_.size()] = e.order.order;
        }
    }
    [[nodiscard]] std::uint32_t value() const noexcept { return value_; }
    [[nodiscard]] domain::order_id order(std::uint64_t draw) const noexcept { return known_[draw % known_.size()]; }

 private:
    std::uint32_t value_ = 0;
    std::array<domain::order_id, 64> known_{};
    std::size_t entered_ = 0;
};

/// Quotes and their protection, changes of orders and entries of every type, around a price of 1,000.
domain::command draw(base::prng& random, std::uint64_t number, const checksum& seen) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random.below(n)); };
    domain::command c;
    c.sequence = domain::sequence_number{number};
    c.time = domain::time_ns{static_cast<std::int64_t>(number) * 300'000};
    c.account = domain::account_id{below(4)};
    c.session = domain::session_id{c.account.value + 10 * below(2)};
    c.instrument = domain::instrument_id{1 + below(2)};
    c.set_request(static_cast<std::uint32_t>(number));
    c.client_order = domain::client_order_id{number};
    const domain::price_ticks price{990 + static_cast<std::int64_t>(below(21))};
    const domain::quantity_lots quantity{1 + below(20)};
    const std::uint32_t dice = below(100);
    if (dice < 55) {
        constexpr std::array types{domain::order_type::limit,           domain::order_type::limit,
                                   domain::order_type::limit,           domain::order_type::market,
                                   domain::order_type::market_to_limit, domain::order_type::stop,
                                   domain::order_type::stop_limit,      domain::order_type::market_if_touched};
        domain::enter_order& o = c.enter_order();
        domain::order_terms& terms = c.order_terms();
        o.price = price;
        o.quantity = quantity;
        terms.side = below(2) == 0 ? domain::side::buy : domain::side::sell;
        terms.type = types[below(types.size())];
        terms.time_in_force =
            below(4) == 0 ? static_cast<domain::time_in_force>(1 + below(4)) : domain::time_in_force::gtc;
        o.self_match_prevention = static_cast<domain::self_match_prevention>(below(5));
        o.trigger_price = domain::price_ticks{990 + static_cast<std::int64_t>(below(21))};
        if (below(6) == 0) o.display_quantity = domain::quantity_lots{1 + below(5)};
        if (below(6) == 0) o.flags = domain::order_flag::post_only;
    } else if (dice < 75) {
        c.kind = below(2) == 0 ? domain::command_kind::amend_order : domain::command_kind::cancel_order;
        c.client_order = {};
        c.named_order() = seen.order(random());
        if (c.kind == domain::command_kind::amend_order) {
            c.amend_order().price = price;
            c.amend_order().quantity = quantity;
        }
    } else if (dice < 78) {
        c.kind = domain::command_kind::cancel_orders;
        c.cancel_orders().sides = static_cast<domain::cancel_sides>(below(3));
        c.cancel_orders().flags = below(2) == 0 ? domain::cancel_flag::quotes_too : std::uint8_t{0};
    } else if (dice < 96) {
        c.kind = domain::command_kind::enter_quote;
        domain::enter_quote& quote = c.enter_quote();
        quote.bid_price = price;
        quote.bid_quantity = quantity;
        quote.ask_price = domain::price_ticks{price.value + 1 + static_cast<std::int64_t>(below(3))};
        quote.ask_quantity = domain::quantity_lots{below(20)};
    } else {
        c.kind = dice < 98 ? domain::command_kind::set_protection : domain::command_kind::reset_protection;
        const std::uint32_t fills_max = 1 + below(5);
        const std::uint32_t window_ms = 1 + below(20);
        if (c.kind == domain::command_kind::set_protection) {
            c.set_protection().quantity_max = quantity;
            c.set_protection().fills_max = fills_max;
            c.set_protection().window_ms = window_ms;
        }
    }
    return c;
}

bool moves(const facility::facility& from, facility::facility& to) {
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    if (!from.save(sink)) return false;
    base::memory_source source(bytes);
    return !to.load(source);
}

std::string lines(bool is_saved) {
    std::vector<domain::instrument> instruments(2);
    for (std::uint32_t i = 0; i < 2; ++i) {
        instruments[i].id = domain::instrument_id{i + 1};
        instruments[i].name = domain::symbol{"CHECK"};
        instruments[i].price_low = domain::price_ticks{992};
    }
    std::string text;
    for (std::uint64_t seed = 1; seed <= seeds_count; ++seed) {
        base::prng random{seed};
        checksum seen;
        const facility::facility_options options{.orders_max = 400, .accounts_max = 4, .positions_max = 16};
        facility::facility venue(options, instruments, seen);
        facility::facility other(options, instruments, seen);
        for (int i = 1; i <= commands_per_seed; ++i) {
            const bool is_first_half = !is_saved || i <= commands_per_seed / 2;
            (is_first_half ? venue : other).apply(draw(random, static_cast<std::uint64_t>(i), seen));
            if (is_saved && i == commands_per_seed / 2 && !moves(venue, other)) return "a snapshot cannot be loaded\n";
        }
        std::array<char, 32> line{};
        std::snprintf(line.data(), line.size(), "%llu %08x\n", static_cast<unsigned long long>(seed), seen.value());
        text += line.data();
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    const bool writes = argc == 3 && std::string_view{argv[2]} == "--write";
    const bool is_saved = argc == 3 && std::string_view{argv[2]} == "--saved";
    if (argc != 2 && !writes && !is_saved) {
        std::fprintf(stderr, "usage: event_checksums FILE [--saved|--write]\n");
        return 2;
    }
    const std::string computed = lines(is_saved);
    if (writes) {
        std::ofstream file(argv[1]);
        file << computed;
        return file.flush() ? 0 : 1;
    }
    std::ifstream file(argv[1]);
    const std::string committed{std::istreambuf_iterator<char>(file), {}};
    if (computed == committed) {
        std::printf("%llu seeds, %d commands each: the event bytes are the committed ones\n",
                    static_cast<unsigned long long>(seeds_count), commands_per_seed);
        return 0;
    }
    std::printf(
        "the event bytes are not the committed ones; if a rule was meant to change, write them again with\n"
        "  event_checksums %s --write\nnow:\n%s",
        argv[1], computed.c_str());
    return 1;
}
