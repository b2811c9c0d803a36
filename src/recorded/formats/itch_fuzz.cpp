// SPDX-License-Identifier: Apache-2.0
// With any bytes in an ITCH file, cut into any pieces, the decoder ends, stays inside the pieces, and finds the same
// messages. The first input byte sets how the rest is cut.
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "recorded/formats/drain_fixture.hpp"
#include "recorded/formats/itch.hpp"

namespace {

using namespace corro::recorded;
using corro::base::hasher;
using itch::message_type;

void add(hasher& h, std::string_view text) {
    h.add_bytes(std::as_bytes(std::span{text}));
}

void add(hasher& h, const itch::message& m) {
    h.add(m.type).add(m.offset).add(m.header().since_midnight_ns);
    CORRO_ASSERT(m.bytes.size() == itch::message_bytes(static_cast<char>(m.type)));
    switch (m.type) {
        case message_type::system_event: h.add(m.as_system_event().code); return;
        case message_type::stock_directory:
            add(h, m.as_stock_directory().stock);
            add(h, m.as_stock_directory().issue_subtype);
            h.add(m.as_stock_directory().inverse);
            return;
        case message_type::trading_action:
            add(h, m.as_trading_action().stock);
            add(h, m.as_trading_action().reason);
            return;
        case message_type::add_order:
        case message_type::add_order_attributed:
            add(h, m.as_add_order().stock);
            add(h, m.as_add_order().attribution);
            h.add(m.as_add_order().price).add(m.as_add_order().side);
            return;
        case message_type::order_executed:
        case message_type::order_executed_with_price:
            h.add(m.as_order_executed().price).add(m.as_order_executed().match_number);
            return;
        case message_type::order_cancel: h.add(m.as_order_cancel().shares); return;
        case message_type::order_delete: h.add(m.as_order_delete().order_reference); return;
        case message_type::order_replace: h.add(m.as_order_replace().price); return;
        case message_type::trade: h.add(m.as_trade().match_number); return;
        case message_type::cross_trade: h.add(m.as_cross_trade().cross_type); return;
        case message_type::broken_trade: h.add(m.as_broken_trade().match_number); return;
    }
    CORRO_ASSERT(false, "a record of a type that does not become records");
}

template <class NextSize>
std::uint64_t run(std::span<const std::byte> bytes, NextSize next_size) {
    hasher h;
    itch::decoder decoder;
    const auto error = drain(decoder, bytes, next_size, [&](const itch::message& m) { add(h, m); });
    h.add(decoder.skipped_count()).add(decoder.unknown_count()).add(decoder.session_ended());
    if (error) {
        CORRO_ASSERT(error->offset <= bytes.size());
        h.add(error->offset).add(error->code.value());
    }
    return h.value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t cut = data[0] + 1U;
    const auto bytes = std::as_bytes(std::span{data, size}).subspan(1);
    const std::uint64_t whole = run(bytes, [&] { return bytes.size(); });
    CORRO_ASSERT(run(bytes, [&] { return cut; }) == whole, "the cut of the input must not matter");
    return 0;
}
