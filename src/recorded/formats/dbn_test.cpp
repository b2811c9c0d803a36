// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/dbn.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "recorded/formats/dbn_fixture.hpp"
#include "recorded/formats/drain_fixture.hpp"
#include "wire/errors.hpp"

namespace corro::recorded::dbn {
namespace {

/// The error that ends reading `bytes`; an empty one when the file is sound.
read_error error_of(std::span<const std::byte> bytes) {
    decoder d;
    return drain(d, bytes, [](const record&) {}).value_or(read_error{});
}

class every_version : public testing::TestWithParam<int> {
 protected:
    [[nodiscard]] static std::uint8_t version() { return static_cast<std::uint8_t>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(dbn, every_version, testing::Values(1, 2, 3),
                         [](const auto& instance) { return "version_" + std::to_string(instance.param); });

TEST_P(every_version, reads_the_head_of_a_file) {
    const auto file = head(version(), true);
    decoder d;
    EXPECT_EQ(d.metadata(), nullptr);
    ASSERT_FALSE(drain(d, file.bytes, [](const record&) { FAIL() << "there is no record"; }));
    const file_metadata& m = *d.metadata();
    EXPECT_EQ(m.version, version());
    EXPECT_EQ(m.dataset, "GLBX.MDP3");
    EXPECT_EQ(m.schema, 0);
    EXPECT_EQ(m.start_ns, 1'000u);
    EXPECT_EQ(m.end_ns, 2'000u);
    EXPECT_EQ(m.limit, 77u);
    EXPECT_EQ(m.symbol_type_in, 1);
    EXPECT_EQ(m.symbol_type_out, 0);
    EXPECT_TRUE(m.has_send_time);
    EXPECT_EQ(m.symbol_bytes, symbol_width(version()));
    ASSERT_EQ(m.symbols.size(), 2u);
    EXPECT_EQ(m.symbols[0], "ESH4");
    EXPECT_EQ(m.symbols[1], "ESM4");
    ASSERT_EQ(m.partial.size(), 1u);
    EXPECT_EQ(m.partial[0], "ESM4");
    EXPECT_EQ(m.not_found.size(), 0u);
    ASSERT_EQ(m.mappings.size(), 1u);
    const symbol_mapping mapping = *m.mappings.begin();
    EXPECT_EQ(mapping.raw_symbol(), "ES.c.0");
    ASSERT_EQ(mapping.intervals_count(), 2u);
    EXPECT_EQ(mapping.interval(0).first_day, 20231215u);
    EXPECT_EQ(mapping.interval(0).end_day, 20240315u);
    EXPECT_EQ(mapping.interval(0).symbol, "17077");
    EXPECT_EQ(mapping.interval(1).symbol, "5602");
}

TEST_P(every_version, reads_the_orders_that_were_written) {
    for (const bool send_time : {false, true}) {
        auto file = head(version(), send_time);
        std::vector<market_by_order> written;
        for (const char act : {'A', 'C', 'M', 'R', 'T', 'F', 'N'}) {
            market_by_order m = sample_order(written.size() + 1);
            m.action = static_cast<action>(act);
            m.side = written.size() % 2 == 0 ? side::ask : side::none;
            written.push_back(m);
            put_market_by_order(file, m, send_time);
        }
        std::vector<market_by_order> read;
        decoder d;
        ASSERT_FALSE(drain(d, file.bytes, [&](const record& r) { read.push_back(r.as_market_by_order()); }));
        EXPECT_EQ(read, written);
        EXPECT_EQ(d.skipped_count(), 0u);
    }
}

TEST_P(every_version, reads_each_field_of_a_definition_from_its_own_place) {
    auto file = head(version());
    put_definition(file, version());
    int count = 0;
    decoder d;
    const auto error = drain(d, file.bytes, [&](const record& r) {
        ++count;
        ASSERT_EQ(r.type, record_type::instrument_definition);
        const instrument_definition i = r.as_instrument_definition();
        EXPECT_EQ(i.header, (record_header{1, 42, domain::time_ns{5'000}}));
        EXPECT_EQ(i.received_at, domain::time_ns{5'001});
        EXPECT_EQ(i.raw_symbol, "ESH4-ESM4");
        EXPECT_EQ(i.instrument_class, instrument_class::future_spread);
        EXPECT_EQ(i.update_action, 'M');
        EXPECT_EQ(i.min_price_increment, domain::price_nano{250'000'000});
        EXPECT_EQ(i.display_factor_nano, 10'000'000);
        EXPECT_EQ(i.expiration, no_time);
        EXPECT_EQ(i.activation, domain::time_ns{5'003});
        EXPECT_EQ(i.high_limit_price, domain::price_nano{101});
        EXPECT_EQ(i.low_limit_price, domain::price_nano{-102});
        EXPECT_EQ(i.strike_price, domain::price_nano{108});
        EXPECT_EQ(i.strike_price_currency, "CHF");
        EXPECT_EQ(i.asset, "ES");
        EXPECT_EQ(i.exchange, "XCME");
        EXPECT_EQ(i.group, "ES");
        EXPECT_EQ(i.security_type, "FUT");
        EXPECT_EQ(i.security_subtype, "EQ");
        EXPECT_EQ(i.cfi, "FMIXSX");
        EXPECT_EQ(i.currency, "USD");
        EXPECT_EQ(i.underlying, "ESM4");
        EXPECT_EQ(i.underlying_id, 202u);
        EXPECT_EQ(i.raw_instrument_id, 109u);
        EXPECT_EQ(i.unit_of_measure_quantity_nano, 105);
        EXPECT_EQ(i.unit_of_measure, "IPNT");
        EXPECT_EQ(i.contract_multiplier, 211);
        EXPECT_EQ(i.original_contract_size, 213);
        EXPECT_EQ(i.max_trade_volume, 206u);
        EXPECT_EQ(i.min_lot_size, 207);
        EXPECT_EQ(i.min_lot_size_round_lot, 209);
        EXPECT_EQ(i.min_trade_volume, 210u);
        EXPECT_EQ(i.maturity_year, 2'024);
        EXPECT_EQ(i.maturity_month, 6);
        EXPECT_EQ(i.channel_id, 304);
        EXPECT_EQ(i.match_algorithm, 'F');
        EXPECT_TRUE(i.user_defined);
        if (version() < 3) {
            EXPECT_EQ(i.leg.count, 0);
            return;
        }
        EXPECT_EQ(i.leg.count, 4);
        EXPECT_EQ(i.leg.index, 2);
        EXPECT_EQ(i.leg.instrument_id, 214u);
        EXPECT_EQ(i.leg.underlying_id, 219u);
        EXPECT_EQ(i.leg.raw_symbol, "ESH4");
        EXPECT_EQ(i.leg.instrument_class, instrument_class::future);
        EXPECT_EQ(i.leg.side, side::bid);
        EXPECT_EQ(i.leg.price, domain::price_nano{110});
        EXPECT_EQ(i.leg.delta_nano, 111);
        EXPECT_EQ(i.leg.price_ratio_numerator, 215);
        EXPECT_EQ(i.leg.price_ratio_denominator, 216);
        EXPECT_EQ(i.leg.quantity_ratio_numerator, 217);
        EXPECT_EQ(i.leg.quantity_ratio_denominator, 218);
    });
    ASSERT_FALSE(error);
    EXPECT_EQ(count, 1);
}

TEST_P(every_version, refuses_a_definition_of_another_version) {
    for (std::uint8_t other = 1; other <= version_max; ++other) {
        auto file = head(version());
        const std::size_t offset = file.bytes.size();
        put_definition(file, other);
        if (other == version()) {
            EXPECT_FALSE(error_of(file.bytes).code);
        } else {
            EXPECT_EQ(error_of(file.bytes), (read_error{.code = wire::wire_errc::malformed_length, .offset = offset}));
        }
    }
}

TEST_P(every_version, names_the_record_in_which_the_file_ends) {
    auto file = head(version());
    const std::size_t first = file.bytes.size();
    put_market_by_order(file, sample_order(1));
    const std::size_t second = file.bytes.size();
    put_market_by_order(file, sample_order(2));
    for (std::size_t size = 0; size < file.bytes.size(); ++size) {
        const std::size_t begins = size < first ? 0 : size < second ? first : second;
        const read_error error = error_of(std::span{file.bytes}.first(size));
        if (size == first || size == second) {
            EXPECT_FALSE(error.code) << size;
        } else {
            EXPECT_EQ(error, (read_error{.code = wire::wire_errc::truncated, .offset = begins})) << size;
        }
    }
}

TEST_P(every_version, steps_over_records_of_other_types) {
    auto file = head(version());
    put_header(file, 16, 0x17, 1, 1);
    put_market_by_order(file, sample_order(1));
    put_header(file, 1'020, 0xEE, 1, 1);
    file.zeros(1'020 - 16);
    put_market_by_order(file, sample_order(2));
    std::vector<std::uint64_t> ids;
    decoder d;
    ASSERT_FALSE(drain(d, file.bytes, [&](const record& r) { ids.push_back(r.as_market_by_order().order_id); }));
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(d.skipped_count(), 2u);
}

TEST_P(every_version, says_which_field_of_an_order_is_wrong) {
    auto file = head(version());
    const std::size_t at = file.bytes.size();
    put_market_by_order(file, sample_order(1));
    const auto with = [&](std::size_t offset, std::uint8_t value) {
        auto bytes = file.bytes;
        bytes[at + offset] = std::byte{value};
        return error_of(bytes);
    };
    EXPECT_EQ(with(0, 3), (read_error{.code = wire::wire_errc::malformed_length, .offset = at}));
    EXPECT_EQ(with(0, 0), (read_error{.code = wire::wire_errc::malformed_length, .offset = at}));
    EXPECT_EQ(with(0, 13), (read_error{.code = wire::wire_errc::malformed_length, .offset = at}));
    EXPECT_EQ(with(38, 'X'), (read_error{.code = wire::wire_errc::malformed_field, .offset = at + 38}));
    EXPECT_EQ(with(39, 'S'), (read_error{.code = wire::wire_errc::malformed_field, .offset = at + 39}));
    EXPECT_EQ(with(15, 0x80), (read_error{.code = wire::wire_errc::out_of_range, .offset = at + 8}));
    EXPECT_EQ(with(47, 0xFF), (read_error{.code = wire::wire_errc::out_of_range, .offset = at + 40}));
    EXPECT_FALSE(with(36, 0xFF).code);
}

TEST_P(every_version, refuses_text_that_cannot_be_shown) {
    auto file = head(version());
    const std::size_t at = file.bytes.size();
    put_definition(file, version());
    const std::size_t symbol = version() == 3 ? 238 : 200;
    file.bytes[at + symbol + 1] = std::byte{0x1B};
    EXPECT_EQ(error_of(file.bytes), (read_error{.code = wire::wire_errc::malformed_field, .offset = at + symbol}));
}

TEST_P(every_version, refuses_a_head_whose_lists_do_not_fit) {
    const auto file = head(version());
    const std::size_t width = symbol_width(version());
    const std::size_t partial = 112 + 4 + 2 * width;
    const std::size_t mappings = partial + 4 + width + 4;
    const std::size_t intervals = mappings + 4 + width;
    for (const std::size_t count_at : {std::size_t{112}, partial, mappings, intervals}) {
        for (const std::uint32_t count : {1'000U, UINT32_MAX}) {
            auto bytes = file;
            bytes.patch(count_at, count);
            EXPECT_EQ(error_of(bytes.bytes),
                      (read_error{.code = wire::wire_errc::malformed_length, .offset = count_at}));
        }
    }
    auto wrong_day = file;
    wrong_day.patch(intervals + 4, 20231315);
    EXPECT_EQ(error_of(wrong_day.bytes),
              (read_error{.code = wire::wire_errc::malformed_field, .offset = intervals + 4}));
    auto wrong_flag = file;
    wrong_flag.bytes[version() == 1 ? 60 : 52] = std::byte{2};
    EXPECT_EQ(error_of(wrong_flag.bytes).code, wire::wire_errc::malformed_field);
    auto schema_definition = file;
    schema_definition.patch(108, 4);
    EXPECT_EQ(error_of(schema_definition.bytes).offset, 108u);
}

TEST_P(every_version, refuses_bytes_left_over_in_the_head) {
    auto file = head(version());
    const std::size_t end = file.bytes.size();
    file.zeros(8);
    file.patch(4, static_cast<std::uint32_t>(file.bytes.size() - 8));
    EXPECT_EQ(error_of(file.bytes).code, wire::wire_errc::malformed_length);
    EXPECT_LE(error_of(file.bytes).offset, end);
}

TEST(dbn, refuses_files_of_another_kind) {
    writer foreign;
    foreign.text("PK\x03\x04 a zip archive", 64);
    EXPECT_EQ(error_of(foreign.bytes), (read_error{.code = wire::wire_errc::foreign_format, .offset = 0}));
    auto newer = head(3);
    newer.bytes[3] = std::byte{4};
    EXPECT_EQ(error_of(newer.bytes), (read_error{.code = wire::wire_errc::unsupported_version, .offset = 3}));
    newer.bytes[3] = std::byte{0};
    EXPECT_EQ(error_of(newer.bytes).code, wire::wire_errc::unsupported_version);
    auto huge = head(3);
    huge.patch(4, UINT32_MAX);
    EXPECT_EQ(error_of(huge.bytes), (read_error{.code = wire::wire_errc::too_large, .offset = 4}));
    auto small = head(3);
    small.patch(4, 103);
    EXPECT_EQ(error_of(small.bytes), (read_error{.code = wire::wire_errc::malformed_length, .offset = 4}));
    EXPECT_EQ(error_of({}), (read_error{.code = wire::wire_errc::truncated, .offset = 0}));
}

TEST(dbn, says_that_there_is_no_price_or_time) {
    auto file = head(2);
    market_by_order m = sample_order(1);
    m.price = domain::no_price_nano;
    m.received_at = no_time;
    m.action = action::clear;
    put_market_by_order(file, m);
    decoder d;
    ASSERT_FALSE(drain(d, file.bytes, [&](const record& r) { EXPECT_EQ(r.as_market_by_order(), m); }));
}

TEST(dbn, keeps_the_head_when_the_decoder_moves) {
    const auto file = head(3);
    decoder d;
    ASSERT_FALSE(drain(d, file.bytes, [](const record&) {}));
    const decoder moved = std::move(d);
    EXPECT_EQ(moved.metadata()->dataset, "GLBX.MDP3");
    EXPECT_EQ(moved.metadata()->symbols[1], "ESM4");
}

TEST(read_error, tells_people_where_and_why) {
    EXPECT_EQ(to_string({.code = wire::wire_errc::truncated, .offset = 17}), "byte 17: the input ends too early");
    EXPECT_EQ(to_string({.code = wire::wire_errc::truncated, .offset = 17, .line = 2, .column = 5}),
              "line 2, column 5 (byte 17): the input ends too early");
}

}  // namespace
}  // namespace corro::recorded::dbn
