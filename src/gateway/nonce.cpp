// SPDX-License-Identifier: Apache-2.0
#include "gateway/nonce.hpp"

namespace corro::gateway {

std::array<std::byte, 32> make_nonce(io::platform& from) noexcept {
    std::array<std::byte, 32> bytes{};
    from.fill_random(bytes);
    return bytes;
}

}  // namespace corro::gateway
