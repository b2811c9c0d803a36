// SPDX-License-Identifier: Apache-2.0
// Peers that want to cost: garbage, crowds, those that do not read, and requests for everything again. In virtual time;
// cost is counted in operations and bytes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/test_memory.hpp"
#include "fix/session/session.hpp"
#include "fix_gateway/answer_store.hpp"
#include "fix_gateway/fix_venue_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::fix_gateway {
namespace {

using namespace std::chrono_literals;
using testing::fix_client;
using testing::fix_venue;
using testing::password_of;

// --- Messages again --------------------------------------------------------------------------------------------------

constexpr domain::session_id of_test{1};

/// A log in which a session has `given` reports, of which it keeps `kept` or somewhat fewer.
class long_log {
 public:
    long_log(std::uint64_t given, std::size_t kept, int heartbeat = 0) : log_(1, options_for(kept)) {
        log_.set_detailed(of_test);
        domain::event e;
        e.kind = domain::event_kind::order_entered;
        e.instrument = domain::instrument_id{1};
        e.order.account = domain::account_id{1};
        e.order.session = of_test;
        e.order.price = domain::price_ticks{100};
        e.order.quantity = domain::quantity_lots{1};
        for (std::uint64_t i = 1; i <= given; ++i) {
            e.command = domain::sequence_number{i};
            e.order.order = domain::order_id{i};
            e.order.client_order = domain::client_order_id{i};
            log_.append(e);
        }
        fix::session_settings settings;
        settings.identity.sender_comp_id = "CORRO";
        settings.identity.target_comp_id = "PEER";
        settings.heartbeat = 0s;
        next_received_ = 5;
        store_ = std::make_unique<answer_store>(log_, instruments_, of_test, settings.identity, next_received_);
        session_ = std::make_unique<fix::session>(settings, *store_);
        session_->begin(now_);
        take("35=A|34=5|98=0|108=" + std::to_string(heartbeat) + "|");
        session_->take_output(&last_);
        EXPECT_TRUE(session_->may_send());
    }

    /// The cost of a ResendRequest for all, whose answer is written in the pieces of a connection.
    struct cost {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
        std::uint64_t blocks_walked = 0;
        std::size_t piece_bytes_max = 0;
        std::size_t heap_bytes = 0;  ///< more than before
        std::uint64_t pieces = 0;
    };
    /// Asks for all, and does not let it be written.
    bool begins_resend() {
        take("35=2|34=6|7=1|16=0|");
        return session_->is_resending();
    }
    /// @return  How long the session then wants to wait, in nanoseconds.
    std::int64_t time_passes(std::chrono::nanoseconds time) {
        now_.steady += time.count();
        now_.wall += time.count();
        session_->pass(now_);
        return session_->next_time() - now_.steady;
    }

    cost all_again() {
        const std::size_t heap_before = base::heap_in_use().given_bytes;
        const std::uint64_t walked_before = log_.blocks_walked_count();
        cost found;
        take("35=2|34=6|7=1|16=0|");
        while (session_->is_resending()) {
            session_->resend(64U * 1024, now_);
            last_.clear();
            session_->take_output(&last_);
            found.piece_bytes_max = std::max(found.piece_bytes_max, last_.size());
            found.bytes += last_.size();
            ++found.pieces;
            for (std::string_view left = last_; !left.empty();) {
                const fix::frame_result frame = fix::next_frame(left, fix::message_bytes_max_default);
                EXPECT_EQ(frame.state, fix::frame_state::complete);
                if (frame.state != fix::frame_state::complete) return found;
                left.remove_prefix(frame.bytes);
                ++found.messages;
            }
        }
        found.blocks_walked = log_.blocks_walked_count() - walked_before;
        const std::size_t heap_after = base::heap_in_use().given_bytes;
        found.heap_bytes = heap_after > heap_before ? heap_after - heap_before : 0;
        return found;
    }

