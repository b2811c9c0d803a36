// What `corro replay` replays, whatever the format of its files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "market_data/book_image.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/flow.hpp"
#include "recorded/replay/report.hpp"

namespace corro::app {

struct recording_options {
    std::vector<std::filesystem::path> files;
    std::string format = "auto";                       ///< auto, dbn or lobster
    std::string opening = "auto";                      ///< auto, auction or continuous; DBN
    std::optional<std::uint32_t> recorded_instrument;  ///< DBN
};

class recording {
 public:
    virtual ~recording() = default;

    /// An instrument that suits it: name, tick and price band. The id is 1.
    [[nodiscard]] virtual domain::instrument instrument() const = 0;
    /// No more orders than this are open at once.
    [[nodiscard]] virtual std::uint64_t orders_max() const = 0;
    /// Records or rows in all.
    [[nodiscard]] virtual std::uint64_t total() const = 0;

    /// What its times count from, in nanoseconds since the epoch.
    [[nodiscard]] virtual domain::time_ns times_begin() const { return {}; }

    /// The flow, in terms of the venue's instrument. Once. @throws replay_error when the instrument does not suit.
    [[nodiscard]] virtual recorded::replay::flow& open(const domain::instrument& instrument,
                                                       recorded::replay::difference_log& log) = 0;
    /// The run is finished: the last comparison.
    virtual void finish(const market_data::book_image& book) = 0;
    [[nodiscard]] virtual std::vector<recorded::replay::report_section> sections() const = 0;
};

/// Reads the files once.
/// @throws recorded::replay::replay_error  Files that are missing, truncated or foreign, with file and place.
[[nodiscard]] std::unique_ptr<recording> survey_recording(const recording_options& options);

}  // namespace corro::app
