// SPDX-License-Identifier: Apache-2.0
// What a venue sends never ends the client's process: a message at the wrong time, a number that nothing can follow,
// and any changed byte is an error of the session.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "client/market_image.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "domain/definition.hpp"
#include "domain/limits.hpp"
#include "facility/command_generator.hpp"
#include "facility/recorder.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/net/stream.hpp"
#include "io/net/transport_stream.hpp"
#include "io/result.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"
#include "wire/binary_codec.hpp"

namespace corro::client {
namespace {

/// The bytes of a venue, message by message.
class venue_bytes {
 public:
    template <class... Arguments>
    void append(const Arguments&... what) {
        std::array<std::byte, wire::message_bytes_max> room{};
        const std::size_t size = wire::encode(what..., std::span<std::byte>(room));
        ASSERT_NE(size, 0U);
        bytes_.insert(bytes_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(size));
    }
    void append_leg(const domain::instrument& strategy, std::size_t index) {
        std::array<std::byte, wire::message_bytes_max> room{};
        const std::size_t size = wire::encode_leg(strategy, index, 0, room);
        bytes_.insert(bytes_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(size));
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
    std::vector<std::byte> bytes_;
};

domain::instrument instrument_of(std::uint32_t id) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.name = domain::symbol{"I" + std::to_string(id)};
    i.price_high = domain::price_ticks{10'000};
    return i;
}

wire::hello_ack sound_ack(std::uint32_t instruments_count) {
    wire::hello_ack ack;
    ack.next_request.value = 1;
    ack.next_sequence.value = 1;
    ack.heartbeat_interval_ms = 60'000;
    ack.instruments_count = instruments_count;
    ack.protocol_version = wire::protocol_version;
    return ack;
}

/// A logon of a venue with these instruments.
venue_bytes logon(const std::vector<domain::instrument>& instruments, const wire::hello_ack& ack) {
    venue_bytes made;
    wire::challenge challenge;
    challenge.protocol_version = wire::protocol_version;
    challenge.protocol_version_min = wire::protocol_version_min;
    made.append(challenge, std::uint64_t{0});
    made.append(ack, std::uint64_t{0});
    for (const domain::instrument& i : instruments) {
        made.append(i, std::uint64_t{0});
        for (std::size_t leg = 0; leg < i.legs_count; ++leg) made.append_leg(i, leg);
    }
    return made;
}
venue_bytes logon(const std::vector<domain::instrument>& instruments) {
    return logon(instruments, sound_ack(static_cast<std::uint32_t>(instruments.size())));
}

}  // namespace

// Not in the anonymous namespace: g++ warns of frames of coroutines that hold such a type.
/// A stream of which a client reads these bytes, and then the end. Satisfies io::stream.
class recorded_stream {
 public:
    /// @param written  nullptr: what it writes is dropped.
    explicit recorded_stream(std::vector<std::byte> bytes, std::vector<std::byte>* written = nullptr)
        : bytes_(std::move(bytes)), written_(written) {}

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    [[nodiscard]] io::task<io::io_result> read_some(std::span<std::byte> into) {
        const std::size_t size = std::min(into.size(), bytes_.size() - at_);
        if (size == 0) co_return io::io_result(make_error_code(io::errc::end_of_stream), 0);
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), size, into.begin());
        at_ += size;
        co_return io::io_result({}, size);
    }
    [[nodiscard]] io::task<io::io_result> write_some(std::span<const std::byte> from) {
        if (written_ != nullptr) written_->insert(written_->end(), from.begin(), from.end());
        co_return io::io_result({}, from.size());
    }
    [[nodiscard]] io::task<std::error_code> shutdown() { co_return std::error_code(); }
    void close() noexcept { is_open_ = false; }

 private:
    std::vector<std::byte> bytes_;
    std::vector<std::byte>* written_;
    std::size_t at_ = 0;
    bool is_open_ = true;
};

