// SPDX-License-Identifier: Apache-2.0
#include "node/venue/partition.hpp"

#include <utility>

#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

std::unique_ptr<gateway::command_queue> queue_of(const configuration& c, const gateway::command_queue* other) {
    if (c.threading == threading_mode::inline_ || other != nullptr) return nullptr;
    return std::make_unique<gateway::command_queue>(partition_queue_capacity);
}

std::unique_ptr<facility_thread> thread_of(io::context& context, const configuration& c,
                                           gateway::command_queue* own_queue, gateway::command_queue* other) {
    if (c.threading == threading_mode::inline_) return nullptr;
    if (own_queue == nullptr) return std::make_unique<facility_thread>(context, *other, c.busy_poll);
    return std::make_unique<facility_thread>(context, *own_queue, c.busy_poll, partition_queue_capacity);
}

}  // namespace

partition::partition(io::context& context, const configuration& c, const io::tick_clock& clock,
                     telemetry::producer* log, std::uint32_t sessions_count, gateway::command_queue* queue,
                     const sink_maker& make_sink)
    : own(c),
      edge_context(context),
      feed(context, c, log),
      sink(make_sink(feed)),
      own_commands(queue_of(c, queue)),
      thread(thread_of(context, c, own_commands.get(), queue)),
      host(facility_options_of(c, context.runs_on()), c.instruments, clock, *sink) {
    host.throttle(throttle_options_of(c), sessions_count);
    host.limit_open_orders(c.account_open_orders_max);
    if (!c.journal_directory.empty()) journal = std::make_unique<host_journal>(host_context(), context, own);
}

io::task<void> partition::run_on_host(io::task<void> work) {
    if (thread != nullptr) {
        co_await thread->prepare(std::move(work));
    } else {
        co_await std::move(work);
    }
}

venue_parts partition::parts(gateway::answer_log& answers) noexcept {
    venue_parts all;
    all.host = &host;
    all.feed = &feed.publisher();
    all.lines = feed.lines();
    if (index() == 0) all.answers = &answers;
    return all;
}

}  // namespace corro::node
