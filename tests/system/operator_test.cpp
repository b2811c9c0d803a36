// SPDX-License-Identifier: Apache-2.0
// Admin requests to a running venue, in every composition.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../recovery/partitioned_venue_fixture.hpp"
#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

/// The composition of a venue.
enum class shape : std::uint8_t { in_line, split, partitions_in_line, partitions_split, roles, roles_split };

struct mode {
    shape made_of;
    bool has_journal;
};

[[nodiscard]] bool has_partitions(shape s) noexcept {
    return s == shape::partitions_in_line || s == shape::partitions_split;
}

std::string name_of(const mode& m) {
    constexpr const char* names[] = {"in_line",          "split", "partitions_in_line",
                                     "partitions_split", "roles", "roles_split"};
    return std::string(names[static_cast<int>(m.made_of)]) + (m.has_journal ? "_with_journal" : "_without_journal");
}

/// Two accounts; the second is an operator's. With partitions, the second instrument is in another partition.
node::configuration operated_venue(const mode& m, const std::string& directory) {
    const bool is_split =
        m.made_of == shape::split || m.made_of == shape::partitions_split || m.made_of == shape::roles_split;
    const auto threading = is_split ? node::threading_mode::split : node::threading_mode::inline_;
    node::configuration c =
        has_partitions(m.made_of) ? testing::two_partitions(threading) : testing::small_venue(threading);
    c.accounts[1].is_operator = true;
    if (m.has_journal) c.journal_directory = directory + "/journal";
    c.journal_segment_bytes = 512U * 1024;
    c.event_log.directory = directory + "/log";
    return c;
}

/// A venue of a given composition on one context.
class running_venue {
 public:
    running_venue(io::context& context, const mode& m, const std::string& directory) {
        node::configuration c = operated_venue(m, directory);
        if (m.made_of == shape::roles || m.made_of == shape::roles_split) {
            c.link_secret.fill(std::byte{0x5c});
            c.link_listen = "@corro-operator-" + std::filesystem::path(directory).filename().string();
            facility_ = std::make_unique<node::testing::started_facility>(context, c);
            c.link_connect = c.link_listen;
            c.event_log.directory.clear();
            gateway_ = std::make_unique<node::gateway_role>(context, c, [this](io::endpoint at) { gateway_at_ = at; });
        } else if (has_partitions(m.made_of)) {
            partitioned_ = std::make_unique<node::testing::started_venue>(context, c);
        } else {
            exchange_ = std::make_unique<node::testing::started_venue>(context, c);
        }
    }

    void run(io::task_scope& scope) {
        if (exchange_ != nullptr) scope.spawn(exchange_->run());
        if (partitioned_ != nullptr) scope.spawn(partitioned_->run());
        if (facility_ == nullptr) return;
        scope.spawn(facility_->run());
        scope.spawn(gateway_->run());
    }
    void close() {
        if (exchange_ != nullptr) exchange_->close();
        if (partitioned_ != nullptr) partitioned_->close();
        if (facility_ == nullptr) return;
        gateway_->close();
        facility_->close();
    }

    io::task<std::unique_ptr<client::order_session>> log_on(std::uint32_t account) {
        while (facility_ != nullptr && !gateway_at_)
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
        const io::endpoint where = exchange_ != nullptr      ? exchange_->order_entry_endpoint()
                                   : partitioned_ != nullptr ? partitioned_->order_entry_endpoint()
                                                             : *gateway_at_;
        client::credentials who = testing::who(account, 1);
        who.cancel_on_disconnect = false;  // its records would count as commands
        auto session = co_await client::order_session::log_on(where, who);
        if (!session) co_return nullptr;
        co_return std::move(*session);
    }

    /// nullptr for another composition.
    [[nodiscard]] const node::venue* exchange() const noexcept { return exchange_.get(); }

 private:
    std::unique_ptr<node::testing::started_venue> exchange_;
    std::unique_ptr<node::testing::started_venue> partitioned_;
    std::unique_ptr<node::testing::started_facility> facility_;
    std::unique_ptr<node::gateway_role> gateway_;
    std::optional<io::endpoint> gateway_at_;
};

domain::command order(std::uint32_t instrument, std::uint64_t client_order) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{client_order};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{5};
    return c;
}

