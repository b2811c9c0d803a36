// SPDX-License-Identifier: Apache-2.0
// With any bytes behind a segment's header the reader ends, stays inside them, and returns commands in sequence.
//
// The first byte of the input selects whether checksums are corrected first, so that the fuzzer gets past them, and the
// version of the format.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "io/task/block_on.hpp"
#include "journal/reader.hpp"
#include "sim/disk.hpp"

namespace {

using namespace corro;
using namespace corro::journal;

void repair_checksums(const segment_header& segment, std::span<std::byte> bytes) {
    for (std::size_t at = segment_header_bytes; at + block_header_bytes_in(segment) <= bytes.size();
         at += sector_bytes) {
        const auto claimed = claimed_bytes(segment, bytes.subspan(at, block_header_bytes_in(segment)));
        if (!claimed || at + *claimed > bytes.size()) continue;
        const auto block = bytes.subspan(at, *claimed);
        base::store_le<std::uint32_t>(block.data() + 4, base::crc32c(block.subspan(8), segment.checksum));
    }
}

io::task<> read(storage* files) {
    const reader_options options;
    auto opened = co_await reader::open(files, "j", options);
    if (!opened) co_return;
    std::uint64_t expected = 1;
    for (;;) {
        const auto commands = co_await (*opened)->next();
        if (!commands) {
            CORRO_ASSERT(!commands.error().text.empty());
            co_return;
        }
        if (commands->empty()) break;
        for (const domain::command& c : *commands) CORRO_ASSERT(c.sequence.value == expected++);
    }
    CORRO_ASSERT((*opened)->end().next_sequence == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0 || size > 32 * 1024) return 0;
    segment_header header;
    header.version = (data[0] & 2U) != 0 ? format_version : 1;
    header.venue = identity("FUZZ", 1);
    header.number = 1;
    header.first_sequence = 1;
    header.epoch = 1;
    header.segment_bytes = 64 * 1024;
    sim::disk::contents bytes(segment_header_bytes + size - 1);
    encode(header, std::span(bytes).first(segment_header_bytes));
    if (size > 1) std::memcpy(bytes.data() + segment_header_bytes, data + 1, size - 1);
    if ((data[0] & 1U) != 0) repair_checksums(header, bytes);
    sim::disk disk;
    disk.put("j/" + segment_name(1), std::move(bytes));
    static io::context ctx;
    io::block_on(ctx, read(&disk));
    return 0;
}
