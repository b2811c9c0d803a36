// SPDX-License-Identifier: Apache-2.0
// A scenario as bytes: the input of a run, its expected output, and the end of each sample. Computed before the
// run by a pass of the bytes through the stations, without a transport.
//
// Units:   bytes; offsets within one cycle.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lab/facility/scenarios.hpp"
#include "lab/facility/station.hpp"

namespace corro::lab {

/// The stations between the injector and the receiver. Each station of a chain is a process.
enum class station_role : std::uint8_t { facility, gateway, distributor, chain };
[[nodiscard]] std::string_view to_string(station_role role) noexcept;

/// The stations of a role, in the order in which bytes pass them.
[[nodiscard]] std::vector<std::unique_ptr<station>> make_stations(station_role role);

/// The bytes that are sent at one time: a request, or for a distributor the messages that one request caused.
struct canned_unit {
    std::size_t begin = 0;  ///< in the cycle's input
    std::size_t end = 0;
    bool with_previous = false;
    bool measured = false;
    std::size_t sample_end = 0;  ///< in the cycle's output, which may be the next cycle's
};

struct canned_stream {
    std::vector<std::byte> set_up;
    std::size_t set_up_output_bytes = 0;
    std::vector<std::byte> block;  ///< at least `block_bytes_min` of whole cycles and one more, for large writes
    std::size_t cycle_bytes = 0;
    std::size_t cycle_output_bytes = 0;
    std::uint32_t cycle_messages = 0;  ///< derived messages; for a gateway: requests
    std::uint32_t cycle_samples = 0;
    std::vector<canned_unit> units;  ///< of one cycle

    static constexpr std::size_t block_bytes_min = std::size_t{128} * 1024;
};

/// @throws wrong_result if a sample has another number of messages than the scenario says, or if cycles differ.
[[nodiscard]] canned_stream can(const scenario& what, station_role role);

}  // namespace corro::lab
