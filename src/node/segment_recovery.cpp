#include "node/segment_recovery.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "io/block_on.hpp"
#include "node/host_journal.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {
namespace {

using all_segments = std::span<const std::unique_ptr<segment>>;
using snapshots = std::vector<std::optional<journal::stored_snapshot>>;

std::optional<journal::stored_snapshot> find_snapshot(segment& s, std::uint64_t sequence) {
    return io::block_on(s.host_context(), s.journal->replay().find_snapshot(sequence));
}

/// The snapshots of the other segments that belong to a cut; false when one of them is not to be had.
bool find_others(all_segments segments, const venue_cut& cut, snapshots& found) {
    for (std::size_t k = 1; k < segments.size(); ++k) {
        segment& s = *segments[k];
        if (cut.sequences[k] == 0) {
            io::block_on(s.host_context(), s.journal->replay().begin_at_first());
            continue;
        }
        found[k] = find_snapshot(s, cut.sequences[k]);
        if (!found[k] || found[k]->about.sequence != cut.sequences[k]) return false;
    }
    return true;
}

venue_parts parts_of(segment& s, gateway::answer_log& answers) {
    venue_parts parts;
    parts.host = &s.host;
    parts.feed = &s.feed.distributor();
    parts.lines = s.feed.lines();
    if (s.index() == 0) parts.answers = &answers;
    return parts;
}

/// Loads the snapshots of one cut. False: the first segment's does not fit, and nothing has changed.
bool load_all(all_segments segments, const snapshots& found, gateway::answer_log& answers) {
    for (std::size_t k = 0; k < segments.size(); ++k) {
        if (!found[k]) continue;
        segment& s = *segments[k];
        const std::uint64_t sequence = found[k]->about.sequence;
        const load_failure failure = load_venue(parts_of(s, answers), found[k]->bytes);
        if (failure.unfit && k == 0) {
            s.journal->replay().passed_over(sequence, failure.unfit.message());
            return false;
        }
        if (failure.failed()) {
            const std::string why = failure.unfit ? failure.unfit.message() : failure.problem;
            throw recovery_error(s.journal->replay().path_of_snapshot(sequence) + ": " + why +
                                 "; without the snapshots of all segments the journals are replayed instead");
        }
        s.journal->replay().loaded(sequence);
    }
    return true;
}

/// The newest moment of which every segment has a sound snapshot. Without one, the segments begin with their first
/// commands.
std::uint64_t load_newest(all_segments segments, gateway::answer_log& answers) {
    segment& first = *segments.front();
    for (std::uint64_t newest = std::numeric_limits<std::uint64_t>::max();;) {
        snapshots found(segments.size());
        found[0] = find_snapshot(first, newest);
        if (!found[0]) break;
        const std::uint64_t sequence = found[0]->about.sequence;
        const auto cut = cut_of(found[0]->bytes, segments.size());
        if (!cut || !find_others(segments, *cut, found)) {
            first.journal->replay().passed_over(sequence, "another segment has no snapshot of the same moment");
        } else if (load_all(segments, found, answers)) {
            return cut->arrival;
        }
        if (sequence == 0) break;
        newest = sequence - 1;
    }
    for (const auto& s : segments) io::block_on(s->host_context(), s->journal->replay().begin_at_first());
    return 0;
}

/// Makes the segment's next command known, if there is one.
void look_ahead(segment& s) {
    if (!s.journal->replay().has_next()) io::block_on(s.host_context(), s.journal->replay().fetch());
    if (s.journal->replay().has_next() && arrival_of(s.journal->replay().next()) == 0) {
        throw recovery_error(s.own.journal_directory +
                             ": a command in this journal was sequenced by a venue of one "
                             "segment; what is in several must have begun there");
    }
}

/// Requests that are in no journal although later ones of their session are, and those to all segments that are not in
/// all journals.
class lost_requests {
 public:
    explicit lost_requests(all_segments segments) : last_(segments.front()->host.last_requests().size()) {
        for (const auto& s : segments) {
            const std::span<const std::uint32_t> of_segment = s->host.last_requests();
            for (std::size_t id = 0; id < last_.size(); ++id) last_[id] = std::max(last_[id], of_segment[id]);
        }
    }

