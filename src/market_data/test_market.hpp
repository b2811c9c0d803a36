// SPDX-License-Identifier: Apache-2.0
// Test support: a facility with random traffic, the publisher of its feed, and books built from its messages. Without
// any socket.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "domain/definition.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "feed/book_image.hpp"
#include "market_data/feed_publisher.hpp"
#include "wire/binary_codec.hpp"
#include "wire/instrument_table.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data::testing {

namespace soup = wire::soup_bin_tcp;

/// Compares an image of a book with the facility: orders in priority, levels, and prices.
class book_comparison final : facility::book_visitor {
 public:
    /// Empty when they agree, otherwise the first difference.
    [[nodiscard]] static std::string difference(const facility::facility& venue, domain::instrument_id id,
                                                const feed::book_image& image) {
        book_comparison c(image);
        venue.visit_book(id, c);
        c.expect(c.orders_seen_ == image.orders_count(), "the number of orders");
        c.expect(c.digest_ == image.digest(), "the digest");
        for (const domain::side side : {domain::side::buy, domain::side::sell}) {
            c.expect(c.levels_seen_[static_cast<int>(side)] == image.levels(side).size(), "the number of levels");
        }
        const auto same = [&](const auto& one, const auto& other, const char* what) {
            c.expect(std::memcmp(&one, &other, sizeof one) == 0, what);
        };
        same(venue.top_of(id), image.top(), "the top");
        same(venue.implied_top_of(id), image.implied(), "what is implied");
        same(venue.prices_of(id), image.prices(), "the prices");
        same(venue.volumes_of(id), image.volumes(), "the volumes");
        return c.difference_;
    }

 private:
    explicit book_comparison(const feed::book_image& image) : image_(image) {}

    void expect(bool agrees, const char* what) {
        if (!agrees && difference_.empty()) difference_ = what;
    }
    void visit_level(domain::side side, const domain::level& level) override {
        const int s = static_cast<int>(side);
        queue_ = image_.orders_at(side, level.price);
        next_ = 0;
        if (levels_seen_[s] == 0) levels_[s] = image_.levels(side);
        const std::size_t at = levels_seen_[s]++;
        expect(at < levels_[s].size() && levels_[s][at].price == level.price &&
                   levels_[s][at].quantity == level.quantity && levels_[s][at].orders_count == level.orders_count,
               "a level");
    }
    void visit_order(domain::side side, const facility::resting_order& o) override {
        ++orders_seen_;
        digest_ += feed::order_digest(o.order, side, o.price, o.open);
        expect(next_ < queue_.size() && queue_[next_].order == o.order && queue_[next_].quantity == o.open, "an order");
        ++next_;
    }

    const feed::book_image& image_;
    std::vector<feed::image_level> levels_[2];
    std::size_t levels_seen_[2] = {0, 0};
    std::vector<feed::image_order> queue_;
    std::size_t next_ = 0;
    std::size_t orders_seen_ = 0;
    std::uint64_t digest_ = 0;
    std::string difference_;
};

/// Facility and publisher; the facility's commands come from a seeded generator.
class test_market : facility::event_consumer {
 public:
    explicit test_market(std::uint64_t seed, const feed_options& options = feed_options(), std::uint32_t orders_max = 0)
        : generator(seed),
          venue(room_for(orders_max, generator.profile().options), generator.profile().instruments, *this),
          feed(options, generator.profile().instruments) {}

    test_market(const test_market&) = delete;
    test_market& operator=(const test_market&) = delete;
    virtual ~test_market() = default;

    /// Executes random commands, then flushes once, like the node. None of them settles an instrument, so that the
    /// market stays active.
    void trade(int commands_count) {
        execute(commands_count);
        feed.flush();
    }
    /// The same as a part of a turn: without the flush.
    void execute(int commands_count) {
        for (int i = 0; i < commands_count;) {
            const domain::command c = generator.next();
            if (c.kind == domain::command_kind::settle_instrument) continue;
            venue.apply(c);
            ++i;
        }
    }

    /// Enters orders that rest in the first book, far from the generator's prices.
    void fill(std::uint32_t orders_count) {
        for (std::uint32_t i = 0; i < orders_count; ++i) {
            domain::command c;
            c.sequence = domain::sequence_number{++filled_};
            const domain::instrument& first = instruments().front();
            c.instrument = first.id;
            c.enter_order().price =
                domain::price_ticks{std::max<std::int64_t>(-1'000'000'000, first.price_low.value) + i % 1'000};
            c.enter_order().quantity = domain::quantity_lots{1};
            c.client_order = domain::client_order_id{(std::uint64_t{1} << 40U) + i};
            venue.apply(c);
        }
        EXPECT_GE(venue.open_orders_count(), orders_count) << "all of them must rest";
        feed.flush();
    }

    [[nodiscard]] const std::vector<domain::instrument>& instruments() const { return generator.profile().instruments; }

    facility::testing::command_generator generator;
    facility::facility venue;
    feed_publisher feed;
    std::uint64_t public_events = 0;
    std::vector<domain::event>* keep = nullptr;  ///< takes a copy of each public event
    std::uint64_t commands_with_news = 0;        ///< that caused a public event

 private:
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (!domain::is_public(e.kind)) continue;
            feed.publish(e);
            if (keep != nullptr) keep->push_back(e);
            ++public_events;
            if (e.command.value != last_with_news_) ++commands_with_news;
            last_with_news_ = e.command.value;
        }
        generator.learn(events);
    }

    static facility::facility_options room_for(std::uint32_t orders_max, facility::facility_options options) {
        if (orders_max != 0) options.orders_max = orders_max;
        return options;
    }

    std::uint64_t last_with_news_ = 0;
    std::uint64_t filled_ = 0;
};

