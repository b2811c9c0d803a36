// SPDX-License-Identifier: Apache-2.0
// A market as the binary channel would have sent it, from the events of a journal, into a file.
//
// Layout:  frames of 64-bit numbers as in the channel, each behind the number of its numbers, as a 64-bit number, too.
//          A frame ends a tick of the venue's time; ticks without a change have none. The first frame is a snapshot,
//          and so is one in `frames_per_snapshot`, so that a reader can begin anywhere.
// Limits:  none of its own. Threads: one. Cost: as the channel's.
// Source:  docs/spec/api.md, "The binary market channel"; docs/spec/export.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "api/market_frames.hpp"
#include "api/market_levels.hpp"
#include "api/market_view.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "wire/instrument_table.hpp"

namespace corro::api {

class frame_recording {
 public:
    /// Changes between two snapshots.
    static constexpr std::uint32_t frames_per_snapshot = 300;

    /// @param of     The instrument.
    /// @param book   Its levels before the first event.
    /// @param tick   Index in `frame_ticks_ms`.
    /// @param write  Gets the bytes of the file, in order.
    frame_recording(const domain::instrument& of, std::array<level_map, 2> book, std::size_t tick,
                    std::function<void(std::string_view)> write);
    frame_recording(const frame_recording&) = delete;
    frame_recording& operator=(const frame_recording&) = delete;
    ~frame_recording();

    /// Takes an event of the instrument; definitions change nothing.
    void take(const domain::event& event);
    /// Writes what the last tick has had.
    void finish();

    [[nodiscard]] std::uint64_t frames_count() const noexcept { return out_.count; }
    /// Of the first event and the last one, in nanoseconds since 1970; 0 before the first.
    [[nodiscard]] std::int64_t first_ns() const noexcept { return first_ns_; }
    [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
    [[nodiscard]] const market& where() const noexcept { return *view_.find(of_.id); }

 private:
    class file final : public subscriber {
     public:
        void take(std::string_view frame) override;
        [[nodiscard]] std::size_t waiting_bytes() const noexcept override { return 0; }
        void end_slow() noexcept override {}

        std::function<void(std::string_view)> write;
        std::uint64_t count = 0;
    };
    void begin(std::int64_t time_ns);
    void end_tick();

    domain::instrument of_;
    std::array<level_map, 2> book_;
    frame_wish wish_;
    file out_;
    wire::instrument_table instruments_;
    market_view view_{frames_};
    market_frames frames_{view_};
    std::int64_t first_ns_ = 0;
    std::int64_t last_ns_ = 0;
    std::int64_t tick_end_us_ = 0;
    std::uint64_t snapshot_due_ = frames_per_snapshot;  ///< the number of frames before the next snapshot
};

}  // namespace corro::api