namespace {

using logged_on = std::expected<std::unique_ptr<order_session>, std::error_code>;

io::task<logged_on> log_on(const std::vector<std::byte>* bytes) {
    io::transport_stream stream{io::any_stream(recorded_stream(*bytes))};
    logged_on session = co_await order_session::log_on(std::move(stream), credentials());
    co_return session;
}

class venue_messages : public ::testing::Test {
 protected:
    std::unique_ptr<order_session> session_of(const venue_bytes& venue) {
        logged_on made = io::block_on(context, log_on(&venue.bytes()));
        EXPECT_TRUE(made) << made.error().message();
        return made ? std::move(*made) : nullptr;
    }
    std::expected<answer, std::error_code> next(order_session& session) {
        return io::block_on(context, session.next());
    }

    io::context context;
    domain::instrument first = instrument_of(1);
    domain::instrument second = instrument_of(2);
};

TEST_F(venue_messages, a_public_event_among_the_answers_ends_the_session) {
    for (unsigned kind = 0; kind < 64; ++kind) {
        domain::event event;
        event.kind = static_cast<domain::event_kind>(kind);
        event.instrument = first.id;
        event.flags = domain::event_flag::last_of_request;
        std::array<std::byte, wire::message_bytes_max> room{};
        if (!domain::is_public(event.kind) || wire::encode(event, first, 1, room) == 0) continue;
        venue_bytes venue = logon({first});
        venue.append(event, first, std::uint64_t{1});
        const auto session = session_of(venue);
        ASSERT_NE(session, nullptr);
        const auto got = next(*session);
        ASSERT_FALSE(got) << "kind " << kind;
        EXPECT_EQ(got.error(), session_errc::unexpected_message) << "kind " << kind;
    }
}

TEST_F(venue_messages, a_command_for_an_instrument_that_is_not_defined_yet_is_sent_unless_it_has_a_price) {
    venue_bytes venue = logon({first});
    venue.append(second, std::uint64_t{0});  // an operator has defined it
    const auto session = session_of(venue);
    ASSERT_NE(session, nullptr);
    domain::command opening;
    opening.kind = domain::command_kind::change_phase;
    opening.instrument = second.id;
    EXPECT_EQ(session->send(opening), 1U);
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.instrument = second.id;
    EXPECT_EQ(session->send(order), 0U) << "only the definition converts its price";
    domain::command quote;
    quote.kind = domain::command_kind::enter_quote;
    quote.instrument = second.id;
    EXPECT_EQ(session->send_mass_quote(std::span(&quote, 1)), 0U);
    EXPECT_EQ(next(*session).error(), make_error_code(io::errc::end_of_stream));
    EXPECT_EQ(session->send(order), 2U);
    EXPECT_EQ(session->send_mass_quote(std::span(&quote, 1)), 3U);
}

TEST_F(venue_messages, a_shared_table_that_lacks_a_new_instrument_is_not_used) {
    venue_bytes venue = logon({first});
    const auto other = session_of(venue);
    ASSERT_NE(other, nullptr);
    const auto shared = std::make_shared<const wire::instrument_table>(other->instruments());
    venue.append(second, std::uint64_t{0});
    domain::event entered;
    entered.kind = domain::event_kind::order_entered;
    entered.instrument = second.id;
    venue.append(entered, second, std::uint64_t{1});
    const auto session = session_of(logon({first, second}));
    ASSERT_NE(session, nullptr);
    session->share_instruments(shared);
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.instrument = second.id;
    EXPECT_EQ(session->send(order), 1U);
    const auto later = session_of(venue);
    ASSERT_NE(later, nullptr);
    later->share_instruments(shared);
    const auto got = next(*later);
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->event.instrument, second.id);
}

TEST_F(venue_messages, a_logon_with_numbers_that_no_request_can_have_is_refused) {
    wire::hello_ack no_number = sound_ack(1);
    no_number.next_request.value = 0;
    wire::hello_ack no_interval = sound_ack(1);
    no_interval.heartbeat_interval_ms = 0;
    for (const wire::hello_ack& ack : {no_number, no_interval}) {
        const venue_bytes venue = logon({first}, ack);
        const logged_on session = io::block_on(context, log_on(&venue.bytes()));
        ASSERT_FALSE(session);
        EXPECT_EQ(session.error(), session_errc::unexpected_message);
    }
}

wire::reject refusal_of(std::uint64_t number, wire::session_reject_reason why) {
    wire::reject refusal;
    refusal.refused_sequence = domain::sequence_number{number};
    refusal.session_reject_reason = why;
    return refusal;
}

