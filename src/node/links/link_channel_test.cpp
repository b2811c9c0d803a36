// SPDX-License-Identifier: Apache-2.0
#include "node/links/link_channel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tested_platform.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

/// Two linked ends, each with its `write` and `keep_alive`.
struct linked {
    explicit linked(std::pair<io::unix_stream, io::unix_stream> both)
        : here(gateway::transport_stream(std::move(both.first))),
          there(gateway::transport_stream(std::move(both.second))) {
        here.trust();
        there.trust();
    }

    link_channel here;
    link_channel there;
};

std::unique_ptr<linked> link(io::context& context) {
    auto both = io::unix_stream::pair(context);
    if (!both) throw std::system_error(both.error());
    return std::make_unique<linked>(std::move(*both));
}

constexpr auto patience = 2 * link_silent_looks_max * link_look_interval;

/// Much more than the kernel buffers for a peer that does not read.
void put_much(link_channel& into) {
    const std::vector<std::byte> piece(link_frame_bytes_max);
    for (int i = 0; i < 40; ++i) into.put(link_message::events, piece);
    into.flush();
}

io::task<void> be_taken_for_dead(io::context* context, linked* both) {
    io::task_scope living(*context);
    living.spawn(both->here.write());
    put_much(both->here);
    // Like a facility that accepts no more commands while so much waits: this end does not read.
    const auto ended = co_await io::with_timeout(patience, both->here.keep_alive());
    EXPECT_TRUE(ended) << "who takes nothing is gone, whether or not somebody listens to it";
    EXPECT_TRUE(both->here.fell_silent());
    both->here.close();
    both->there.close();
    co_await living.join();
}

TEST(link_channel, takes_a_peer_for_dead_that_takes_nothing_of_what_waits_for_it) {
    io::context context(io::on_tested_platform());
    const auto both = link(context);
    io::block_on(context, be_taken_for_dead(&context, both.get()));
}

io::task<void> read_on(link_channel* from, bool slowly) {
    link_frame frame;
    while (true) {
        const bool came = co_await from->read(&frame);
        if (!came) co_return;
        if (!slowly) continue;
        const std::error_code stopped = co_await io::sleep_for(link_look_interval / 2);
        if (stopped) co_return;
    }
}

io::task<void> stay_linked(io::context* context, linked* both) {
    io::task_scope living(*context);
    living.spawn(both->here.write());
    living.spawn(both->here.keep_alive());
    living.spawn(read_on(&both->there, true));
    put_much(both->here);
    const std::error_code stopped = co_await io::sleep_for((link_silent_looks_max + 4) * link_look_interval);
    EXPECT_FALSE(stopped);
    EXPECT_FALSE(both->here.fell_silent()) << "slow is not dead";
    both->here.close();
    both->there.close();
    living.request_stop();
    co_await living.join();
}

TEST(link_channel, keeps_a_peer_that_reads_slowly_and_has_nothing_to_say) {
    io::context context(io::on_tested_platform());
    const auto both = link(context);
    io::block_on(context, stay_linked(&context, both.get()));
}

io::task<void> only_beat(io::context* context, linked* both) {
    io::task_scope living(*context);
    for (link_channel* each : {&both->here, &both->there}) {
        living.spawn(each->write());
        living.spawn(each->keep_alive());
        living.spawn(read_on(each, false));
    }
    const std::error_code stopped = co_await io::sleep_for((link_silent_looks_max + 4) * link_look_interval);
    EXPECT_FALSE(stopped);
    EXPECT_FALSE(both->here.fell_silent() || both->there.fell_silent());
    both->here.close();
    both->there.close();
    living.request_stop();
    co_await living.join();
}

TEST(link_channel, stands_while_both_ends_say_nothing_but_that_they_are_there) {
    io::context context(io::on_tested_platform());
    const auto both = link(context);
    io::block_on(context, only_beat(&context, both.get()));
}

}  // namespace
}  // namespace corro::node
