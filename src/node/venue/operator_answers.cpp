// SPDX-License-Identifier: Apache-2.0
#include "node/venue/operator_answers.hpp"

namespace corro::node {
namespace {

gateway::journal_state state_of(journal::journal_room room) noexcept {
    switch (room) {
        case journal::journal_room::everything: return gateway::journal_state::takes_everything;
        case journal::journal_room::cancels_only: return gateway::journal_state::takes_cancels;
        case journal::journal_room::operators_only: return gateway::journal_state::takes_cancels;
        case journal::journal_room::none: break;
    }
    return gateway::journal_state::takes_nothing;
}

gateway::snapshot_reply begin_snapshot(const asked_facility& facility) noexcept {
    if (facility.journal == nullptr) return gateway::snapshot_reply::no_journal;
    if (facility.snapshots->is_under_way()) return gateway::snapshot_reply::under_way;
    if (facility.snapshots->has_everything()) return gateway::snapshot_reply::nothing_new;
    facility.snapshots->ask();
    return gateway::snapshot_reply::begun;
}

}  // namespace

asked_facility asked_of(const matching_host& host, const facility_thread* thread, const host_journal* journal,
                        const market_data_server& feed, snapshot_maker* snapshots) noexcept {
    asked_facility asked;
    asked.sequence = thread != nullptr ? thread->sequence() : host.sequence();
    if (journal != nullptr) asked.room = thread != nullptr ? thread->room() : journal->writer().room();
    asked.journal = journal;
    asked.feed = &feed;
    asked.snapshots = snapshots;
    return asked;
}

gateway::admin_reply answer_of(const gateway::admin_request& question, const asked_facility& facility) {
    gateway::admin_reply answer;
    answer.to = question;
    gateway::venue_report& venue = answer.venue;
    venue.last_command = facility.sequence;
    venue.feed_sequence = facility.feed->publisher().next_sequence();
    if (const auto phase = facility.feed->phase_of(question.instrument)) {
        venue.instrument = question.instrument;
        venue.phase = *phase;
    }
    if (facility.journal != nullptr) {
        venue.durable_command = facility.journal->writer().durable_sequence();
        venue.snapshot_command = facility.journal->snapshot_sequence();
        venue.journal = state_of(facility.room);
    }
    if (question.wish == gateway::admin_request_kind::snapshot) answer.outcome = begin_snapshot(facility);
    return answer;
}

}  // namespace corro::node
