// SPDX-License-Identifier: Apache-2.0
#include "websocket/receiver.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace corro::websocket {
namespace {

/// From this size on, payload that has not arrived yet is read directly into the message.
constexpr std::uint64_t direct_bytes_min = 8 * 1024;
/// A message buffer of up to this size is kept for the next message.
constexpr std::size_t message_bytes_kept = 64 * 1024;

}  // namespace

receiver::receiver(role self, const receive_limits& limits, const std::optional<deflate_parameters>& deflate)
    : limits_(limits), self_(self) {
    if (!deflate) return;
    if (self == role::server) {
        inflater_.emplace(deflate->client_max_window_bits, deflate->client_no_context_takeover);
    } else {
        inflater_.emplace(deflate->server_max_window_bits, deflate->server_no_context_takeover);
    }
}

std::span<std::byte> receiver::room() {
    if (begin_ == input_.size()) {
        input_.clear(read_bytes_max);
        begin_ = 0;
        const std::uint64_t left = frame_.payload_bytes - frame_bytes_;
        if (in_frame_ && !compressed_ && left >= direct_bytes_min) {
            // The limits were checked against the frame's length when it began; memory grows only with received bytes.
            direct_ = true;
            message_.reserve(direct_bytes_min, limits_.message_bytes);
            return message_.room().first(
                static_cast<std::size_t>(std::min<std::uint64_t>(left, message_.room().size())));
        }
    }
    direct_ = false;
    if (begin_ != 0) {
        input_.remove_front(begin_);
        begin_ = 0;
    }
    const std::size_t wanted = filled_ ? std::min(input_.capacity() * 2, read_bytes_max) : read_bytes_initial;
    const std::size_t least = input_.room().empty() ? std::size_t{1} : std::size_t{0};
    if (input_.capacity() < wanted || least != 0) {
        input_.reserve(std::max(wanted - std::min(wanted, input_.size()), least), read_bytes_max);
    }
    filled_ = false;
    return input_.room();
}

void receiver::commit(std::size_t bytes) noexcept {
    if (!direct_) {
        filled_ = bytes == input_.room().size();
        input_.grow(bytes);
        return;
    }
    const std::span<std::byte> part = message_.room().first(bytes);
    if (frame_.masked) apply_mask(part, frame_.key, frame_bytes_);
    message_.grow(bytes);
    frame_bytes_ += bytes;
}

void receiver::put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::span<std::byte> into = room();
        const std::size_t size = std::min(into.size(), bytes.size());
        std::copy_n(bytes.begin(), size, into.begin());
        commit(size);
        bytes = bytes.subspan(size);
    }
}

std::expected<receiver::event, errc> receiver::next() {
    if (delivered_) {
        delivered_ = false;
        message_.clear(message_bytes_kept);
    }
    const auto wrong = [this](errc code) {
        ended_ = true;
        return std::unexpected(code);
    };
    while (!ended_) {
        if (!in_frame_) {
            const auto header = decode_frame_header(waiting(), self_, inflater_.has_value());
            if (!header) return wrong(header.error());
            if (header->header_bytes == 0) return event();
            if (is_control(header->code)) {
                if (waiting().size() < header->header_bytes + header->payload_bytes) return event();
                const auto control = take_control(*header);
                if (!control) return wrong(control.error());
                return *control;
            }
            if (const auto begun = begin_data(*header); !begun) return wrong(begun.error());
        }
        const std::uint64_t left = frame_.payload_bytes - frame_bytes_;
        const std::span<std::byte> part =
            waiting().first(static_cast<std::size_t>(std::min<std::uint64_t>(left, waiting().size())));
        begin_ += part.size();
        if (frame_.masked && !part.empty()) apply_mask(part, frame_.key, frame_bytes_);
        frame_bytes_ += part.size();
        const bool whole = frame_bytes_ == frame_.payload_bytes;
        if (whole && frame_.final && fragments_count_ == 1 && frame_bytes_ == part.size() && !compressed_) {
            // It has arrived completely: no copy is needed.
            in_frame_ = in_message_ = false;
            if (const auto valid = check_text(part); !valid) return wrong(valid.error());
            if (is_text_ && !utf8_.complete()) return wrong(errc::bad_utf8);
            return message_event(part);
        }
        if (const auto taken = take_part(part); !taken) return wrong(taken.error());
        if (!whole) return event();
        in_frame_ = false;
        if (!frame_.final) continue;
        const auto message = end_message();
        if (!message) return wrong(message.error());
        return *message;
    }
    return event();
}

