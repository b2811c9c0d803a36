// Test support: a facility with random traffic, its distributor, and a subscriber that keeps every packet.
//
// Everything runs on one context in the test's own process, over TCP on the loopback address.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "market_data/book_image.hpp"
#include "market_data/distributor.hpp"
#include "wire/binary_codec.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data::testing {

namespace soup = wire::soup_bin_tcp;

/// Compares an image of a book with the facility: orders in priority, levels, and prices.
class book_comparison final : facility::book_visitor {
 public:
    /// Empty when they agree, otherwise the first difference.
    [[nodiscard]] static std::string difference(const facility::facility& venue, domain::instrument_id id,
                                                const book_image& image) {
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
    explicit book_comparison(const book_image& image) : image_(image) {}

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
        digest_ += order_digest(o.order, side, o.price, o.open);
        expect(next_ < queue_.size() && queue_[next_].order == o.order && queue_[next_].quantity == o.open, "an order");
        ++next_;
    }

    const book_image& image_;
    std::vector<image_level> levels_[2];
    std::size_t levels_seen_[2] = {0, 0};
    std::vector<image_order> queue_;
    std::size_t next_ = 0;
    std::size_t orders_seen_ = 0;
    std::uint64_t digest_ = 0;
    std::string difference_;
};

/// Facility and distributor; the facility's commands come from a seeded generator.
class test_exchange final : facility::event_consumer {
 public:
    explicit test_exchange(std::uint64_t seed, distributor_options options = distributor_options(),
                           std::uint32_t orders_max = 0)
        : generator(seed),
          venue(room_for(orders_max, generator.profile().options), generator.profile().instruments, *this),
          feed(context, options, generator.profile().instruments) {}

    /// Runs `body(this)` beside the distributor, then closes it. A body that takes longer than `io::test_patience` is
    /// stopped and fails.
    template <class Body>
    void run(Body body) {
        io::block_on(context, run_all(this, body));
    }

    /// Executes random commands, then flushes once, like the node. None of them settles an instrument, so that the
    /// market stays active.
    void trade(int commands_count) {
        for (int i = 0; i < commands_count;) {
            const domain::command c = generator.next();
            if (c.kind == domain::command_kind::settle_instrument) continue;
            venue.apply(c);
            ++i;
        }
        feed.flush();
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

    io::context context;
    facility::testing::command_generator generator;
    facility::facility venue;
    distributor feed;
    io::endpoint feed_port;
    io::endpoint snapshot_port;
    std::uint64_t public_events = 0;
    std::uint64_t commands_with_news = 0;  ///< that caused a public event

 private:
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (!domain::is_public(e.kind)) continue;
            feed.publish(e);
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

    template <class Body>
    static io::task<void> run_all(test_exchange* self, Body body) {
        auto feed_acceptor = io::tcp_acceptor::open(self->context, io::endpoint::loopback(0));
        auto snapshot_acceptor = io::tcp_acceptor::open(self->context, io::endpoint::loopback(0));
        CORRO_REQUIRE(feed_acceptor && snapshot_acceptor);
        self->feed_port = *feed_acceptor->local_endpoint();
        self->snapshot_port = *snapshot_acceptor->local_endpoint();
        io::task_scope serving(self->context);
        serving.spawn(self->feed.serve_feed(std::move(*feed_acceptor)));
        serving.spawn(self->feed.serve_snapshots(std::move(*snapshot_acceptor)));
        const auto in_time = co_await io::with_timeout(io::test_patience, body(self));
        EXPECT_TRUE(in_time) << "the test did not finish";
        self->feed.close();
        co_await serving.join();
        EXPECT_EQ(self->feed.statistics().subscribers_now, 0U);
    }

    std::uint64_t last_with_news_ = 0;
    std::uint64_t filled_ = 0;
};

/// A connection to the feed or the snapshot port.
class raw_subscriber {
 public:
    explicit raw_subscriber(io::tcp_stream s) : stream(std::move(s)), input_(1U << 20U) {}