domain::command halt(std::uint32_t instrument) {
    domain::command c;
    c.kind = domain::command_kind::change_phase;
    c.instrument = domain::instrument_id{instrument};
    c.change_phase().phase = domain::trading_phase::halted;
    return c;
}

/// Sends a request and waits for its answer.
io::task<bool> is_done(client::order_session* session, domain::command command) {
    if (session->send(command) == 0) co_return false;
    const auto answer = co_await session->next();
    co_return answer && !answer->reject && answer->event.kind != domain::event_kind::order_rejected;
}

using statuses = std::vector<wire::venue_status>;

/// Asks once; empty if the reply is wrong.
io::task<statuses> status_of(client::order_session* control, std::uint64_t question, std::uint32_t instrument) {
    statuses all;
    if (!control->ask_status(question, domain::instrument_id{instrument})) co_return all;
    do {
        const auto answer = co_await control->next();
        if (!answer || answer->told == nullptr) co_return statuses();
        const auto* const status = std::get_if<wire::venue_status>(answer->told.get());
        if (status == nullptr) co_return statuses();
        EXPECT_EQ(status->question, question);
        EXPECT_EQ(status->segment, all.size());
        all.push_back(*status);
    } while (all.size() < all.front().segments_count);
    co_return all;
}

/// Asks until a partition and its journal, if any, have reached `command` with nothing waiting. A facility on its own
/// thread reports its position after its answers have been sent.
io::task<statuses> settled_status(client::order_session* control, std::size_t partition, std::uint64_t command,
                                  bool has_journal, std::uint32_t instrument = 0) {
    statuses all;
    std::uint64_t question = 70;
    do {
        all = co_await status_of(control, ++question, instrument);
        if (all.size() <= partition || all[partition].last_command.value > command) co_return statuses();
    } while (all[partition].last_command.value != command || all[partition].commands_waiting != 0 ||
             all[partition].durable_command.value != (has_journal ? command : 0));
    co_return all;
}

/// Asks for a snapshot and waits for the answer.
io::task<std::optional<wire::snapshot_answer>> wish(client::order_session* control, std::uint64_t question) {
    if (!control->ask_snapshot(question)) co_return std::nullopt;
    const auto answer = co_await control->next();
    if (!answer || answer->told == nullptr) co_return std::nullopt;
    const auto* const said = std::get_if<wire::snapshot_answer>(answer->told.get());
    if (said == nullptr || said->question != question) co_return std::nullopt;
    co_return *said;
}

io::task<wire::session_reject_reason> refusal(client::order_session* session) {
    const auto answer = co_await session->next();
    co_return answer && answer->reject ? answer->reject->session_reject_reason : wire::session_reject_reason::none;
}

struct conversation {
    running_venue* venue = nullptr;
    std::unique_ptr<client::order_session> trader;
    std::unique_ptr<client::order_session> control;
    mode m;
};
using talk = io::task<void> (*)(conversation*);

io::task<void> serve_and(talk say, io::context* context, conversation* c) {
    io::task_scope serving(*context);
    c->venue->run(serving);
    c->trader = co_await c->venue->log_on(1);
    c->control = co_await c->venue->log_on(2);
    EXPECT_TRUE(c->trader != nullptr && c->control != nullptr);
    if (c->trader != nullptr && c->control != nullptr) co_await say(c);
    if (c->trader != nullptr) c->trader->abandon();
    if (c->control != nullptr) c->control->abandon();
    c->venue->close();
    co_await serving.join();
}

class an_operator : public ::testing::TestWithParam<mode> {
 protected:
    void converse(talk say) {
        io::context context;
        running_venue venue(context, GetParam(), directory_.path());
        conversation c;
        c.venue = &venue;
        c.m = GetParam();
        io::block_on(context, serve_and(say, &context, &c));
    }
    base::test_folder directory_;
};
INSTANTIATE_TEST_SUITE_P(modes, an_operator,
                         ::testing::Values(mode{shape::in_line, false}, mode{shape::in_line, true},
                                           mode{shape::split, false}, mode{shape::split, true},
                                           mode{shape::partitions_in_line, false},
                                           mode{shape::partitions_in_line, true}, mode{shape::partitions_split, true},
                                           mode{shape::roles, false}, mode{shape::roles, true},
                                           mode{shape::roles_split, true}),
                         [](const auto& m) { return name_of(m.param); });

