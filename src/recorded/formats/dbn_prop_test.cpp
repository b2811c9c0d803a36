// SPDX-License-Identifier: Apache-2.0
// Laws of the DBN decoder: it reads what was written, independent of the pieces.
#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.hpp"
#include "recorded/formats/dbn.hpp"
#include "recorded/formats/dbn_fixture.hpp"
#include "recorded/formats/drain_fixture.hpp"

namespace corro::recorded::dbn {
namespace {

struct seen {
    std::vector<std::vector<std::byte>> records;
    std::vector<std::uint64_t> offsets;
    std::optional<read_error> error;
    std::uint64_t skipped_count = 0;
    friend bool operator==(const seen&, const seen&) = default;
};

template <class NextSize>
seen read(std::span<const std::byte> bytes, NextSize next_size) {
    seen result;
    decoder d;
    result.error = drain(d, bytes, next_size, [&](const record& r) {
        result.records.emplace_back(r.bytes.begin(), r.bytes.end());
        result.offsets.push_back(r.offset);
    });
    result.skipped_count = d.skipped_count();
    return result;
}

market_by_order random_order(std::mt19937_64& random) {
    market_by_order m = sample_order(1);
    m.order_id = random();
    m.header.instrument_id = static_cast<std::uint32_t>(random());
    m.price = domain::price_nano{static_cast<std::int64_t>(random()) / 2};
    m.size = static_cast<std::uint32_t>(random());
    m.flags = static_cast<std::uint8_t>(random());
    m.action = static_cast<action>("ACMRTFN"[random() % 7]);
    m.side = static_cast<side>("ABN"[random() % 3]);
    m.received_after_sent_ns = static_cast<std::int32_t>(random());
    m.header.event_at = domain::time_ns{static_cast<std::int64_t>(random() >> 1)};
    return m;
}

TEST(dbn_laws, reading_what_was_written_gives_it_back) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 50; ++round) {
        const auto version = static_cast<std::uint8_t>(1 + random() % 3);
        const bool send_time = random() % 2 == 0;
        auto file = head(version, send_time);
        std::vector<market_by_order> written;
        for (std::size_t i = random() % 200; i != 0; --i) {
            written.push_back(random_order(random));
            put_market_by_order(file, written.back(), send_time);
        }
        std::vector<market_by_order> read_back;
        decoder d;
        ASSERT_FALSE(drain(d, file.bytes, [&](const record& r) { read_back.push_back(r.as_market_by_order()); }));
        ASSERT_EQ(read_back, written);
    }
}

TEST(dbn_laws, any_cut_of_the_input_gives_the_same_records) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 60; ++round) {
        const auto version = static_cast<std::uint8_t>(1 + random() % 3);
        auto file = head(version);
        for (std::size_t i = random() % 40; i != 0; --i) {
            switch (random() % 4) {
                case 0: put_definition(file, version); break;
                case 1:
                    put_header(file, 32, 0x17, 1, 1);
                    file.zeros(16);
                    break;
                default: put_market_by_order(file, random_order(random));
            }
        }
        // Half of the files are damaged: the error must be the same too.
        if (random() % 2 == 0) file.bytes[random() % file.bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
        if (random() % 4 == 0) file.bytes.resize(random() % file.bytes.size());

        const seen whole = read(file.bytes, [&] { return file.bytes.size(); });
        EXPECT_EQ(read(file.bytes, [] { return 1; }), whole) << "round " << round;
        EXPECT_EQ(read(file.bytes, [&] { return 1 + random() % 7; }), whole) << "round " << round;
        EXPECT_EQ(read(file.bytes, [&] { return 1 + random() % 500; }), whole) << "round " << round;
    }
}

}  // namespace
}  // namespace corro::recorded::dbn
