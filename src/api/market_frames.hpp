// SPDX-License-Identifier: Apache-2.0
// The binary market channel: the market of an instrument as frames of 64-bit numbers, one per tick.
//
// A channel exists while it has subscribers; those with the same instrument, tick and length of columns share it. A
// frame is written once, for all of them. It has the differences to what the frame before contained.
//
// A subscriber that reads slowly (`waiting_bytes_slow`) misses frames, and gets a snapshot once it has read.
//
// Threads: one context. Limits: api/limits.hpp.
// Cost:    per frame: one array of numbers, and a copy into the buffer of each subscriber.
// Source:  docs/spec/api.md, "The binary market channel".
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "api/channels.hpp"
#include "api/limits.hpp"
#include "api/market_columns.hpp"
#include "api/market_view.hpp"
#include "io/sync/event.hpp"

namespace corro::api {

/// The lengths of ticks and columns, in milliseconds.
inline constexpr std::array<std::int64_t, 4> frame_ticks_ms{16, 33, 100, 1'000};
inline constexpr std::array<std::int64_t, 3> column_lengths_ms{100, 1'000, 10'000};

/// Trades in a snapshot.
inline constexpr std::size_t trades_per_snapshot_max = 200;

/// What a subscriber of frames wants.
struct frame_wish {
    domain::instrument_id instrument;
    std::size_t tick = 0;    ///< index in `frame_ticks_ms`
    std::size_t column = 0;  ///< index in `column_lengths_ms`
    friend auto operator<=>(const frame_wish&, const frame_wish&) = default;
};

/// Why a query is no wish.
enum class frame_refusal : std::uint8_t { bad_parameter, unknown_instrument };

/// Reads the query of a request for frames. @param param  Gets the name of the wrong parameter.
[[nodiscard]] std::expected<frame_wish, frame_refusal> parse_frame_query(std::string_view query,
                                                                         const market_view& markets,
                                                                         std::string_view& param);

class market_frames final : public market_listener {
 public:
    explicit market_frames(const market_view& markets) noexcept : markets_(&markets) {}
    market_frames(const market_frames&) = delete;
    market_frames& operator=(const market_frames&) = delete;
    ~market_frames() = default;

    /// Adds a subscriber and sends it a snapshot. @param who  Must call `leave` before it ends.
    /// @pre The instrument exists; it has not subscribed to the same.
    void subscribe(const frame_wish& wish, subscriber& who, std::int64_t now_us);
    /// Sends a snapshot with the next tick.
    void ask_for_snapshot(const frame_wish& wish, subscriber& who) noexcept;
    void leave(const frame_wish& wish, subscriber& who);
    [[nodiscard]] std::size_t count() const noexcept { return channels_.size(); }

    /// Set when a tick has its first channel.
    [[nodiscard]] io::auto_event& begun(std::size_t tick) noexcept { return begun_[tick]; }
    [[nodiscard]] bool has_channels(std::size_t tick) const noexcept;
    /// Publishes a frame of each channel of the tick that has something new.
    void publish(std::size_t tick, std::int64_t now_us);
    /// Whether the API has the venue's feed. The next frames contain it.
    void set_live(bool is_live) noexcept { is_live_ = is_live; }

    [[nodiscard]] std::uint64_t frames_count() const noexcept { return frames_count_; }
    [[nodiscard]] std::uint64_t left_out_count() const noexcept { return left_out_count_; }

    void before_event(const market& where) override;
    void on_level(const market& where, domain::side side, std::int64_t rank, std::uint64_t before) override;
    void on_trade(const market& where, const tape_entry& trade) override;
    void on_ticker(const market& where) override { mark(where); }
    void on_indication(const market& where) override { mark(where); }
    void on_command_end() override {}

 private:
    struct subscription {
        subscriber* who = nullptr;
        bool wants_snapshot = false;
    };
    struct channel {
        channel(const frame_wish& wish, const market& of, std::int64_t now_us);

        frame_wish what;
        std::array<level_map, 2> published;
        std::array<std::set<std::int64_t>, 2> changed;
        std::vector<tape_entry> tape;  ///< trades that were not published yet
        market_columns columns;
        std::vector<market_column> ended;  ///< columns that were not published yet
        std::uint64_t sequence = 1;
        std::int64_t published_us = 0;
        bool head_changed = false;
        bool was_live = true;
        std::vector<subscription> subscriptions;
    };
    /// The channels of one market.
    using channels_of_market = std::vector<channel*>;

    [[nodiscard]] channels_of_market* at(const market& where) noexcept;
    void mark(const market& where) noexcept;
    [[nodiscard]] bool has_news(const channel& one, std::int64_t now_us) const noexcept;
    void publish(channel& one, std::int64_t now_us);
    void write_changes(channel& one);
    void write_snapshot(const channel& one);
    void write_head(const channel& one, bool is_snapshot);
    void write_levels(channel& one, domain::side side);
    void write_trades(std::span<const tape_entry> trades);
    void send(channel& one);
    void send_snapshots(channel& one);
    [[nodiscard]] std::string_view bytes() const noexcept;

    const market_view* markets_;
    std::map<frame_wish, std::unique_ptr<channel>> channels_;
    std::map<std::uint32_t, channels_of_market> by_market_;
    std::array<io::auto_event, frame_ticks_ms.size()> begun_;
    std::vector<double> frame_;  ///< that is being written
    std::uint64_t frames_count_ = 0;
    std::uint64_t left_out_count_ = 0;
    bool is_live_ = true;
};

}  // namespace corro::api