/// With a journal.
class an_operator_of_a_lasting_venue : public an_operator {};
INSTANTIATE_TEST_SUITE_P(modes, an_operator_of_a_lasting_venue,
                         ::testing::Values(mode{shape::in_line, true}, mode{shape::split, true},
                                           mode{shape::partitions_in_line, true}, mode{shape::partitions_split, true},
                                           mode{shape::roles, true}, mode{shape::roles_split, true}),
                         [](const auto& m) { return name_of(m.param); });

io::task<void> ask_how_it_is(conversation* c) {
    statuses before = co_await settled_status(c->control.get(), 0, 0, c->m.has_journal);
    CORRO_REQUIRE(before.size() == (has_partitions(c->m.made_of) ? 2 : 1));
    EXPECT_EQ(before[0].feed_sequence.value, 1U);
    EXPECT_EQ(before[0].instrument.value, 0U) << "none was asked for";
    const bool entered = co_await is_done(c->trader.get(), order(1, 7));
    CORRO_REQUIRE(entered);
    statuses after = co_await settled_status(c->control.get(), 0, 1, c->m.has_journal);
    CORRO_REQUIRE(!after.empty());
    for (const wire::venue_status& status : after) {
        EXPECT_GT(status.time.value, 0);
        EXPECT_EQ(status.last_command.value, status.segment == 0 ? 1U : 0U);
        EXPECT_EQ(status.snapshot_command.value, 0U);
        EXPECT_EQ(status.journal_state,
                  c->m.has_journal ? wire::journal_state::takes_everything : wire::journal_state::no_journal);
        EXPECT_EQ(status.feed_sequence.value, status.segment == 0 ? 4U : 1U) << "an order and its level and top";
        EXPECT_EQ(status.sessions_count, 2U);
        EXPECT_EQ(status.sessions_max, 8U);
    }
    if (c->venue->exchange() != nullptr) {
        EXPECT_EQ(after[0].feed_sequence.value, c->venue->exchange()->feed_next_sequence());
    }
}

TEST_P(an_operator, is_told_how_the_venue_is) {
    converse(ask_how_it_is);
}

io::task<void> ask_for_phases(conversation* c) {
    const std::size_t partition = has_partitions(c->m.made_of) ? 1 : 0;
    statuses before = co_await settled_status(c->control.get(), partition, 0, c->m.has_journal, 2);
    CORRO_REQUIRE(before.size() == partition + 1);
    EXPECT_EQ(before[partition].instrument.value, 2U);
    EXPECT_EQ(before[partition].trading_phase, domain::trading_phase::continuous);
    const bool halted = co_await is_done(c->control.get(), halt(2));
    CORRO_REQUIRE(halted);
    statuses after = co_await settled_status(c->control.get(), partition, 1, c->m.has_journal, 2);
    CORRO_REQUIRE(after.size() == partition + 1);
    EXPECT_EQ(after[partition].instrument.value, 2U);
    EXPECT_EQ(after[partition].trading_phase, domain::trading_phase::halted);
    if (partition != 0) {
        EXPECT_EQ(after[0].instrument.value, 0U) << "it does not trade there";
    }
    statuses other = co_await status_of(c->control.get(), 1, 1);
    CORRO_REQUIRE(!other.empty());
    EXPECT_EQ(other[0].instrument.value, 1U);
    EXPECT_EQ(other[0].trading_phase, domain::trading_phase::continuous);
    statuses none = co_await status_of(c->control.get(), 2, 77);
    CORRO_REQUIRE(!none.empty());
    EXPECT_EQ(none[0].instrument.value, 0U) << "there is no such instrument";
}

TEST_P(an_operator, is_told_the_phase_of_an_instrument) {
    converse(ask_for_phases);
}

io::task<void> ask_for_a_phase_again(conversation* c) {
    const std::size_t partition = has_partitions(c->m.made_of) ? 1 : 0;
    statuses told = co_await status_of(c->control.get(), 1, 2);
    CORRO_REQUIRE(told.size() == partition + 1);
    EXPECT_EQ(told[partition].instrument.value, 2U);
    EXPECT_EQ(told[partition].trading_phase, domain::trading_phase::halted);
}

TEST_P(an_operator_of_a_lasting_venue, is_told_the_phase_also_after_a_restart) {
    converse(ask_for_phases);
    converse(ask_for_a_phase_again);
}

