// SPDX-License-Identifier: Apache-2.0
// Messages about a moment, each in a SoupBinTCP packet of its own: what snapshots and depth pictures consist of.
//
// Not part of the layer's interface.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/assert.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "feed/book_image.hpp"
#include "market_data/feed_log.hpp"
#include "wire/binary_codec.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

class framed_messages {
 public:
    /// Appends to `into`, which must stay valid; the capacity stays with the caller.
    framed_messages(std::vector<std::byte>& into, wire::soup_bin_tcp::packet_type type) : into_(into), type_(type) {}

    template <class Message>
    void append(const Message& message) {
        put(wire::encode(message, 0, std::span<std::byte>(buffer_)));
    }
    /// Appends a definition and its legs.
    void append(const domain::instrument& i) {
        put(wire::encode(i, 0, std::span<std::byte>(buffer_)));
        for (std::size_t leg = 0; leg < i.legs_count; ++leg) put(wire::encode_leg(i, leg, 0, buffer_));
    }
    void append(const domain::event& event, const domain::instrument& i) { put(wire::encode(event, i, 0, buffer_)); }

    /// Appends an instrument's best levels, prices and volumes. Uses `event`, which has the command and the instrument.
    void append_summary(domain::event& event, const domain::instrument& i, const feed::book_image& book) {
        event.side = domain::side::buy;
        event.kind = domain::event_kind::top_of_book;
        event.top = book.top();
        append(event, i);
        if (book.implied().bid_quantity.value + book.implied().ask_quantity.value != 0) {
            event.kind = domain::event_kind::implied_top;
            event.top = book.implied();
            append(event, i);
        }
        event.kind = domain::event_kind::price_update;
        event.prices = book.prices();
        append(event, i);
        event.kind = domain::event_kind::statistics;
        event.volumes = book.volumes();
        append(event, i);
    }

 private:
    void put(std::size_t size) {
        CORRO_ASSERT(size != 0 && size <= buffer_.size());
        const auto header = wire::soup_bin_tcp::header(type_, size);
        into_.insert(into_.end(), header.begin(), header.end());
        into_.insert(into_.end(), buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(size));
    }

    std::vector<std::byte>& into_;
    wire::soup_bin_tcp::packet_type type_;
    std::array<std::byte, feed_log::message_bytes_max> buffer_;  // deliberately not initialised
};

}  // namespace corro::market_data