    /// The next command of a session, in the order of arrivals, which is that of its requests.
    void note(const domain::command& c) {
        if (c.request == 0 || c.session.value >= last_.size()) return;
        std::uint32_t& last = last_[c.session.value];
        for (std::uint32_t request = last + 1; request < c.request; ++request) {
            add(c.session.value, {request, arrival_of(c)});
        }
        last = std::max(last, c.request);
    }

    /// A command to all segments of which only some have their copy.
    void note_partly(const domain::command& c) {
        if (c.request != 0 && c.session.value < last_.size()) add(c.session.value, {c.request, arrival_of(c)});
    }

    /// Tells those that may have been lost: everything up to `complete` is in every journal, so what is missing there
    /// was refused, and the session knows.
    void tell(order_entry_side& orders, std::uint64_t complete) const {
        for (const auto& [session, all] : found_) {
            std::vector<std::uint32_t> requests;
            for (const lost& each : all) {
                if (each.before > complete) requests.push_back(each.request);
            }
            if (!requests.empty()) orders.set_lost(domain::session_id{session}, std::move(requests));
        }
    }

 private:
    struct lost {
        std::uint32_t request;
        std::uint64_t before;  ///< the arrival of the session's next command that is there, or of its own copies
    };

    void add(std::uint32_t session, lost what) {
        std::deque<lost>& of_session = found_[session];
        of_session.push_back(what);
        if (of_session.size() > gateway::lost_requests_max) of_session.pop_front();
    }

    std::vector<std::uint32_t> last_;  ///< by session
    std::map<std::uint32_t, std::deque<lost>> found_;
};

/// Executes what has this arrival, in every segment that has it.
void replay_arrival(all_segments segments, std::uint64_t arrival, answer_merger& merger, lost_requests& lost,
                    std::vector<std::uint64_t>& last_arrivals) {
    merger.skip_to(arrival);
    std::size_t copies_there = 0;
    domain::command any;
    for (const auto& s : segments) {
        if (!s->journal->replay().has_next() || arrival_of(s->journal->replay().next()) != arrival) continue;
        const domain::command command = s->journal->replay().next();
        s->journal->replay().replay_next(s->host);
        merger.executed(s->index(), executed_command(command, s->host.emitted_count(), false));
        lost.note(command);
        last_arrivals[s->index()] = arrival;
        ++copies_there;
        any = command;
        look_ahead(*s);
    }
    if (copies_there < copies_of(any)) lost.note_partly(any);
    merger.advance();
}

}  // namespace

std::uint64_t recover_segments(all_segments segments, answer_merger& merger, order_entry_side& orders) {
    for (const auto& s : segments) io::block_on(s->host_context(), s->journal->take_directory());
    const std::uint64_t saved = load_newest(segments, orders.answers());
    lost_requests lost(segments);
    std::vector<std::uint64_t> last_arrivals(segments.size(), saved);
    for (const auto& s : segments) look_ahead(*s);
    while (true) {
        constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t arrival = none;
        for (const auto& s : segments) {
            if (s->journal->replay().has_next()) arrival = std::min(arrival, arrival_of(s->journal->replay().next()));
        }
        if (arrival == none) break;
        replay_arrival(segments, arrival, merger, lost, last_arrivals);
    }
    for (const auto& s : segments) {
        io::block_on(s->host_context(), s->journal->finish(&s->host, &orders.answers()));
    }
    const auto [first_end, last_end] = std::minmax_element(last_arrivals.begin(), last_arrivals.end());
    lost.tell(orders, *first_end);
    return *last_end;
}

io::task<void> save_segments(all_segments segments, gateway::answer_log* answers, std::uint64_t arrival) {
    venue_cut cut;
    cut.arrival = arrival;
    for (const auto& s : segments) cut.sequences.push_back(s->host.sequence());
    for (std::size_t k = segments.size(); k-- != 0;) {
        segment& s = *segments[k];
        if (k != 0 && s.host.sequence() == s.journal->snapshot_sequence()) continue;
        venue_parts parts = parts_of(s, *answers);
        if (k == 0) parts.cut = &cut;
        std::vector<std::byte> state = save_venue(parts);
        co_await s.journal->save_snapshot(std::move(state));
    }
}

}  // namespace corro::node
