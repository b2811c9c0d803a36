// SPDX-License-Identifier: Apache-2.0
#include "api/frame_writer.hpp"

#include <bit>

namespace corro::api {

using namespace frame_layout;

static_assert(std::endian::native == std::endian::little, "frames are little endian");
static_assert(sizeof(double) == 8 && std::numeric_limits<double>::is_iec559);

void append_column(std::vector<double>& frame, const market_column& column) {
    frame.insert(frame.end(),
                 {frame_number(column.begin_us), frame_number(column.length_us), frame_number(column.best_bid),
                  frame_number(column.best_ask), frame_number(column.bought), frame_number(column.sold),
                  frame_number(column.high), frame_number(column.low), frame_number(column.levels[0].size()),
                  frame_number(column.levels[1].size())});
    for (const domain::side s : {domain::side::buy, domain::side::sell}) {
        for (const market_column::entry& each : column.levels[static_cast<std::size_t>(s)]) {
            frame.push_back(frame_number(price_of(s, each.rank)));
            frame.push_back(frame_number(each.lots));
        }
    }
    ++frame[columns_count_at];
}

void frame_writer::begin_history(std::uint64_t command, std::int64_t time_us) {
    numbers_.assign(head_count, 0);
    numbers_[0] = version;
    numbers_[kind_at] = kind_history;
    for (std::size_t k = first_price_at; k < bids_count_at; ++k) numbers_[k] = nothing;
    set_position(command, time_us);
}

void frame_writer::set_position(std::uint64_t command, std::int64_t time_us) noexcept {
    numbers_[time_at] = frame_number(time_us);
    numbers_[command_at] = frame_number(command);
}

std::string frame_writer::bytes() const {
    return {reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * sizeof(double)};
}

}  // namespace corro::api