std::expected<receiver::event, errc> receiver::take_control(const frame_header& header) {
    const auto size = static_cast<std::size_t>(header.payload_bytes);
    const std::span<std::byte> payload = waiting().subspan(header.header_bytes, size);
    begin_ += header.header_bytes + size;
    if (header.masked) apply_mask(payload, header.key, 0);
    event found;
    found.payload = payload;
    found.what = header.code == opcode::ping ? kind::ping : header.code == opcode::pong ? kind::pong : kind::close;
    if (found.what != kind::close) return found;
    ended_ = true;
    if (size == 0) return found;
    if (size == 1) return std::unexpected(errc::bad_close);
    const auto code =
        static_cast<std::uint16_t>(std::to_integer<unsigned>(payload[0]) << 8U | std::to_integer<unsigned>(payload[1]));
    if (!may_be_sent(code)) return std::unexpected(errc::bad_close);
    found.code = static_cast<close_code>(code);
    found.payload = payload.subspan(2);
    utf8_validator reason;
    if (!reason.take(found.payload) || !reason.complete()) return std::unexpected(errc::bad_utf8);
    return found;
}

std::expected<void, errc> receiver::begin_data(const frame_header& header) {
    const bool continues = header.code == opcode::continuation;
    if (continues != in_message_) return std::unexpected(errc::bad_sequence);
    if (!continues) {
        in_message_ = true;
        is_text_ = header.code == opcode::text;
        compressed_ = header.compressed;
        fragments_count_ = 0;
        checked_bytes_ = 0;
        utf8_.reset();
    }
    if (++fragments_count_ > limits_.fragments_count) return std::unexpected(errc::message_too_big);
    if (!compressed_ && header.payload_bytes > limits_.message_bytes - message_.size()) {
        return std::unexpected(errc::message_too_big);
    }
    frame_ = header;
    frame_bytes_ = 0;
    in_frame_ = true;
    begin_ += header.header_bytes;
    return {};
}

/// Adds a part of a frame's payload to the message, directly or inflated, and checks the new bytes.
std::expected<void, errc> receiver::take_part(std::span<std::byte> part) {
    if (compressed_) {
        if (const auto done = inflater_->inflate(part, message_, limits_.message_bytes); !done) return done;
    } else {
        message_.append(part, limits_.message_bytes);
    }
    return check_text(message_.bytes().subspan(checked_bytes_));
}

std::expected<void, errc> receiver::check_text(std::span<const std::byte> part) noexcept {
    checked_bytes_ += part.size();
    if (is_text_ && !utf8_.take(part)) return std::unexpected(errc::bad_utf8);
    return {};
}

std::expected<receiver::event, errc> receiver::end_message() {
    in_message_ = false;
    if (compressed_) {
        if (const auto done = inflater_->finish(message_, limits_.message_bytes); !done) {
            return std::unexpected(done.error());
        }
        if (const auto valid = check_text(message_.bytes().subspan(checked_bytes_)); !valid) {
            return std::unexpected(valid.error());
        }
    }
    if (is_text_ && !utf8_.complete()) return std::unexpected(errc::bad_utf8);
    delivered_ = true;
    return message_event(message_.bytes());
}

receiver::event receiver::message_event(std::span<const std::byte> payload) const noexcept {
    event found;
    found.what = is_text_ ? kind::text : kind::binary;
    found.payload = payload;
    return found;
}

}  // namespace corro::websocket
