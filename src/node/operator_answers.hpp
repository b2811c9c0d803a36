// What a facility has to say to an operator, wherever it runs.
//
// Threads: the context of sessions and feed.
#pragma once

#include <cstdint>

#include "gateway/admin_service.hpp"
#include "journal/writer.hpp"
#include "node/facility_thread.hpp"
#include "node/host_journal.hpp"
#include "node/market_data_side.hpp"
#include "node/matching_host.hpp"
#include "node/snapshot_maker.hpp"

namespace corro::node {

/// Whom a question is about.
struct asked_facility {
    std::uint64_t sequence = 0;                                      ///< commands that it has sequenced
    journal::journal_room room = journal::journal_room::everything;  ///< if there is a journal
    const host_journal* journal = nullptr;                           ///< nullptr: nothing is journaled
    const market_data_side* feed = nullptr;                          ///< there is one
    snapshot_maker* snapshots = nullptr;                             ///< there is one with a journal
};

/// @param thread     The host's own, if it has one.
/// @param journal    nullptr: nothing is journaled.
/// @param snapshots  nullptr without a journal.
[[nodiscard]] asked_facility asked_of(const matching_host& host, const facility_thread* thread,
                                      const host_journal* journal, const market_data_side& feed,
                                      snapshot_maker* snapshots) noexcept;

/// The answer of a venue that is not divided. The wish for a snapshot is fulfilled if it can be.
[[nodiscard]] gateway::admin_reply answer_of(const gateway::admin_request& question, const asked_facility& facility);

}  // namespace corro::node
