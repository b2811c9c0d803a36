// SPDX-License-Identifier: Apache-2.0
// With any answer of a proxy, the handshake ends or waits, takes no byte beyond the answer, ends the same way however
// the answer is cut, and opens a tunnel only after a head that a very simple parser accepts.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "http/tunnel.hpp"

namespace {

using namespace corro::http;

struct transcript {
    std::error_code error;
    std::size_t taken = 0;
    bool complete = false;
};

tunnel_options small_options() {
    tunnel_options options;
    options.limits.start_line_bytes = 100;
    options.limits.fields_bytes = 300;
    options.limits.fields_count = 8;
    return options;
}

transcript run(std::string_view answer, std::size_t step) {
    const tunnel_options options = small_options();
    auto begun = tunnel_handshake::begin("venue.example", 443, options);
    CORRO_ASSERT(begun.has_value(), "the arguments are valid");
    transcript seen;
    while (!seen.error) {
        const auto room = begun->room();
        CORRO_ASSERT(room.empty() == begun->is_complete(), "it waits for bytes until it is complete");
        CORRO_ASSERT(room.size() <= 16, "and for no more than certainly come");
        const std::size_t size = std::min({room.size(), step, answer.size() - seen.taken});
        if (size == 0) break;
        std::memcpy(room.data(), answer.data() + seen.taken, size);
        seen.taken += size;
        seen.error = begun->commit(size);
        CORRO_ASSERT(!seen.error || begun->room().empty(), "an error ends it");
    }
    seen.complete = begun->is_complete();
    CORRO_ASSERT(seen.taken <= (tunnel_interim_answers_max + 1) * options.limits.head_bytes(), "answers are bounded");
    return seen;
}

/// The end of the first head that is not an interim answer, and whether its status is 2xx.
std::pair<std::size_t, bool> final_head(std::string_view answer) {
    std::size_t begin = 0;
    for (;;) {
        const std::size_t end = answer.find("\r\n\r\n", begin);
        CORRO_ASSERT(end != std::string_view::npos, "an accepted answer is complete");
        const std::string_view line = answer.substr(begin, end - begin);
        CORRO_ASSERT(line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' ', "it has a status line");
        if (line[9] != '1') return {end + 4, line[9] == '2'};
        begin = end + 4;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view answer(reinterpret_cast<const char*>(data), size);
    const transcript whole = run(answer, size + 1);
    const transcript by_one = run(answer, 1);
    const transcript by_three = run(answer, 3);
    CORRO_ASSERT(whole.complete == by_one.complete && whole.error == by_one.error, "cuts change nothing");
    CORRO_ASSERT(by_three.complete == by_one.complete && by_three.error == by_one.error, "cuts change nothing");
    if (whole.complete) {
        const auto [end, is_success] = final_head(answer);
        CORRO_ASSERT(is_success, "only 2xx opens a tunnel");
        CORRO_ASSERT(whole.taken == end && by_one.taken == end && by_three.taken == end, "and no byte beyond is taken");
    }
    return 0;
}
