// SPDX-License-Identifier: Apache-2.0
#include "api/row_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "api/arrow_stream.hpp"
#include "api/json_value.hpp"

namespace corro::api {
namespace {

row_table sample() {
    row_table t;
    t.columns = {{"n", column_type::integer},
                 {"price", column_type::decimal},
                 {"at", column_type::time},
                 {"word", column_type::text},
                 {"is", column_type::boolean}};
    const auto add = [&t](std::int64_t n, std::int64_t price, std::int64_t at, std::string_view word, std::int64_t is) {
        t.columns[0].add(n);
        t.columns[1].add(price);
        t.columns[2].add(at);
        t.columns[3].add(word);
        t.columns[4].add(is);
    };
    add(1, 5'998'750'000'000, 1'767'605'430'500'000'000, "buy", 1);
    add(-9'007'199'254'740'993, -250'000'000, 0, "a \"b\", c\n", 0);
    add(no_number, no_number, no_number, "", no_number);
    return t;
}

TEST(row_table, is_json_with_exact_numbers) {
    const std::string text = json_of(sample());
    EXPECT_EQ(text, R"([{"n":1,"price":5998.75,"at":"2026-01-05T09:30:30.500000000Z","word":"buy","is":true},)"
                    R"({"n":-9007199254740993,"price":-0.25,"at":"1970-01-01T00:00:00.000000000Z",)"
                    R"("word":"a \"b\", c\n","is":false},)"
                    R"({"n":null,"price":null,"at":null,"word":"","is":null}])");
    EXPECT_TRUE(parse_json(text).has_value());
    EXPECT_EQ(json_of(row_table()), "[]");
}

TEST(row_table, is_csv_with_quotes_where_they_are_needed) {
    EXPECT_EQ(csv_of(sample()),
              "n,price,at,word,is\n1,5998.75,2026-01-05T09:30:30.500000000Z,buy,true\n"
              "-9007199254740993,-0.25,1970-01-01T00:00:00.000000000Z,\"a \"\"b\"\", c\n\",false\n,,,,\n");
}

/// Reads an Arrow stream as a reader of FlatBuffers does: by tables of places, nothing by position.
class flat_reader {
 public:
    explicit flat_reader(std::string_view bytes) : bytes_(bytes) {}
    template <class Number>
    [[nodiscard]] Number at(std::size_t place) const {
        Number value{};
        EXPECT_LE(place + sizeof(value), bytes_.size());
        EXPECT_EQ(place % sizeof(value), 0U) << "not aligned";
        if (place + sizeof(value) <= bytes_.size()) std::memcpy(&value, bytes_.data() + place, sizeof(value));
        return value;
    }
    [[nodiscard]] std::size_t follow(std::size_t place) const { return place + at<std::uint32_t>(place); }
    /// The place of a table's field; 0 if it is absent.
    [[nodiscard]] std::size_t field(std::size_t table, std::size_t slot) const {
        const auto places = static_cast<std::size_t>(static_cast<std::int64_t>(table) - at<std::int32_t>(table));
        if (4 + 2 * slot >= at<std::uint16_t>(places)) return 0;
        const std::uint16_t offset = at<std::uint16_t>(places + 4 + 2 * slot);
        EXPECT_LT(offset, at<std::uint16_t>(places + 2)) << "outside the table";
        return offset == 0 ? 0 : table + offset;
    }
    [[nodiscard]] std::string text(std::size_t place) const {
        const std::size_t begin = follow(place);
        return std::string(bytes_.substr(begin + 4, at<std::uint32_t>(begin)));
    }

