// SPDX-License-Identifier: Apache-2.0
// Repeating groups: entries behind a field that counts them.
//
// An entry begins with the group's first field. The last entry ends before the first field that is no member. Groups
// may be nested: the inner group is read within the range of the outer one's entry.
//
//     static constexpr std::array<std::uint32_t, 3> party{447, 448, 452};
//     fix::group_reader parties(order, {0, order.fields().size()}, {453, 448, party});
//     while (const std::optional<fix::field_range> entry = parties.next()) {
//         const fix::field* const id = order.find(448, *entry);
//     }
//
// Threads: any; views into a field_index.
// Cost:    no allocation; one look at each field of the group.
// Source:  FIX tag=value encoding, "Repeating groups".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fix/codec/field_index.hpp"

namespace corro::fix {

/// Which fields a repeating group has.
struct group_layout {
    std::uint32_t count_tag = 0;  ///< of the field that counts the entries
    std::uint32_t first_tag = 0;  ///< begins each entry
    /// All tags of an entry, those of inner groups included; ascending. The array outlives the layout.
    std::span<const std::uint32_t> members;

    /// Whether an entry may have this field.
    [[nodiscard]] bool has(std::uint32_t tag) const noexcept { return std::ranges::binary_search(members, tag); }
};

/// Reads the entries of one repeating group, one after the other.
class group_reader {
 public:
    /// @param message  Outlives the reader, and is not indexed again meanwhile.
    /// @param within   Where the field with the count is looked for: the whole message, which is {0, fields().size()},
    ///                 or an entry of an outer group.
    group_reader(const field_index& message, field_range within, group_layout layout) noexcept;

    /// The next entry; nothing behind the last one, and where the group is not sound.
    [[nodiscard]] std::optional<field_range> next() noexcept;

    /// NumInGroup; 0 if there is no such group.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// What is wrong, known when `next` has returned nothing: incorrect_format, incorrect_group_count,
    /// group_fields_out_of_order (the first entry does not begin with its first field).
    [[nodiscard]] std::optional<message_problem> problem() const noexcept { return problem_; }
    /// Behind the group.
    [[nodiscard]] std::size_t end() const noexcept { return at_; }

 private:
    const field_index& message_;
    field_range within_;
    group_layout layout_;
    std::size_t at_ = 0;  ///< the index of the next field
    std::uint64_t count_ = 0;
    std::uint64_t read_ = 0;
    std::optional<message_problem> problem_;
};

}  // namespace corro::fix
