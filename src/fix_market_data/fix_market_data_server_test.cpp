// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/fix_market_data_server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "fix/codec/test_messages.hpp"
#include "fix/net/application.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix_market_data/random_market.hpp"
#include "fix_market_data/test_client.hpp"
#include "io/loop/timer.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/stream.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"

namespace corro::fix_market_data {
namespace {

using testing::random_market;
using testing::test_client;

/// A market with the port for FIX.
class test_venue {
 public:
    explicit test_venue(std::uint64_t seed, const server_options& options = server_options())
        : market(seed), port(context, options, market.feed) {}

    /// Runs `body(this)` beside the port, then closes the feed.
    template <class Body>
    void run(Body body) {
        io::block_on(context, run_all(this, body));
    }
    [[nodiscard]] std::string first_symbol() const { return std::string(market.instruments.front().name.view()); }

    io::context context;
    random_market market;
    fix_market_data_server port;
    io::endpoint address;
    std::string version;  ///< that a client of the test speaks
    std::string last;     ///< what it has received last

 private:
    template <class Body>
    static io::task<void> run_all(test_venue* self, Body body) {
        auto acceptor = io::tcp_acceptor::open(self->context, io::endpoint::loopback(0));
        CORRO_REQUIRE(acceptor);
        self->address = *acceptor->local_endpoint();
        io::task_scope serving(self->context);
        serving.spawn(self->port.serve(std::move(*acceptor)));
        const auto in_time = co_await io::with_timeout(io::test_patience, body(self));
        EXPECT_TRUE(in_time) << "the test did not finish";
        self->market.feed.close();
        co_await serving.join();
        EXPECT_EQ(self->port.statistics().subscribers_now, 0U);
    }
};

/// A client by the FIX library.
class engine final : public fix::application {
 public:
    engine(io::context& context, io::endpoint where, std::string begin_string, std::string request)
        : request_(std::move(request)), initiator_(context, options(where, std::move(begin_string)), store_, *this) {}

    io::task<void> run() { co_await initiator_.run(); }
    void close() { initiator_.close(); }

    test_client client;
    std::vector<std::string> types;  ///< of the messages that came
    bool is_active = false;

 private:
    static fix::initiator_options options(io::endpoint where, std::string begin_string) {
        fix::initiator_options o;
        o.session.identity.begin_string = std::move(begin_string);
        o.session.identity.sender_comp_id = "READER";
        o.session.identity.target_comp_id = "CORRO";
        if (o.session.identity.begin_string == "FIXT.1.1") o.session.identity.default_appl_ver_id = "9";
        o.session.resets_on_logon = true;
        o.servers = {where};
        return o;
    }
    void on_active(fix::session& on, fix::instant now) override {
        is_active = true;
        const std::string body = fix::testing::with_soh(request_);
        fix::message_writer& writer = on.begin_message("V", now);
        for (std::size_t begin = 0; begin < body.size();) {
            const std::size_t sign = body.find('=', begin);
            const std::size_t end = body.find(fix::soh, begin);
            writer.put(static_cast<std::uint32_t>(std::stoul(body.substr(begin, sign - begin))),
                       std::string_view(body).substr(sign + 1, end - sign - 1));
            begin = end + 1;
        }
        EXPECT_NE(on.send(now), 0U);
    }
    void on_message(fix::session& on, fix::instant /*now*/) override {
        types.emplace_back(on.message().message_type());
        client.take(on.message());
    }

