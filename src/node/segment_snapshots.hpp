// Snapshots of a running venue of several segments, for a snapshot_maker: of their journals, merged as a recovery does.
//
// The moment is an arrival up to which everything is executed and answered, and behind everything that was durable when
// it was chosen. The snapshot is made when every journal has its part of that moment where it can be read.
//
// Threads: as snapshot_source says. Source: docs/spec/segments.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "node/answer_merger.hpp"
#include "node/configuration.hpp"
#include "node/segment.hpp"
#include "node/snapshot_maker.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {

class segment_snapshots final : public snapshot_source {
 public:
    /// @param segments  Recovered; they and `merger` outlive this.
    segment_snapshots(const configuration& c, std::span<const std::unique_ptr<segment>> segments,
                      const answer_merger& merger);

    [[nodiscard]] std::uint64_t durable_count() const noexcept override;
    [[nodiscard]] std::uint64_t saved_count() const noexcept override;
    void choose_moment() override;
    [[nodiscard]] moment_state look_at_moment() override;
    [[nodiscard]] snapshot_outcome make(const std::atomic<bool>& stopping) override;
    void note_made() override;
    /// At the first segment's journal.
    void note(const std::string& notice) override;

 private:
    void take_moment();

    configuration configuration_;
    std::vector<configuration> own_;  ///< of each segment
    std::span<const std::unique_ptr<segment>> segments_;
    const answer_merger& merger_;
    std::vector<std::uint64_t> recovered_;  ///< commands of each segment at the start
    std::vector<std::uint64_t> epochs_;
    std::vector<std::uint64_t> wanted_;  ///< commands of each that were durable when the moment was to be chosen
    venue_cut moment_;
    std::vector<std::uint64_t> oldest_;  ///< the last command of each in the oldest snapshot that is kept
};

}  // namespace corro::node
