// SPDX-License-Identifier: Apache-2.0
// Conflated depth: pictures of the best levels instead of every change.

#include <gtest/gtest.h>

#include <map>

#include "market_data/test_feed.hpp"

namespace corro::market_data {
namespace {

namespace soup = wire::soup_bin_tcp;
using testing::raw_subscriber;
using testing::test_exchange;

/// The last complete picture of each instrument.
class pictures {
 public:
    struct picture {
        std::vector<domain::level> levels[2];
        domain::top top{};
        domain::price_summary prices{};
        domain::volume_summary volumes{};
        std::uint64_t last_sequence = 0;
    };

    bool take(const soup::packet& packet) {
        if (packet.type != soup::packet_type::unsequenced_data) return false;
        const auto frame = wire::next_frame(packet.payload);
        if (!frame || !*frame || (*frame)->size() != packet.payload.size()) return false;
        switch ((*frame)->message) {
            case wire::template_id::instrument_definition: {
                const auto instrument = wire::decode_instrument(**frame);
                if (instrument) instruments.define(*instrument);
                return instrument.has_value() && !drawing_;
            }
            case wire::template_id::instrument_leg: return !wire::decode_leg(**frame, instruments);
            case wire::template_id::snapshot_begin:
                if (drawing_ || wire::check(**frame)) return false;
                drawing_ = true;
                next_ = {};
                return true;
            case wire::template_id::snapshot_end:
                if (!drawing_ || wire::check(**frame)) return false;
                drawing_ = false;
                next_.last_sequence = wire::snapshot_end_view(**frame).last_sequence().value;
                // A later picture is never older.
                if (next_.last_sequence < whole[about_].last_sequence) return false;
                whole[about_] = next_;
                ++count;
                return true;
            default: break;
        }
        domain::event e;
        if (!drawing_ || wire::decode_event(**frame, instruments, e)) return false;
        about_ = e.instrument.value;
        if (e.kind == domain::event_kind::level_changed) next_.levels[static_cast<int>(e.side)].push_back(e.level);
        if (e.kind == domain::event_kind::top_of_book) next_.top = e.top;
        if (e.kind == domain::event_kind::price_update) next_.prices = e.prices;
        if (e.kind == domain::event_kind::statistics) next_.volumes = e.volumes;
        return true;
    }

    io::task<bool> read_until(raw_subscriber* from, const test_exchange* x) {
        while (!agree(*x)) {
            const std::optional<soup::packet> packet = co_await from->next_change();
            if (!packet) co_return false;
            const bool taken = take(*packet);
            if (!taken) co_return false;
        }
        co_return true;
    }