 private:
    static gateway::answer_log_options options_for(std::size_t kept) {
        gateway::answer_log_options options;
        options.answers_max = options.session_answers_max = 2 * kept + 256;
        return options;
    }
    void take(std::string_view body) {
        const std::size_t type_end = body.find('|') + 1;
        const std::string message = fix::testing::framed(std::string(body.substr(0, type_end)) +
                                                         "49=PEER|56=CORRO|52=" + testing::time_text(now_.wall) + "|" +
                                                         std::string(body.substr(type_end)));
        const fix::frame_result frame = fix::next_frame(message, 4'096);
        if (session_->take(message, frame, now_) == fix::taken::logon) session_->accept_logon(now_);
    }

    gateway::answer_log log_;
    wire::instrument_table instruments_;
    std::uint64_t next_received_ = 1;
    fix::instant now_{1'000'000'000, 1'795'435'200'000'000'000};
    std::unique_ptr<answer_store> store_;
    std::unique_ptr<fix::session> session_;
    std::string last_;
};

// The peer reads nothing, so that the resend does not end. A heartbeat that waited for it was due again at once: the
// coroutine that keeps the time never came to an end.
TEST(fix_resends, no_heartbeat_is_due_all_the_time_while_one_waits) {
    long_log log(1'000, 1'000, 1);
    EXPECT_TRUE(log.begins_resend());
    for (int i = 0; i < 3; ++i) EXPECT_GT(log.time_passes(1s), 0) << "the next time is in the future";
}

TEST(fix_resends, cost_in_proportion_to_the_messages) {
    std::vector<long_log::cost> costs;
    for (const std::uint64_t n : {10'000U, 20'000U, 40'000U}) {
        long_log log(n, n);
        costs.push_back(log.all_again());
        EXPECT_GE(costs.back().messages, n) << "each report, and a gap fill for the Logon";
        EXPECT_LE(costs.back().messages, n + 1);
        EXPECT_LE(costs.back().blocks_walked, n) << "the cursor goes from block to block";
        EXPECT_LE(costs.back().piece_bytes_max, 65U * 1024);
        EXPECT_LE(costs.back().heap_bytes, 256U * 1024);
    }
    EXPECT_LE(costs[1].blocks_walked, 2 * costs[0].blocks_walked + 64);
    EXPECT_LE(costs[2].blocks_walked, 2 * costs[1].blocks_walked + 64);
    EXPECT_LT(costs[2].bytes, 5 * costs[0].bytes) << "four times the messages, whose numbers are a little longer";
}

// A connection writes one piece, then lets all others go on: a piece is what others wait for at most.
TEST(fix_resends, of_a_million_messages_go_in_pieces_and_need_no_memory) {
    constexpr std::uint64_t given = 1'000'000;
    constexpr std::uint64_t kept = 50'000;
    long_log log(given, kept);
    const long_log::cost cost = log.all_again();
    EXPECT_GE(cost.messages, kept);
    EXPECT_LE(cost.messages, kept + 1'000) << "what is forgotten is a gap fill for 100,000 numbers at a time";
    EXPECT_LE(cost.piece_bytes_max, 65U * 1024);
    EXPECT_GE(cost.pieces, cost.bytes / (65U * 1024));
    EXPECT_LE(cost.heap_bytes, 256U * 1024);
    EXPECT_LE(cost.blocks_walked, given / 10);
}

// --- Connections -----------------------------------------------------------------------------------------------------

/// Whether a session is answered within ten milliseconds.
io::task<bool> is_served(fix_venue* v, fix_client* client) {
    const auto before = v->context.now();
    const std::string answer = co_await client->ask("35=1|112=x|");
    co_return answer.starts_with("35=0|") && answer.ends_with("|112=x|") && v->context.now() - before <= 10ms;
}

TEST(fix_hostile, lengths_that_lie_end_the_connection) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("BOB", 2);
        for (const char* const words : {"8=FIX.4.4|9=2147483648|35=A|", "8=FIX.4.4|9=4294967297|35=A|",
                                        "8=FIX.4.4|9=-1|35=A|", "8=FIX.4.4|9=99999999999999999999|35=A|"}) {
            const auto stranger = co_await venue.connect("NOBODY");
            CORRO_REQUIRE(co_await stranger->send_bytes(fix::testing::with_soh(words)));
            const auto before = here->now();
            EXPECT_EQ(co_await stranger->next(), "closed") << words;
            EXPECT_LE(here->now() - before, 100ms) << words;
        }
        // Within a session the message is garbled, and ignored.
        CORRO_REQUIRE(co_await client->send_bytes(fix::testing::with_soh("8=FIX.4.4|9=2147483648|35=0|10=000|")));
        EXPECT_TRUE(co_await is_served(&venue, client.get()));
        co_await venue.close();
    });
}

TEST(fix_hostile, ten_thousand_connections_with_garbage_disturb_no_session) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("BOB", 2);
        const std::vector<std::string> garbage{
            "GET / HTTP/1.1\r\n\r\n",
            std::string(8'000, 'x'),
            fix::testing::with_soh("8=FIX.4.4|9=5000|35=A|"),
            std::string("\x16\x03\x01\x02\x00", 5),
            std::string(1, '\0'),
            fix::testing::framed("35=D|49=BOB|56=CORRO|34=1|52=20261123-10:00:00|11=1|"),
            fix::testing::framed("35=A|49=BOB|56=CORRO|34=1|52=20261123-10:00:00|98=0|108=30|554=x|"),
            std::string()};
        std::vector<std::unique_ptr<fix_client>> crowd;
        const std::size_t heap_before = base::heap_in_use().given_bytes;
        for (std::size_t i = 0; i < 10'000; ++i) {
            crowd.push_back(co_await venue.connect("NOBODY"));
            CORRO_REQUIRE(crowd.back() != nullptr);
            static_cast<void>(co_await crowd.back()->send_bytes(garbage[i % garbage.size()]));
            if (crowd.size() == 500) {
                EXPECT_TRUE(co_await is_served(&venue, client.get())) << "connection " << i;
                EXPECT_LE(venue.statistics().connections_now, fix_connections_max / 4 + 1);
                crowd.clear();
            }
        }
        EXPECT_TRUE(co_await is_served(&venue, client.get()));
        CORRO_REQUIRE(!co_await io::sleep_for(30s));
        EXPECT_EQ(venue.statistics().connections_now, 1U);
        EXPECT_LE(base::heap_in_use().given_bytes, heap_before + 8U * 1024 * 1024);
        co_await venue.close();
    });
}

