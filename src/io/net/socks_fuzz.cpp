// SPDX-License-Identifier: Apache-2.0
// With any answers of a proxy, the handshake ends, never takes more bytes than belong to it, ends the same way however
// the answers are cut, and is complete only after answers that a very simple parser accepts.
//
// The first byte of the input decides whether a login is offered.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "io/net/socks.hpp"

namespace {

using namespace corro::io;

struct transcript {
    std::string sent;
    std::error_code error;
    std::size_t taken = 0;
    bool complete = false;
};

transcript run(std::string_view answers, std::size_t step, bool has_login) {
    socks_options options;
    if (has_login) options.login = socks_login("name", "password");
    auto begun = socks_handshake::begin("venue.example", 9'000, options);
    CORRO_ASSERT(begun.has_value(), "the arguments are valid");
    transcript seen;
    while (!seen.error) {
        const auto output = begun->take_output();
        seen.sent.append(reinterpret_cast<const char*>(output.data()), output.size());
        CORRO_ASSERT(begun->take_output().empty(), "each message is sent once");
        const auto room = begun->room();
        CORRO_ASSERT(room.empty() == begun->is_complete(), "it waits for bytes until it is complete");
        const std::size_t size = std::min({room.size(), step, answers.size() - seen.taken});
        if (size == 0) break;
        std::memcpy(room.data(), answers.data() + seen.taken, size);
        seen.taken += size;
        seen.error = begun->commit(size);
        CORRO_ASSERT(!seen.error || (begun->room().empty() && begun->take_output().empty()), "an error ends it");
    }
    seen.complete = begun->is_complete();
    return seen;
}

/// The bytes of answers that accept the connection; 0 if these do not, or are not complete.
std::size_t accepted_bytes(std::string_view answers, bool has_login) {
    const auto at = [&](std::size_t i) { return i < answers.size() ? static_cast<std::uint8_t>(answers[i]) : -1; };
    if (at(0) != 5) return 0;
    std::size_t reply = 2;
    if (at(1) == 2 && has_login) {
        if (at(2) != 1 || at(3) != 0) return 0;
        reply = 4;
    } else if (at(1) != 0) {
        return 0;
    }
    if (at(reply) != 5 || at(reply + 1) != 0 || at(reply + 2) != 0) return 0;
    std::size_t end = reply;
    switch (at(reply + 3)) {
        case 1: end += 10; break;
        case 4: end += 22; break;
        case 3:
            if (at(reply + 4) < 0) return 0;
            end += 7 + static_cast<std::size_t>(at(reply + 4));
            break;
        default: return 0;
    }
    return end <= answers.size() ? end : 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const bool has_login = (data[0] & 1U) != 0;
    const std::string_view answers(reinterpret_cast<const char*>(data) + 1, size - 1);
    const transcript whole = run(answers, size, has_login);
    const transcript by_one = run(answers, 1, has_login);
    const transcript by_three = run(answers, 3, has_login);
    for (const transcript& each : {by_one, by_three}) {
        CORRO_ASSERT(whole.complete == each.complete && whole.error == each.error && whole.sent == each.sent,
                     "cuts change nothing");
        // A part may end behind the byte that is refused.
        CORRO_ASSERT(whole.error || whole.taken == each.taken, "cuts change nothing");
    }
    const std::size_t accepted = accepted_bytes(answers, has_login);
    CORRO_ASSERT(whole.complete == (accepted != 0), "both parsers accept the same answers");
    CORRO_ASSERT(!whole.complete || whole.taken == accepted, "and end at the same byte");
    return 0;
}
