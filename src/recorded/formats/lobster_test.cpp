// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/lobster.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_bytes.hpp"
#include "recorded/formats/drain_fixture.hpp"
#include "wire/errors.hpp"

namespace corro::recorded::lobster {
namespace {

constexpr std::int64_t second = 1'000'000'000;

struct messages {
    std::vector<message> read;
    read_error error;
};

messages read_messages(const std::string& text) {
    messages result;
    message_decoder decoder;
    result.error = drain(decoder, base::bytes_of(text), [&](const message& m) {
                       result.read.push_back(m);
                   }).value_or(read_error{});
    return result;
}

struct books {
    std::vector<std::vector<level>> read;
    std::vector<std::uint64_t> lines;
    read_error error;
};

books read_books(const std::string& text) {
    books result;
    book_decoder decoder;
    result.error = drain(decoder, base::bytes_of(text), [&](const book& b) {
                       result.read.emplace_back(b.levels.begin(), b.levels.end());
                       result.lines.push_back(b.line);
                   }).value_or(read_error{});
    return result;
}

domain::price_nano dollars(std::int64_t whole, std::int64_t nano = 0) {
    return domain::price_nano{whole * second + nano};
}

TEST(lobster_messages, reads_every_type_of_event) {
    const messages m = read_messages(
        "34713.685155243,1,206833312,100,118600,-1\n"
        "34714.133632201,2,206833312,20,118600,-1\n"
        "34714.133632202,3,206833312,80,118600,-1\n"
        "34714.5,4,7,1,1,1\n"
        "34714.5,5,0,3,2238200,1\n"
        "34714.5,6,0,0,0,1\n"
        "34714.5,7,0,0,-1,-1\n"
        "34714.5,7,0,0,0,-1\n"
        "34715,7,0,0,1,-1\n");
    ASSERT_FALSE(m.error.code) << to_string(m.error);
    ASSERT_EQ(m.read.size(), 9u);
    EXPECT_EQ(m.read[0], (message{.line = 1,
                                  .since_midnight_ns = 34'713'685'155'243,
                                  .type = event_type::new_order,
                                  .order_id = 206'833'312,
                                  .size = 100,
                                  .price = dollars(11, 860'000'000),
                                  .side = domain::side::sell}));
    EXPECT_EQ(m.read[1].type, event_type::partial_cancel);
    EXPECT_EQ(m.read[2].since_midnight_ns, 34'714'133'632'202);
    EXPECT_EQ(m.read[3].price, domain::price_nano{100'000});
    EXPECT_EQ(m.read[3].side, domain::side::buy);
    EXPECT_EQ(m.read[4].type, event_type::hidden_execution);
    EXPECT_EQ(m.read[5].type, event_type::cross_trade);
    EXPECT_EQ(m.read[6].halt, halt_state::halted);
    EXPECT_EQ(m.read[6].price, domain::no_price_nano);
    EXPECT_EQ(m.read[7].halt, halt_state::quoting_resumes);
    EXPECT_EQ(m.read[8].halt, halt_state::trading_resumes);
    EXPECT_EQ(m.read[8].line, 9u);
}

TEST(lobster_messages, reads_time_to_the_nanosecond) {
    const auto time_of = [](const std::string& time) {
        const messages m = read_messages(time + ",1,1,1,1,1");
        return m.read.empty() ? -1 : m.read[0].since_midnight_ns;
    };
    EXPECT_EQ(time_of("0"), 0);
    EXPECT_EQ(time_of("34200"), 34'200 * second);
    EXPECT_EQ(time_of("34200.1"), 34'200 * second + 100'000'000);
    EXPECT_EQ(time_of("34200.01746"), 34'200 * second + 17'460'000);
    EXPECT_EQ(time_of("34200.017459617"), 34'200 * second + 17'459'617);
    EXPECT_EQ(time_of("86399.999999999"), 86'400 * second - 1);
    EXPECT_EQ(time_of("34200.123456789000"), 34'200 * second + 123'456'789);
    for (const char* const wrong :
         {"", ".", ".5", "1.", "1.2.3", "1.2345678901", "-1", "+1", " 1", "1e5", "0x10", "1.5 "}) {
        EXPECT_EQ(read_messages(std::string{wrong} + ",1,1,1,1,1").error.code, wire::wire_errc::malformed_field)
            << wrong;
    }
    EXPECT_EQ(read_messages("86400,1,1,1,1,1").error.code, wire::wire_errc::out_of_range);
    EXPECT_EQ(read_messages("99999999999999999999999,1,1,1,1,1").error.code, wire::wire_errc::out_of_range);
}

TEST(lobster_messages, steps_over_a_row_of_names_and_takes_either_end_of_line) {
    const messages m = read_messages("Time,Type,OrderId,Size,Price,Direction\r\n1,1,2,3,4,1\r\n5,1,6,7,8,-1");
    ASSERT_FALSE(m.error.code) << to_string(m.error);
    ASSERT_EQ(m.read.size(), 2u);
    EXPECT_EQ(m.read[0].line, 2u);
    EXPECT_EQ(m.read[1].order_id, 6u);
    EXPECT_EQ(read_messages("1,1,2,3,4,1\nTime,Type\n").error.line, 2u);
}

TEST(lobster_messages, names_line_and_column_of_what_is_wrong) {
    const std::string good = "1,1,2,3,4,1\n";
    const auto error_of = [&](const std::string& line) { return read_messages(good + line + "\n" + good).error; };
    const auto at = [](wire::wire_errc code, std::uint32_t column) {
        return read_error{.code = code, .offset = 12 + column - 1, .line = 2, .column = column};
    };
    EXPECT_EQ(error_of("x,1,2,3,4,1"), at(wire::wire_errc::malformed_field, 1));
    EXPECT_EQ(error_of("1,0,2,3,4,1"), at(wire::wire_errc::malformed_field, 3));
    EXPECT_EQ(error_of("1,8,2,3,4,1"), at(wire::wire_errc::malformed_field, 3));
    EXPECT_EQ(error_of("1,1,,3,4,1"), at(wire::wire_errc::malformed_field, 5));
    EXPECT_EQ(error_of("1,1,-2,3,4,1"), at(wire::wire_errc::malformed_field, 5));
    EXPECT_EQ(error_of("1,1,18446744073709551616,3,4,1"), at(wire::wire_errc::out_of_range, 5));
    EXPECT_EQ(error_of("1,1,2,0,4,1"), at(wire::wire_errc::malformed_field, 7));
    EXPECT_EQ(error_of("1,1,2,4294967296,4,1"), at(wire::wire_errc::out_of_range, 7));
    EXPECT_EQ(error_of("1,1,2,3,0,1"), at(wire::wire_errc::malformed_field, 9));
    EXPECT_EQ(error_of("1,1,2,3,-4,1"), at(wire::wire_errc::malformed_field, 9));
    EXPECT_EQ(error_of("1,1,2,3,9999999999,1"), at(wire::wire_errc::out_of_range, 9));
    EXPECT_EQ(error_of("1,1,2,3,4.5,1"), at(wire::wire_errc::malformed_field, 9));
    EXPECT_EQ(error_of("1,7,0,0,2,1"), at(wire::wire_errc::malformed_field, 9));
    EXPECT_EQ(error_of("1,1,2,3,4,0"), at(wire::wire_errc::malformed_field, 11));
    EXPECT_EQ(error_of("1,1,2,3,4,\"1\""), at(wire::wire_errc::malformed_field, 11));
    EXPECT_EQ(error_of("1,1,2,3,4"), at(wire::wire_errc::malformed_length, 10));
    EXPECT_EQ(error_of("1,1,2,3,4,1,5"), at(wire::wire_errc::malformed_length, 13));
    EXPECT_EQ(error_of("1,1,2,3,4,1,"), at(wire::wire_errc::malformed_length, 13));
    EXPECT_EQ(error_of(""), at(wire::wire_errc::malformed_field, 1));
}

TEST(lobster_messages, gives_out_what_stands_before_a_fault) {
    const messages m = read_messages("1,1,2,3,4,1\n2,1,2,3,4,1\nrubbish");
    EXPECT_EQ(m.read.size(), 2u);
    EXPECT_EQ(m.error.line, 3u);
}

TEST(lobster_messages, limits_the_length_of_a_line) {
    std::string line = "1,1,2,3,4,1";
    line.insert(0, line_bytes_max - line.size(), '0');
    EXPECT_FALSE(read_messages(line + "\r\n").error.code);
    EXPECT_EQ(read_messages("0" + line).error,
              (read_error{.code = wire::wire_errc::too_large, .line = 1, .column = 1}));
    EXPECT_EQ(read_messages("1,1,2,3,4,1\n" + std::string(1'000'000, '1')).error,
              (read_error{.code = wire::wire_errc::too_large, .offset = 12, .line = 2, .column = 1}));
}

TEST(lobster_messages, an_empty_file_has_no_messages) {
    EXPECT_FALSE(read_messages("").error.code);
    EXPECT_TRUE(read_messages("").read.empty());
    EXPECT_TRUE(read_messages("Time,Type,OrderId,Size,Price,Direction\n").read.empty());
}

TEST(lobster_books, reads_levels_from_the_best_on) {
    const books b = read_books(
        "1186600,9484,118500,8800,1187000,22700,118400,14930\n"
        "1186600,9384,118500,8800,9999999999,0,-9999999999,0\n");
    ASSERT_FALSE(b.error.code) << to_string(b.error);
    ASSERT_EQ(b.read.size(), 2u);
    EXPECT_EQ(b.lines, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(b.read[0][0], (level{{dollars(118, 660'000'000), 9'484}, {dollars(11, 850'000'000), 8'800}}));
    EXPECT_EQ(b.read[0][1], (level{{dollars(118, 700'000'000), 22'700}, {dollars(11, 840'000'000), 14'930}}));
    EXPECT_EQ(b.read[1][0].ask.size, 9'384u);
    EXPECT_TRUE(b.read[1][1].ask.empty());
    EXPECT_TRUE(b.read[1][1].bid.empty());
}

TEST(lobster_books, steps_over_a_row_of_names) {
    const books b = read_books("BestAsk,BestAskVolume,BestBid,BestBidVolume\r\n2239500,100,2231800,100\r\n");
    ASSERT_FALSE(b.error.code) << to_string(b.error);
    ASSERT_EQ(b.read.size(), 1u);
    EXPECT_EQ(b.lines[0], 2u);
    EXPECT_EQ(b.read[0][0].ask.price, dollars(223, 950'000'000));
}

TEST(lobster_books, refuses_rows_that_are_no_book) {
    const auto error_of = [](const std::string& text) { return read_books(text).error; };
    EXPECT_EQ(error_of("1,1,2,3,4,1\n"),
              (read_error{.code = wire::wire_errc::malformed_length, .line = 1, .column = 1}));
    EXPECT_EQ(error_of("1,2,3,4\n1,2,3\n"),
              (read_error{.code = wire::wire_errc::malformed_length, .offset = 13, .line = 2, .column = 6}));
    EXPECT_EQ(error_of("1,2,3,4\n1,2,3,4,5,6,7,8\n"),
              (read_error{.code = wire::wire_errc::malformed_length, .offset = 16, .line = 2, .column = 9}));
    EXPECT_EQ(error_of("1,0,3,4\n").column, 3u);
    EXPECT_EQ(error_of("9999999999,5,3,4\n").code, wire::wire_errc::malformed_field);
    EXPECT_EQ(error_of("-9999999999,0,3,4\n").code, wire::wire_errc::out_of_range);
    EXPECT_EQ(error_of("1,2,9999999999,0\n").code, wire::wire_errc::out_of_range);
    EXPECT_EQ(error_of("1,2,3,x\n").column, 7u);
    EXPECT_EQ(error_of("1,18446744073709551616,3,4\n").code, wire::wire_errc::out_of_range);
}

TEST(lobster_books, limits_the_number_of_levels) {
    const auto row = [](std::size_t levels) {
        std::string text;
        for (std::size_t i = 0; i < levels; ++i) text += i == 0 ? "2,1,1,1" : ",2,1,1,1";
        return text;
    };
    EXPECT_EQ(read_books(row(levels_max)).read.at(0).size(), levels_max);
    EXPECT_EQ(read_books(row(levels_max + 1)).error.code, wire::wire_errc::too_large);
}

}  // namespace
}  // namespace corro::recorded::lobster
