// SPDX-License-Identifier: Apache-2.0
// Whether the library was built with zlib. Without it, compression is neither offered nor accepted.
#pragma once

namespace corro::websocket {

[[nodiscard]] bool deflate_is_built() noexcept;

}  // namespace corro::websocket