    /// Whether every instrument's picture equals the venue's present book.
    [[nodiscard]] bool agree(const test_exchange& x) const {
        for (const domain::instrument& i : x.instruments()) {
            const auto found = whole.find(i.id.value);
            const feed::book_image& book = *x.feed.book(i.id);
            if (found == whole.end() || drawing_) return false;
            const auto same = [](const auto& one, const auto& other) {
                return std::memcmp(&one, &other, sizeof one) == 0;
            };
            if (!same(found->second.top, book.top()) || !same(found->second.prices, book.prices()) ||
                !same(found->second.volumes, book.volumes())) {
                return false;
            }
            for (const domain::side side : {domain::side::buy, domain::side::sell}) {
                const auto& seen = found->second.levels[static_cast<int>(side)];
                const auto best = book.levels(side, depth);
                if (seen.size() != best.size()) return false;
                for (std::size_t k = 0; k < best.size(); ++k) {
                    if (seen[k].price != best[k].price || seen[k].quantity != best[k].quantity ||
                        seen[k].orders_count != best[k].orders_count) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    static constexpr std::size_t depth = 3;
    wire::instrument_table instruments;
    std::map<std::uint32_t, picture> whole;
    std::uint64_t count = 0;

 private:
    picture next_;
    std::uint32_t about_ = 0;
    bool drawing_ = false;
};

testing::test_feed_options quick_pictures() {
    testing::test_feed_options options;
    options.depth_levels = pictures::depth;
    options.conflation_interval = std::chrono::milliseconds(1);
    options.feed_log_bytes = feed_log_bytes_min;
    return options;
}

/// Opens the depth port beside the two of the exchange under test, and runs `body`.
template <class Body>
io::task<void> with_depth_port(test_exchange* x, Body body) {
    auto acceptor = io::tcp_acceptor::open(x->context, io::endpoint::loopback(0));
    CORRO_REQUIRE(acceptor);
    const io::endpoint port = *acceptor->local_endpoint();
    io::task_scope serving(x->context);
    serving.spawn(x->ports.serve_depth(std::move(*acceptor)));
    co_await body(x, port);
    x->feed.close();
    co_await serving.join();
}

TEST(subscriber_server_depth, pictures_end_at_the_venues_own_books) {
    test_exchange x(11, quick_pictures());
    x.run([](test_exchange* on) -> io::task<void> {
        return with_depth_port(on, [](test_exchange* self, io::endpoint port) -> io::task<void> {
            self->trade(500);
            auto subscriber = co_await raw_subscriber::connect(port);
            CORRO_REQUIRE(subscriber);
            const auto accepted = co_await subscriber->log_in(0);
            CORRO_REQUIRE(accepted);
            pictures seen;
            for (int round = 0; round < 20; ++round) {
                self->trade(100);
                const bool equal = co_await seen.read_until(subscriber.get(), self);
                EXPECT_TRUE(equal) << "round " << round;
                if (!equal) co_return;
            }
            EXPECT_EQ(seen.instruments.count(), self->instruments().size());
        });
    });
}

TEST(subscriber_server_depth, who_does_not_read_is_not_cut_and_gets_the_latest_picture_when_he_does) {
    test_exchange x(12, quick_pictures());
    x.run([](test_exchange* on) -> io::task<void> {
        return with_depth_port(on, [](test_exchange* self, io::endpoint port) -> io::task<void> {
            auto subscriber = co_await raw_subscriber::connect(port);
            CORRO_REQUIRE(subscriber);
            const auto accepted = co_await subscriber->log_in(0);
            CORRO_REQUIRE(accepted);
            // More than the feed's log is published while nothing is read: a subscriber of the feed would be
            // disconnected.
            const std::uint64_t bytes_before = self->feed.statistics().bytes;
            while (self->feed.statistics().bytes - bytes_before < 3 * feed_log_bytes_min) {
                self->trade(200);
                const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
                if (stopped) co_return;
            }
            EXPECT_EQ(self->ports.statistics().slow_cut, 0U);
            pictures seen;
            const bool equal = co_await seen.read_until(subscriber.get(), self);
            EXPECT_TRUE(equal);
            EXPECT_LT(seen.count, self->feed.statistics().messages / 10) << "changes were put together";
        });
    });
}

TEST(subscriber_server_depth, says_heartbeats_while_nothing_changes_and_ends_with_the_session) {
    testing::test_feed_options options = quick_pictures();
    options.heartbeat_interval = std::chrono::milliseconds(5);
    test_exchange x(13, options);
    x.run([](test_exchange* on) -> io::task<void> {
        return with_depth_port(on, [](test_exchange* self, io::endpoint port) -> io::task<void> {
            auto subscriber = co_await raw_subscriber::connect(port);
            CORRO_REQUIRE(subscriber);
            const auto accepted = co_await subscriber->log_in(0);
            CORRO_REQUIRE(accepted);
            pictures seen;
            while (true) {
                const std::optional<soup::packet> packet = co_await subscriber->next();
                CORRO_REQUIRE(packet);
                if (packet->type == soup::packet_type::server_heartbeat) break;
                EXPECT_TRUE(seen.take(*packet));
            }
            EXPECT_EQ(seen.count, self->instruments().size()) << "one picture each, and then silence";
            self->feed.close();
            const std::optional<soup::packet> last = co_await subscriber->next_change();
            CORRO_REQUIRE(last);
            EXPECT_EQ(last->type, soup::packet_type::end_of_session);
        });
    });
}

}  // namespace
}  // namespace corro::market_data
