// SPDX-License-Identifier: Apache-2.0
#include "http/message_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace corro::http {

message_buffer::message_buffer(const message_limits& limits)
    : limits_(limits),
      bytes_(std::make_unique_for_overwrite<char[]>(buffer_bytes_initial)),
      capacity_(buffer_bytes_initial) {}

void message_buffer::grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    std::memcpy(larger.get(), bytes_.get() + begin_, end_ - begin_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
    end_ -= begin_;
    begin_ = 0;
}

void message_buffer::move_to_front() noexcept {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
}

std::span<std::byte> message_buffer::room() {
    if (in_body_) {
        // The head stays; the space behind it is reused.
        if (begin_ == end_) begin_ = end_ = body_at_;
        if (end_ == capacity_ && begin_ != body_at_) {
            std::memmove(bytes_.get() + body_at_, bytes_.get() + begin_, end_ - begin_);
            end_ = body_at_ + (end_ - begin_);
            begin_ = body_at_;
        }
    } else if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (end_ == capacity_) {
        const std::size_t most = std::max(limits_.head_bytes() + 2, buffer_bytes_initial) + body_window_bytes;
        if (begin_ >= capacity_ / 2) {
            move_to_front();
        } else if (capacity_ < most || begin_ != 0) {
            grow(std::min(capacity_ * 2, most));
        }
    }
    return std::as_writable_bytes(std::span(bytes_.get() + end_, capacity_ - end_));
}

void message_buffer::commit(std::size_t bytes) noexcept {
    CORRO_ASSERT(bytes <= capacity_ - end_, "no more bytes may arrive than there is room for");
    end_ += bytes;
}

std::expected<std::string_view, errc> message_buffer::find_head() {
    if (!skipped_line_ && begin_ != end_ && bytes_[begin_] == '\r') {
        if (end_ - begin_ == 1) return std::string_view();
        if (bytes_[begin_ + 1] != '\n') return std::unexpected(errc::malformed_start_line);
        begin_ += 2;
        skipped_line_ = true;
    }
    if (begin_ == end_) return std::string_view();
    const std::string_view there(bytes_.get() + begin_, end_ - begin_);
    const auto size = scanner_.scan(there, limits_);
    if (!size) return std::unexpected(size.error());
    head_bytes_ = *size;
    return there.substr(0, *size);
}

bool message_buffer::make_body_room(const message_head& head) {
    if (head.body == body_kind::none) return false;
    const std::size_t there = end_ - begin_;
    if (head.body == body_kind::sized && head.content_length <= there - head_bytes_) return false;
    const std::size_t wanted = head_bytes_ + body_window_bytes;
    if (capacity_ - begin_ >= wanted) return false;
    if (capacity_ >= wanted) {
        move_to_front();
    } else {
        grow(std::max(wanted, there));
    }
    return true;
}

std::expected<void, errc> message_buffer::begin_body(const message_head& head) {
    if (head.body == body_kind::sized && head.content_length > limits_.body_bytes) {
        return std::unexpected(errc::body_too_large);
    }
    begin_ += head_bytes_;
    body_at_ = begin_;
    in_body_ = true;
    kind_ = head.body;
    remaining_ = head.body == body_kind::sized ? head.content_length : limits_.body_bytes;
    body_ended_ = head.body == body_kind::none;
    if (kind_ == body_kind::chunked) decoder_.reset();
    return {};
}

std::expected<std::string_view, errc> message_buffer::take_body() {
    if (body_ended_ || begin_ == end_) return std::string_view();
    const std::string_view there(bytes_.get() + begin_, end_ - begin_);
    if (kind_ == body_kind::chunked) {
        const auto step = decoder_.decode(there, limits_);
        if (!step) return std::unexpected(step.error());
        begin_ += step->consumed;
        body_ended_ = decoder_.ended();
        return step->data;
    }
    if (kind_ == body_kind::until_close && there.size() > remaining_) return std::unexpected(errc::body_too_large);
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(there.size(), remaining_));
    begin_ += size;
    remaining_ -= size;
    if (kind_ == body_kind::sized && remaining_ == 0) body_ended_ = true;
    return there.substr(0, size);
}

void message_buffer::end_of_stream() noexcept {
    if (in_body_ && kind_ == body_kind::until_close) body_ended_ = true;
}

bool message_buffer::inside_message() const noexcept {
    return in_body_ ? !body_ended_ : begin_ != end_;
}

void message_buffer::end_message() noexcept {
    CORRO_ASSERT(in_body_ && body_ended_, "a message ends only when its body has ended");
    in_body_ = false;
    scanner_.reset();
    skipped_line_ = false;
    if (begin_ == end_) begin_ = end_ = 0;
}

}  // namespace corro::http
