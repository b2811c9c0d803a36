// SPDX-License-Identifier: Apache-2.0
#include "journal/segment_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "base/defect.hpp"
#include "base/hash.hpp"

namespace corro::journal {
namespace {

using base::load_le;
using base::store_le;

constexpr std::string_view segment_magic = "CORROJNL";
constexpr std::uint32_t block_magic = 0x3242'4A43;     // "CJB2"
constexpr std::uint32_t marks_magic = 0x324D'4A43;     // "CJM2"
constexpr std::uint32_t seal_magic = 0x3245'4A43;      // "CJE2"
constexpr std::uint32_t block_magic_v1 = 0x3142'4A43;  // "CJB1"
constexpr std::uint32_t seal_magic_v1 = 0x3145'4A43;   // "CJE1"
constexpr std::size_t venue_name_offset = 72;
constexpr std::size_t venue_id_offset = 96;
constexpr std::size_t hash_key_offset = 112;
constexpr std::size_t header_marks_offset = 144;
constexpr std::size_t used_header_bytes_v1 = 96;
constexpr std::size_t used_header_bytes = 400;
constexpr std::size_t used_block_header_bytes_v1 = 36;
constexpr std::size_t block_marks_offset = 40;
constexpr std::size_t used_block_header_bytes = 120;
static_assert(block_marks_offset + block_marks_max * 8 == used_block_header_bytes);
static_assert(header_marks_offset + std::size_t{partitions_max} * 8 == used_header_bytes);
// A block has the same number of sectors with either size of header.
static_assert((block_header_bytes_v1 + 3 * command_bytes) % sector_bytes != 0 &&
              padded(block_header_bytes + 3 * command_bytes) == padded(block_header_bytes_v1 + 3 * command_bytes));
constexpr unsigned mark_partition_bit = 56;
constexpr unsigned mark_begun_bit = 63;
constexpr std::size_t number_digits = 10;

std::uint32_t header_checksum(std::span<const std::byte> header) noexcept {
    constexpr std::array<std::byte, 4> instead_of_itself{};
    std::uint32_t crc = base::crc32c(header.first(12));
    crc = base::crc32c(instead_of_itself, crc);
    return base::crc32c(header.subspan(16), crc);
}

void store_marks(packed_marks marks, std::byte* into) noexcept {
    for (const std::uint64_t mark : marks) {
        store_le<std::uint64_t>(into, mark);
        into += sizeof mark;
    }
}

void load_marks(std::span<std::uint64_t> marks, const std::byte* from) noexcept {
    for (std::uint64_t& mark : marks) {
        mark = load_le<std::uint64_t>(from);
        from += sizeof mark;
    }
}

void encode_block_header(const segment_header& segment, std::uint32_t kind, const block_header& header,
                         std::span<std::byte> block, packed_marks marks) noexcept {
    std::memset(block.data(), 0, block_header_bytes_in(segment));
    store_le<std::uint32_t>(block.data(), kind);
    store_le<std::uint64_t>(block.data() + 8, header.first_sequence);
    store_le<std::uint64_t>(block.data() + 16, header.durable_sequence);
    store_le<std::uint64_t>(block.data() + 24, segment.epoch);
    store_le<std::uint32_t>(block.data() + 32, header.commands_count);
    if (segment.version != 1) store_marks(marks, block.data() + block_marks_offset);
    store_le<std::uint32_t>(block.data() + 4, base::crc32c(block.subspan(8), segment.checksum));
}

/// The kind of a block by its first bytes, in a segment of any version.
struct block_kind {
    bool has_commands = false;
    bool is_seal = false;
};

std::optional<block_kind> kind_of(const segment_header& segment, std::uint32_t magic_number) noexcept {
    if (segment.version == 1) {
        if (magic_number == block_magic_v1) return block_kind{.has_commands = true, .is_seal = false};
        if (magic_number == seal_magic_v1) return block_kind{.has_commands = false, .is_seal = true};
        return std::nullopt;
    }
    if (magic_number == block_magic) return block_kind{.has_commands = true, .is_seal = false};
    if (magic_number == seal_magic) return block_kind{.has_commands = false, .is_seal = true};
    if (magic_number == marks_magic) return block_kind{.has_commands = false, .is_seal = false};
    return std::nullopt;
}

}  // namespace

std::uint64_t pack(const partition_mark& mark) noexcept {
    CORRO_ASSERT(mark.partition < partitions_max && mark.sequence >> mark_partition_bit == 0);
    return mark.sequence | std::uint64_t{mark.partition} << mark_partition_bit |
           std::uint64_t{mark.has_begun} << mark_begun_bit;
}

partition_mark unpack_mark(std::uint64_t bytes) noexcept {
    partition_mark mark;
    mark.has_begun = bytes >> mark_begun_bit != 0;
    mark.partition = static_cast<std::uint32_t>(bytes >> mark_partition_bit & 0x7FU);
    mark.sequence = bytes & ((std::uint64_t{1} << mark_partition_bit) - 1);
    return mark;
}

void encode(segment_header& header, std::span<std::byte> into) noexcept {
    CORRO_ASSERT(into.size() == segment_header_bytes);
    std::memset(into.data(), 0, into.size());
    std::memcpy(into.data(), segment_magic.data(), segment_magic.size());
    store_le<std::uint32_t>(into.data() + 8, header.version);
    store_le<std::uint64_t>(into.data() + 16, header.number);
    store_le<std::uint64_t>(into.data() + 24, header.first_sequence);
    store_le<std::uint64_t>(into.data() + 32, header.epoch);
    store_le<std::int64_t>(into.data() + 40, header.created_ns);
    store_le<std::uint64_t>(into.data() + 48, header.venue.fingerprint);
    store_le<std::uint32_t>(into.data() + 56, header.venue.partition);
    store_le<std::uint32_t>(into.data() + 60, command_bytes);
    store_le<std::uint64_t>(into.data() + 64, header.segment_bytes);
    std::memcpy(into.data() + venue_name_offset, header.venue.name.characters.data(),
                header.venue.name.characters.size());
    if (header.version != 1) {
        std::memcpy(into.data() + venue_id_offset, header.birth.id.data(), header.birth.id.size());
        std::memcpy(into.data() + hash_key_offset, header.birth.hash_key.data(), header.birth.hash_key.size());
        store_le<std::uint32_t>(into.data() + 128, header.previous_checksum);
        store_le<std::uint64_t>(into.data() + 136, header.previous_digest);
        store_marks(header.marks, into.data() + header_marks_offset);
    }
    header.checksum = header_checksum(into);
    store_le<std::uint32_t>(into.data() + 12, header.checksum);
}

std::expected<segment_header, journal_errc> decode_segment_header(std::span<const std::byte> from) noexcept {
    CORRO_ASSERT(from.size() == segment_header_bytes);
    const std::uint32_t checksum = header_checksum(from);
    if (std::memcmp(from.data(), segment_magic.data(), segment_magic.size()) != 0)
        return std::unexpected(journal_errc::foreign_file);
    if (checksum != load_le<std::uint32_t>(from.data() + 12)) return std::unexpected(journal_errc::damaged);
    segment_header header;
    header.version = load_le<std::uint32_t>(from.data() + 8);
    if (header.version != 1 && header.version != format_version) {
        return std::unexpected(journal_errc::unsupported_version);
    }
    header.number = load_le<std::uint64_t>(from.data() + 16);
    header.first_sequence = load_le<std::uint64_t>(from.data() + 24);
    header.epoch = load_le<std::uint64_t>(from.data() + 32);
    header.created_ns = load_le<std::int64_t>(from.data() + 40);
    header.venue.fingerprint = load_le<std::uint64_t>(from.data() + 48);
    header.venue.partition = load_le<std::uint32_t>(from.data() + 56);
    header.segment_bytes = load_le<std::uint64_t>(from.data() + 64);
    std::memcpy(header.venue.name.characters.data(), from.data() + venue_name_offset,
                header.venue.name.characters.size());
    header.checksum = checksum;
    if (header.version != 1) {
        std::memcpy(header.birth.id.data(), from.data() + venue_id_offset, header.birth.id.size());
        std::memcpy(header.birth.hash_key.data(), from.data() + hash_key_offset, header.birth.hash_key.size());
        header.previous_checksum = load_le<std::uint32_t>(from.data() + 128);
        header.previous_digest = load_le<std::uint64_t>(from.data() + 136);
        load_marks(header.marks, from.data() + header_marks_offset);
    }
    const std::size_t used = header.version == 1 ? used_header_bytes_v1 : used_header_bytes;
    // The checksum is right, so the values were written deliberately; values that this program cannot handle are
    // refused nevertheless.
    if (load_le<std::uint32_t>(from.data() + 60) != command_bytes || header.number == 0 || header.first_sequence == 0 ||
        header.segment_bytes < segment_bytes_min || header.segment_bytes > segment_bytes_max ||
        !all_zero(from.subspan(used)) || load_le<std::uint32_t>(from.data() + 132) != 0) {
        return std::unexpected(journal_errc::unsupported_version);
    }
    return header;
}

void encode_block(const segment_header& segment, std::uint64_t first_sequence, std::uint64_t durable_sequence,
                  std::span<std::byte> block, packed_marks marks) noexcept {
    const std::size_t count = (block.size() - block_header_bytes_in(segment)) / command_bytes;
    CORRO_ASSERT(count <= block_commands_max && marks.size() <= block_marks_max);
    CORRO_ASSERT(count != 0 || segment.version != 1, "version 1 has no blocks with only marks");
    block_header header;
    header.first_sequence = first_sequence;
    header.durable_sequence = durable_sequence;
    header.commands_count = static_cast<std::uint32_t>(count);
    const std::uint32_t kind = segment.version == 1 ? block_magic_v1 : count != 0 ? block_magic : marks_magic;
    encode_block_header(segment, kind, header, block, marks);
}

void encode_seal(const segment_header& segment, std::uint64_t next_sequence, std::uint64_t durable_sequence,
                 std::span<std::byte> into, packed_marks marks) noexcept {
    CORRO_ASSERT(into.size() == block_header_bytes_in(segment) && marks.size() <= block_marks_max);
    block_header header;
    header.first_sequence = next_sequence;
    header.durable_sequence = durable_sequence;
    encode_block_header(segment, segment.version == 1 ? seal_magic_v1 : seal_magic, header, into, marks);
}

std::optional<std::size_t> claimed_bytes(const segment_header& segment, std::span<const std::byte> from) noexcept {
    const auto kind = kind_of(segment, load_le<std::uint32_t>(from.data()));
    const auto count = load_le<std::uint32_t>(from.data() + 32);
    if (!kind || kind->has_commands != (count != 0) || count > block_commands_max) return std::nullopt;
    return block_header_bytes_in(segment) + count * command_bytes;
}

std::optional<block_header> decode_block(const segment_header& segment, std::span<const std::byte> block) noexcept {
    const std::uint32_t checksum = base::crc32c(block.subspan(8), segment.checksum);
    if (checksum != load_le<std::uint32_t>(block.data() + 4) && !CORRO_DEFECT(block_checksum_ignored)) return {};
    const auto kind = kind_of(segment, load_le<std::uint32_t>(block.data()));
    block_header header;
    header.bytes = block_header_bytes_in(segment);
    header.checksum = checksum;
    header.is_seal = kind && kind->is_seal;
    header.first_sequence = load_le<std::uint64_t>(block.data() + 8);
    header.durable_sequence = load_le<std::uint64_t>(block.data() + 16);
    header.commands_count = load_le<std::uint32_t>(block.data() + 32);
    const std::size_t used = segment.version == 1 ? used_block_header_bytes_v1 : used_block_header_bytes;
    if (!kind || load_le<std::uint64_t>(block.data() + 24) != segment.epoch ||
        header.first_sequence < segment.first_sequence || header.durable_sequence >= header.first_sequence ||
        !all_zero(block.subspan(used, header.bytes - used))) {
        return {};
    }
    if (segment.version != 1) {
        if (load_le<std::uint32_t>(block.data() + 36) != 0) return {};
        load_marks(header.marks, block.data() + block_marks_offset);
    }
    const std::byte* command = block.data() + header.bytes;
    for (std::uint64_t i = 0; i < header.commands_count; ++i, command += command_bytes) {
        if (load_le<std::uint64_t>(command) != header.first_sequence + i) return {};
    }
    return header;
}

std::uint64_t digest_after(std::uint64_t before, const block_header& block) noexcept {
    if (block.commands_count == 0) return before;
    return base::mix64(before ^ base::mix64(block.first_sequence << 32U ^ block.checksum));
}

std::span<const domain::command> commands_of(const block_header& header, std::span<const std::byte> block) noexcept {
    static_assert(offsetof(domain::command, sequence) == 0, "decode_block reads the sequence number there");
    const std::byte* const first = block.data() + header.bytes;
    CORRO_ASSERT(reinterpret_cast<std::uintptr_t>(first) % alignof(domain::command) == 0);
    return {reinterpret_cast<const domain::command*>(first), header.commands_count};
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
    // All bytes are zero if the first one is, and each equals its successor.
    return bytes.empty() ||
           (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::string segment_name(std::uint64_t number) {
    return fmt::format("{:0{}}{}", number, number_digits, segment_suffix);
}

std::optional<std::uint64_t> segment_number(std::string_view name) noexcept {
    if (name.size() < number_digits + segment_suffix.size() || name.size() > 19 + segment_suffix.size() ||
        !name.ends_with(segment_suffix)) {
        return std::nullopt;
    }
    name.remove_suffix(segment_suffix.size());
    std::uint64_t number = 0;
    for (const char digit : name) {
        if (digit < '0' || digit > '9') return std::nullopt;
        number = number * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    // "00000000001" would be a second name for the first segment.
    if (number == 0 || (name.size() > number_digits && name[0] == '0')) return std::nullopt;
    return number;
}

}  // namespace corro::journal