/// The numbered messages among these bytes.
std::vector<wire::frame> requests_in(std::span<const std::byte> bytes) {
    std::vector<wire::frame> found;
    while (!bytes.empty()) {
        const auto frame = wire::next_frame(bytes);
        if (!frame || !*frame) break;
        if ((*frame)->sequence != 0) found.push_back(**frame);
        bytes = bytes.subspan((*frame)->size());
    }
    return found;
}

// The venue has crashed and remembers none of three requests. It had refused the first one, so the application has
// given that one up, or has sent it again under another number.
TEST_F(venue_messages, what_was_refused_is_not_sent_again) {
    venue_bytes venue = logon({first});
    venue.append(refusal_of(1, wire::session_reject_reason::overloaded), std::uint64_t{0});
    venue.append(refusal_of(3, wire::session_reject_reason::sequence_repeated), std::uint64_t{0});
    const auto session = session_of(venue);
    ASSERT_NE(session, nullptr);
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.instrument = first.id;
    for (std::uint32_t number = 1; number <= 3; ++number) ASSERT_EQ(session->send(order), number);
    for (int i = 0; i < 2; ++i) {
        const auto got = next(*session);
        ASSERT_TRUE(got && got->reject);
    }
    const venue_bytes again = logon({first});
    std::vector<std::byte> written;
    io::transport_stream stream{io::any_stream(recorded_stream(again.bytes(), &written))};
    ASSERT_FALSE(io::block_on(context, session->reconnect(std::move(stream))));
    EXPECT_EQ(session->not_accepted_count(), 3U);
    ASSERT_TRUE(session->resend_not_accepted());
    ASSERT_FALSE(io::block_on(context, session->flush()));
    const auto sent = requests_in(written);
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[0].message, wire::template_id::cancel_order) << "in its place";
    EXPECT_EQ(wire::cancel_order_view(sent[0]).order().value, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(sent[1].message, wire::template_id::enter_order);
    EXPECT_EQ(sent[2].message, wire::template_id::enter_order) << "only its repetition was refused";
    for (std::uint64_t k = 0; k < 3; ++k) EXPECT_EQ(sent[k].sequence, k + 1);
}

