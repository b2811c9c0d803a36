// SPDX-License-Identifier: Apache-2.0
// A facility's answers to operators, for each kind of process.
//
// Threads: the context of sessions and feed.
#pragma once

#include <cstdint>

#include "gateway/admin_service.hpp"
#include "journal/writer.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/snapshot_maker.hpp"
#include "node/venue/facility_thread.hpp"
#include "node/venue/market_data_server.hpp"
#include "node/venue/matching_host.hpp"

namespace corro::node {

/// The facility that an admin request is about.
struct asked_facility {
    std::uint64_t sequence = 0;                                      ///< commands that it has sequenced
    journal::journal_room room = journal::journal_room::everything;  ///< with a journal
    const host_journal* journal = nullptr;                           ///< nullptr without a journal
    const market_data_server* feed = nullptr;                        ///< never nullptr
    snapshot_maker* snapshots = nullptr;                             ///< nullptr without a journal
};

/// @param thread     The host's own, or nullptr.
/// @param journal    nullptr without a journal.
/// @param snapshots  nullptr without a journal.
[[nodiscard]] asked_facility asked_of(const matching_host& host, const facility_thread* thread,
                                      const host_journal* journal, const market_data_server& feed,
                                      snapshot_maker* snapshots) noexcept;

/// The reply of a venue without partitions. Starts a snapshot on request, if possible.
[[nodiscard]] gateway::admin_reply answer_of(const gateway::admin_request& question, const asked_facility& facility);

}  // namespace corro::node
