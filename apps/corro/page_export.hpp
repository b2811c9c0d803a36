// SPDX-License-Identifier: Apache-2.0
// `corro export --format html`: a folder with the dashboard's pages and a run, which opens from any file server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "domain/types.hpp"
#include "history/timeline.hpp"
#include "past.hpp"

namespace corro::app {

struct page_export {
    std::filesystem::path directory;
    std::string venue_name;
    domain::instrument_id only{};  ///< 0 for all
    std::size_t tick = 0;          ///< index in api::frame_ticks_ms
};

/// Writes the run from the journal's moment up to `to`.
/// @return The number of frames in all files. @throws std::runtime_error, std::system_error
std::uint64_t export_page(const page_export& options, history::moment to, past& p);

}  // namespace corro::app