// A disk was full for long, and then the venue lost its power: it remembers the number of none of these. What waits and
// what was refused may be more than the output buffer holds.
TEST_F(venue_messages, any_number_of_refused_requests_is_made_good) {
    for (const std::uint32_t count : {4'000U, 8'000U, 16'000U}) {
        venue_bytes venue = logon({first});
        for (std::uint64_t number = 2; number < count; ++number) {
            venue.append(refusal_of(number, wire::session_reject_reason::overloaded), std::uint64_t{0});
        }
        const auto session = session_of(venue);
        ASSERT_NE(session, nullptr);
        domain::command order;
        order.kind = domain::command_kind::enter_order;
        order.instrument = first.id;
        // The first and the last one wait for an answer, and each other one is refused before the next one.
        for (std::uint32_t number = 1; number <= count; ++number) {
            ASSERT_EQ(session->send(order), number);
            ASSERT_FALSE(io::block_on(context, session->flush()));
            if (number == 1 || number == count) continue;
            const auto got = next(*session);
            ASSERT_TRUE(got && got->reject);
        }
        const venue_bytes again = logon({first});
        std::vector<std::byte> written;
        io::transport_stream stream{io::any_stream(recorded_stream(again.bytes(), &written))};
        ASSERT_FALSE(io::block_on(context, session->reconnect(std::move(stream))));
        EXPECT_EQ(session->not_accepted_count(), count);
        ASSERT_TRUE(session->resend_not_accepted());
        const bool is_in_parts = session->not_accepted_count() != 0;
        EXPECT_EQ(is_in_parts, count != 4'000);
        if (is_in_parts) {
            EXPECT_EQ(session->send(order), 0U) << "it would overtake what is to be sent again";
        }
        while (session->has_output()) {
            ASSERT_FALSE(io::block_on(context, session->flush()));
        }
        EXPECT_EQ(session->not_accepted_count(), 0U);
        const auto sent = requests_in(written);
        ASSERT_EQ(sent.size(), count);
        for (std::uint64_t k = 0; k < count; ++k) {
            const bool waits = k == 0 || k + 1 == count;
            ASSERT_EQ(sent[k].sequence, k + 1);
            ASSERT_EQ(sent[k].message, waits ? wire::template_id::enter_order : wire::template_id::cancel_order) << k;
        }
        EXPECT_EQ(session->send(order), count + 1);
    }
}

TEST_F(venue_messages, a_logout_in_place_of_a_challenge_is_a_refusal) {
    wire::logout leaving;
    leaving.logout_reason = wire::logout_reason::shutting_down;
    venue_bytes venue;
    venue.append(leaving, std::uint64_t{0});
    const logged_on session = io::block_on(context, log_on(&venue.bytes()));
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error(), logged_out(wire::logout_reason::shutting_down));
}

/// The only message of `venue`.
std::expected<bool, std::error_code> take_snapshot(market_image& image, const venue_bytes& venue) {
    return image.take_snapshot(venue.bytes());
}

market_image image_of(const std::vector<domain::instrument>& instruments, std::uint64_t last_sequence = 0) {
    market_image image;
    venue_bytes begin;
    begin.append(wire::snapshot_begin(), std::uint64_t{0});
    EXPECT_TRUE(take_snapshot(image, begin));
    for (const domain::instrument& i : instruments) {
        venue_bytes definition;
        definition.append(i, std::uint64_t{0});
        EXPECT_TRUE(take_snapshot(image, definition));
    }
    wire::snapshot_end end;
    end.last_sequence.value = last_sequence;
    venue_bytes ended;
    ended.append(end, std::uint64_t{0});
    EXPECT_EQ(take_snapshot(image, ended), true);
    return image;
}

TEST_F(venue_messages, a_snapshot_of_the_last_possible_message_is_refused) {
    market_image image;
    venue_bytes begin;
    begin.append(wire::snapshot_begin(), std::uint64_t{0});
    ASSERT_TRUE(take_snapshot(image, begin));
    wire::snapshot_end end;
    end.last_sequence.value = std::numeric_limits<std::uint64_t>::max();
    venue_bytes last;
    last.append(end, std::uint64_t{0});
    const auto done = take_snapshot(image, last);
    ASSERT_FALSE(done) << "the next message would have number 0";
    EXPECT_EQ(done.error(), session_errc::unexpected_message);
}

TEST_F(venue_messages, the_events_of_a_definition_that_do_not_fit_each_other_end_the_feed) {
    const auto taken = [](market_image& image, domain::event_kind kind, std::uint32_t id) {
        domain::event event;
        event.kind = kind;
        event.instrument = domain::instrument_id{id};
        event.defined = {};
        venue_bytes message;
        message.append(event, domain::instrument{}, image.next_sequence());
        return image.take(message.bytes()).has_value();
    };
    using domain::event_kind;
    for (const std::uint32_t id : {0U, domain::instruments_max + 1, std::numeric_limits<std::uint32_t>::max()}) {
        market_image image = image_of({first});
        EXPECT_FALSE(taken(image, event_kind::instrument_legs, id)) << "id " << id;
    }
    market_image other = image_of({first});
    EXPECT_TRUE(taken(other, event_kind::instrument_legs, 2));
    EXPECT_FALSE(taken(other, event_kind::instrument_legs, 3)) << "of another instrument";
    market_image again = image_of({first});
    EXPECT_TRUE(taken(again, event_kind::instrument_legs, 2));
    EXPECT_FALSE(taken(again, event_kind::instrument_legs, 2)) << "twice";
    EXPECT_EQ(again.begun_definition().size(), 1U);
}

/// Events of a venue that trades at random.
struct random_market {
    explicit random_market(std::uint64_t seed) {
        facility::testing::command_generator generator(seed);
        facility::testing::recorder seen;
        facility::facility live(generator.profile().options, generator.profile().instruments, seen);
        instruments = generator.profile().instruments;
        for (const domain::instrument& i : instruments) known.define(i);
        for (int i = 0; i < 200; ++i) {
            seen.events.clear();
            live.apply(generator.next());
            generator.learn(seen.events);
            for (const domain::event& event : seen.events) {
                if (domain::is_definition(event.kind)) return;  // later events may need an instrument that is not known
                if (is_sent(event)) (domain::is_public(event.kind) ? public_events : answers).push_back(event);
            }
        }
    }
    [[nodiscard]] const domain::instrument& instrument(domain::instrument_id id) const {
        return known.find_or_nameless(id);
    }
    /// A gateway refuses some of the generator's commands, with values that no message can have.
    [[nodiscard]] bool is_sent(const domain::event& event) const {
        const domain::price_ticks price = event.order.price;
        const bool is_far = price > domain::price_ticks{domain::price_ticks_max} ||
                            price < domain::price_ticks{-domain::price_ticks_max};
        if (event.kind == domain::event_kind::order_rejected && price != domain::no_price && is_far) return false;
        std::array<std::byte, wire::message_bytes_max> room{};
        const std::size_t size = wire::encode(event, instrument(event.instrument), 1, room);
        const auto frame = wire::next_frame(std::span(room).first(size));
        domain::event received;
        return frame && *frame && !wire::decode_event(**frame, known, received);
    }

    std::vector<domain::instrument> instruments;
    wire::instrument_table known;
    std::vector<domain::event> public_events;
    std::vector<domain::event> answers;
};

std::vector<std::byte> with_changes(std::vector<std::byte> bytes, base::prng& random) {
    for (std::uint64_t changes = 1 + random.below(4); changes != 0; --changes) {
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random());
    }
    return bytes;
}

