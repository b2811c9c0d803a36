// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/partition_recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "journal/advice.hpp"
#include "journal/errors.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/lost_requests.hpp"
#include "node/recovery/partition_replay.hpp"
#include "node/recovery/partition_store.hpp"
#include "node/recovery/venue_snapshot.hpp"
#include "node/venue/feed_relay.hpp"
#include "node/venue/run_on.hpp"

namespace corro::node {
namespace {

using all_partitions = std::span<const std::unique_ptr<partition>>;

/// The last request of every session in the state of any partition.
std::vector<std::uint32_t> last_requests_of(all_partitions partitions) {
    std::vector<std::uint32_t> all(partitions.front()->host.last_requests().size());
    for (const auto& s : partitions) {
        const std::span<const std::uint32_t> of_partition = s->host.last_requests();
        for (std::size_t id = 0; id < all.size(); ++id) all[id] = std::max(all[id], of_partition[id]);
    }
    return all;
}

[[noreturn]] void fail_recovery(journal::journal_errc code, std::string text) {
    node::fail_recovery(journal::problem(code, std::move(text)));
}

io::task<void> find_identity(host_journal* journal, std::optional<journal::venue_identity>* found) {
    *found = co_await journal->find_venue_identity();
}

/// The random numbers of the venue: from any of its journals, otherwise new ones.
io::task<journal::venue_identity> venue_identity_of(all_partitions partitions) {
    std::optional<journal::venue_identity> found;
    for (const auto& p : partitions) {
        co_await p->run_on_host(find_identity(p->journal.get(), &found));
        if (found) co_return *found;
    }
    co_return make_venue_identity(partitions.front()->edge_context.runs_on());
}

void check_venue_identities(all_partitions partitions) {
    const host_journal& first = *partitions.front()->journal;
    for (const auto& s : partitions) {
        if (s->journal->birth() == first.birth()) continue;
        fail_recovery(journal::journal_errc::foreign_venue,
                      fmt::format("{}: this journal belongs to another venue than {}, although both have the same name",
                                  s->journal->directory(), first.directory()));
    }
}

/// Checks that every journal has reached the progress that the other journals and the snapshots record. A folder that
/// was copied earlier than the others has not: it lacks later answers to clients.
void check_moments(all_partitions partitions, std::span<const std::uint64_t> named) {
    for (const auto& shorter : partitions) {
        const std::size_t k = shorter->index();
        const std::uint64_t last = shorter->journal->replay().end().next_sequence - 1;
        for (const auto& other : partitions) {
            const journal::partition_mark mark = journal::unpack_mark(other->journal->replay().end().marks[k]);
            if (other != shorter && mark.has_begun && shorter->journal->replay().end().segments.empty()) {
                fail_recovery(journal::journal_errc::different_moments,
                              fmt::format("{}: there is no journal, but {} records that there was one",
                                          shorter->journal->directory(), other->journal->directory()));
            }
            if (other == shorter || mark.sequence <= last) continue;
            fail_recovery(
                journal::journal_errc::different_moments,
                fmt::format("{}: the journal ends with sequence number {}, but {} records that it had reached {}",
                            shorter->journal->directory(), last, other->journal->directory(), mark.sequence));
        }
        if (named[k] <= last || may_lose_commands(shorter->own)) continue;
        fail_recovery(
            journal::journal_errc::different_moments,
            fmt::format("{}: the journal ends with sequence number {}, but a snapshot in {} records that it had "
                        "reached {}",
                        shorter->journal->directory(), last, partitions.front()->journal->directory(), named[k]));
    }
}

/// What the replay of all journals has found.
struct replayed_venue {
    recovered_partitions recovered;
    std::uint64_t passed_over_count = 0;  ///< requests that may be lost and are not refused
};

io::task<void> replay_all(std::vector<replayed_partition> all, all_partitions partitions, answer_merger* merger,
                          replayed_venue* found) {
    partition_replay replay(std::move(all), *merger);
    const std::uint64_t saved = co_await replay.load_newest();
    lost_requests lost(partitions.size(), last_requests_of(partitions), saved);
    co_await replay.run(&lost);
    check_moments(partitions, replay.named_sequences());
    found->recovered = {lost.last_arrival(), lost.refusals()};
    found->passed_over_count = lost.passed_over_count();
}

/// Replays the journal on a worker; and publishes its events on another one, if that can gain time.
io::task<void> replay_on(io::worker* reading, partition* only, venue_parts parts) {
    journal_replay& replay = only->journal->replay();
    if (reading->where().runs_on().processors_count() == 1) {
        co_await run_on(reading, replay.run(parts));
        co_return;
    }
    feed_relay relay(only->edge_context, reading->where(), only->feed.publisher());
    only->feed.publish_by(&relay);
    replay.publish_by(&relay);
    std::exception_ptr failure;
    try {
        co_await run_on(reading, replay.run(parts));
    } catch (...) {
        failure = std::current_exception();
    }
    co_await relay.finish();
    only->feed.publish_by(nullptr);
    if (failure) std::rethrow_exception(failure);
}

io::task<void> recover_on(io::worker* reading, partition* only, gateway::answer_log* answers,
                          recovery_progress* progress) {
    host_journal& journal = *only->journal;
    journal.replay_on(reading->where(), progress);
    co_await only->run_on_host(journal.take_directory());
    co_await replay_on(reading, only, only->parts(*answers));
    co_await only->run_on_host(journal.finish(&only->host, answers));
}

io::task<void> recover_all_on(io::worker* reading, all_partitions partitions, answer_merger* merger,
                              gateway::answer_log* answers, recovery_progress* progress, recovered_partitions* into) {
    std::vector<replayed_partition> all;
    for (const auto& p : partitions) p->journal->replay_on(reading->where(), progress);
    const journal::venue_identity identity = co_await venue_identity_of(partitions);
    const auto board = std::make_shared<journal::partition_board>();
    for (const auto& p : partitions) {
        p->journal->share(identity, board);
        co_await p->run_on_host(p->journal->take_directory());
        all.push_back({&p->journal->replay(), p->parts(*answers)});
    }
    check_venue_identities(partitions);
    replayed_venue found;
    co_await run_on(reading, replay_all(std::move(all), partitions, merger, &found));
    // One time for all, also when the clock was ahead for only one of them.
    domain::time_ns latest{};
    for (const auto& p : partitions) latest = std::max(latest, p->host.last_time());
    for (const auto& p : partitions) co_await p->run_on_host(p->journal->finish(&p->host, answers, latest));
    if (found.passed_over_count != 0) {
        const auto& first = partitions.front()->journal;
        first->note(fmt::format("{}: {} more requests may have been lost than the limit of a start; they get no reject",
                                first->directory(), found.passed_over_count));
    }
    *into = std::move(found.recovered);
}

/// Closes the files of a replay before the context that they belong to.
class end_of_replays {
 public:
    explicit end_of_replays(all_partitions partitions) noexcept : partitions_(partitions) {}
    end_of_replays(const end_of_replays&) = delete;
    end_of_replays& operator=(const end_of_replays&) = delete;
    ~end_of_replays() {
        for (const auto& p : partitions_) p->journal->abandon_replay();
    }

