// SPDX-License-Identifier: Apache-2.0
// Opening a file of a recording that is to be replayed.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "recorded/recorded_reader.hpp"
#include "recorded/replay/order_record.hpp"

namespace corro::recorded::replay {

/// @throws replay_error with the path and the system's words for the error.
template <class Decoder>
[[nodiscard]] recorded_reader<Decoder> open_recorded(const std::filesystem::path& path) {
    auto reader = recorded_reader<Decoder>::open(path);
    if (!reader) throw replay_error(fmt::format("{}: {}", path.string(), reader.error().message()));
    return *std::move(reader);
}

}  // namespace corro::recorded::replay