struct use_result {
    std::size_t answers_count = 0;
    std::error_code error;
};

/// Reads and sends until the session ends.
io::task<use_result> use(const std::vector<std::byte>* bytes) {
    use_result result;
    logged_on session = co_await log_on(bytes);
    if (!session) {
        result.error = session.error();
        co_return result;
    }
    order_session& client = **session;
    std::vector<domain::instrument> instruments;
    client.instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    if (instruments.empty()) co_return result;
    const std::vector<domain::price_ticks> middles(instruments.size());
    trader own(trader_options(), std::move(instruments), middles, 1, 1);
    while (true) {
        const auto got = co_await client.next();
        if (!got) {
            result.error = got.error();
            co_return result;
        }
        ++result.answers_count;
        if (got->reject) {
            own.on_reject(got->reject->session_reject_reason);
        } else if (!got->gap && !got->told) {
            static_cast<void>(own.on_event(got->event));
            static_cast<void>(client.send(own.next_request()));
        }
    }
}

TEST_F(venue_messages, any_changed_byte_of_a_session_is_survived) {
    base::prng random{base::test_seed()};
    std::size_t answered = 0;
    for (int round = 0; round < 20; ++round) {
        const random_market market(random());
        venue_bytes venue = logon(market.instruments);
        std::uint64_t sequence = 0;
        for (const domain::event& event : market.answers) {
            venue.append(event, market.instrument(event.instrument), ++sequence);
        }
        venue.append(wire::heartbeat(), std::uint64_t{0});
        venue.append(wire::reject(), std::uint64_t{0});
        venue.append(wire::resend_gap(), std::uint64_t{0});
        const use_result whole = io::block_on(context, use(&venue.bytes()));
        EXPECT_EQ(whole.answers_count, sequence + 2) << whole.error.message();
        for (int i = 0; i < 25; ++i) {
            const std::vector<std::byte> changed = with_changes(venue.bytes(), random);
            answered += io::block_on(context, use(&changed)).answers_count;
        }
    }
    EXPECT_GT(answered, 100U);
}

TEST_F(venue_messages, any_changed_byte_of_a_feed_is_survived) {
    base::prng random{base::test_seed()};
    std::size_t refused = 0;
    for (int round = 0; round < 20; ++round) {
        const random_market market(random());
        for (int i = 0; i < 25; ++i) {
            market_image image = image_of(market.instruments);
            const std::uint64_t changed_at = random.below(market.public_events.size() + 1);
            for (const domain::event& event : market.public_events) {
                venue_bytes message;
                message.append(event, market.instrument(event.instrument), image.next_sequence());
                const bool changes = image.next_sequence() > changed_at;
                const auto taken = image.take(changes ? with_changes(message.bytes(), random) : message.bytes());
                ASSERT_TRUE(taken || changes) << taken.error().message();
                if (taken) continue;
                ++refused;
                break;
            }
        }
    }
    EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace corro::client
