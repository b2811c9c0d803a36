#include "node/segment_recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/errors.hpp"
#include "node/host_journal.hpp"
#include "node/lost_requests.hpp"
#include "node/segment_replay.hpp"
#include "node/segment_store.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {
namespace {

using all_segments = std::span<const std::unique_ptr<segment>>;

venue_parts parts_of(segment& s, gateway::answer_log& answers) {
    venue_parts parts;
    parts.host = &s.host;
    parts.feed = &s.feed.publisher();
    parts.lines = s.feed.lines();
    if (s.index() == 0) parts.answers = &answers;
    return parts;
}

/// The last request of every session in the state of any partition.
std::vector<std::uint32_t> last_requests_of(all_segments segments) {
    std::vector<std::uint32_t> all(segments.front()->host.last_requests().size());
    for (const auto& s : segments) {
        const std::span<const std::uint32_t> of_segment = s->host.last_requests();
        for (std::size_t id = 0; id < all.size(); ++id) all[id] = std::max(all[id], of_segment[id]);
    }
    return all;
}

[[noreturn]] void refuse(journal::journal_errc code, std::string text) {
    throw recovery_error(journal::with_advice(journal::problem(code, std::move(text))));
}

/// The random numbers of the venue: from any of its journals, otherwise new ones.
journal::venue_identity birth_of(all_segments segments) {
    for (const auto& s : segments) {
        const auto found = io::block_on(s->host_context(), s->journal->find_venue_identity());
        if (found) return *found;
    }
    return make_venue_identity(segments.front()->host_context().runs_on());
}

void check_venue_identities(all_segments segments) {
    const host_journal& first = *segments.front()->journal;
    for (const auto& s : segments) {
        if (s->journal->birth() == first.birth()) continue;
        refuse(journal::journal_errc::foreign_venue,
               fmt::format("{}: this journal belongs to another venue than {}, although both have the same name",
                           s->journal->directory(), first.directory()));
    }
}

/// Checks that every journal has reached the progress that the other journals and the snapshots record. A folder that
/// was copied earlier than the others has not: it lacks later answers to clients.
void check_moments(all_segments segments, std::span<const std::uint64_t> named) {
    for (const auto& shorter : segments) {
        const std::size_t k = shorter->index();
        const std::uint64_t last = shorter->journal->replay().end().next_sequence - 1;
        for (const auto& other : segments) {
            const journal::shard_mark mark = journal::unpack_mark(other->journal->replay().end().marks[k]);
            if (other != shorter && mark.has_begun && shorter->journal->replay().end().segments.empty()) {
                refuse(journal::journal_errc::different_moments,
                       fmt::format("{}: there is no journal, but {} records that there was one",
                                   shorter->journal->directory(), other->journal->directory()));
            }
            if (other == shorter || mark.sequence <= last) continue;
            refuse(journal::journal_errc::different_moments,
                   fmt::format("{}: the journal ends with sequence number {}, but {} records that it had reached {}",
                               shorter->journal->directory(), last, other->journal->directory(), mark.sequence));
        }
        if (named[k] <= last || may_lose_commands(shorter->own)) continue;
        refuse(journal::journal_errc::different_moments,
               fmt::format("{}: the journal ends with sequence number {}, but a snapshot in {} records that it had "
                           "reached {}",
                           shorter->journal->directory(), last, segments.front()->journal->directory(), named[k]));
    }
}

/// What the replay of all journals has found.
struct replayed_venue {
    recovered_segments recovered;
    std::uint64_t passed_over_count = 0;  ///< requests that may be lost and are not refused
};

io::task<void> replay_all(std::vector<replayed_segment> all, all_segments segments, answer_merger* merger,
                          replayed_venue* found) {
    segment_replay replay(std::move(all), *merger);
    const std::uint64_t saved = co_await replay.load_newest();
    lost_requests lost(segments.size(), last_requests_of(segments), saved);
    co_await replay.run(&lost);
    check_moments(segments, replay.named_sequences());
    found->recovered = {lost.last_arrival(), lost.refusals()};
    found->passed_over_count = lost.passed_over_count();
}

recovered_segments recover_segments_on(io::worker& reading, all_segments segments, answer_merger& merger,
                                       order_entry_side& orders, venue_watch& watch) {
    std::vector<replayed_segment> all;
    for (const auto& s : segments) s->journal->replay_on(reading.where(), &watch.progress());
    const journal::venue_identity birth = birth_of(segments);
    const auto shards = std::make_shared<journal::shard_board>();
    for (const auto& s : segments) {
        s->journal->share(birth, shards);
        io::block_on(s->host_context(), s->journal->take_directory());
        all.push_back({&s->journal->replay(), parts_of(*s, orders.answers())});
    }
    check_venue_identities(segments);
    replayed_venue found;
    watch.recover(reading, replay_all(std::move(all), segments, &merger, &found));
    // One time for all, also when the clock was ahead for only one of them.
    domain::time_ns latest{};
    for (const auto& s : segments) latest = std::max(latest, s->host.last_time());
    for (const auto& s : segments) {
        io::block_on(s->host_context(), s->journal->finish(&s->host, &orders.answers(), latest));
    }
    if (found.passed_over_count != 0) {
        const auto& first = segments.front()->journal;
        first->note(fmt::format("{}: {} more requests may have been lost than the limit of a start; they get no reject",
                                first->directory(), found.passed_over_count));
    }
    return found.recovered;
}

}  // namespace

recovered_segments recover_segments(all_segments segments, answer_merger& merger, order_entry_side& orders,
                                    venue_watch& watch) {
    const auto reading = segments.front()->host_context().runs_on().make_worker(io::context_options());
    try {
        return recover_segments_on(*reading, segments, merger, orders, watch);
    } catch (...) {
        for (const auto& s : segments) s->journal->abandon_replay();  // its files belong to the context that ends here
        throw;
    }
}

io::task<void> save_segments(all_segments segments, io::context* context, gateway::answer_log* answers,
                             std::uint64_t arrival) {
    const auto files = context->runs_on().make_storage(*context, nullptr);
    std::vector<stored_segment> all;
    for (const auto& s : segments) {
        all.push_back(stored_segment(files.get(), s->own, parts_of(*s, *answers), s->journal->epoch(),
                                     s->journal->snapshot_sequence()));
    }
    const auto saved = co_await store_segments(&all, context, arrival, segments.front()->own.snapshots_kept);
    if (!saved) {
        segments.front()->journal->note(saved.error().text);
        co_return;
    }
    for (std::size_t k = 0; k < segments.size(); ++k) {
        segments[k]->journal->note_snapshot(all[k].parts.host->sequence(), (*saved)[k]);
    }
}

}  // namespace corro::node
