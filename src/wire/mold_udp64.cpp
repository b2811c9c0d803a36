// SPDX-License-Identifier: Apache-2.0
#include "wire/mold_udp64.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "wire/errors.hpp"

namespace corro::wire::mold_udp64 {
namespace {

constexpr std::size_t sequence_offset = session_bytes;
constexpr std::size_t count_offset = 18;

bool is_printable(char c) noexcept {
    return c >= ' ' && c <= '~';
}

std::expected<session_name, std::error_code> read_session(std::span<const std::byte> bytes) noexcept {
    session_name name;
    std::memcpy(name.data(), bytes.data(), name.size());
    if (!std::ranges::all_of(name, is_printable)) return std::unexpected(make_error_code(wire_errc::malformed_field));
    return name;
}

/// Whether the numbers of `count` messages from `sequence` on are between 1 and the largest.
bool are_numbers(std::uint64_t sequence, std::uint64_t count) noexcept {
    return sequence != 0 && std::numeric_limits<std::uint64_t>::max() - sequence >= count;
}

/// Whether `count` message blocks fill `blocks` exactly.
bool are_blocks(std::span<const std::byte> blocks, std::uint16_t count) noexcept {
    for (; count != 0; --count) {
        if (blocks.size() < block_header_bytes) return false;
        const std::size_t size = block_header_bytes + base::load_be<std::uint16_t>(blocks.data());
        if (blocks.size() < size) return false;
        blocks = blocks.subspan(size);
    }
    return blocks.empty();
}

void write_header(std::span<std::byte> into, const session_name& session, std::uint64_t sequence,
                  std::uint16_t count) noexcept {
    std::memcpy(into.data(), session.data(), session.size());
    base::store_be<std::uint64_t>(&into[sequence_offset], sequence);
    base::store_be<std::uint16_t>(&into[count_offset], count);
}

}  // namespace

std::expected<session_name, std::error_code> make_session_name(std::string_view text) noexcept {
    if (text.size() > session_bytes || !std::ranges::all_of(text, is_printable) || text.ends_with(' ')) {
        return std::unexpected(make_error_code(wire_errc::malformed_field));
    }
    session_name name;
    name.fill(' ');
    std::ranges::copy(text, name.begin());
    return name;
}

std::span<const std::byte> packet::take_message() noexcept {
    CORRO_ASSERT(messages_count() != 0);
    const std::size_t size = base::load_be<std::uint16_t>(blocks_.data());
    const auto message = blocks_.subspan(block_header_bytes, size);
    blocks_ = blocks_.subspan(block_header_bytes + size);
    ++sequence_;
    --count_;
    return message;
}

std::expected<packet, std::error_code> decode(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() < header_bytes) return std::unexpected(make_error_code(wire_errc::truncated));
    const auto session = read_session(datagram);
    if (!session) return std::unexpected(session.error());
    packet p;
    p.session_ = *session;
    p.sequence_ = base::load_be<std::uint64_t>(&datagram[sequence_offset]);
    const auto count = base::load_be<std::uint16_t>(&datagram[count_offset]);
    p.is_end_of_session_ = count == count_end_of_session;
    p.count_ = p.is_end_of_session_ ? std::uint16_t{0} : count;
    p.blocks_ = datagram.subspan(header_bytes);
    if (!are_numbers(p.sequence_, p.count_)) return std::unexpected(make_error_code(wire_errc::out_of_range));
    if (!are_blocks(p.blocks_, p.count_)) return std::unexpected(make_error_code(wire_errc::malformed_length));
    return p;
}

std::expected<request, std::error_code> decode_request(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() != request_bytes) return std::unexpected(make_error_code(wire_errc::malformed_length));
    const auto session = read_session(datagram);
    if (!session) return std::unexpected(session.error());
    request r;
    r.session = *session;
    r.sequence = base::load_be<std::uint64_t>(&datagram[sequence_offset]);
    r.count = base::load_be<std::uint16_t>(&datagram[count_offset]);
    if (r.count == 0 || !are_numbers(r.sequence, r.count)) {
        return std::unexpected(make_error_code(wire_errc::out_of_range));
    }
    return r;
}

void encode(const request& r, std::span<std::byte, request_bytes> into) noexcept {
    write_header(into, r.session, r.sequence, r.count);
}

packet_writer::packet_writer(const session_name& session, std::uint64_t next_sequence) noexcept
    : next_sequence_(next_sequence) {
    CORRO_ASSERT(next_sequence != 0);
    std::memcpy(bytes_.data(), session.data(), session.size());
}

bool packet_writer::append(std::span<const std::byte> message) noexcept {
    if (bytes_.size() - size_ < block_header_bytes + message.size()) return false;
    base::store_be<std::uint16_t>(&bytes_[size_], static_cast<std::uint16_t>(message.size()));
    if (!message.empty()) std::memcpy(&bytes_[size_ + block_header_bytes], message.data(), message.size());
    size_ += block_header_bytes + message.size();
    ++count_;
    ++next_sequence_;
    return true;
}

std::span<const std::byte> packet_writer::close(std::uint16_t count) noexcept {
    base::store_be<std::uint64_t>(&bytes_[sequence_offset], next_sequence_ - count_);
    base::store_be<std::uint16_t>(&bytes_[count_offset], count);
    const std::size_t size = size_;
    size_ = header_bytes;
    count_ = 0;
    return std::span(bytes_).first(size);
}

std::span<const std::byte> packet_writer::finish() noexcept {
    return close(count_);
}

std::span<const std::byte> packet_writer::finish_session() noexcept {
    CORRO_ASSERT(empty(), "the packet in progress must be sent first");
    return close(count_end_of_session);
}

}  // namespace corro::wire::mold_udp64
