// SPDX-License-Identifier: Apache-2.0
// With any input the inflater ends within its limit, and cuts change nothing. Compression is lossless. The answer to
// any offered extension is one that its sender accepts.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "websocket/deflate.hpp"
#include "websocket/extension.hpp"

namespace {

using namespace corro::websocket;

constexpr std::size_t limit = 50'000;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool inflates(std::span<const std::byte> bytes, std::size_t cut, byte_buffer& into, unsigned window_bits) {
    inflater expand(window_bits, false);
    const bool done = expand.inflate(bytes.first(cut), into, limit) &&
                      expand.inflate(bytes.subspan(cut), into, limit) && expand.finish(into, limit);
    CORRO_ASSERT(into.size() <= limit + 1);
    return done;
}

void round_trip(std::span<const std::byte> bytes, std::size_t cut) {
    deflater compress(9, false, 1);
    inflater expand(9, false);
    for (const auto part : {bytes.first(cut), bytes.subspan(cut), bytes}) {
        std::string small;
        compress.deflate(part, small);
        byte_buffer whole;
        CORRO_ASSERT(expand.inflate(std::as_bytes(std::span(small)), whole, part.size()));
        CORRO_ASSERT(expand.finish(whole, part.size()));
        CORRO_ASSERT(text_of(whole.bytes()) == text_of(part));
    }
}

void offer(std::string_view text) {
    const deflate_options options;
    const auto answer = accept_deflate(text, options);
    if (answer) {
        CORRO_ASSERT(answer->parameters.server_max_window_bits >= 9 && answer->parameters.server_max_window_bits <= 15);
        CORRO_ASSERT(answer->parameters.client_max_window_bits >= 8 && answer->parameters.client_max_window_bits <= 15);
        // The client's parser accepts the answer, except for windows that zlib does not have.
        if (answer->parameters.client_max_window_bits >= 9) CORRO_ASSERT(read_deflate_answer(answer->text, options));
    }
    (void)read_deflate_answer(text, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const std::size_t cut = size == 0 ? 0 : data[0] % size;
    byte_buffer whole;
    byte_buffer cut_up;
    // The largest window: with a smaller one, zlib notices a reference beyond it only if the referenced bytes were
    // returned before.
    const bool at_once = inflates(bytes, 0, whole, 15);
    const bool in_parts = inflates(bytes, cut, cut_up, 15);
    byte_buffer narrow;
    (void)inflates(bytes, cut, narrow, 9);
    CORRO_ASSERT(at_once == in_parts, "a cut must not change the result");
    if (at_once) CORRO_ASSERT(text_of(whole.bytes()) == text_of(cut_up.bytes()), "a cut changes nothing");
    round_trip(bytes, cut);
    offer({reinterpret_cast<const char*>(data), size});
    return 0;
}
