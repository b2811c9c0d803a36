// SPDX-License-Identifier: Apache-2.0
// With any frames, at either end, compressed or not, the receiver ends, stays within its limits, and finds the same
// messages however the stream is cut; a second, slower check confirms that text is valid UTF-8.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "websocket/receiver.hpp"

namespace {

using namespace corro::websocket;

/// Decodes by the arithmetic of the definition.
bool is_utf8(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at != bytes.size();) {
        const auto lead = std::to_integer<unsigned>(bytes[at++]);
        if (lead < 0x80) continue;
        const unsigned more = lead >= 0xF8 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
        if (more == 0 || bytes.size() - at < more) return false;
        unsigned code = lead & (0x3FU >> more);
        for (unsigned i = 0; i != more; ++i) {
            const auto next = std::to_integer<unsigned>(bytes[at++]);
            if ((next & 0xC0U) != 0x80) return false;
            code = code << 6U | (next & 0x3FU);
        }
        const unsigned least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
        if (code < least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    }
    return true;
}

struct transcript {
    std::vector<std::string> events;
    std::string error;
};

transcript read(std::span<const std::byte> bytes, std::size_t step, role self, bool deflate) {
    receive_limits limits;
    limits.message_bytes = 20'000;
    limits.fragments_count = 50;
    std::optional<deflate_parameters> agreed;
    if (deflate) agreed.emplace();
    receiver receiving(self, limits, agreed);
    transcript seen;
    while (!bytes.empty()) {
        const auto room = receiving.room();
        CORRO_ASSERT(!room.empty());
        const std::size_t size = std::min({room.size(), step, bytes.size()});
        std::copy_n(bytes.begin(), size, room.begin());
        receiving.commit(size);
        bytes = bytes.subspan(size);
        for (;;) {
            const auto next = receiving.next();
            CORRO_ASSERT(receiving.held_bytes() <= 2 * limits.message_bytes + 2 * read_bytes_max);
            if (!next) {
                seen.error = make_error_code(next.error()).message();
                return seen;
            }
            if (next->what == receiver::kind::nothing) break;
            const bool is_text = next->what == receiver::kind::text;
            const bool is_data = is_text || next->what == receiver::kind::binary;
            CORRO_ASSERT(next->payload.size() <= (is_data ? limits.message_bytes : control_payload_bytes_max));
            if (is_text || next->what == receiver::kind::close) CORRO_ASSERT(is_utf8(next->payload));
            std::string event(1, static_cast<char>('0' + static_cast<int>(next->what)));
            event += std::to_string(std::to_underlying(next->code));
            event.append(reinterpret_cast<const char*>(next->payload.data()), next->payload.size());
            seen.events.push_back(std::move(event));
        }
    }
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    for (const role self : {role::server, role::client}) {
        for (const bool deflate : {false, true}) {
            const transcript whole = read(bytes, size + 1, self, deflate);
            const transcript by_one = read(bytes, 1, self, deflate);
            CORRO_ASSERT(whole.events == by_one.events, "cuts change no message");
            CORRO_ASSERT(whole.error.empty() == by_one.error.empty(), "cuts change no verdict");
        }
    }
    utf8_validator validator;
    const bool valid = validator.take(bytes) && validator.complete();
    CORRO_ASSERT(valid == is_utf8(bytes), "both checks of UTF-8 agree");
    return 0;
}