 private:
    std::string_view bytes_;
};

/// Takes a message off the front of a stream. @return Its metadata; empty at the end of the stream.
std::string_view take_message(std::string_view& stream) {
    std::uint32_t mark = 0;
    std::uint32_t size = 0;
    EXPECT_GE(stream.size(), 8U);
    std::memcpy(&mark, stream.data(), 4);
    std::memcpy(&size, stream.data() + 4, 4);
    EXPECT_EQ(mark, 0xFFFFFFFFU);
    EXPECT_EQ(size % 8, 0U);
    const std::string_view metadata = stream.substr(8, size);
    stream.remove_prefix(8 + size);
    return metadata;
}

TEST(arrow_stream, has_a_schema_with_the_types_of_the_columns) {
    const std::string stream = arrow_of(sample());
    std::string_view rest = stream;
    const flat_reader schema(take_message(rest));
    const std::size_t message = schema.follow(0);
    EXPECT_EQ(schema.at<std::int16_t>(schema.field(message, 0)), 4) << "version 5 of the metadata";
    EXPECT_EQ(schema.at<std::uint8_t>(schema.field(message, 1)), 1);
    EXPECT_EQ(schema.at<std::int64_t>(schema.field(message, 3)), 0);
    const std::size_t header = schema.follow(schema.field(message, 2));
    EXPECT_EQ(schema.field(header, 0), 0U) << "little endian";
    const std::size_t fields = schema.follow(schema.field(header, 1));
    ASSERT_EQ(schema.at<std::uint32_t>(fields), 5U);
    const std::array<std::string_view, 5> names{"n", "price", "at", "word", "is"};
    const std::array<int, 5> types{2, 7, 10, 5, 6};
    for (std::size_t k = 0; k < 5; ++k) {
        const std::size_t field = schema.follow(fields + 4 + 4 * k);
        EXPECT_EQ(schema.text(schema.field(field, 0)), names[k]);
        EXPECT_EQ(schema.at<std::uint8_t>(schema.field(field, 1)), 1) << "may be null";
        EXPECT_EQ(schema.at<std::uint8_t>(schema.field(field, 2)), types[k]);
        EXPECT_EQ(schema.at<std::uint32_t>(schema.follow(schema.field(field, 5))), 0U) << "no children";
        const std::size_t type = schema.follow(schema.field(field, 3));
        if (k == 0) {
            EXPECT_EQ(schema.at<std::int32_t>(schema.field(type, 0)), 64);
            EXPECT_EQ(schema.at<std::uint8_t>(schema.field(type, 1)), 1);
        }
        if (k == 1) {
            EXPECT_EQ(schema.at<std::int32_t>(schema.field(type, 0)), 28);
            EXPECT_EQ(schema.at<std::int32_t>(schema.field(type, 1)), 9);
            EXPECT_EQ(schema.at<std::int32_t>(schema.field(type, 2)), 128);
        }
        if (k == 2) {
            EXPECT_EQ(schema.at<std::int16_t>(schema.field(type, 0)), 3);
            EXPECT_EQ(schema.text(schema.field(type, 1)), "UTC");
        }
    }
}

TEST(arrow_stream, has_the_rows_in_buffers) {
    const std::string stream = arrow_of(sample());
    std::string_view rest = stream;
    take_message(rest);
    const flat_reader batch(take_message(rest));
    const std::size_t message = batch.follow(0);
    EXPECT_EQ(batch.at<std::uint8_t>(batch.field(message, 1)), 3);
    const auto body_bytes = static_cast<std::size_t>(batch.at<std::int64_t>(batch.field(message, 3)));
    const std::string_view body = rest.substr(0, body_bytes);
    rest.remove_prefix(body_bytes);
    EXPECT_TRUE(take_message(rest).empty());
    EXPECT_TRUE(rest.empty());
    const std::size_t header = batch.follow(batch.field(message, 2));
    EXPECT_EQ(batch.at<std::int64_t>(batch.field(header, 0)), 3);
    const std::size_t nodes = batch.follow(batch.field(header, 1));
    ASSERT_EQ(batch.at<std::uint32_t>(nodes), 5U);
    const std::array<std::int64_t, 5> nulls{1, 1, 1, 0, 1};
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(batch.at<std::int64_t>(nodes + 4 + 16 * k), 3);
        EXPECT_EQ(batch.at<std::int64_t>(nodes + 12 + 16 * k), nulls[k]);
    }
    const std::size_t buffers = batch.follow(batch.field(header, 2));
    ASSERT_EQ(batch.at<std::uint32_t>(buffers), 11U);
    std::vector<std::string_view> parts;
    for (std::size_t k = 0; k < 11; ++k) {
        const auto offset = static_cast<std::size_t>(batch.at<std::int64_t>(buffers + 4 + 16 * k));
        const auto length = static_cast<std::size_t>(batch.at<std::int64_t>(buffers + 12 + 16 * k));
        EXPECT_EQ(offset % 8, 0U);
        ASSERT_LE(offset + length, body.size());
        parts.push_back(body.substr(offset, length));
    }
    EXPECT_EQ(parts[0], "\3") << "the third is null";
    EXPECT_EQ(parts[1].size(), 24U);
    EXPECT_EQ(flat_reader(parts[1]).at<std::int64_t>(8), -9'007'199'254'740'993);
    EXPECT_EQ(flat_reader(parts[3]).at<std::int64_t>(16), -250'000'000);
    EXPECT_EQ(flat_reader(parts[3]).at<std::int64_t>(24), -1) << "the sign of 128 bits";
    EXPECT_EQ(flat_reader(parts[5]).at<std::int64_t>(0), 1'767'605'430'500'000'000);
    EXPECT_EQ(parts[6].size(), 0U) << "no text is null";
    EXPECT_EQ(parts[7].size(), 16U);
    EXPECT_EQ(flat_reader(parts[7]).at<std::int32_t>(4), 3);
    EXPECT_EQ(parts[8], "buya \"b\", c\n");
    EXPECT_EQ(parts[10], "\1");
}

TEST(arrow_stream, of_no_rows_is_whole_too) {
    row_table t;
    t.columns = {{"word", column_type::text}};
    const std::string stream = arrow_of(t);
    std::string_view rest = stream;
    take_message(rest);
    const flat_reader batch(take_message(rest));
    const auto body_bytes = static_cast<std::size_t>(batch.at<std::int64_t>(batch.field(batch.follow(0), 3)));
    EXPECT_EQ(body_bytes, 8U) << "one offset";
    rest.remove_prefix(body_bytes);
    EXPECT_TRUE(take_message(rest).empty());
}

}  // namespace
}  // namespace corro::api
