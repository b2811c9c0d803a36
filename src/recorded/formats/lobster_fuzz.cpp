// SPDX-License-Identifier: Apache-2.0
// With any text in a LOBSTER file, cut into any pieces, both decoders end, stay inside the pieces, and find the same
// records. The first input byte sets how the rest is cut.
#include <cstdint>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "recorded/formats/drain_fixture.hpp"
#include "recorded/formats/lobster.hpp"

namespace {

using namespace corro::recorded;
using corro::base::hasher;

void add(hasher& h, const lobster::message& m) {
    CORRO_ASSERT(m.since_midnight_ns >= 0 && m.since_midnight_ns < 86'400'000'000'000);
    CORRO_ASSERT(m.type >= lobster::event_type::new_order && m.type <= lobster::event_type::trading_halt);
    h.add(m.line).add(m.since_midnight_ns).add(m.type).add(m.order_id).add(m.size).add(m.price).add(m.side).add(m.halt);
}

void add(hasher& h, const lobster::book& b) {
    CORRO_ASSERT(!b.levels.empty() && b.levels.size() <= lobster::levels_max);
    h.add(b.line);
    for (const lobster::level& l : b.levels) h.add(l.ask.price).add(l.ask.size).add(l.bid.price).add(l.bid.size);
}

template <class Decoder, class NextSize>
std::uint64_t run(std::span<const std::byte> bytes, NextSize next_size) {
    hasher h;
    Decoder decoder;
    const auto error = drain(decoder, bytes, next_size, [&](const auto& record) { add(h, record); });
    if (error) {
        CORRO_ASSERT(error->offset <= bytes.size() && error->line != 0 && error->column != 0);
        h.add(error->offset).add(error->line).add(error->column).add(error->code.value());
    }
    return h.value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t cut = data[0] + 1U;
    const auto bytes = std::as_bytes(std::span{data, size}).subspan(1);
    const auto whole = [&] { return bytes.size(); };
    const auto pieces = [&] { return cut; };
    CORRO_ASSERT(run<lobster::message_decoder>(bytes, whole) == run<lobster::message_decoder>(bytes, pieces));
    CORRO_ASSERT(run<lobster::book_decoder>(bytes, whole) == run<lobster::book_decoder>(bytes, pieces));
    return 0;
}