/// The events of a definition of instrument `id`, like another one.
class definition_events final : private facility::event_consumer {
 public:
    definition_events(std::span<const domain::instrument> instruments, domain::instrument_id id) {
        facility::facility_options options;
        options.orders_max = 100;
        options.accounts_max = 4;
        options.positions_max = 64;
        options.instruments_reserved = 8;
        facility::facility maker(options, instruments, *this);
        domain::definition d;
        d.id = id;
        d.like = instruments.front().id;
        d.name = domain::symbol{"NEW"};
        domain::command command = domain::command_of(d);
        command.sequence = domain::sequence_number{1};
        command.account = domain::account_id{1};
        command.set_operator(true);
        maker.apply(command);
    }
    [[nodiscard]] std::span<const domain::event> all() const noexcept { return all_; }

 private:
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) {
            if (domain::is_definition(event.kind)) all_.push_back(event);
        }
    }
    std::vector<domain::event> all_;
};

/// Books built from messages, each of which must fit the ones before it.
class market_follower {
 public:
    market_follower() = default;
    /// Follows from the first message on, without a snapshot.
    explicit market_follower(std::span<const domain::instrument> known) : ended(true) {
        for (const domain::instrument& each : known) {
            instruments.define(each);
            if (each.id.value >= books.size()) books.resize(each.id.value + 1);
        }
    }

    /// Takes one sequenced message. A message out of order or a contradiction is a failure.
    bool take(std::span<const std::byte> payload, std::uint64_t sequence) {
        const auto frame = wire::next_frame(payload);
        if (!frame || !*frame || (*frame)->size() != payload.size()) {
            ADD_FAILURE() << "a packet must hold exactly one message";
            return false;
        }
        EXPECT_EQ((*frame)->sequence, sequence);
        switch ((*frame)->message) {
            case wire::template_id::snapshot_begin: return wire::check(**frame) ? false : (begun = true);
            case wire::template_id::snapshot_end: {
                if (wire::check(**frame)) return false;
                last_sequence = wire::snapshot_end_view(**frame).last_sequence().value;
                last_command = wire::snapshot_end_view(**frame).last_command().value;
                return ended = is_consistent = true;
            }
            case wire::template_id::instrument_definition: {
                const auto instrument = wire::decode_instrument(**frame);
                if (!instrument) return false;
                instruments.define(*instrument);
                if (instrument->id.value >= books.size()) books.resize(instrument->id.value + 1);
                return true;
            }
            case wire::template_id::instrument_leg: return !wire::decode_leg(**frame, instruments);
            default: break;
        }
        domain::event e;
        if (const std::error_code error = wire::decode_event(**frame, instruments, e)) {
            ADD_FAILURE() << error.message();
            return false;
        }
        EXPECT_GE(e.command.value, last_command) << "commands must come in order";
        if (e.command.value != last_command && ended) {
            EXPECT_TRUE(is_consistent) << "a new command must begin after the last message of the one before";
        }
        last_command = e.command.value;
        is_consistent = (e.flags & domain::event_flag::last_of_command) != 0;
        if (is_consistent) ++commands_seen;
        if (domain::is_definition(e.kind)) {
            if (e.instrument.value >= books.size()) books.resize(e.instrument.value + 1);
            if (definitions.take(e) && instruments.define(definitions.get()) == nullptr) return false;
        }
        const feed::image_status status = books[e.instrument.value].apply(e);
        EXPECT_EQ(static_cast<int>(status), static_cast<int>(feed::image_status::applied));
        return status == feed::image_status::applied;
    }

    /// Takes the packets of a whole snapshot, without the end of the session.
    bool take_snapshot(std::span<const std::byte> bytes) {
        for (const soup::packet& packet : packets_of(bytes)) {
            if (packet.type != soup::packet_type::sequenced_data || ended || !take(packet.payload, 0)) return false;
        }
        return begun && ended;
    }
    /// Takes packets of the feed; the first has the number after `last_sequence`.
    bool take_feed(std::span<const std::byte> bytes) {
        for (const soup::packet& packet : packets_of(bytes)) {
            if (packet.type != soup::packet_type::sequenced_data) return false;
            if (!take(packet.payload, ++last_sequence)) return false;
        }
        return true;
    }
    /// The packets of a server, which end at a packet's end.
    static std::vector<soup::packet> packets_of(std::span<const std::byte> bytes) {
        std::vector<soup::packet> packets;
        while (!bytes.empty()) {
            const auto found = soup::decode(bytes, soup::sender::server);
            if (!found || !*found) {
                ADD_FAILURE() << "the bytes are not packets";
                break;
            }
            packets.push_back(**found);
            bytes = bytes.subspan((*found)->size);
        }
        return packets;
    }

    /// The first difference to the venue's own books; empty when there is none.
    [[nodiscard]] std::string difference(const test_market& x) const {
        for (const domain::instrument& i : x.venue.instruments()) {
            if (i.id.value >= books.size()) return "an instrument is missing";
            const std::string found = book_comparison::difference(x.venue, i.id, books[i.id.value]);
            if (!found.empty()) return "instrument " + std::to_string(i.id.value) + ": " + found;
        }
        return {};
    }

    wire::instrument_table instruments;
    domain::definition_reader definitions;
    std::vector<feed::book_image> books;  ///< by instrument id
    bool begun = false;
    bool ended = false;
    bool is_consistent = true;
    std::uint64_t last_sequence = 0;
    std::uint64_t last_command = 0;
    std::uint64_t commands_seen = 0;  ///< with all messages received
};

}  // namespace corro::market_data::testing