    std::string request_;
    fix::memory_store store_;
    fix::initiator initiator_;
};

std::string all_of(const std::string& symbol) {
    return "262=a|263=1|264=0|265=1|267=3|269=0|269=1|269=2|146=1|55=" + symbol + "|";
}

/// Whether the client has the levels that the image has.
bool has_the_book(const test_venue& v, const test_client& client) {
    const auto found = client.books.find({"a", v.first_symbol()});
    if (found == client.books.end()) return false;
    const domain::instrument& i = v.market.instruments.front();
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        std::map<std::int64_t, testing::client_level> expected;
        for (const feed::image_level& l : v.market.feed.book(i.id)->levels(side, levels_max)) {
            expected[domain::to_nano(i, l.price).value] = {l.quantity.value * i.lot_size, l.orders_count};
        }
        if (found->second.levels[static_cast<std::size_t>(side)] != expected) return false;
    }
    return true;
}

io::task<void> wait_for_book(test_venue* v, engine* e) {
    while (!has_the_book(*v, e->client)) {
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
        if (stopped) co_return;
    }
}

TEST(fix_market_data_server, serves_books_and_their_changes_in_each_version) {
    for (const char* version : {"FIX.4.2", "FIX.4.4", "FIXT.1.1"}) {
        SCOPED_TRACE(version);
        test_venue v(4);
        v.market.trade(100);
        v.version = version;
        v.run([](test_venue* on) -> io::task<void> {
            engine e(on->context, on->address, on->version, all_of(on->first_symbol()));
            io::task_scope running(on->context);
            running.spawn(e.run());
            for (int k = 0; k < 20; ++k) {
                co_await wait_for_book(on, &e);
                on->market.trade(50);
            }
            co_await wait_for_book(on, &e);
            e.close();
            co_await running.join();
            EXPECT_GT(e.types.size(), 10U);
            EXPECT_EQ(e.types.front(), "W");
        });
        EXPECT_EQ(v.port.statistics().logins, 1U);
    }
}

/// A connection without an engine.
class raw_client {
 public:
    static io::task<std::unique_ptr<raw_client>> connect(test_venue* v, bool has_small_buffer = false) {
        auto stream = co_await io::tcp_stream::connect(v->context, v->address);
        if (!stream) co_return nullptr;
        if (has_small_buffer) static_cast<void>(stream->set_option(io::receive_buffer(4'096)));
        co_return std::make_unique<raw_client>(std::move(*stream), v->context);
    }
    raw_client(io::tcp_stream stream, io::context& context) : stream_(std::move(stream)), context_(context) {}

    /// A body like "35=A|...|"; names, number and time are added.
    io::task<bool> send(std::string body, int number, std::string venue = "CORRO") {
        std::array<char, fix::timestamp_format::bytes_max> time;
        const std::size_t size = fix::timestamp_format().write(fix::moment_on(context_).wall,
                                                               fix::time_precision::milliseconds, time.data());
        const std::size_t type_end = body.find('|') + 1;
        body.insert(type_end, "34=" + std::to_string(number) + "|49=RAW|52=" + std::string(time.data(), size) +
                                  "|56=" + venue + "|");
        const std::string bytes = fix::testing::framed(body);
        const io::io_result written =
            co_await io::write_all(stream_, std::as_bytes(std::span(bytes.data(), bytes.size())));
        co_return written.ok();
    }
    /// Sends it, and returns the answer.
    io::task<std::string> ask(std::string body, int number) {
        const bool sent = co_await send(std::move(body), number);
        std::string answer;
        if (sent) answer = co_await next();
        co_return answer;
    }
    /// The next message, in words; empty when the connection has ended.
    io::task<std::string> next() {
        while (true) {
            const fix::frame_result frame = fix::next_frame(received_, fix::message_bytes_max_default);
            if (frame.state == fix::frame_state::complete) {
                const std::string message = fix::testing::in_words(received_.substr(0, frame.bytes));
                received_.erase(0, frame.bytes);
                co_return message;
            }
            std::array<char, 4'096> room;
            const io::io_result read = co_await stream_.read_some(std::as_writable_bytes(std::span(room)));
            received_.append(room.data(), read.bytes);
            if (read.error) co_return std::string();
        }
    }

 private:
    io::tcp_stream stream_;
    io::context& context_;
    std::string received_;
};

bool has(const std::string& message, const std::string& field) {
    return message.find("|" + field + "|") != std::string::npos;
}

TEST(fix_market_data_server, takes_only_logons_that_begin_at_1_and_are_for_this_venue) {
    test_venue v(1);
    v.run([](test_venue* on) -> io::task<void> {
        struct row {
            const char* logon;
            int number;
            const char* venue;
            const char* answer;
        };
        for (const row& r :
             {row{"35=A|98=0|108=30|", 1, "CORRO", "35=A"}, row{"35=A|98=0|108=30|141=Y|", 1, "CORRO", "35=A"},
              row{"35=A|98=0|108=30|", 7, "CORRO", "35=5"}, row{"35=A|98=0|108=0|", 1, "CORRO", "35=5"},
              row{"35=A|98=0|108=30|", 1, "OTHER", nullptr}, row{"35=V|262=a|", 1, "CORRO", nullptr}}) {
            std::unique_ptr<raw_client> c = co_await raw_client::connect(on);
            CORRO_REQUIRE(c != nullptr);
            CORRO_REQUIRE(co_await c->send(r.logon, r.number, r.venue));
            const std::string answer = co_await c->next();
            if (r.answer == nullptr) {
                EXPECT_EQ(answer, "") << r.logon;
            } else {
                EXPECT_TRUE(has(answer, r.answer)) << r.logon << " was answered by " << answer;
            }
        }
    });
    EXPECT_EQ(v.port.statistics().logins, 2U);
}

TEST(fix_market_data_server, answers_what_it_does_not_serve) {
    test_venue v(1);
    v.run([](test_venue* on) -> io::task<void> {
        std::unique_ptr<raw_client> c = co_await raw_client::connect(on);
        CORRO_REQUIRE(c != nullptr);
        static_cast<void>(co_await c->ask("35=A|98=0|108=30|", 1));
        const std::string unknown = co_await c->ask("35=V|262=a|263=0|264=1|267=1|269=0|146=1|55=NONE|", 2);
        EXPECT_TRUE(has(unknown, "35=Y") && has(unknown, "262=a") && has(unknown, "281=0")) << unknown;
        const std::string incomplete = co_await c->ask("35=V|262=a|263=0|", 3);
        EXPECT_TRUE(has(incomplete, "35=3") && has(incomplete, "371=264")) << incomplete;
        const std::string order = co_await c->ask("35=D|11=1|", 4);
        EXPECT_TRUE(has(order, "35=j") && has(order, "380=3")) << order;
        const std::string again = co_await c->ask("35=2|7=1|16=0|", 5);
        EXPECT_TRUE(has(again, "35=4") && has(again, "123=Y") && has(again, "36=5")) << again;
    });
}

TEST(fix_market_data_server, cuts_a_client_that_does_not_read_and_goes_on_with_the_others) {
    server_options options;
    options.blocked_max = std::chrono::milliseconds(200);
    test_venue v(4, options);
    v.market.trade(100);
    v.run([](test_venue* on) -> io::task<void> {
        std::unique_ptr<raw_client> idle = co_await raw_client::connect(on, true);
        CORRO_REQUIRE(idle != nullptr);
        CORRO_REQUIRE(co_await idle->send("35=A|98=0|108=30|", 1));
        // Full pictures fill its buffers soon.
        for (int k = 0; k < 40; ++k) {
            const std::string request =
                "35=V|262=a" + std::to_string(k) + "|263=1|264=0|265=0|267=3|269=0|269=1|269=2|146=1|55=";
            CORRO_REQUIRE(co_await idle->send(request + on->first_symbol() + "|", 2 + k));
        }
        engine e(on->context, on->address, "FIX.4.4", all_of(on->first_symbol()));
        io::task_scope running(on->context);
        running.spawn(e.run());
        while (on->port.statistics().slow_cut == 0) {
            on->market.trade(10);
            const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
            if (stopped) break;
        }
        co_await wait_for_book(on, &e);
        while (on->port.statistics().subscribers_now != 1) {
            const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
            if (stopped) break;
        }
        e.close();
        co_await running.join();
    });
    EXPECT_EQ(v.port.statistics().slow_cut, 1U);
}

TEST(fix_market_data_server, says_goodbye_when_the_feed_ends) {
    test_venue v(2);
    v.run([](test_venue* on) -> io::task<void> {
        std::unique_ptr<raw_client> c = co_await raw_client::connect(on);
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await c->send("35=A|98=0|108=30|", 1));
        static_cast<void>(co_await c->next());
        on->market.feed.close();
        on->last = co_await c->next();
    });
    EXPECT_TRUE(has(v.last, "35=5") && has(v.last, "58=The venue closes")) << v.last;
}

}  // namespace
}  // namespace corro::fix_market_data