/// Sends without reading until the venue takes no more, or has closed.
io::task<void> flood(fix_client* client, std::string body, std::uint64_t* sent) {
    while (true) {
        const bool is_sent = co_await client->send(body);
        if (!is_sent) co_return;
        ++*sent;
    }
}

TEST(fix_hostile, a_peer_that_never_reads_is_not_read_from_and_costs_bounded_memory) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("BOB", 2);
        struct peer {
            const char* name;
            std::uint32_t account;
            const char* body;  ///< what it sends
        };
        for (const peer& each : {peer{"ALICE", 1, "35=1|112=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx|"},
                                 peer{"ALICE2", 1, "35=2|7=1|16=0|"}, peer{"CAROL", 3, "35=D|11=a|55=TEST|54=1|"}}) {
            const char* const body = each.body;
            const auto silent = co_await venue.log_on(each.name, each.account);
            const std::size_t before = base::heap_in_use().given_bytes;
            std::uint64_t sent = 0;
            io::task_scope flooding(*here);
            flooding.spawn(flood(silent.get(), body, &sent));
            for (int i = 0; i < 20; ++i) {
                CORRO_REQUIRE(!co_await io::sleep_for(1s));
                EXPECT_TRUE(co_await is_served(&venue, client.get())) << body;
            }
            EXPECT_GT(sent, 1'000U) << body;
            EXPECT_LE(base::heap_in_use().given_bytes, before + 16U * 1024 * 1024) << body;
            silent->stream.close();
            co_await flooding.join();
            CORRO_REQUIRE(!co_await io::sleep_for(5s));
        }
        co_await venue.close();
    });
}

// An answer that is larger than the buffer goes in pieces; only who does not read is cut off. Of a few answers the
// venue writes the first ones at once, and of many its writer does.
TEST(fix_hostile, a_peer_that_reads_is_not_cut_off_for_a_long_answer) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        gateway::gateway_options options = fix_venue::any_number_of_logons();
        options.output_buffer_bytes = 2'048;
        fix_venue venue(*here, options);
        const auto client = co_await venue.log_on("ALICE", 1);
        int entered_count = 0;
        for (const int orders_count : {12, 60}) {
            while (entered_count < orders_count) {
                const std::string name = std::to_string(++entered_count);
                const std::string entered = co_await client->ask("35=D|11=" + name + "|55=TEST|54=1|38=1|40=2|44=1|");
                CORRO_REQUIRE(entered.starts_with("35=8|"));
            }
            CORRO_REQUIRE(co_await client->send("35=AF|584=all" + std::to_string(orders_count) + "|585=7|"));
            for (int i = 0; i <= orders_count; ++i) {
                const std::string report = co_await client->next();
                EXPECT_TRUE(report.starts_with("35=8|")) << i << ": " << report;
            }
        }
        EXPECT_EQ(venue.statistics().slow_cut, 0U);
        EXPECT_TRUE(co_await is_served(&venue, client.get()));
        co_await venue.close();
    });
}

TEST(fix_hostile, a_peer_that_does_not_read_its_reports_is_cut_off) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        gateway::gateway_options options = fix_venue::any_number_of_logons();
        options.output_buffer_bytes = 4'096;
        fix_venue venue(*here, options);
        const auto silent = co_await venue.log_on("ALICE", 1);
        const auto other = co_await venue.log_on("BOB", 2);
        for (int i = 1; i <= 10; ++i) {
            CORRO_REQUIRE(co_await silent->send("35=D|11=" + std::to_string(i) + "|55=TEST|54=1|38=1000|40=2|44=1|"));
        }
        for (int i = 1; i <= 10'000 && venue.statistics().slow_cut == 0; ++i) {
            const std::string fill =
                co_await other->ask("35=D|11=" + std::to_string(i) + "|55=TEST|54=2|38=1|40=2|44=1|");
            CORRO_REQUIRE(fill.starts_with("35=8|"));
        }
        EXPECT_EQ(venue.statistics().slow_cut, 1U);
        EXPECT_TRUE(co_await is_served(&venue, other.get()));
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway
