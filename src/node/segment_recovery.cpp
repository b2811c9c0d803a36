#include "node/segment_recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "io/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/errors.hpp"
#include "node/arrival.hpp"
#include "node/host_journal.hpp"
#include "node/segment_replay.hpp"
#include "node/segment_store.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {
namespace {

using all_segments = std::span<const std::unique_ptr<segment>>;

venue_parts parts_of(segment& s, gateway::answer_log& answers) {
    venue_parts parts;
    parts.host = &s.host;
    parts.feed = &s.feed.distributor();
    parts.lines = s.feed.lines();
    if (s.index() == 0) parts.answers = &answers;
    return parts;
}

/// What refuses a request that was lost. It closes nothing and opens nothing, and may use the room for cancels.
domain::command refusal_of(const domain::command& neighbour, std::uint32_t request) noexcept {
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.session = neighbour.session;
    c.account = neighbour.account;
    c.request = request;
    c.verdict = domain::reject_reason::request_lost;
    return c;
}

/// Requests that are in no journal although later ones of their session are, and those to all segments that are not in
/// all journals.
class lost_requests final : public replay_witness {
 public:
    /// @param saved  The last arrival that is in the state.
    lost_requests(all_segments segments, std::uint64_t saved)
        : last_(segments.front()->host.last_requests().size()),
          last_arrivals_(segments.size(), saved),
          last_arrival_(saved) {
        for (const auto& s : segments) {
            const std::span<const std::uint32_t> of_segment = s->host.last_requests();
            for (std::size_t id = 0; id < last_.size(); ++id) last_[id] = std::max(last_[id], of_segment[id]);
        }
    }

    /// The next command of a session, in the order of arrivals, which is that of its requests.
    void replayed(std::size_t segment, const domain::command& c) override {
        last_arrival_ = arrival_of(c);
        // A refusal stands in any journal, so it does not show how far this one goes.
        if (c.verdict != domain::reject_reason::request_lost) last_arrivals_[segment] = last_arrival_;
        if (c.request == 0 || c.session.value >= last_.size()) return;
        // A start before this one has refused it already.
        if (c.verdict == domain::reject_reason::request_lost) found_.erase({c.session.value, c.request});
        std::uint32_t& last = last_[c.session.value];
        if (c.request <= last) return;  // another part of the same request
        for (std::uint32_t request = last + 1; request < c.request; ++request) add(c, request);
        last = std::max(last, c.request);
    }

    void replayed_partly(const domain::command& c) override {
        if (c.request != 0 && c.session.value < last_.size()) add(c, c.request);
    }

    /// Refuses those that may have been lost: everything up to the end of the journal that ends first is in every
    /// journal, so what is missing there was rejected, and the session knows.
    [[nodiscard]] std::deque<domain::command> refusals() const {
        const std::uint64_t complete = std::ranges::min(last_arrivals_);
        std::deque<domain::command> all;
        for (const auto& [id, each] : found_) {
            if (each.before > complete) all.push_back(each.refusal);
        }
        return all;
    }

    /// The last arrival in any journal.
    [[nodiscard]] std::uint64_t last_arrival() const noexcept { return last_arrival_; }

 private:
    struct lost {
        std::uint64_t before = 0;  ///< the arrival of the session's next command that is there, or of its own copies
        domain::command refusal;
    };

    void add(const domain::command& neighbour, std::uint32_t request) {
        found_[{neighbour.session.value, request}] = {arrival_of(neighbour), refusal_of(neighbour, request)};
    }

    std::vector<std::uint32_t> last_;                                ///< by session
    std::vector<std::uint64_t> last_arrivals_;                       ///< by segment
    std::uint64_t last_arrival_;                                     ///< in any journal
    std::map<std::pair<std::uint32_t, std::uint32_t>, lost> found_;  ///< by session and request
};

[[noreturn]] void refuse(journal::journal_errc code, std::string text) {
    throw recovery_error(journal::with_advice(journal::problem(code, std::move(text))));
}

/// The random numbers of the venue: those that any of its journals has, otherwise new ones.
journal::venue_birth birth_of(all_segments segments) {
    for (const auto& s : segments) {
        const auto found = io::block_on(s->host_context(), s->journal->find_birth());
        if (found) return *found;
    }
    return make_birth();
}

void check_births(all_segments segments) {
    const host_journal& first = *segments.front()->journal;
    for (const auto& s : segments) {
        if (s->journal->birth() == first.birth()) continue;
        refuse(journal::journal_errc::foreign_venue,
               fmt::format("{}: the journal of another venue than that in {}, although their names are the same",
                           s->journal->directory(), first.directory()));
    }
}

/// Whether every journal reaches as far as the others recorded that it did, and as the snapshots say. A folder that was
/// copied earlier than the others does not: what the clients were told since is not in it.
void check_moments(all_segments segments, std::span<const std::uint64_t> named) {
    for (const auto& shorter : segments) {
        const std::size_t k = shorter->index();
        const std::uint64_t last = shorter->journal->replay().end().next_sequence - 1;
        for (const auto& other : segments) {
            const journal::shard_mark mark = journal::unpack_mark(other->journal->replay().end().marks[k]);
            if (other == shorter || mark.sequence <= last) continue;
            refuse(
                journal::journal_errc::different_moments,
                fmt::format("{}: the journal ends with sequence number {}, and {} was written when it had reached {}",
                            shorter->journal->directory(), last, other->journal->directory(), mark.sequence));
        }
        if (named[k] <= last || may_lose_commands(shorter->own)) continue;
        refuse(journal::journal_errc::different_moments,
               fmt::format("{}: the journal ends with sequence number {}, and a snapshot in {} was made when it had "
                           "reached {}",
                           shorter->journal->directory(), last, segments.front()->journal->directory(), named[k]));
    }
}

recovered_segments recover_segments_on(io::context& reading, all_segments segments, answer_merger& merger,
                                       order_entry_side& orders, venue_watch& watch) {
    std::vector<replayed_segment> all;
    for (const auto& s : segments) s->journal->replay_on(reading, &watch.progress());
    const journal::venue_birth birth = birth_of(segments);
    const auto shards = std::make_shared<journal::shard_board>();
    for (const auto& s : segments) {
        s->journal->share(birth, shards);
        io::block_on(s->host_context(), s->journal->take_directory());
        all.push_back({&reading, &s->journal->replay(), parts_of(*s, orders.answers())});
    }
    check_births(segments);
    recovered_segments recovered;
    watch.recover([&] {
        segment_replay replay(std::move(all), merger);
        const std::uint64_t saved = replay.load_newest();
        lost_requests lost(segments, saved);
        replay.run(lost);
        check_moments(segments, replay.named_sequences());
        recovered = {lost.last_arrival(), lost.refusals()};
    });
    // One time for all, also when only one of them was written under a clock that was ahead.
    domain::time_ns latest{};
    for (const auto& s : segments) latest = std::max(latest, s->host.last_time());
    for (const auto& s : segments) {
        io::block_on(s->host_context(), s->journal->finish(&s->host, &orders.answers(), latest));
    }
    return recovered;
}

}  // namespace

recovered_segments recover_segments(all_segments segments, answer_merger& merger, order_entry_side& orders,
                                    venue_watch& watch) {
    io::context reading;
    try {
        return recover_segments_on(reading, segments, merger, orders, watch);
    } catch (...) {
        for (const auto& s : segments) s->journal->abandon_replay();  // it has files on the context that ends here
        throw;
    }
}

io::task<void> save_segments(all_segments segments, io::context* context, gateway::answer_log* answers,
                             std::uint64_t arrival) {
    journal::disk_storage files(*context);
    std::vector<stored_segment> all;
    for (const auto& s : segments) {
        all.push_back(stored_segment(&files, s->own, parts_of(*s, *answers), s->journal->epoch(),
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
