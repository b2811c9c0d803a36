// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/journal_snapshots.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/defect.hpp"
#include "io/loop/context.hpp"
#include "journal/snapshot_store.hpp"
#include "node/recovery/journal_replay.hpp"
#include "node/recovery/offline_copy.hpp"
#include "node/venue/event_sink.hpp"

namespace corro::node {
namespace {

/// An offline copy of a venue, with everything that a snapshot includes.
class offline_venue final : private event_sink {
 public:
    offline_venue(io::context& context, const configuration& c)
        : answers_(c),
          feed_(offline_feed_options(), c.instruments),
          host_(offline_facility_options(c, context.runs_on()), c.instruments, context.runs_on().ticks(), *this) {
        host_.throttle(throttle_options_of(c), answers_.sessions_count());
    }

    [[nodiscard]] venue_parts parts() noexcept { return {&host_, &answers_.log(), &feed_}; }

 private:
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) {
            if (domain::is_public(event.kind)) {
                feed_.publish(event);
            } else {
                answers_.accept({&event, 1});
            }
        }
        return events.size();
    }

    offline_answer_log answers_;
    market_data::feed_publisher feed_;
    matching_host host_;
};

/// The input of one snapshot.
struct order_of_work {
    const configuration* venue = nullptr;
    std::uint64_t until = 0;
    std::uint64_t epoch = 0;
    const std::atomic<bool>* stopping = nullptr;
};

/// The outcome, and the last command in the oldest kept snapshot.
struct made_snapshot {
    snapshot_outcome outcome;
    std::uint64_t oldest = 0;
};

io::task<made_snapshot> make_snapshot(io::context* context, order_of_work work) {
    const configuration& c = *work.venue;
    made_snapshot made;
    const auto files = context->runs_on().make_storage(*context, nullptr);
    const journal::identity venue = identity_of(c);
    const auto copy = std::make_unique<offline_venue>(*context, c);
    journal_replay replay(files.get(), c.journal_directory, venue, may_lose_commands(c));
    co_await replay.run(copy->parts(), work.stopping, work.until);
    if (work.stopping->load(std::memory_order_relaxed)) {
        made.outcome.problem = closing_problem;
        co_return made;
    }
    if (replay.replayed_count() == 0) co_return made;
    std::vector<std::byte> state = save_venue(copy->parts());
    journal::snapshot_store store(files.get(), c.journal_directory, venue);
    const auto kept = co_await store_snapshot(&store, context, std::move(state), work.epoch, c.snapshots_kept);
    if (!kept) {
        made.outcome.problem = kept.error().text;
        co_return made;
    }
    made.outcome.commands = copy->parts().host->sequence();
    made.outcome.is_new = true;
    made.oldest = *kept;
    co_return made;
}

}  // namespace

// In mode `none` a command counts as durable before it is written.
moment_state journal_snapshots::look_at_moment() {
    // Read first: a failed journal does not progress any more.
    const bool has_failed = journal_.failure() != nullptr;
    if (journal_.writer().written_sequence() >= until_) return moment_state::ready;
    return has_failed ? moment_state::never : moment_state::coming;
}

io::task<snapshot_outcome> journal_snapshots::make(const std::atomic<bool>* stopping) {
    if (CORRO_DEFECT(snapshot_before_durable)) until_ = journal_.writer().written_sequence();
    const order_of_work work{&configuration_, until_, journal_.epoch(), stopping};
    made_snapshot made = co_await make_snapshot(&(co_await io::this_context()), work);
    made_ = made.outcome.commands;
    oldest_ = made.oldest;
    co_return std::move(made.outcome);
}

}  // namespace corro::node
