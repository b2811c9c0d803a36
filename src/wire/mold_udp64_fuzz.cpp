// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a datagram of either side. The decoder ends and stays inside the bytes. What it accepts can be
// encoded again.
#include "wire/mold_udp64.hpp"

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"

namespace {

using namespace corro::wire::mold_udp64;

void run_downstream(std::span<const std::byte> datagram) {
    auto found = decode(datagram);
    if (!found) return;
    CORRO_ASSERT(found->sequence() != 0);
    packet_writer writer(found->session(), found->sequence());
    const std::uint64_t end = found->sequence() + found->messages_count();
    bool fits = true;
    std::size_t size = header_bytes;
    while (found->messages_count() != 0) {
        const auto message = found->take_message();
        size += block_header_bytes + message.size();
        fits = fits && writer.append(message);
    }
    CORRO_ASSERT(size == datagram.size());
    CORRO_ASSERT(found->sequence() == end);
    CORRO_ASSERT(fits == (size <= packet_bytes_max));
    if (!fits) return;
    const auto again = found->is_end_of_session() ? writer.finish_session() : writer.finish();
    CORRO_ASSERT(std::ranges::equal(again, datagram));
}

void run_request(std::span<const std::byte> datagram) {
    const auto found = decode_request(datagram);
    if (!found) return;
    std::array<std::byte, request_bytes> again;
    encode(*found, again);
    CORRO_ASSERT(std::ranges::equal(again, datagram));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span{data, size});
    run_downstream(bytes);
    run_request(bytes);
    return 0;
}
