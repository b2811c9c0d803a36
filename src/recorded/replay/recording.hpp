// SPDX-License-Identifier: Apache-2.0
// A recording of any format: its instrument, and its order flow.
//
// Threads: one. Limits: those of the formats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "feed/book_image.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/flow.hpp"
#include "recorded/replay/report.hpp"

namespace corro::recorded::replay {

struct recording_options {
    std::vector<std::filesystem::path> files;
    std::string format = "auto";                       ///< auto, dbn, lobster or itch
    std::string opening = "auto";                      ///< auto, auction or continuous; DBN
    std::optional<std::uint32_t> recorded_instrument;  ///< DBN
    std::string stock;                                 ///< ITCH; empty for the only one
};

class recording {
 public:
    virtual ~recording() = default;

    /// An instrument for the recording: name, tick size and price band. Its id is 1.
    [[nodiscard]] virtual domain::instrument instrument() const = 0;
    /// The largest number of orders that are open at once.
    [[nodiscard]] virtual std::uint64_t orders_max() const = 0;
    /// The total number of records or rows.
    [[nodiscard]] virtual std::uint64_t total() const = 0;

    /// Whether it begins before an opening auction, so that the replay changes the instrument's phase.
    [[nodiscard]] virtual bool begins_before_auction() const { return false; }

    /// The time of its first record that is not of a snapshot, since `times_begin`.
    [[nodiscard]] virtual domain::time_ns first_time() const = 0;

    /// The origin of its times, in nanoseconds since the epoch.
    [[nodiscard]] virtual domain::time_ns times_begin() const { return {}; }

    /// Returns the order flow for the venue's instrument. Call once. @throws replay_error if the instrument does not
    /// fit.
    [[nodiscard]] virtual flow& open(const domain::instrument& instrument, difference_log& log) = 0;
    /// Makes the last comparison after the run.
    virtual void finish(const feed::book_image& book) = 0;
    [[nodiscard]] virtual std::vector<report_section> sections() const = 0;
};

/// The files of these names, which may be relative: each in the folder of `beside`, a file, or if it is not there, in
/// `data_folder`, unless that is empty. Whether they exist is for their reader.
[[nodiscard]] std::vector<std::filesystem::path> find_recording(const std::vector<std::string>& names,
                                                                const std::string& beside,
                                                                const std::string& data_folder);

/// The text of a file beside a recording; none if it cannot be read.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& file);

/// Reads the files once.
/// @throws replay_error  Files that are missing, truncated or foreign, with file and place.
[[nodiscard]] std::unique_ptr<recording> survey_recording(const recording_options& options);

}  // namespace corro::recorded::replay
