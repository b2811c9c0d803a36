// Limits of the facility.
#pragma once

#include <cstdint>

namespace corro::facility {

/// Events that wait in the facility before they are handed over. One command may cause more; then it hands over in
/// several batches. Small enough to stay in the first-level cache, large enough for a sweep of ten orders.
inline constexpr std::uint32_t events_buffered_max = 128;

}  // namespace corro::facility
