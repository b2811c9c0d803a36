// SPDX-License-Identifier: Apache-2.0
// Test support: a gateway with a real facility behind it, and a client that can say anything, sound or not.
//
// Everything runs on one context in the test's own process, over TCP on the loopback address unless
// `transport_under_test` names another transport. A program may run all of it on another platform, such as a world in
// memory with virtual time (io/testing/tested_platform.hpp).
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "facility/facility.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "gateway/transports_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tested_platform.hpp"
#include "io/testing/wall_clock_platform.hpp"
#include "risk/throttle.hpp"
#include "wire/authentication.hpp"
#include "wire/binary_codec.hpp"

namespace corro::gateway::testing {

[[nodiscard]] inline wire::api_key key_of(std::uint32_t account) {
    wire::api_key key;
    key.fill(static_cast<std::byte>(account * 17));
    return key;
}

/// Another key of each account.
[[nodiscard]] inline wire::api_key second_key_of(std::uint32_t account) {
    wire::api_key key = key_of(account);
    key.front() ^= std::byte{0xff};
    return key;
}

/// What a client says in its hello, and the key that it knows.
struct logon {
    logon() noexcept {}
    explicit logon(std::uint32_t account_number, std::uint32_t session = 1) noexcept
        : account(account_number), session_number(session), key(key_of(account_number)) {}

    std::uint32_t account = 1;
    std::uint32_t session_number = 1;
    wire::api_key key = key_of(1);
    std::uint32_t heartbeat_ms = 60'000;
    std::uint16_t version = wire::protocol_version;
    std::uint64_t next_sequence = 0;  ///< the first answer that it has not seen; 0: only new ones
    bool cancel_on_disconnect = false;
    bool take_over = false;
    std::uint64_t key_id = 0;
    std::uint8_t session_day = 0;  ///< in which `next_sequence` has its number; 0: not known
};

/// The wall clock of the venues; the platform's as long as it is not set.
inline std::optional<std::chrono::system_clock::time_point> shown_wall;

[[nodiscard]] inline io::context_options with_shown_wall() {
    static io::testing::wall_clock_platform machine(
        [] { return shown_wall ? *shown_wall : io::tested_platform().wall_now(); }, io::tested_platform());
    return io::context_options(machine);
}

/// A limit order in the first instrument.
[[nodiscard]] inline domain::command order(domain::side side, std::int64_t ticks, std::uint32_t lots,
                                           std::uint64_t client_order) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{1};
    c.order_terms().side = side;
    c.enter_order().price = domain::price_ticks{ticks};
    c.enter_order().quantity = domain::quantity_lots{lots};
    c.client_order = domain::client_order_id{client_order};
    return c;
}

/// Names an open order by its client order id.
[[nodiscard]] inline domain::command cancel(std::uint64_t client_order) {
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.instrument = domain::instrument_id{1};
    c.client_order = domain::client_order_id{client_order};
    return c;
}

