// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/dbn_metadata.hpp"

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "recorded/formats/dbn_text.hpp"
#include "wire/errors.hpp"

namespace corro::recorded::dbn {
namespace {

constexpr std::uint16_t mixed_schema = UINT16_MAX;
constexpr std::uint8_t mixed_symbol_type = UINT8_MAX;
constexpr std::size_t padding_bytes_max = 7;

std::unexpected<read_error> fail(wire::wire_errc code, std::size_t offset) noexcept {
    return std::unexpected(read_error{.code = make_error_code(code), .offset = offset});
}

bool is_day(std::uint32_t day) noexcept {
    const std::uint32_t month = day / 100 % 100;
    const std::uint32_t of_month = day % 100;
    return day >= 1'000'00'00 && day <= 9999'99'99 && month >= 1 && month <= 12 && of_month >= 1 && of_month <= 31;
}

/// Reads the lists behind the fixed part. Every step checks the remaining size.
class list_walker {
 public:
    list_walker(std::span<const std::byte> head, std::size_t width) noexcept : head_(head), width_(width) {}

    std::expected<symbol_list, read_error> symbols() noexcept {
        const auto count = counted(width_);
        if (!count) return std::unexpected(count.error());
        const symbol_list list{head_.data() + at_, width_, *count};
        for (std::size_t i = 0; i < *count; ++i) {
            if (const auto ok = symbol(); !ok) return std::unexpected(ok.error());
        }
        return list;
    }

    std::expected<mapping_list, read_error> mappings() noexcept {
        const auto count = counted(width_ + 4);
        if (!count) return std::unexpected(count.error());
        const mapping_list list{head_.data() + at_, width_, *count};
        for (std::size_t i = 0; i < *count; ++i) {
            if (at_ + width_ > head_.size()) return fail(wire::wire_errc::malformed_length, at_);
            if (const auto ok = symbol(); !ok) return std::unexpected(ok.error());
            const auto intervals = counted(8 + width_);
            if (!intervals) return std::unexpected(intervals.error());
            for (std::size_t j = 0; j < *intervals; ++j) {
                for (int k = 0; k < 2; ++k, at_ += 4) {
                    if (!is_day(base::load_le<std::uint32_t>(head_.data() + at_))) {
                        return fail(wire::wire_errc::malformed_field, at_);
                    }
                }
                if (const auto ok = symbol(); !ok) return std::unexpected(ok.error());
            }
        }
        return list;
    }

    [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
    /// Reads a count whose elements, of at least `element_bytes`, fit the remaining bytes.
    std::expected<std::size_t, read_error> counted(std::size_t element_bytes) noexcept {
        if (at_ + 4 > head_.size()) return fail(wire::wire_errc::malformed_length, at_);
        const std::size_t count = base::load_le<std::uint32_t>(head_.data() + at_);
        if (count > (head_.size() - at_ - 4) / element_bytes) return fail(wire::wire_errc::malformed_length, at_);
        at_ += 4;
        return count;
    }

    std::expected<void, read_error> symbol() noexcept {
        if (!printable(text_at(head_.data() + at_, width_))) return fail(wire::wire_errc::malformed_field, at_);
        at_ += width_;
        return {};
    }

    std::span<const std::byte> head_;
    std::size_t width_;
    std::size_t at_ = fixed_bytes + 4;
};

}  // namespace

std::string_view symbol_list::operator[](std::size_t index) const noexcept {
    CORRO_ASSERT(index < count_);
    return text_at(first_ + index * width_, width_);
}

std::string_view symbol_mapping::raw_symbol() const noexcept {
    return text_at(first_, width_);
}

std::size_t symbol_mapping::intervals_count() const noexcept {
    return base::load_le<std::uint32_t>(first_ + width_);
}

mapping_interval symbol_mapping::interval(std::size_t index) const noexcept {
    CORRO_ASSERT(index < intervals_count());
    const std::byte* const at = first_ + width_ + 4 + index * interval_bytes();
    return {base::load_le<std::uint32_t>(at), base::load_le<std::uint32_t>(at + 4), text_at(at + 8, width_)};
}

std::expected<std::uint64_t, read_error> head_bytes(std::span<const std::byte, prelude_bytes> prelude) noexcept {
    if (std::memcmp(prelude.data(), "DBN", 3) != 0) return fail(wire::wire_errc::foreign_format, 0);
    const auto version = std::to_integer<std::uint8_t>(prelude[3]);
    if (version == 0 || version > version_max) return fail(wire::wire_errc::unsupported_version, 3);
    const std::uint64_t size = std::uint64_t{prelude_bytes} + base::load_le<std::uint32_t>(prelude.data() + 4);
    if (size < fixed_bytes + 4) return fail(wire::wire_errc::malformed_length, 4);
    return size;
}

std::expected<file_metadata, read_error> decode_head(std::span<const std::byte> head) noexcept {
    if (head.size() < prelude_bytes) return fail(wire::wire_errc::truncated, 0);
    const auto size = head_bytes(head.first<prelude_bytes>());
    if (!size) return std::unexpected(size.error());
    if (*size != head.size()) return fail(wire::wire_errc::malformed_length, 4);

    file_metadata result;
    const std::byte* const at = head.data();
    result.version = std::to_integer<std::uint8_t>(head[3]);
    result.dataset = text_at(at + 8, 16);
    if (!printable(result.dataset)) return fail(wire::wire_errc::malformed_field, 8);
    if (const auto schema = base::load_le<std::uint16_t>(at + 24); schema != mixed_schema) result.schema = schema;
    result.start_ns = base::load_le<std::uint64_t>(at + 26);
    if (const auto end = base::load_le<std::uint64_t>(at + 34); end != undefined_timestamp) result.end_ns = end;
    if (const auto limit = base::load_le<std::uint64_t>(at + 42); limit != 0) result.limit = limit;
    const std::size_t types = result.version == 1 ? 58 : 50;
    if (const auto type = std::to_integer<std::uint8_t>(head[types]); type != mixed_symbol_type) {
        result.symbol_type_in = type;
    }
    result.symbol_type_out = std::to_integer<std::uint8_t>(head[types + 1]);
    const auto send_time = std::to_integer<std::uint8_t>(head[types + 2]);
    if (send_time > 1) return fail(wire::wire_errc::malformed_field, types + 2);
    result.has_send_time = send_time == 1;
    if (result.version > 1) {
        result.symbol_bytes = base::load_le<std::uint16_t>(at + 53);
        if (result.symbol_bytes == 0) return fail(wire::wire_errc::malformed_field, 53);
    }
    if (base::load_le<std::uint32_t>(at + fixed_bytes) != 0)
        return fail(wire::wire_errc::malformed_length, fixed_bytes);

    list_walker walker{head, result.symbol_bytes};
    for (symbol_list* const list : {&result.symbols, &result.partial, &result.not_found}) {
        const auto symbols = walker.symbols();
        if (!symbols) return std::unexpected(symbols.error());
        *list = *symbols;
    }
    const auto mappings = walker.mappings();
    if (!mappings) return std::unexpected(mappings.error());
    result.mappings = *mappings;
    const std::size_t left = head.size() - walker.at();
    if (left > (result.version < 3 ? 0 : padding_bytes_max))
        return fail(wire::wire_errc::malformed_length, walker.at());
    return result;
}

}  // namespace corro::recorded::dbn
