// SPDX-License-Identifier: Apache-2.0
// Conflated depth: pictures of the best levels of each instrument, made once for all subscribers.
//
// `depth_pictures` makes them; a `depth_reader` is what one subscriber has got of them. A slow subscriber misses
// pictures, and its next round has the latest ones.
//
// Threads: the publisher's context. Limits: depth_levels_max levels; one picture per instrument is kept.
// Source:  docs/spec/market_data.md, depth without every change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/instrument.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/limits.hpp"

namespace corro::market_data {

class depth_pictures {
 public:
    /// `publisher` outlives the pictures.
    /// @param levels  Per side, from 1 to depth_levels_max (asserted).
    explicit depth_pictures(const feed_publisher& publisher, std::size_t levels = depth_levels);

    /// The packets of an instrument's picture as of now. Made again only after a change. Valid until the next call.
    /// @pre The instrument is known (asserted).
    [[nodiscard]] std::span<const std::byte> picture_of(const domain::instrument& i);
    /// Appends the packets of all definitions.
    void append_definitions(std::vector<std::byte>& to) const;

    [[nodiscard]] const feed_publisher& publisher() const noexcept { return publisher_; }
    [[nodiscard]] std::uint64_t made_count() const noexcept { return made_count_; }

 private:
    struct picture {
        std::vector<std::byte> bytes;
        std::uint64_t made_at = 0;  ///< the number of the feed's next message at that time
    };
    void draw(picture& into, const domain::instrument& i) const;

    const feed_publisher& publisher_;
    std::size_t levels_;
    std::vector<picture> pictures_;  ///< by instrument id
    std::uint64_t made_count_ = 0;
};

class depth_reader {
 public:
    /// `pictures` outlives the reader.
    explicit depth_reader(depth_pictures& pictures) noexcept : pictures_(pictures) {}

    /// Appends what has changed since the last round: all definitions if there is a new one, then the pictures of
    /// changed instruments; all of them in the first round.
    /// @return  How many pictures.
    std::uint64_t append_round(std::vector<std::byte>& to);

 private:
    depth_pictures& pictures_;
    std::size_t defined_count_ = 0;
    std::uint64_t sent_at_ = 0;  ///< all changes before this message were appended; 0 before the first round
};

}  // namespace corro::market_data
