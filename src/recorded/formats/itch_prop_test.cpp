// SPDX-License-Identifier: Apache-2.0
// Laws of the ITCH decoder: it reads what was written, independent of the pieces.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/test_seed.hpp"
#include "recorded/formats/drain_fixture.hpp"
#include "recorded/formats/itch.hpp"
#include "recorded/formats/itch_fixture.hpp"

namespace corro::recorded::itch {
namespace {

void put_random(writer& file, std::mt19937_64& random) {
    switch (random() % 15) {
        case 0: file.put_system_event("OSQMEC"[random() % 6]); break;
        case 1: file.put_stock_directory(); break;
        case 2: file.put_trading_action("HPQT"[random() % 4]); break;
        case 3: file.put_add_order_attributed(random()); break;
        case 4: file.put_order_executed(random(), static_cast<std::uint32_t>(random())); break;
        case 5: file.put_order_executed_with_price(random(), random() % 2 == 0 ? 'Y' : 'N'); break;
        case 6: file.put_order_cancel(random(), static_cast<std::uint32_t>(random())); break;
        case 7: file.put_order_delete(random()); break;
        case 8: file.put_order_replace(random(), random()); break;
        case 9: file.put_trade(); break;
        case 10: file.put_cross_trade(); break;
        case 11: file.put_broken_trade(); break;
        case 12: file.put_other('I', 50); break;
        case 13: file.put_other('z', 11 + random() % 300); break;
        default:
            file.put_add_order(random(), random() % 2 == 0 ? 'B' : 'S', static_cast<std::uint32_t>(random()),
                               static_cast<std::uint32_t>(random()));
    }
}

struct seen {
    std::vector<std::vector<std::byte>> messages;
    std::vector<std::uint64_t> offsets;
    std::optional<read_error> error;
    std::uint64_t skipped_count = 0;
    std::uint64_t unknown_count = 0;
    bool session_ended = false;
    friend bool operator==(const seen&, const seen&) = default;
};

template <class NextSize>
seen read(std::span<const std::byte> bytes, NextSize next_size) {
    seen result;
    decoder d;
    result.error = drain(d, bytes, next_size, [&](const message& m) {
        result.messages.emplace_back(m.bytes.begin(), m.bytes.end());
        result.offsets.push_back(m.offset);
    });
    result.skipped_count = d.skipped_count();
    result.unknown_count = d.unknown_count();
    result.session_ended = d.session_ended();
    return result;
}

TEST(itch_laws, reading_what_was_written_gives_it_back) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 100; ++round) {
        writer file;
        std::vector<add_order> written;
        for (std::size_t i = random() % 50; i != 0; --i) {
            add_order a;
            a.order_reference = random();
            a.side = random() % 2 == 0 ? domain::side::buy : domain::side::sell;
            a.shares = static_cast<std::uint32_t>(random());
            const auto raw_price = static_cast<std::uint32_t>(random());
            a.price = domain::price_nano{std::int64_t{raw_price} * 100'000};
            file.put_add_order(a.order_reference, a.side == domain::side::buy ? 'B' : 'S', a.shares, raw_price);
            written.push_back(a);
        }
        std::size_t count = 0;
        decoder d;
        const auto error = drain(d, file.bytes, [&](const message& m) {
            const add_order read = m.as_add_order();
            ASSERT_LT(count, written.size());
            ASSERT_EQ(read.order_reference, written[count].order_reference);
            ASSERT_EQ(read.side, written[count].side);
            ASSERT_EQ(read.shares, written[count].shares);
            ASSERT_EQ(read.price, written[count].price);
            ++count;
        });
        ASSERT_FALSE(error) << to_string(*error);
        ASSERT_EQ(count, written.size());
    }
}

TEST(itch_laws, any_cut_of_the_input_gives_the_same_messages) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 100; ++round) {
        writer file;
        file.put_system_event('O');
        for (std::size_t i = random() % 40; i != 0; --i) put_random(file, random);
        if (random() % 2 == 0) file.end_session();
        // Half of the files are damaged: the error must be the same too.
        if (random() % 2 == 0) file.bytes[random() % file.bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
        if (random() % 4 == 0) file.bytes.resize(random() % file.bytes.size());

        const seen whole = read(file.bytes, [&] { return file.bytes.size(); });
        EXPECT_EQ(read(file.bytes, [] { return 1; }), whole) << "round " << round;
        EXPECT_EQ(read(file.bytes, [&] { return 1 + random() % 7; }), whole) << "round " << round;
        EXPECT_EQ(read(file.bytes, [&] { return 1 + random() % 200; }), whole) << "round " << round;
    }
}

}  // namespace
}  // namespace corro::recorded::itch