io::task<void> wish_for_a_snapshot(conversation* c) {
    const bool entered = co_await is_done(c->trader.get(), order(1, 7));
    CORRO_REQUIRE(entered);
    statuses ready = co_await settled_status(c->control.get(), 0, 1, c->m.has_journal);
    CORRO_REQUIRE(!ready.empty());
    const auto first = co_await wish(c->control.get(), 1);
    CORRO_REQUIRE(first);
    EXPECT_EQ(first->durable_command.value, c->m.has_journal ? 1U : 0U);
    if (!c->m.has_journal) {
        EXPECT_EQ(first->snapshot_outcome, wire::snapshot_outcome::no_journal);
        co_return;
    }
    EXPECT_EQ(first->snapshot_outcome, wire::snapshot_outcome::begun);
    statuses made = ready;
    for (std::uint64_t question = 100; made[0].snapshot_command.value == 0; ++question) {
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
        made = co_await status_of(c->control.get(), question, 0);
        CORRO_REQUIRE(!made.empty());
    }
    EXPECT_EQ(made[0].snapshot_command.value, 1U);
    const auto again = co_await wish(c->control.get(), 2);
    CORRO_REQUIRE(again);
    EXPECT_EQ(again->snapshot_outcome, wire::snapshot_outcome::nothing_new);
    const bool goes_on = co_await is_done(c->trader.get(), order(1, 8));
    EXPECT_TRUE(goes_on);
}

TEST_P(an_operator, has_a_snapshot_made_while_the_venue_runs_or_is_told_why_not) {
    converse(wish_for_a_snapshot);
    const bool is_made = GetParam().has_journal;
    const std::string journal =
        directory_.path() + (has_partitions(GetParam().made_of) ? "/journal/FIRST" : "/journal");
    const std::string name = journal + "/00000000000000000001.snapshot";
    EXPECT_EQ(std::filesystem::exists(name), is_made);
    std::ifstream log(directory_.path() + "/log/records.1.jsonl");
    std::string made;
    for (std::string line; std::getline(log, line);) {
        if (line.find("\"snapshot_made\"") != std::string::npos) made += line;
    }
    EXPECT_EQ(made.find("\"number\":1}") != std::string::npos, is_made) << made;
}

io::task<void> wish_twice(conversation* c) {
    const bool entered = co_await is_done(c->trader.get(), order(1, 7));
    CORRO_REQUIRE(entered);
    statuses ready = co_await settled_status(c->control.get(), 0, 1, true);
    CORRO_REQUIRE(!ready.empty());
    // Both arrive together, and the first snapshot takes longer than that.
    CORRO_REQUIRE(c->control->ask_snapshot(1) && c->control->ask_snapshot(2));
    const std::array outcomes{wire::snapshot_outcome::begun, wire::snapshot_outcome::under_way};
    for (const wire::snapshot_outcome expected : outcomes) {
        const auto answer = co_await c->control->next();
        CORRO_REQUIRE(answer && answer->told != nullptr);
        const auto* const said = std::get_if<wire::snapshot_answer>(answer->told.get());
        CORRO_REQUIRE(said != nullptr);
        EXPECT_EQ(said->snapshot_outcome, expected);
    }
}

TEST_P(an_operator_of_a_lasting_venue, cannot_have_two_snapshots_made_at_once) {
    converse(wish_twice);
}

io::task<void> ask_without_the_right(conversation* c) {
    CORRO_REQUIRE(c->trader->ask_status(1));
    const auto status = co_await refusal(c->trader.get());
    EXPECT_EQ(status, wire::session_reject_reason::not_an_operator);
    CORRO_REQUIRE(c->trader->ask_snapshot(1));
    const auto snapshot = co_await refusal(c->trader.get());
    EXPECT_EQ(snapshot, wire::session_reject_reason::not_an_operator);
    const bool goes_on = co_await is_done(c->trader.get(), order(1, 7));
    EXPECT_TRUE(goes_on) << "it was a refusal and no more";
    statuses told = co_await status_of(c->control.get(), 1, 0);
    CORRO_REQUIRE(!told.empty());
    EXPECT_EQ(told[0].snapshot_command.value, 0U);
}

TEST_P(an_operator, is_the_only_one_who_may_ask) {
    converse(ask_without_the_right);
    EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/journal/snapshot.unfinished"));
}

}  // namespace
}  // namespace corro
