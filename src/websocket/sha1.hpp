// SPDX-License-Identifier: Apache-2.0
// SHA-1 (FIPS 180-4, section 6.1), for the handshake alone: there it proves that the server has read the request, and
// protects nothing. It needs no library, so that WebSockets work where the library was built without TLS.
//
// Threads: any. Cost: linear; no allocation.
#pragma once

#include <array>
#include <string_view>

namespace corro::websocket {

using sha1_digest = std::array<unsigned char, 20>;

[[nodiscard]] sha1_digest sha1(std::string_view bytes) noexcept;

}  // namespace corro::websocket
