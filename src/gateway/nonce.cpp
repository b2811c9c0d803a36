#include "gateway/nonce.hpp"

#include <openssl/rand.h>

#include "base/assert.hpp"

namespace corro::gateway {

std::array<std::byte, 32> make_nonce() noexcept {
    std::array<std::byte, 32> bytes{};
    const int ok = RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    CORRO_ASSERT(ok == 1, "the operating system's random generator works");
    return bytes;
}

}  // namespace corro::gateway