 private:
    all_partitions partitions_;
};

}  // namespace

io::task<void> recover_partition(std::span<const std::unique_ptr<partition>> only, gateway::answer_log* answers,
                                 recovery_progress* progress) {
    const auto reading = only.front()->edge_context.runs_on().make_worker(io::context_options());
    const end_of_replays at_end(only);
    co_await recover_on(reading.get(), only.front().get(), answers, progress);
}

io::task<void> recover_partitions(all_partitions partitions, answer_merger* merger, gateway::answer_log* answers,
                                  recovery_progress* progress, recovered_partitions* found) {
    const auto reading = partitions.front()->edge_context.runs_on().make_worker(io::context_options());
    const end_of_replays at_end(partitions);
    co_await recover_all_on(reading.get(), partitions, merger, answers, progress, found);
}

io::task<void> save_partitions(all_partitions partitions, io::context* context, gateway::answer_log* answers,
                               std::uint64_t arrival) {
    const auto files = context->runs_on().make_storage(*context, nullptr);
    std::vector<stored_partition> all;
    for (const auto& s : partitions) {
        all.push_back(stored_partition(files.get(), s->own, s->parts(*answers), s->journal->epoch(),
                                       s->journal->snapshot_sequence()));
    }
    const auto saved = co_await store_partitions(&all, context, arrival, partitions.front()->own.snapshots_kept);
    if (!saved) {
        partitions.front()->journal->note(saved.error().text);
        co_return;
    }
    for (std::size_t k = 0; k < partitions.size(); ++k) {
        partitions[k]->journal->note_snapshot(all[k].parts.host->sequence(), (*saved)[k]);
    }
}

}  // namespace corro::node
