// SPDX-License-Identifier: Apache-2.0
#include "native/arrow_stream.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corro::python {
namespace {

frame_pointer sample() {
    std::vector<column> columns;
    columns.push_back({"time", meaning::time, std::vector<std::int64_t>{1, no_time, 3}, {}});
    columns.push_back({"side", meaning::category, std::vector<std::int8_t>{1, -1, 0}, {"buy", "sell"}});
    columns.push_back({"price", meaning::number, std::vector<double>{0.5, std::nan(""), 2}, {}});
    columns.push_back({"order", meaning::number, std::vector<std::uint64_t>{7, 8, 9}, {}});
    columns.push_back({"aggressor", meaning::flag, std::vector<std::uint8_t>{1, 0, 1}, {}});
    return std::make_shared<frame>(std::move(columns));
}

struct received {
    ArrowSchema schema{};
    ArrowArray batch{};
    ArrowArray after{};
};

received receive(frame_pointer from) {
    ArrowArrayStream stream{};
    export_stream(std::move(from), &stream);
    received made;
    EXPECT_EQ(stream.get_schema(&stream, &made.schema), 0);
    EXPECT_EQ(stream.get_next(&stream, &made.batch), 0);
    EXPECT_EQ(stream.get_next(&stream, &made.after), 0);
    EXPECT_EQ(stream.get_last_error(&stream), nullptr);
    stream.release(&stream);
    EXPECT_EQ(stream.release, nullptr);
    return made;
}

TEST(arrow_streams, have_names_and_formats_of_all_columns) {
    received got = receive(sample());
    EXPECT_EQ(std::string_view(got.schema.format), "+s");
    ASSERT_EQ(got.schema.n_children, 5);
    const std::vector<std::pair<std::string, std::string>> expected{
        {"time", "tsn:UTC"}, {"side", "c"}, {"price", "g"}, {"order", "L"}, {"aggressor", "b"}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(got.schema.children[i]->name, expected[i].first);
        EXPECT_EQ(got.schema.children[i]->format, expected[i].second);
        EXPECT_EQ(got.schema.children[i]->flags, i < 3 ? arrow_nullable : 0);
    }
    ASSERT_NE(got.schema.children[1]->dictionary, nullptr);
    EXPECT_EQ(std::string_view(got.schema.children[1]->dictionary->format), "u");
    got.schema.release(&got.schema);
    got.batch.release(&got.batch);
    EXPECT_EQ(got.schema.release, nullptr);
    EXPECT_EQ(got.after.release, nullptr) << "one batch, then the end";
}

TEST(arrow_streams, give_the_frames_own_arrays_and_mark_what_is_missing) {
    const frame_pointer from = sample();
    received got = receive(from);
    ASSERT_EQ(got.batch.length, 3);
    const auto child = [&](int i) -> const ArrowArray& { return *got.batch.children[i]; };
    EXPECT_EQ(child(3).buffers[1], std::get<std::vector<std::uint64_t>>(from->find("order")->values).data());
    EXPECT_EQ(child(3).null_count, 0);
    EXPECT_EQ(child(3).buffers[0], nullptr);
    for (const int i : {0, 1, 2}) {
        EXPECT_EQ(child(i).null_count, 1) << i;
        EXPECT_EQ(static_cast<const std::uint8_t*>(child(i).buffers[0])[0], 0b101) << i;
    }
    EXPECT_EQ(static_cast<const std::uint8_t*>(child(4).buffers[1])[0], 0b101);
    const ArrowArray& texts = *child(1).dictionary;
    ASSERT_EQ(texts.length, 2);
    const auto* const ends = static_cast<const std::int32_t*>(texts.buffers[1]);
    EXPECT_EQ(std::string_view(static_cast<const char*>(texts.buffers[2]), static_cast<std::size_t>(ends[2])),
              "buysell");
    EXPECT_EQ(ends[1], 3);
    got.schema.release(&got.schema);
    got.batch.release(&got.batch);
    EXPECT_EQ(from.use_count(), 1) << "all that was given is released";
}

TEST(arrow_streams, outlive_the_frame_and_let_a_column_move_away) {
    frame_pointer from = sample();
    const std::weak_ptr<const frame> watched = from;
    received got = receive(std::move(from));
    got.schema.release(&got.schema);
    ASSERT_FALSE(watched.expired());
    ArrowArray moved = *got.batch.children[3];
    got.batch.children[3]->release = nullptr;  // how a receiver says that it took the column
    got.batch.release(&got.batch);
    ASSERT_FALSE(watched.expired());
    EXPECT_EQ(static_cast<const std::uint64_t*>(moved.buffers[1])[2], 9U);
    moved.release(&moved);
    EXPECT_TRUE(watched.expired());
}

TEST(arrow_streams, of_no_rows_have_one_batch_without_rows) {
    received got = receive(std::make_shared<frame>(
        std::vector<column>{{"price", meaning::number, std::vector<double>{}, {}}}));
    EXPECT_EQ(got.batch.length, 0);
    EXPECT_EQ(got.batch.n_children, 1);
    got.schema.release(&got.schema);
    got.batch.release(&got.batch);
}

}  // namespace
}  // namespace corro::python
