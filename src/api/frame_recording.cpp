// SPDX-License-Identifier: Apache-2.0
#include "api/frame_recording.hpp"

#include "api/time_units.hpp"

#include <utility>

#include "base/assert.hpp"
#include "feed/book_image.hpp"

namespace corro::api {
namespace {

std::string_view bytes_of(const double& number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

}  // namespace

void frame_recording::file::take(std::string_view frame) {
    const auto count_of_numbers = static_cast<double>(frame.size() / sizeof(double));
    write(bytes_of(count_of_numbers));
    write(frame);
    ++count;
}

frame_recording::frame_recording(const domain::instrument& of, std::array<level_map, 2> book, std::size_t tick,
                                 std::function<void(std::string_view)> write)
    : of_(of), book_(std::move(book)) {
    CORRO_ASSERT(tick < frame_ticks_ms.size());
    wish_.instrument = of.id;
    wish_.tick = tick;
    // The reader has no use for columns: the fewest.
    wish_.column = column_lengths_ms.size() - 1;
    out_.write = std::move(write);
    instruments_.define(of_);
    view_.begin(of_, feed::book_image(), 0, 0);
    view_.end_begin();
}

frame_recording::~frame_recording() {
    if (first_ns_ != 0) frames_.leave(wish_, out_);
}

void frame_recording::begin(std::int64_t time_ns) {
    first_ns_ = time_ns;
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        for (const auto& [rank, lots] : book_[static_cast<std::size_t>(side)]) {
            domain::event level;
            level.kind = domain::event_kind::level_changed;
            level.instrument = of_.id;
            level.time = domain::time_ns{time_ns};
            level.side = side;
            level.level = domain::level{};
            level.level.price = price_of(side, rank);
            level.level.quantity = domain::volume_lots{lots};
            view_.take(instruments_, level);
        }
    }
    frames_.subscribe(wish_, out_, time_ns / ns_per_us);
    const std::int64_t tick_us = frame_ticks_ms[wish_.tick] * us_per_ms;
    tick_end_us_ = (time_ns / ns_per_us / tick_us + 1) * tick_us;
}

void frame_recording::end_tick() {
    frames_.publish(wish_.tick, tick_end_us_);
    if (out_.count < snapshot_due_) return;
    snapshot_due_ = out_.count + frames_per_snapshot;
    // Beside the changes: it has the sequence of the frame before.
    frames_.ask_for_snapshot(wish_, out_);
    frames_.publish(wish_.tick, tick_end_us_);
}

void frame_recording::take(const domain::event& event) {
    if (domain::is_definition(event.kind)) return;
    if (first_ns_ == 0) begin(event.time.value);
    const std::int64_t time_us = event.time.value / ns_per_us;
    if (time_us >= tick_end_us_) {
        end_tick();
        const std::int64_t tick_us = frame_ticks_ms[wish_.tick] * us_per_ms;
        tick_end_us_ = (time_us / tick_us + 1) * tick_us;
    }
    last_ns_ = event.time.value;
    view_.take(instruments_, event);
}

void frame_recording::finish() {
    if (first_ns_ != 0) end_tick();
}

}  // namespace corro::api
