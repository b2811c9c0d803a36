// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/group.hpp"

#include "fix/codec/values.hpp"

namespace corro::fix {

group_reader::group_reader(const field_index& message, field_range within, group_layout layout) noexcept
    : message_(message), within_(within), layout_(layout), at_(within.end) {
    const field* const found = message.find(layout.count_tag, within);
    if (found == nullptr) return;
    at_ = static_cast<std::size_t>(found - message.fields().data()) + 1;
    const auto count = unsigned_value(message.value(*found));
    if (!count) {
        problem_ = message_problem{reject_reason::incorrect_format, layout.count_tag};
        return;
    }
    count_ = *count;
}

std::optional<field_range> group_reader::next() noexcept {
    if (problem_) return std::nullopt;
    const std::span<const field> fields = message_.fields();
    const bool is_member = at_ < within_.end && layout_.has(fields[at_].tag);
    if (!is_member) {
        if (read_ != count_) problem_ = message_problem{reject_reason::incorrect_group_count, layout_.count_tag};
        return std::nullopt;
    }
    if (fields[at_].tag != layout_.first_tag) {
        problem_ = message_problem{reject_reason::group_fields_out_of_order, fields[at_].tag};
        return std::nullopt;
    }
    if (read_ == count_) {
        problem_ = message_problem{reject_reason::incorrect_group_count, layout_.count_tag};
        return std::nullopt;
    }
    ++read_;
    field_range entry{at_, at_ + 1};
    while (entry.end < within_.end && fields[entry.end].tag != layout_.first_tag &&
           layout_.has(fields[entry.end].tag)) {
        ++entry.end;
    }
    at_ = entry.end;
    return entry;
}

}  // namespace corro::fix
