// SPDX-License-Identifier: Apache-2.0
// The source of a snapshot_maker for a running venue of several partitions: their journals, merged as in a recovery.
//
// The moment is an arrival up to which everything is executed and answered, and after all commands that were durable
// when it was chosen. The snapshot is made when the commands of that moment can be read from every journal.
//
// Threads: as snapshot_source. Source: docs/spec/partitions.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "node/configuration/configuration.hpp"
#include "node/recovery/snapshot_maker.hpp"
#include "node/recovery/venue_snapshot.hpp"
#include "node/venue/answer_merger.hpp"
#include "node/venue/partition.hpp"

namespace corro::node {

class partition_snapshots final : public snapshot_source {
 public:
    /// @param partitions  Already recovered; they and `merger` outlive this.
    partition_snapshots(const configuration& c, std::span<const std::unique_ptr<partition>> partitions,
                        const answer_merger& merger);

    [[nodiscard]] std::uint64_t durable_count() const noexcept override;
    [[nodiscard]] std::uint64_t saved_count() const noexcept override;
    void choose_moment() override;
    [[nodiscard]] moment_state look_at_moment() override;
    [[nodiscard]] io::task<snapshot_outcome> make(const std::atomic<bool>* stopping) override;
    void note_made() override;
    /// Adds the notice to the first partition's journal.
    void note(const std::string& notice) override;

 private:
    void take_moment();

    configuration configuration_;
    std::vector<configuration> own_;  ///< by partition
    std::span<const std::unique_ptr<partition>> partitions_;
    const answer_merger& merger_;
    std::vector<std::uint64_t> recovered_;  ///< commands of each partition at the start
    std::vector<std::uint64_t> epochs_;
    std::vector<std::uint64_t> wanted_;  ///< durable commands of each partition when the moment was requested
    venue_cut moment_;
    std::vector<std::uint64_t> oldest_;  ///< the last command of each partition in the oldest kept snapshot
};

}  // namespace corro::node
