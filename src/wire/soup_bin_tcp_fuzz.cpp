// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a stream of either side. The decoder ends, stays inside the bytes, and finds the same packets
// wherever the stream is cut. What it accepts can be encoded again.
#include "wire/soup_bin_tcp.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace {

using namespace corro::wire::soup_bin_tcp;

void write_again(const packet& found) {
    std::vector<std::byte> out(found.size);
    CORRO_ASSERT(encode(found.type, found.payload, out) == found.size);
    CORRO_ASSERT(std::ranges::equal(std::span{out}.subspan(header_bytes), found.payload));
    if (found.type == packet_type::login_request) {
        if (const auto request = decode_login_request(found.payload)) {
            CORRO_ASSERT(encode(*request, out) == found.size);
            const auto again = decode_login_request(std::span{out}.subspan(header_bytes));
            CORRO_ASSERT(again && again->username == request->username && again->password == request->password &&
                         again->requested_session == request->requested_session &&
                         again->requested_sequence == request->requested_sequence);
        }
    }
    if (found.type == packet_type::login_accepted) {
        if (const auto accepted = decode_login_accepted(found.payload)) {
            CORRO_ASSERT(encode(*accepted, out) == found.size);
        }
    }
    if (found.type == packet_type::login_rejected) {
        if (const auto code = decode_login_rejected(found.payload)) CORRO_ASSERT(encode(*code, out) == found.size);
    }
}

void run(std::span<const std::byte> bytes, sender from) {
    constexpr std::size_t limit = 1'000;
    while (!bytes.empty()) {
        const auto found = decode(bytes, from, limit);
        if (!found || !*found) return;
        const packet& whole = **found;
        CORRO_ASSERT(whole.size >= header_bytes && whole.size <= bytes.size());
        CORRO_ASSERT(whole.payload.size() <= limit && whole.payload.size() + header_bytes == whole.size);
        const auto shorter = decode(bytes.first(whole.size - 1), from, limit);
        CORRO_ASSERT(shorter && !*shorter, "a packet without its last byte must not decode");
        const auto exact = decode(bytes.first(whole.size), from, limit);
        CORRO_ASSERT(exact && *exact && (*exact)->size == whole.size);
        write_again(whole);
        bytes = bytes.subspan(whole.size);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span{data, size});
    run(bytes, sender::client);
    run(bytes, sender::server);
    return 0;
}
