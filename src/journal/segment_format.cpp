#include "journal/segment_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"

namespace corro::journal {
namespace {

using base::load_le;
using base::store_le;

constexpr std::string_view magic = "CORROJNL";
constexpr std::uint32_t block_magic = 0x3142'4A43;  // "CJB1"
constexpr std::uint32_t seal_magic = 0x3145'4A43;   // "CJE1"
constexpr std::size_t venue_name_offset = 72;
constexpr std::size_t used_header_bytes = 96;
constexpr std::size_t used_block_header_bytes = 36;
constexpr std::string_view suffix = ".segment";
constexpr std::size_t number_digits = 10;

std::uint32_t header_checksum(std::span<const std::byte> header) noexcept {
    constexpr std::array<std::byte, 4> instead_of_itself{};
    std::uint32_t crc = base::crc32c(header.first(12));
    crc = base::crc32c(instead_of_itself, crc);
    return base::crc32c(header.subspan(16), crc);
}

void encode_block_header(const segment_header& segment, std::uint32_t kind, const block_header& header,
                         std::span<std::byte> block) noexcept {
    std::memset(block.data(), 0, block_header_bytes);
    store_le<std::uint32_t>(block.data(), kind);
    store_le<std::uint64_t>(block.data() + 8, header.first_sequence);
    store_le<std::uint64_t>(block.data() + 16, header.durable_sequence);
    store_le<std::uint64_t>(block.data() + 24, segment.epoch);
    store_le<std::uint32_t>(block.data() + 32, header.commands_count);
    store_le<std::uint32_t>(block.data() + 4, base::crc32c(block.subspan(8), segment.checksum));
}

}  // namespace

void encode(segment_header& header, std::span<std::byte> into) noexcept {
    CORRO_ASSERT(into.size() == segment_header_bytes);
    std::memset(into.data(), 0, into.size());
    std::memcpy(into.data(), magic.data(), magic.size());
    store_le<std::uint32_t>(into.data() + 8, format_version);
    store_le<std::uint64_t>(into.data() + 16, header.number);
    store_le<std::uint64_t>(into.data() + 24, header.first_sequence);
    store_le<std::uint64_t>(into.data() + 32, header.epoch);
    store_le<std::int64_t>(into.data() + 40, header.created_ns);
    store_le<std::uint64_t>(into.data() + 48, header.venue.fingerprint);
    store_le<std::uint32_t>(into.data() + 56, header.venue.shard);
    store_le<std::uint32_t>(into.data() + 60, command_bytes);
    store_le<std::uint64_t>(into.data() + 64, header.segment_bytes);
    std::memcpy(into.data() + venue_name_offset, header.venue.name.characters.data(),
                header.venue.name.characters.size());
    header.checksum = header_checksum(into);
    store_le<std::uint32_t>(into.data() + 12, header.checksum);
}

std::expected<segment_header, journal_errc> decode_segment_header(std::span<const std::byte> from) noexcept {
    CORRO_ASSERT(from.size() == segment_header_bytes);
    const std::uint32_t checksum = header_checksum(from);
    if (std::memcmp(from.data(), magic.data(), magic.size()) != 0) return std::unexpected(journal_errc::foreign_file);
    if (checksum != load_le<std::uint32_t>(from.data() + 12)) return std::unexpected(journal_errc::damaged);
    if (load_le<std::uint32_t>(from.data() + 8) != format_version) {
        return std::unexpected(journal_errc::unsupported_version);
    }
    segment_header header;
    header.number = load_le<std::uint64_t>(from.data() + 16);
    header.first_sequence = load_le<std::uint64_t>(from.data() + 24);
    header.epoch = load_le<std::uint64_t>(from.data() + 32);
    header.created_ns = load_le<std::int64_t>(from.data() + 40);
    header.venue.fingerprint = load_le<std::uint64_t>(from.data() + 48);
    header.venue.shard = load_le<std::uint32_t>(from.data() + 56);
    header.segment_bytes = load_le<std::uint64_t>(from.data() + 64);
    std::memcpy(header.venue.name.characters.data(), from.data() + venue_name_offset,
                header.venue.name.characters.size());
    header.checksum = checksum;
    // The checksum is right, so whoever wrote it meant it; still nothing is taken that this program cannot handle.
    if (load_le<std::uint32_t>(from.data() + 60) != command_bytes || header.number == 0 || header.first_sequence == 0 ||
        header.segment_bytes < segment_bytes_min || header.segment_bytes > segment_bytes_max ||
        !all_zero(from.subspan(used_header_bytes))) {
        return std::unexpected(journal_errc::unsupported_version);
    }
    return header;
}

void encode_block(const segment_header& segment, std::uint64_t first_sequence, std::uint64_t durable_sequence,
                  std::span<std::byte> block) noexcept {
    const std::size_t count = (block.size() - block_header_bytes) / command_bytes;
    CORRO_ASSERT(count != 0 && count <= block_commands_max);
    encode_block_header(segment, block_magic,
                        {.first_sequence = first_sequence,
                         .durable_sequence = durable_sequence,
                         .commands_count = static_cast<std::uint32_t>(count)},
                        block);
}

void encode_seal(const segment_header& segment, std::uint64_t next_sequence, std::uint64_t durable_sequence,
                 std::span<std::byte> into) noexcept {
    CORRO_ASSERT(into.size() == block_header_bytes);
    encode_block_header(segment, seal_magic,
                        {.first_sequence = next_sequence, .durable_sequence = durable_sequence, .commands_count = 0},
                        into);
}

std::optional<std::size_t> claimed_bytes(std::span<const std::byte> from) noexcept {
    const auto kind = load_le<std::uint32_t>(from.data());
    const auto count = load_le<std::uint32_t>(from.data() + 32);
    const bool is_sound =
        (kind == block_magic && count >= 1 && count <= block_commands_max) || (kind == seal_magic && count == 0);
    if (!is_sound) return std::nullopt;
    return block_header_bytes + count * command_bytes;
}

std::optional<block_header> decode_block(const segment_header& segment, std::span<const std::byte> block) noexcept {
    if (base::crc32c(block.subspan(8), segment.checksum) != load_le<std::uint32_t>(block.data() + 4)) return {};
    block_header header;
    header.is_seal = load_le<std::uint32_t>(block.data()) == seal_magic;
    header.first_sequence = load_le<std::uint64_t>(block.data() + 8);
    header.durable_sequence = load_le<std::uint64_t>(block.data() + 16);
    header.commands_count = load_le<std::uint32_t>(block.data() + 32);
    if (load_le<std::uint64_t>(block.data() + 24) != segment.epoch || header.first_sequence < segment.first_sequence ||
        header.durable_sequence >= header.first_sequence ||
        !all_zero(block.subspan(used_block_header_bytes, block_header_bytes - used_block_header_bytes))) {
        return {};
    }
    const std::byte* command = block.data() + block_header_bytes;
    for (std::uint64_t i = 0; i < header.commands_count; ++i, command += command_bytes) {
        if (load_le<std::uint64_t>(command) != header.first_sequence + i) return {};
    }
    return header;
}

std::span<const domain::command> commands_of(std::span<const std::byte> block) noexcept {
    static_assert(offsetof(domain::command, sequence) == 0, "decode_block reads the sequence number there");
    const std::byte* const first = block.data() + block_header_bytes;
    CORRO_ASSERT(reinterpret_cast<std::uintptr_t>(first) % alignof(domain::command) == 0);
    return {reinterpret_cast<const domain::command*>(first), (block.size() - block_header_bytes) / command_bytes};
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
    // Equal to itself one byte further on, and zero at its beginning.
    return bytes.empty() ||
           (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::string segment_name(std::uint64_t number) {
    return fmt::format("{:0{}}{}", number, number_digits, suffix);
}

std::optional<std::uint64_t> segment_number(std::string_view name) noexcept {
    if (name.size() < number_digits + suffix.size() || name.size() > 19 + suffix.size() || !name.ends_with(suffix)) {
        return std::nullopt;
    }
    name.remove_suffix(suffix.size());
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
