// SPDX-License-Identifier: Apache-2.0
// Sessions over connections: an acceptor and initiators, on simulated hosts whose links and processes fail.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/codec/values.hpp"
#include "fix/net/acceptor.hpp"
#include "fix/net/connection.hpp"
#include "fix/net/file_store.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/schedule.hpp"
#include "io/loop/timer.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/tls_fixture.hpp"
#include "sim/host.hpp"
#include "sim/link.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace corro::fix {
namespace {

using namespace std::chrono_literals;

const io::endpoint server_address = io::endpoint::ipv4({10, 0, 0, 1}, 9'000);

session_settings settings_for(const std::string& from, const std::string& to) {
    session_settings made;
    made.identity.sender_comp_id = from;
    made.identity.target_comp_id = to;
    made.heartbeat = 5s;
    return made;
}

/// Sends each message back: they hold the numbers from 1 on.
class echo final : public application {
 public:
    std::string on_logon(session& on) override {
        return on.message().get(554) == "wrong" ? "wrong password" : std::string();
    }
    /// The answers that an earlier connection or process did not send.
    void on_active(session& on, instant now) override {
        for (; answers_count != messages_count; ++answers_count) {
            on.begin_message("B", now).put(148, answers_count + 1);
            if (on.send(now) == 0) return;
        }
    }
    void on_message(session& on, instant now) override {
        const auto number = unsigned_value(on.message().get(148).value_or(""));
        is_in_order = is_in_order && number == messages_count + 1;
        ++messages_count;
        if (on.may_send()) on_active(on, now);
    }
    std::uint64_t messages_count = 0;
    std::uint64_t answers_count = 0;
    bool is_in_order = true;
};

/// Counts what comes back, which has to come in order and once.
class asker final : public application {
 public:
    void on_message(session& on, instant) override {
        const auto number = unsigned_value(on.message().get(148).value_or(""));
        is_in_order = is_in_order && number == answers_count + 1;
        ++answers_count;
    }
    void on_end(session& on) override { ended_because = on.ended_because(); }

    std::uint64_t answers_count = 0;
    bool is_in_order = true;
    std::string ended_because;
};

/// Two hosts with a link of 5 ms.
struct two_hosts {
    explicit two_hosts(std::uint64_t seed)
        : world(seed),
          south(world.add_host("south", {io::endpoint::ipv4({10, 0, 0, 1}, 0)})),
          north(world.add_host("north", {io::endpoint::ipv4({10, 0, 0, 2}, 0)})) {
        for (sim::link* way : {&world.link_between(north, south), &world.link_between(south, north)}) {
            way->options().latency_min = way->options().latency_max = 5ms;
            way->options().piece_bytes_max = 37;
        }
    }
    sim::world world;
    sim::host& south;
    sim::host& north;
};

initiator_options connecting(const std::string& password = "right") {
    initiator_options made;
    made.session = settings_for("BUYER", "CORRO");
    made.servers = {server_address};
    made.credentials = [password](message_writer& logon) {
        logon.put(553, "buyer");
        logon.put(554, password);
    };
    return made;
}

/// Sends `count` messages, some each 20 ms, when the session may; then waits until all are answered.
io::task<void> ask(initiator* through, asker* app, std::uint64_t count) {
    io::context& here = co_await io::this_context();
    const io::steady_time end = here.now() + 1h;
    std::uint64_t sent = 0;
    while (app->answers_count != count && here.now() < end) {
        for (int i = 0; i < 5 && sent != count && through->of().may_send(); ++i) {
            const instant now = moment_on(here);
            through->of().begin_message("B", now).put(148, ++sent);
            static_cast<void>(through->of().send(now));
        }
        through->flush();
        static_cast<void>(co_await io::sleep_for(20ms));
    }
    through->close("done");
}

io::task<void> ask_and_close(io::context* here, initiator* through, asker* app, std::uint64_t count) {
    io::task_scope running(*here);
    running.spawn(through->run());
    co_await ask(through, app, count);
    co_await running.join();
}

TEST(fix_connection, an_initiator_and_an_acceptor_exchange_messages_and_log_out) {
    two_hosts hosts(1);
    io::context server{io::context_options(hosts.south.start_process("server"))};
    io::context client{io::context_options(hosts.north.start_process("client"))};
    echo echoing;
    memory_store servers;
    acceptor listening(server, {}, echoing);
    listening.add(settings_for("CORRO", "BUYER"), servers);
    auto port = io::tcp_acceptor::open(server, io::endpoint::any(9'000));
    ASSERT_TRUE(port);
    io::task_scope serving(server);
    serving.spawn(listening.serve(std::move(*port)));
    asker asking;
    memory_store clients;
    initiator through(client, connecting(), clients, asking);
    io::block_on(client, ask_and_close(&client, &through, &asking, 500));
    EXPECT_EQ(asking.answers_count, 500U);
    EXPECT_TRUE(asking.is_in_order);
    EXPECT_EQ(asking.ended_because, "logged out");
    EXPECT_EQ(through.connections_count(), 1U);
    listening.close();
    io::block_on(server, serving.join());
    EXPECT_EQ(listening.connected_count(), 0U);
    EXPECT_EQ(servers.next_received(), clients.next_sent());
    EXPECT_EQ(clients.next_received(), servers.next_sent());
}

io::tls_context strict_server() {
    io::tls_server_options strict = io::serving_options();
    strict.client_issuers = io::test_authority().certificate;
    return io::server_context(strict);
}

io::tls_context client_with(const io::test_identity& own) {
    io::tls_client_options options = io::trusting_options();
    options.certificate_chain = own.certificate;
    options.private_key = own.private_key;
    return io::client_context(options);
}

initiator_options connecting_by(io::tls_context tls) {
    initiator_options made = connecting();
    made.tls = std::move(tls);
    made.server_name = "localhost";
    return made;
}

/// An acceptor that speaks TLS, on the southern host.
struct secure_acceptor {
    secure_acceptor(two_hosts& on, std::size_t strangers_max)
        : here(io::context_options(on.south.start_process("server"))),
          listening(here, options(strangers_max), echoing) {
        listening.add(settings_for("CORRO", "BUYER"), numbers);
        auto port = io::tcp_acceptor::open(here, io::endpoint::any(9'000));
        EXPECT_TRUE(port);
        serving.spawn(listening.serve(std::move(*port)));
    }
    void end() {
        listening.close();
        io::block_on(here, serving.join());
        EXPECT_EQ(listening.connected_count(), 0U);
    }
    static acceptor_options options(std::size_t strangers_max) {
        acceptor_options made;
        made.tls = strict_server();
        made.strangers_max = strangers_max;
        return made;
    }

    io::context here;
    echo echoing;
    memory_store numbers;
    acceptor listening;
    io::task_scope serving{here};
};

TEST(fix_connection, both_ends_show_a_certificate) {
    two_hosts hosts(1);
    secure_acceptor server(hosts, 10);
    io::context client{io::context_options(hosts.north.start_process("client"))};
    asker asking;
    memory_store clients;
    initiator through(client, connecting_by(client_with(io::test_server_identity())), clients, asking);
    io::block_on(client, ask_and_close(&client, &through, &asking, 200));
    EXPECT_EQ(asking.answers_count, 200U);
    EXPECT_TRUE(asking.is_in_order);
    EXPECT_EQ(asking.ended_because, "logged out");
    EXPECT_EQ(through.connections_count(), 1U);
    server.end();
}

io::task<void> try_for(io::context* here, initiator* through, std::chrono::seconds time) {
    io::task_scope running(*here);
    running.spawn(through->run());
    static_cast<void>(co_await io::sleep_for(time));
    through->close();
    co_await running.join();
}

TEST(fix_connection, is_refused_to_a_client_without_a_certificate_and_to_one_that_expects_another_server) {
    two_hosts hosts(1);
    secure_acceptor server(hosts, 10);
    io::context client{io::context_options(hosts.north.start_process("client"))};
    initiator_options another_server = connecting_by(client_with(io::test_server_identity()));
    another_server.server_name = "other.example.com";
    initiator_options plain = connecting();
    for (const initiator_options& options : {connecting_by(io::client_context()), another_server, plain}) {
        asker asking;
        memory_store clients;
        initiator through(client, options, clients, asking);
        io::block_on(client, try_for(&client, &through, 5s));
        EXPECT_TRUE(through.connection_error());
        EXPECT_EQ(clients.next_received(), 1U);
    }
    EXPECT_EQ(server.echoing.messages_count, 0U);
    EXPECT_EQ(server.numbers.next_received(), 1U);
    EXPECT_GE(server.listening.refused_count(), 3U);
    server.end();
}

io::task<void> connect_in_silence(io::context* here, std::vector<io::tcp_stream>* into, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        auto stream = co_await io::tcp_stream::connect(*here, server_address);
        CORRO_ASSERT(stream.has_value());
        into->push_back(std::move(*stream));
    }
}

// They would keep others out until the time for a logon is over.
TEST(fix_connection, connections_without_a_handshake_give_way) {
    two_hosts hosts(1);
    secure_acceptor server(hosts, 3);
    io::context client{io::context_options(hosts.north.start_process("client"))};
    std::vector<io::tcp_stream> silent;
    io::block_on(client, connect_in_silence(&client, &silent, 8));
    asker asking;
    memory_store clients;
    initiator through(client, connecting_by(client_with(io::test_server_identity())), clients, asking);
    const io::steady_time begin = client.now();
    io::block_on(client, ask_and_close(&client, &through, &asking, 5));
    EXPECT_LT(client.now() - begin, 5s) << "in virtual time; a logon has 10 s";
    EXPECT_EQ(through.connections_count(), 1U);
    EXPECT_EQ(server.listening.refused_count(), 6U);
    server.end();
    EXPECT_EQ(server.listening.refused_count(), 8U);
}

/// Serves a session on a stream that hides what it stands on, as one with TLS does.
io::task<void> talk(io::context* here, io::tcp_stream stream, session* on, application* app) {
    on->begin(moment_on(*here));
    connection talking(*here, io::transport_stream(io::any_stream(std::move(stream))), *on, *app);
    co_await talking.run();
}

io::task<void> accept_and_talk(io::context* here, io::tcp_acceptor port, session* on, application* app) {
    auto stream = co_await port.accept();
    CORRO_ASSERT(stream.has_value());
    co_await talk(here, std::move(*stream), on, app);
}

io::task<void> connect_and_talk(io::context* here, session* on, application* app) {
    auto stream = co_await io::tcp_stream::connect(*here, server_address);
    CORRO_ASSERT(stream.has_value());
    co_await talk(here, std::move(*stream), on, app);
}

/// Asks `count` times, each time when the answer has come, and logs out.
class one_at_a_time final : public application {
 public:
    explicit one_at_a_time(std::uint64_t count) : count_(count) {}
    void on_active(session& on, instant now) override {
        on.begin_message("B", now).put(148, ++asked_count);
        static_cast<void>(on.send(now));
    }
    void on_message(session& on, instant now) override {
        if (asked_count == count_) return on.log_out("done", now);
        on_active(on, now);
    }
    void on_end(session& on) override { ended_because = on.ended_because(); }

    std::uint64_t asked_count = 0;
    std::string ended_because;

 private:
    std::uint64_t count_;
};

TEST(fix_connection, a_session_runs_on_any_stream) {
    two_hosts hosts(1);
    io::context server{io::context_options(hosts.south.start_process("server"))};
    io::context client{io::context_options(hosts.north.start_process("client"))};
    echo echoing;
    memory_store servers;
    session answering(settings_for("CORRO", "BUYER"), servers);
    auto port = io::tcp_acceptor::open(server, io::endpoint::any(9'000));
    ASSERT_TRUE(port);
    io::task_scope serving(server);
    serving.spawn(accept_and_talk(&server, std::move(*port), &answering, &echoing));
    one_at_a_time asking(100);
    memory_store clients;
    session_settings settings = settings_for("BUYER", "CORRO");
    settings.side = session_side::initiator;
    session through(settings, clients);
    io::block_on(client, connect_and_talk(&client, &through, &asking));
    io::block_on(server, serving.join());
    EXPECT_EQ(echoing.messages_count, 100U);
    EXPECT_TRUE(echoing.is_in_order);
    EXPECT_EQ(asking.ended_because, "logged out");
    EXPECT_EQ(answering.ended_because(), "the peer logged out");
    EXPECT_EQ(clients.next_received(), servers.next_sent());
}

TEST(fix_connection, messages_arrive_once_and_in_order_over_links_that_are_cut_and_a_server_that_is_killed) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        two_hosts hosts(seed);
        io::context client{io::context_options(hosts.north.start_process("client"))};
        echo echoing;
        memory_store servers;  // outlives the server's processes
        struct life {
            life(sim::host& on, echo& app, memory_store& store)
                : process(on.start_process("server")),
                  context(io::context_options(process)),
                  listening(context, {}, app),
                  serving(context) {
                listening.add(settings_for("CORRO", "BUYER"), store);
                auto port = io::tcp_acceptor::open(context, io::endpoint::any(9'000));
                if (port) serving.spawn(listening.serve(std::move(*port)));
            }
            ~life() {
                listening.close();
                io::block_on(context, serving.join());
            }
            sim::process& process;
            io::context context;
            acceptor listening;
            io::task_scope serving;
        };
        auto server = std::make_unique<life>(hosts.south, echoing, servers);
        auto random = hosts.world.stream("test");
        for (int i = 0; i < 6; ++i) {
            const auto at = std::chrono::milliseconds(500 + random.below(20'000));
            hosts.world.plan_after(at, [&] { hosts.world.set_isolated(hosts.south, true); });
            hosts.world.plan_after(at + std::chrono::milliseconds(random.below(15'000)),
                                   [&] { hosts.world.set_isolated(hosts.south, false); });
        }
        bool restarts = false;
        hosts.world.plan_after(7s, [&] { restarts = true; });
        hosts.world.plan_after(60s, [&] { hosts.world.set_isolated(hosts.south, false); });
        asker asking;
        memory_store clients;
        initiator_options options = connecting();
        options.retry_delay_max = 2s;
        initiator through(client, options, clients, asking);
        io::task_scope running(client);
        running.spawn(ask_and_close(&client, &through, &asking, 2'000));
        const io::steady_time end = hosts.world.now() + 1h;
        while (!asking.ended_because.starts_with("logged out") && hosts.world.now() < end) {
            hosts.world.run_for(100ms);
            if (!restarts) continue;
            restarts = false;
            server->process.kill();
            server.reset();
            server = std::make_unique<life>(hosts.south, echoing, servers);
        }
        io::block_on(client, running.join());
        EXPECT_EQ(asking.answers_count, 2'000U);
        EXPECT_TRUE(asking.is_in_order);
        EXPECT_EQ(echoing.messages_count, 2'000U);
        EXPECT_TRUE(echoing.is_in_order);
        EXPECT_GT(through.connections_count(), 1U);
    }
}

/// Hears what comes, and whether a number ever had two contents.
class listener final : public application {
 public:
    void on_message(session& on, instant) override {
        const std::string content(*on.message().get(148));
        const auto [known, is_new] = heard.emplace(on.message_number(), content);
        if (!is_new && known->second != content) ++changed_count;
        ++messages_count;
    }
    std::map<std::uint64_t, std::string> heard;
    std::uint64_t messages_count = 0;
    std::uint64_t changed_count = 0;
};

/// Tells numbers, each ten times a second, from a server whose session is in a file.
class teller final : public application {
 public:
    void on_message(session&, instant) override {}
};

/// A server's life on a host's disk.
class stored_server {
 public:
    stored_server(sim::host& on, std::uint64_t* told)
        : process_(on.start_process("server")), context_(io::context_options(process_)), running_(context_) {
        running_.spawn(run(told));
    }
    ~stored_server() {
        is_ending_ = true;
        if (listening_) listening_->close();
        io::block_on(context_, running_.join());
    }
    sim::process& process() { return process_; }

 private:
    io::task<void> run(std::uint64_t* told) {
        auto store = co_await file_store::open(context_, "/session");
        EXPECT_TRUE(store);
        if (!store) co_return;
        listening_ = std::make_unique<acceptor>(context_, acceptor_options(), telling_);
        session& of = listening_->add(settings_for("CORRO", "BUYER"), **store);
        auto port = io::tcp_acceptor::open(context_, io::endpoint::any(9'000));
        io::task_scope serving(context_);
        if (port) serving.spawn(listening_->serve(std::move(*port)));
        while (!is_ending_) {
            if (of.may_send()) {
                const instant now = moment_on(context_);
                of.begin_message("B", now).put(148, ++*told);
                static_cast<void>(of.send(now));
                listening_->flush(of);
            }
            const std::error_code stopped = co_await io::sleep_for(100ms);
            if (stopped) break;
        }
        listening_->close();
        co_await serving.join();
        listening_.reset();
    }

    sim::process& process_;
    io::context context_;
    teller telling_;
    std::unique_ptr<acceptor> listening_;
    io::task_scope running_;
    bool is_ending_ = false;
};

TEST(fix_connection, no_number_has_two_contents_over_kills_and_power_cuts_of_a_server_with_a_file) {
    std::uint64_t heard = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        two_hosts hosts(seed);
        io::context client{io::context_options(hosts.north.start_process("client"))};
        listener hearing;
        memory_store clients;
        initiator_options options = connecting();
        options.retry_delay_max = 1s;
        initiator through(client, options, clients, hearing);
        io::task_scope running(client);
        running.spawn(through.run());
        auto random = hosts.world.stream("test");
        std::uint64_t told = 0;
        for (int life = 0; life < 6; ++life) {
            auto server = std::make_unique<stored_server>(hosts.south, &told);
            hosts.world.run_for(std::chrono::milliseconds(3'000 + random.below(10'000)));
            if (random.below(2) == 0) {
                server->process().kill();
                server.reset();
            } else {
                hosts.south.cut_power();
                server.reset();
                hosts.world.run_for(1s);
                hosts.south.restore_power();
            }
        }
        EXPECT_EQ(hearing.changed_count, 0U);
        EXPECT_GT(hearing.messages_count, 100U);
        EXPECT_EQ(hearing.messages_count, hearing.heard.size()) << "each number was delivered once";
        heard += hearing.messages_count;
        through.close();
        io::block_on(client, running.join());
    }
    EXPECT_GT(heard, 2'000U);
}

/// Notes when the session was active, and with which numbers it began.
class timekeeper final : public application {
 public:
    void on_active(session& on, instant now) override {
        std::array<char, timestamp_format::bytes_max> text{};
        begun.emplace_back(text.data(), timestamp_format().write(now.wall, time_precision::seconds, text.data()));
        numbers.push_back(on.message_number());
    }
    void on_message(session&, instant) override {}
    void on_end(session& on) override { ended_because.emplace_back(on.ended_because()); }

    std::vector<std::string> begun;
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> ended_because;
};

session_schedule day_in_new_york() {
    session_schedule schedule;
    schedule.zone = *time_zone::parse("EST5EDT,M3.2.0,M11.1.0");
    schedule.begins = 18h;  // of the day before
    schedule.ends = 17h;
    return schedule;
}

// Four days, on the third of which the clocks in New York are set forward. Either end may be the one with the schedule.
TEST(fix_connection, a_session_logs_out_and_begins_again_by_its_schedule) {
    for (const bool is_the_acceptors : {true, false}) {
        SCOPED_TRACE(is_the_acceptors ? "of the acceptor" : "of both");
        two_hosts hosts(1);
        hosts.world.run_for(24h * 60 + 4h);  // Friday, March 6, 12:00 UTC
        io::context server{io::context_options(hosts.south.start_process("server"))};
        io::context client{io::context_options(hosts.north.start_process("client"))};
        timekeeper serving_app;
        memory_store servers;
        acceptor listening(server, {}, serving_app);
        session_settings settings = settings_for("CORRO", "BUYER");
        settings.heartbeat = 600s;
        settings.schedule = day_in_new_york();
        listening.add(settings, servers);
        auto port = io::tcp_acceptor::open(server, io::endpoint::any(9'000));
        ASSERT_TRUE(port);
        io::task_scope serving(server);
        serving.spawn(listening.serve(std::move(*port)));
        timekeeper asking;
        memory_store clients;
        initiator_options options = connecting();
        options.session.heartbeat = 600s;
        // Without a schedule of its own, an initiator resets its numbers with each Logon.
        options.session.resets_on_logon = is_the_acceptors;
        if (!is_the_acceptors) options.session.schedule = day_in_new_york();
        options.retry_delay_max = 60s;
        initiator through(client, options, clients, asking);
        io::task_scope running(client);
        running.spawn(through.run());
        hosts.world.run_for(24h * 4);
        ASSERT_EQ(asking.begun.size(), 5U);
        EXPECT_EQ(asking.begun.front().substr(0, 16), "20260306-12:00:0");
        const std::vector<std::string> begins{"20260306-23:0", "20260307-23:0", "20260308-22:0", "20260309-22:0"};
        for (std::size_t i = 0; i < begins.size(); ++i) {
            EXPECT_EQ(asking.begun[i + 1].substr(0, begins[i].size()), begins[i]);
            EXPECT_EQ(asking.numbers[i + 1], 1U) << "the numbers have begun again";
        }
        ASSERT_GE(serving_app.ended_because.size(), 4U);
        if (!is_the_acceptors) {
            EXPECT_EQ(through.connections_count(), 5U) << "none while the session is closed";
            EXPECT_EQ(serving_app.begun.size(), 5U);
        }
        through.close();
        io::block_on(client, running.join());
        listening.close();
        io::block_on(server, serving.join());
    }
}

}  // namespace
}  // namespace corro::fix