[[nodiscard]] inline domain::instrument test_instrument(std::uint32_t id) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.name = domain::symbol{"TEST" + std::to_string(id)};
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    i.price_low = domain::price_ticks{0};
    i.price_high = domain::price_ticks{10'000};
    i.order_quantity_max = domain::quantity_lots{1'000};
    return i;
}

/// The message in a frame that was checked to hold one.
template <class Message>
[[nodiscard]] Message value_of(const wire::frame& frame);
template <>
inline wire::challenge value_of(const wire::frame& frame) {
    return wire::challenge_view(frame).value();
}
template <>
inline wire::hello_ack value_of(const wire::frame& frame) {
    return wire::hello_ack_view(frame).value();
}
template <>
inline wire::instrument_definition value_of(const wire::frame& frame) {
    return wire::instrument_definition_view(frame).value();
}
template <>
inline wire::heartbeat value_of(const wire::frame& frame) {
    return wire::heartbeat_view(frame).value();
}
template <>
inline wire::resend_gap value_of(const wire::frame& frame) {
    return wire::resend_gap_view(frame).value();
}
template <>
inline wire::logout_ack value_of(const wire::frame& frame) {
    return wire::logout_ack_view(frame).value();
}
template <>
inline wire::reject value_of(const wire::frame& frame) {
    return wire::reject_view(frame).value();
}

template <>
inline wire::venue_status value_of(const wire::frame& frame) {
    return wire::venue_status_view(frame).value();
}

template <>
inline wire::snapshot_answer value_of(const wire::frame& frame) {
    return wire::snapshot_answer_view(frame).value();
}

/// One connection to the gateway. Nothing is sent before `flush`; nothing is answered by itself.
class raw_client {
 public:
    explicit raw_client(io::any_stream s) : stream(std::move(s)), input_(64 * 1024) {
        instruments.define(test_instrument(1));
        instruments.define(test_instrument(2));
    }

    void queue_bytes(std::span<const std::byte> bytes) { output_.insert(output_.end(), bytes.begin(), bytes.end()); }
    template <class Message>
    void queue(const Message& message, std::uint64_t sequence = 0) {
        output_.resize(output_.size() + Message::frame_bytes);
        wire::store(message, sequence, output_.data() + output_.size() - Message::frame_bytes);
    }
    /// A request, numbered with the next number of the session, which it returns.
    std::uint32_t queue_request(domain::command c) {
        c.set_request(next_request);
        output_.resize(output_.size() + wire::message_bytes_max);
        const std::size_t begin = output_.size() - wire::message_bytes_max;
        const std::size_t size =
            wire::encode(c, instruments.find_or_nameless(c.instrument), std::span(output_).subspan(begin));
        output_.resize(begin + size);
        return next_request++;
    }
    /// Up to wire::mass_quote_max quotes as one request, numbered like any other.
    std::uint32_t queue_mass_quote(std::span<const domain::command> quotes) {
        output_.resize(output_.size() + wire::message_bytes_max);
        const std::size_t begin = output_.size() - wire::message_bytes_max;
        const std::size_t size =
            wire::encode_mass_quote(quotes, instruments, next_request, std::span(output_).subspan(begin));
        output_.resize(begin + size);
        return next_request++;
    }
    /// What was queued and not flushed yet, for tests that change it.
    [[nodiscard]] std::vector<std::byte>& queued() noexcept { return output_; }

    io::task<bool> flush() {
        const std::vector<std::byte> bytes = std::exchange(output_, {});
        const io::io_result written = co_await stream.write_all(bytes);
        co_return written.ok();
    }

    /// The next frame, valid until the next call; nothing when the venue has closed the connection.
    io::task<std::optional<wire::frame>> next() {
        while (true) {
            const auto found = wire::next_frame(std::span(input_).subspan(begin_, end_ - begin_));
            if (!found) {
                ADD_FAILURE() << "the venue sent bytes that are no frame: " << found.error().message();
                co_return std::nullopt;
            }
            if (*found) {
                begin_ += (*found)->size();
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

    /// The next message, which must be a `Message`.
    template <class Message>
    io::task<std::optional<Message>> expect() {
        const std::optional<wire::frame> frame = co_await next();
        if (!frame) {
            ADD_FAILURE() << "the connection ended before " << to_string(Message::message_id);
            co_return std::nullopt;
        }
        if (frame->message != Message::message_id || wire::check(*frame)) {
            ADD_FAILURE() << "expected " << to_string(Message::message_id) << ", got " << to_string(frame->message);
            co_return std::nullopt;
        }
        co_return value_of<Message>(*frame);
    }

    /// The next message must be a numbered event, with the number that is its turn.
    io::task<std::optional<domain::event>> event() {
        const std::optional<wire::frame> frame = co_await next();
        if (!frame) {
            ADD_FAILURE() << "the connection ended before an event";
            co_return std::nullopt;
        }
        EXPECT_EQ(frame->sequence, next_answer++) << to_string(frame->message);
        domain::event decoded;
        if (const std::error_code error = wire::decode_event(*frame, instruments, decoded)) {
            ADD_FAILURE() << to_string(frame->message) << ": " << error.message();
            co_return std::nullopt;
        }
        co_return decoded;
    }

    /// All events up to the one that completes the answer to a request.
    io::task<std::vector<domain::event>> answer() {
        std::vector<domain::event> events;
        while (true) {
            const std::optional<domain::event> e = co_await event();
            if (!e) co_return events;
            events.push_back(*e);
            if ((e->flags & domain::event_flag::last_of_request) != 0) co_return events;
        }
    }

    /// Whether the venue says goodbye for this reason and then closes, whatever else it says before.
    io::task<bool> is_logged_out(wire::logout_reason reason) {
        while (true) {
            const std::optional<wire::frame> frame = co_await next();
            if (!frame) {
                ADD_FAILURE() << "the connection ended without a logout";
                co_return false;
            }
            if (frame->message != wire::template_id::logout) continue;
            const wire::logout_reason said = wire::logout_view(*frame).logout_reason();
            EXPECT_EQ(to_string(said), to_string(reason));
            const bool closes = co_await is_closed();
            EXPECT_TRUE(closes) << "nothing comes behind a logout";
            co_return said == reason&& closes;
        }
    }

    /// Whether the connection ends without a further message.
    io::task<bool> is_closed() {
        const std::optional<wire::frame> frame = co_await next();
        if (frame) ADD_FAILURE() << "instead of the end came " << to_string(frame->message);
        co_return !frame;
    }

    [[nodiscard]] static wire::hello hello_for(const wire::challenge& challenge, const logon& who) {
        wire::hello hello;
        hello.account = domain::account_id{who.account};
        hello.session_number = who.session_number;
        hello.next_sequence = domain::sequence_number{who.next_sequence};
        hello.heartbeat_interval_ms = who.heartbeat_ms;
        hello.protocol_version = who.version;
        hello.hello_flags = who.cancel_on_disconnect ? wire::hello_flag::cancel_on_disconnect : std::uint8_t{0};
        if (who.take_over) hello.hello_flags |= wire::hello_flag::take_over;
        hello.key_id = who.key_id;
        hello.session_day = who.session_day;
        hello.client_nonce.fill(std::byte{7});
        hello.proof = wire::make_proof(who.key, wire::logon_proof_input(challenge.nonce, hello));
        return hello;
    }

    /// Reads the challenge and answers it; what the venue makes of it is not read yet.
    io::task<bool> send_hello(logon who) {
        const std::optional<wire::challenge> challenge = co_await expect<wire::challenge>();
        if (!challenge) co_return false;
        queue(hello_for(*challenge, who));
        co_return co_await flush();
    }

    /// The whole logon, up to the last instrument.
    io::task<bool> log_on(logon who) {
        if (!co_await send_hello(who)) co_return false;
        const std::optional<wire::hello_ack> ack = co_await expect<wire::hello_ack>();
        if (!ack) co_return false;
        welcome = *ack;
        next_request = static_cast<std::uint32_t>(ack->next_request.value);
        next_answer = ack->next_sequence.value;
        for (std::uint32_t i = 0; i < ack->instruments_count; ++i) {
            const bool defined = (co_await expect<wire::instrument_definition>()).has_value();
            if (!defined) co_return false;
        }
        if (who.next_sequence != 0 && next_answer > who.next_sequence && who.version >= 2) {
            gap = co_await expect<wire::resend_gap>();
            if (!gap) co_return false;
        }
        co_return true;
    }

    io::any_stream stream;
    wire::instrument_table instruments;
    wire::hello_ack welcome;
    std::optional<wire::resend_gap> gap;  ///< what the venue said of answers that it no longer has
    std::uint32_t next_request = 1;
    std::uint64_t next_answer = 1;

 private:
    std::vector<std::byte> output_;
    std::vector<std::byte> input_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// The account of `test_venue` whose commands are an operator's.
inline constexpr std::uint32_t operator_account = 3;
/// The account that is told what accounts 1 and 2 are told, and enters nothing.
inline constexpr std::uint32_t drop_copy_account = 7;

[[nodiscard]] inline gateway_options any_number_of_logons() {
    gateway_options options;
    options.logons_max = UINT32_MAX;
    return options;
}

/// Gateway, queue and facility, with accounts 1, 2, the operator's and a drop copy, of three sessions each.
class test_venue final : facility::event_consumer {
 public:
    /// `options` of the gateway; by itself the venue lets sessions log on as often as they like.
    explicit test_venue(gateway_options options = any_number_of_logons(), std::size_t queue_capacity = 1024,
                        answer_log_options kept = answer_log_options())
        : commands(queue_capacity),
          answers(accounts_of_test().sessions_count(), kept),
          facility_(facility_options(), instruments_, *this),
          gateway(context, options, instruments_, accounts_, commands, answers, clock_) {}

    /// Runs `body(this)` beside the venue, then closes the venue. A body that takes longer than `io::test_patience` is
    /// stopped and has failed.
    template <class Body>
    void run(Body body) {
        io::block_on(context, run_all(this, body));
    }

    /// A new connection.
    io::task<std::unique_ptr<raw_client>> connect() {
        io::any_stream stream;
        if (transport_ == test_transport::memory) {
            auto [near, far] = memory_stream::pair();
            serving_->spawn(gateway.serve_stream(io::any_stream(std::move(far))));
            stream = io::any_stream(std::move(near));
        } else {
            stream = co_await connect_over(transport_, &context, endpoint, unix_address_);
        }
        if (!stream.is_open()) co_return nullptr;
        co_return std::make_unique<raw_client>(std::move(stream));
    }

    /// Where the venue listens for Unix sockets.
    [[nodiscard]] const io::unix_endpoint& unix_address() const noexcept { return unix_address_; }

    /// A connection that is logged on; a null pointer, and a failure, when it could not be.
    io::task<std::unique_ptr<raw_client>> log_on(logon who) {
        std::unique_ptr<raw_client> client = co_await connect();
        if (client != nullptr && !co_await client->log_on(who)) client.reset();
        co_return client;
    }

    /// Waits until `condition(*this)` holds.
    template <class Condition>
    io::task<bool> until(Condition condition) {
        while (!condition(*this)) {
            const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(2));
            if (stopped) co_return false;
        }
        co_return true;
    }

    /// While it is held the facility takes no commands, as if it were busy.
    void hold() noexcept { released_.reset(); }
    void release() noexcept { released_.set(); }

    [[nodiscard]] const account_directory& accounts() const noexcept { return accounts_; }
    /// As a configuration that is read again.
    [[nodiscard]] std::string change_keys(const std::vector<account>& changed) {
        std::string problem = accounts_.change_keys(changed);
        if (problem.empty()) gateway.end_withdrawn();
        return problem;
    }

    [[nodiscard]] std::uint32_t open_orders_count() const noexcept { return facility_.open_orders_count(); }
    [[nodiscard]] const gateway_statistics& statistics() const noexcept { return gateway.statistics(); }
    /// Without the notes of cancels on disconnect, which are commands too.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return sequence_ - notes_count_; }
    [[nodiscard]] std::uint64_t notes_count() const noexcept { return notes_count_; }
    [[nodiscard]] std::uint64_t state_hash() const { return facility_.state_hash(); }

    io::context context{with_shown_wall()};
    command_queue commands;
    answer_log answers;
    io::endpoint endpoint;
    std::int64_t time_ns = 0;  ///< of the commands from here on
    risk::throttle throttle{risk::throttle_options{}, 0};

 private:
    static facility::facility_options facility_options() {
        facility::facility_options options;
        options.accounts_max = 8;
        options.instruments_reserved = 2;
        return options;
    }
    static account_directory accounts_of_test() {
        account_directory accounts;
        for (const std::uint32_t id : {1U, 2U, operator_account, drop_copy_account}) {
            account a;
            a.id = domain::account_id{id};
            a.key = key_of(id);
            a.more_keys = {second_key_of(id)};
            a.sessions_count = 3;
            a.is_operator = id == operator_account;
            if (id == drop_copy_account) a.copies_of = {domain::account_id{1}, domain::account_id{2}};
            EXPECT_EQ(accounts.add(a), "");
        }
        return accounts;
    }

    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (domain::is_definition(e.kind)) gateway.define(e);
            if (!domain::is_public(e.kind)) gateway.deliver(e);
        }
    }

    template <class Body>
    static io::task<void> run_all(test_venue* self, Body body) {
        std::vector<listener> listeners = listeners_of(self->transport_, self->context, self->unix_address_);
        if (!listeners.empty()) {
            const auto found = listeners.front().local_endpoint();
            if (found) self->endpoint = *found;
        }
        io::task_scope pumping(self->context);
        io::task_scope serving(self->context);
        self->serving_ = &serving;
        pumping.spawn(self->pump());
        serving.spawn(self->gateway.serve(std::move(listeners)));
        const auto in_time = co_await io::with_timeout(io::test_patience, body(self));
        EXPECT_TRUE(in_time) << "the test did not come to its end";
        self->release();
        self->gateway.close();
        co_await serving.join();
        pumping.request_stop();
        co_await pumping.join();
        EXPECT_EQ(self->statistics().connections_now, 0U);
        EXPECT_EQ(self->statistics().sessions_now, 0U);
    }

    io::task<void> pump() {
        domain::command c;
        while (!co_await released_.wait()) {
            for (int batch = 0; batch < 64 && commands.try_pop(c); ++batch) {
                c.sequence = domain::sequence_number{++sequence_};
                if (c.kind == domain::command_kind::cancel_on_disconnect) ++notes_count_;
                c.time = domain::time_ns{time_ns};
                if (c.verdict() == domain::reject_reason::none) c.set_verdict(throttle.judge(c));
                answers.note(c);
                facility_.apply(c);
            }
            commands.set_answered(sequence_);
            commands.room().set();
            gateway.flush();
            if (!commands.empty()) {
                co_await io::yield();
            } else if (co_await commands.filled().wait()) {
                co_return;  // stopped
            }
        }
    }

    const std::vector<domain::instrument> instruments_{test_instrument(1), test_instrument(2)};
    account_directory accounts_ = accounts_of_test();
    io::tick_clock clock_;
    facility::facility facility_;
    io::manual_event released_{true};
    const test_transport transport_ = transport_under_test;
    /// In Linux's abstract space, so that nothing is left behind.
    const io::unix_endpoint unix_address_ =
        *io::unix_endpoint::parse("@corro-test-" + std::to_string(std::random_device{}()));
    io::task_scope* serving_ = nullptr;
    std::uint64_t sequence_ = 0;
    std::uint64_t notes_count_ = 0;

 public:
    order_entry_gateway gateway;
};

}  // namespace corro::gateway::testing
