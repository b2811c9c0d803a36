// SPDX-License-Identifier: Apache-2.0
// The source of a snapshot_maker for a running venue of one facility: its journal.
//
// Threads: as snapshot_source.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "node/configuration/configuration.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/snapshot_maker.hpp"

namespace corro::node {

class journal_snapshots final : public snapshot_source {
 public:
    /// `journal` must be recovered, and outlives this.
    journal_snapshots(const configuration& c, host_journal& journal) : configuration_(c), journal_(journal) {}

    [[nodiscard]] std::uint64_t durable_count() const noexcept override { return journal_.writer().durable_sequence(); }
    [[nodiscard]] std::uint64_t saved_count() const noexcept override { return journal_.snapshot_sequence(); }
    void choose_moment() override { until_ = journal_.writer().durable_sequence(); }
    [[nodiscard]] moment_state look_at_moment() override;
    [[nodiscard]] io::task<snapshot_outcome> make(const std::atomic<bool>* stopping) override;
    void note_made() override { journal_.note_snapshot(made_, oldest_); }
    void note(const std::string& notice) override { journal_.note(notice); }

 private:
    configuration configuration_;
    host_journal& journal_;
    std::uint64_t until_ = 0;   ///< the moment: after this command
    std::uint64_t made_ = 0;    ///< the last command in the snapshot made
    std::uint64_t oldest_ = 0;  ///< the last command in the oldest kept snapshot
};

}  // namespace corro::node