    static io::task<std::unique_ptr<raw_subscriber>> connect(io::endpoint where) {
        auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), where);
        if (!stream) {
            ADD_FAILURE() << "connecting: " << stream.error().message();
            co_return nullptr;
        }
        co_return std::make_unique<raw_subscriber>(std::move(*stream));
    }

    io::task<bool> write(std::vector<std::byte> bytes) {
        const io::io_result written = co_await stream.write_all(bytes);
        co_return written.ok();
    }

    static std::vector<std::byte> login(std::uint64_t sequence, const std::string& session = {}) {
        soup::login_request request;
        request.requested_session = session;
        request.requested_sequence = sequence;
        std::vector<std::byte> bytes(soup::login_request_bytes);
        EXPECT_TRUE(soup::encode(request, bytes));
        return bytes;
    }

    static std::vector<std::byte> packet(soup::packet_type type) {
        const auto header = soup::header(type, 0);
        return {header.begin(), header.end()};
    }

    /// The next packet, valid until the next call; nothing when the connection has ended.
    io::task<std::optional<soup::packet>> next() {
        while (true) {
            const auto found = soup::decode(std::span(input_).subspan(begin_, end_ - begin_), soup::sender::server);
            if (!found) {
                ADD_FAILURE() << "the venue sent an invalid packet: " << found.error().message();
                co_return std::nullopt;
            }
            if (*found) {
                begin_ += (*found)->size;
                co_return **found;
            }
            std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
            const io::io_result read = co_await stream.read_some(std::span(input_).subspan(end_));
            end_ += read.bytes;
            if (read.error) co_return std::nullopt;
        }
    }

    /// The next packet that is not a heartbeat.
    io::task<std::optional<soup::packet>> next_change() {
        while (true) {
            const std::optional<soup::packet> packet = co_await next();
            if (!packet || packet->type != soup::packet_type::server_heartbeat) co_return packet;
        }
    }

    /// Logs in. Returns the number of the next message, or nothing when the login is rejected.
    io::task<std::optional<std::uint64_t>> log_in(std::uint64_t sequence, std::string session = {}) {
        if (!co_await write(login(sequence, session))) co_return std::nullopt;
        const std::optional<soup::packet> reply = co_await next();
        if (!reply || reply->type != soup::packet_type::login_accepted) co_return std::nullopt;
        const auto accepted = soup::decode_login_accepted(reply->payload);
        if (!accepted) co_return std::nullopt;
        next_sequence = accepted->next_sequence;
        co_return accepted->next_sequence;
    }

    /// Whether the login is rejected, with the code for what is not available, and the connection closed.
    io::task<bool> is_rejected(std::uint64_t sequence, std::string session = {}) {
        if (!co_await write(login(sequence, session))) co_return false;
        const std::optional<soup::packet> reply = co_await next();
        if (!reply || reply->type != soup::packet_type::login_rejected) co_return false;
        const auto code = soup::decode_login_rejected(reply->payload);
        const bool said = code && *code == soup::reject_code::session_not_available;
        co_return said && !co_await next();
    }

    /// Whether the connection ends without another packet.
    io::task<bool> is_cut() { co_return !co_await next_change(); }

    io::tcp_stream stream;
    std::uint64_t next_sequence = 0;

 private:
    std::vector<std::byte> input_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// Books built from messages, each of which must fit the ones before it.
class follower {
 public:
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
        const image_status status = books[e.instrument.value].apply(e);
        EXPECT_EQ(static_cast<int>(status), static_cast<int>(image_status::applied));
        return status == image_status::applied;
    }

    /// Reads a whole snapshot, up to the end of its session.
    io::task<bool> read_snapshot(raw_subscriber* from) {
        while (true) {
            const std::optional<soup::packet> packet = co_await from->next();
            if (!packet) co_return false;
            if (packet->type == soup::packet_type::end_of_session) co_return begun&& ended;
            if (packet->type != soup::packet_type::sequenced_data || ended || !take(packet->payload, 0))
                co_return false;
        }
    }

    /// Reads the feed until message `last` has been applied.
    io::task<bool> follow(raw_subscriber* from, std::uint64_t last) {
        while (from->next_sequence <= last) {
            const std::optional<soup::packet> packet = co_await from->next_change();
            if (!packet || packet->type != soup::packet_type::sequenced_data) co_return false;
            if (!take(packet->payload, from->next_sequence++)) co_return false;
        }
        co_return true;
    }

    /// The first difference to the venue's own books; empty when there is none.
    [[nodiscard]] std::string difference(const test_exchange& x) const {
        for (const domain::instrument& i : x.venue.instruments()) {
            if (i.id.value >= books.size()) return "an instrument is missing";
            const std::string found = book_comparison::difference(x.venue, i.id, books[i.id.value]);
            if (!found.empty()) return "instrument " + std::to_string(i.id.value) + ": " + found;
        }
        return {};
    }

    wire::instrument_table instruments;
    domain::definition_reader definitions;
    std::vector<book_image> books;  ///< by instrument id
    bool begun = false;
    bool ended = false;
    bool is_consistent = true;
    std::uint64_t last_sequence = 0;
    std::uint64_t last_command = 0;
    std::uint64_t commands_seen = 0;  ///< with all messages received
};

}  // namespace corro::market_data::testing
