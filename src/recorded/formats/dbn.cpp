// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/dbn.hpp"

#include "recorded/formats/dbn_values.hpp"
#include "recorded/formats/record_decoder.hpp"
#include "wire/errors.hpp"

namespace corro::recorded::dbn {

static_assert(record_decoder<decoder>);

namespace {

constexpr std::size_t record_header_bytes = 16;
constexpr std::size_t market_by_order_bytes = 56;
constexpr std::size_t send_time_bytes = 8;
constexpr std::size_t length_unit_bytes = 4;

bool is_action(std::byte raw) noexcept {
    switch (static_cast<action>(raw)) {
        case action::add:
        case action::cancel:
        case action::modify:
        case action::clear:
        case action::trade:
        case action::fill:
        case action::none: return true;
    }
    return false;
}

std::expected<void, field_fault> check_market_by_order(const std::byte* at) noexcept {
    for (const std::size_t offset : {8U, 40U}) {
        if (!is_time(base::load_le<std::uint64_t>(at + offset))) [[unlikely]]
            return std::unexpected(field_fault{wire::wire_errc::out_of_range, offset});
    }
    if (!is_action(at[38])) [[unlikely]]
        return std::unexpected(field_fault{wire::wire_errc::malformed_field, 38});
    if (!is_side(at[39])) [[unlikely]]
        return std::unexpected(field_fault{wire::wire_errc::malformed_field, 39});
    return {};
}

}  // namespace

market_by_order record::as_market_by_order() const noexcept {
    CORRO_ASSERT(type == record_type::market_by_order);
    const std::byte* const at = bytes.data();
    return {.header = header_at(at),
            .order_id = base::load_le<std::uint64_t>(at + 16),
            .price = price_at(at + 24),
            .size = base::load_le<std::uint32_t>(at + 32),
            .flags = std::to_integer<std::uint8_t>(at[36]),
            .channel_id = std::to_integer<std::uint8_t>(at[37]),
            .action = static_cast<dbn::action>(at[38]),
            .side = static_cast<dbn::side>(at[39]),
            .received_at = time_at(at + 40),
            .received_after_sent_ns = base::load_le<std::int32_t>(at + 48),
            .sequence = base::load_le<std::uint32_t>(at + 52)};
}

decoder::result decoder::fail(wire::wire_errc code, std::uint64_t offset) noexcept {
    failed_ = read_error{.code = make_error_code(code), .offset = offset};
    return std::unexpected(*failed_);
}

decoder::result decoder::wait_or_end() noexcept {
    // The file must not end within a record.
    if (input_.finished() && input_.available() != 0) return fail(wire::wire_errc::truncated, input_.offset());
    return std::nullopt;
}

std::expected<bool, read_error> decoder::read_head() noexcept {
    const auto truncated = [this]() -> std::expected<bool, read_error> {
        if (!input_.finished()) return false;
        return std::unexpected(fail(wire::wire_errc::truncated, 0).error());
    };
    const auto prelude = input_.peek(prelude_bytes);
    if (prelude.empty()) return truncated();
    const auto size = head_bytes(prelude.first<prelude_bytes>());
    if (!size) return std::unexpected(*(failed_ = size.error()));
    if (*size > head_bytes_max) return std::unexpected(fail(wire::wire_errc::too_large, 4).error());
    if (input_.peek(*size).empty()) return truncated();

    head_ = input_.take(*size);
    const auto decoded = decode_head(head_);
    if (!decoded) return std::unexpected(*(failed_ = decoded.error()));
    metadata_ = *decoded;
    return true;
}

decoder::result decoder::next() noexcept {
    if (failed_) [[unlikely]]
        return std::unexpected(*failed_);
    if (!metadata_) [[unlikely]] {
        const auto ready = read_head();
        if (!ready) return std::unexpected(ready.error());
        if (!*ready) return std::nullopt;
    }
    const std::size_t tail = metadata_->has_send_time ? send_time_bytes : 0;
    for (;;) {
        const auto front = input_.peek(1);
        if (front.empty()) return wait_or_end();
        const std::size_t size = std::to_integer<std::size_t>(front[0]) * length_unit_bytes;
        const std::uint64_t offset = input_.offset();
        if (size < record_header_bytes) [[unlikely]]
            return fail(wire::wire_errc::malformed_length, offset);
        const auto bytes = input_.peek(size);
        if (bytes.empty()) return wait_or_end();

        const auto type = static_cast<record_type>(bytes[1]);
        std::expected<void, field_fault> sound;
        if (type == record_type::market_by_order) [[likely]] {
            if (size != market_by_order_bytes + tail) return fail(wire::wire_errc::malformed_length, offset);
            sound = check_market_by_order(bytes.data());
        } else if (type == record_type::instrument_definition) {
            if (size != definition_bytes(metadata_->version) + tail)
                return fail(wire::wire_errc::malformed_length, offset);
            sound = check_definition(bytes, metadata_->version);
        } else {
            input_.drop(size);
            ++skipped_count_;
            continue;
        }
        if (!sound) [[unlikely]]
            return fail(sound.error().code, offset + sound.error().offset);
        input_.drop(size);
        return record{type, metadata_->version, offset, bytes};
    }
}

}  // namespace corro::recorded::dbn
