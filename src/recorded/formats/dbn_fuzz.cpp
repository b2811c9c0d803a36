// SPDX-License-Identifier: Apache-2.0
// With any bytes in a DBN file, cut into any pieces, the decoder ends, stays inside the pieces, and finds the same
// records. The first input byte sets how the rest is cut.
#include "recorded/formats/dbn.hpp"

#include <cstdint>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "recorded/formats/drain_fixture.hpp"

namespace {

using namespace corro::recorded;
using corro::base::hasher;

// These functions add all readable values to a hash, so that everything is read.

void add(hasher& h, std::string_view text) {
    h.add_bytes(std::as_bytes(std::span{text}));
}

void add(hasher& h, const dbn::record& record) {
    h.add(record.offset);
    if (record.type == dbn::record_type::market_by_order) {
        const auto m = record.as_market_by_order();
        h.add(m.order_id);
        h.add(m.price);
        h.add(m.size);
        h.add(m.sequence);
        return;
    }
    const auto i = record.as_instrument_definition();
    for (const auto text : {i.raw_symbol, i.asset, i.exchange, i.group, i.security_type, i.security_subtype, i.cfi,
                            i.currency, i.underlying, i.unit_of_measure, i.strike_price_currency, i.leg.raw_symbol}) {
        add(h, text);
    }
    h.add(i.raw_instrument_id);
    h.add(i.leg.count);
    h.add(i.strike_price);
}

void add(hasher& h, const dbn::file_metadata& m) {
    add(h, m.dataset);
    for (const auto* list : {&m.symbols, &m.partial, &m.not_found}) {
        for (std::size_t i = 0; i < list->size(); ++i) add(h, (*list)[i]);
    }
    for (const auto& mapping : m.mappings) {
        add(h, mapping.raw_symbol());
        for (std::size_t i = 0; i < mapping.intervals_count(); ++i) add(h, mapping.interval(i).symbol);
    }
}

template <class NextSize>
std::uint64_t run(std::span<const std::byte> bytes, NextSize next_size) {
    hasher h;
    dbn::decoder decoder;
    const auto error = drain(decoder, bytes, next_size, [&](const dbn::record& record) { add(h, record); });
    if (decoder.metadata() != nullptr) add(h, *decoder.metadata());
    h.add(decoder.skipped_count());
    if (error) {
        CORRO_ASSERT(error->offset <= bytes.size());
        h.add(error->offset);
        h.add(error->code.value());
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
