// SPDX-License-Identifier: Apache-2.0
// Test support: a gateway for FIX with a real facility behind it, and a client whose messages are written by hand.
//
// Everything runs on one context, in a world in memory if the program has one (io/testing/tested_platform.hpp).
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "facility/facility.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/net/connection.hpp"
#include "fix/session/signed_logon.hpp"
#include "fix_gateway/fix_order_entry.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/tested_platform.hpp"

namespace corro::fix_gateway::testing {

/// The key of an account.
[[nodiscard]] inline wire::api_key key_of(std::uint32_t account) {
    wire::api_key key;
    key.fill(static_cast<std::byte>(account * 17));
    return key;
}

/// The same as Password (554).
[[nodiscard]] inline std::string password_of(std::uint32_t account) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte b : key_of(account)) {
        text += digits[std::to_integer<unsigned>(b) >> 4U];
        text += digits[std::to_integer<unsigned>(b) & 15U];
    }
    return text;
}

[[nodiscard]] inline std::string time_text(std::int64_t time) {
    std::array<char, fix::timestamp_format::bytes_max> text{};
    return {text.data(), fix::timestamp_format().write(time, fix::time_precision::milliseconds, text.data())};
}

/// The fields of a Logon that a key signs at a time: "95=..|96=..|554=..|".
[[nodiscard]] inline std::string signed_at(std::int64_t time, const wire::api_key& key, std::uint8_t nonce_begin = 1) {
    std::vector<char> room(1'000);
    fix::message_writer writer(room, "FIX.4.4");
    writer.begin("A");
    std::array<std::byte, 16> nonce{};
    nonce[0] = std::byte{nonce_begin};
    fix::put_signature(writer, key, time, nonce);
    const std::string message = fix::testing::in_words(writer.finish());
    const std::size_t begin = message.find("|95=") + 1;
    return message.substr(begin, message.find("|10=") + 1 - begin);
}

/// One connection. Nothing is answered by itself.
class fix_client {
 public:
    fix_client(io::context& on, io::tcp_stream connected, std::string name)
        : stream(std::move(connected)), context_(on), name_(std::move(name)), input_(64 * 1024) {}

    /// The bytes of a message: "35=0|112=x|" with a header, and the next number.
    [[nodiscard]] std::string message(std::string_view body) {
        const std::size_t type_end = body.find('|') + 1;
        std::string text(body.substr(0, type_end));
        text += "49=" + name_ + "|56=CORRO|34=" + std::to_string(next_number++) + "|52=";
        text += time_text(fix::moment_on(context_).wall) + "|";
        text += body.substr(type_end);
        return fix::testing::framed(text, begin_string);
    }
    io::task<bool> send_bytes(std::string bytes) {
        const io::io_result written = co_await stream.write_all(std::as_bytes(std::span(bytes)));
        co_return written.ok();
    }
    io::task<bool> send(std::string body) { return send_bytes(message(body)); }

    /// The next message in words, without 8, 9, 49, 52, 56, 10; "closed" at the end of the connection.
    io::task<std::string> next() {
        while (true) {
            const std::string_view received(input_.data() + begin_, end_ - begin_);
            const fix::frame_result frame = fix::next_frame(received, fix::message_bytes_max_default);
            if (frame.state == fix::frame_state::complete) {
                fix::field_index index;
                EXPECT_FALSE(index.index(received, frame));
                std::string words;
                for (const fix::field& each : index.fields()) {
                    if (each.tag == 49 || each.tag == 52 || each.tag == 56) continue;
                    words += std::to_string(each.tag) + "=" + std::string(index.value(each)) + "|";
                }
                begin_ += frame.bytes;
                co_return words;
            }
            if (frame.state == fix::frame_state::garbled) {
                ADD_FAILURE() << "the venue sends no messages";
                co_return std::string("garbled");
            }
            std::move(input_.data() + begin_, input_.data() + end_, input_.data());
            end_ -= begin_;
            begin_ = 0;
            const io::io_result read =
                co_await stream.read_some(std::as_writable_bytes(std::span(input_).subspan(end_)));
            end_ += read.bytes;
            if (read.error) co_return std::string("closed");
        }
    }
    io::task<std::string> ask(std::string body) {
        const bool sent = co_await send(std::move(body));
        EXPECT_TRUE(sent);
        co_return co_await next();
    }

    io::tcp_stream stream;
    std::string begin_string = "FIX.4.4";
    std::uint64_t next_number = 1;

 private:
    io::context& context_;
    std::string name_;
    std::vector<char> input_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// Gateways for Corro Binary and FIX, queue and facility. ALICE and ALICE2 are sessions of account 1, BOB is one
/// of account 2, and CAROL of 3.
class fix_venue final : facility::event_consumer {
 public:
    explicit fix_venue(io::context& on, gateway::gateway_options options = any_number_of_logons(),
                       gateway::answer_log_options kept = gateway::answer_log_options(),
                       const fix_options& by_fix = fix_options())
        : context(on),
          commands(4'096),
          answers(4, kept),
          facility_(facility_options(), instruments_, *this),
          gateway(on, options, instruments_, accounts_, commands, answers, clock_),
          fix(on, by_fix, gateway, accounts_, commands, answers),
          running_(on) {
        auto port = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
        EXPECT_TRUE(port.has_value());
        address = *port->local_endpoint();
        std::vector<gateway::listener> listeners;
        listeners.emplace_back(gateway::transport_kind::tcp, std::move(*port));
        running_.spawn(gateway.serve(std::vector<gateway::listener>()));
        running_.spawn(fix.serve(std::move(listeners)));
        pumping_.emplace(on);
        pumping_->spawn(pump());
    }

    /// To be awaited at the end.
    io::task<void> close() {
        fix.close();
        gateway.close();
        co_await running_.join();
        pumping_->request_stop();
        co_await pumping_->join();
    }
    /// A new connection.
    io::task<std::unique_ptr<fix_client>> connect(std::string name) {
        auto stream = co_await io::tcp_stream::connect(context, address);
        EXPECT_TRUE(stream.has_value());
        if (!stream) co_return nullptr;
        co_return std::make_unique<fix_client>(context, std::move(*stream), std::move(name));
    }
    /// A connection that is logged on.
    io::task<std::unique_ptr<fix_client>> log_on(std::string name, std::uint32_t account, std::uint64_t number = 1) {
        auto client = co_await connect(std::move(name));
        client->next_number = number;
        const std::string answer = co_await client->ask("35=A|98=0|108=30|554=" + password_of(account) + "|");
        EXPECT_TRUE(answer.starts_with("35=A|")) << answer;
        co_return client;
    }
    /// From now on commands wait, until `go_on`.
    void hold() noexcept { is_held_ = true; }
    /// Takes commands again.
    /// @param loses_notes  Like a journal that fails: the numbers of the sessions' own messages are not counted.
    void go_on(bool loses_notes = false) noexcept {
        is_held_ = false;
        loses_notes_ = loses_notes;
    }
    [[nodiscard]] std::int64_t wall() const { return fix::moment_on(context).wall; }
    [[nodiscard]] const gateway::gateway_statistics& statistics() const { return gateway.statistics(); }

    [[nodiscard]] static gateway::gateway_options any_number_of_logons() {
        gateway::gateway_options options;
        options.logons_max = UINT32_MAX;
        options.wrong_proof_wait_max = std::chrono::milliseconds(0);
        return options;
    }

    io::context& context;
    gateway::command_queue commands;
    gateway::answer_log answers;
    io::endpoint address;

 private:
    static facility::facility_options facility_options() {
        facility::facility_options options;
        options.accounts_max = 8;
        options.instruments_reserved = 2;
        return options;
    }
    static domain::instrument instrument_of_test() {
        domain::instrument i;
        i.id = domain::instrument_id{1};
        i.name = domain::symbol{"TEST"};
        i.tick_size = domain::price_nano{250'000'000};
        i.lot_size = 1;
        i.price_low = domain::price_ticks{0};
        i.price_high = domain::price_ticks{10'000};
        i.order_quantity_max = domain::quantity_lots{1'000};
        return i;
    }
    static gateway::account_directory accounts_of_test() {
        gateway::account_directory accounts;
        for (const std::uint32_t id : {1U, 2U, 3U}) {
            gateway::account a;
            a.id = domain::account_id{id};
            a.key = key_of(id);
            a.fix_names = {id == 1 ? "ALICE" : id == 2 ? "BOB" : "CAROL"};
            if (id == 1) a.fix_names.emplace_back("ALICE2");
            a.sessions_count = static_cast<std::uint32_t>(a.fix_names.size());
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
    io::task<void> pump() {
        domain::command c;
        std::uint64_t taken_count = 0;
        while (true) {
            while (is_held_) {
                const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
                if (stopped) co_return;
            }
            for (int batch = 0; batch < 64 && commands.try_pop(c); ++batch) {
                ++taken_count;
                if (loses_notes_ && c.kind == domain::command_kind::count_messages) continue;
                c.sequence = domain::sequence_number{++sequence_};
                c.time = domain::time_ns{wall()};
                answers.note(c);
                facility_.apply(c);
            }
            commands.set_answered(taken_count);
            commands.room().set();
            gateway.flush();
            if (!commands.empty()) {
                co_await io::yield();
            } else if (co_await commands.filled().wait()) {
                co_return;  // stopped
            }
        }
    }

    const std::vector<domain::instrument> instruments_{instrument_of_test()};
    gateway::account_directory accounts_ = accounts_of_test();
    io::tick_clock clock_;
    facility::facility facility_;
    std::uint64_t sequence_ = 0;
    bool is_held_ = false;
    bool loses_notes_ = false;

 public:
    gateway::order_entry_gateway gateway;
    fix_order_entry fix;

 private:
    io::task_scope running_;
    std::optional<io::task_scope> pumping_;
};

/// Runs `body` in a context of its own.
template <class Body>
void run_on_context(Body body) {
    io::context here{io::context_options(io::tested_platform())};
    io::block_on(here, body(&here));
}

}  // namespace corro::fix_gateway::testing
