// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/field_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/assert.hpp"
#include "fix/codec/byte_block.hpp"
#include "fix/codec/field_names.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

/// Begins of fields that are collected before the fields are taken: most messages have fewer. That the begins are
/// written long before they are read again saves a wait for the store of each.
constexpr std::size_t begins_kept = 64;

/// @param from  The characters in front of '='. @return 0 if they are no tag.
std::uint32_t tag_of(std::string_view from) noexcept {
    const auto value = unsigned_value(from);
    return value && *value <= tag_max && from[0] != '0' ? static_cast<std::uint32_t>(*value) : 0;
}

/// By the last bits of a tag: 1 if a data field's tag has the same. It saves most fields the search.
constexpr std::array<std::uint8_t, 512> may_be_data = [] {
    std::array<std::uint8_t, 512> all{};
    for (const tag::data_field& each : tag::data_fields) all[each.data_tag % all.size()] = 1;
    return all;
}();

/// Of a data field; 0 for other tags, which no field has.
std::uint32_t length_tag_of(std::uint32_t data_tag) noexcept {
    for (const tag::data_field& each : tag::data_fields) {
        if (each.data_tag == data_tag) return each.length_tag;
    }
    return 0;
}

/// A bit for each SOH of the block that begins at this offset, up to `end`.
std::uint64_t ends_in(std::string_view text, std::size_t block, std::size_t end) noexcept {
    const std::size_t left = end - block;
    const std::uint64_t wanted = left < block_bytes ? ~(~std::uint64_t{0} << left) : ~std::uint64_t{0};
    if (text.size() - block >= block_bytes) return find_in_block(text.data() + block, soh) & wanted;
    if (text.size() >= block_bytes) [[likely]] {
        // The text ends within the block: the last bytes of the text, of which the first ones are moved out.
        const std::size_t last = text.size() - block_bytes;
        return find_in_block(text.data() + last, soh) >> (block - last) & wanted;
    }
    std::array<char, block_bytes> copy{};
    std::memcpy(copy.data(), text.data() + block, text.size() - block);
    return find_in_block(copy.data(), soh) & wanted;
}

/// Writes where fields begin: behind each of `ends`. Writes up to seven more. @return How many.
std::size_t note_begins(std::uint64_t ends, std::size_t block, std::uint32_t* into) noexcept {
    // Eight without a look whether there are that many: most blocks have no more.
    const auto count = static_cast<std::size_t>(std::popcount(ends));
    const auto behind = static_cast<std::uint32_t>(block + 1);
    for (std::size_t i = 0; i < count; i += 8) {
        for (std::size_t j = 0; j < 8; ++j) {
            into[i + j] = behind + static_cast<std::uint32_t>(std::countr_zero(ends));
            ends &= ends - 1;
        }
    }
    return count;
}

/// Where the next field of an index goes.
struct index_end {
    field* fields = nullptr;
    std::uint8_t* slots = nullptr;
    std::size_t count = 0;

    /// @param place  Low half: the offset of the value; high half: its size.
    void add(std::uint64_t tag, std::uint64_t place, bool has_slot) noexcept {
        field& here = fields[count++];
        here.tag = static_cast<std::uint32_t>(tag);
        static_assert(offsetof(field, size) == offsetof(field, offset) + 4);
        std::memcpy(&here.offset, &place, sizeof place);
        if (!has_slot) return;
        std::uint8_t& slot = slots[tag % field_index::slots_count];
        slot = slot != 0 ? slot : static_cast<std::uint8_t>(count);
    }
};

/// Takes fields of the common form. @param skipped  Of fields_at_once fields, those in front that are taken already.
/// @return False if it has taken none.
bool take_fields(const char* text, const std::uint32_t* begins, std::size_t skipped, index_end* into) noexcept {
    field_names names;
    // Seven bytes of trailer stand behind the body: eight bytes can be read from any of its characters on.
    const unsigned odd = read_names(text, begins, &names);
    unsigned has_data = 0;
    for (const std::uint64_t each : names.tags) has_data |= may_be_data[each % may_be_data.size()];
    if ((odd | has_data) != 0) [[unlikely]]
        return false;
    const bool have_slots = into->count + fields_at_once <= field_index::slots_end;
    if (skipped == 0 && have_slots) [[likely]] {
        for (std::size_t i = 0; i < fields_at_once; ++i) into->add(names.tags[i], names.values[i], true);
    } else {
        for (std::size_t i = skipped; i < fields_at_once; ++i) into->add(names.tags[i], names.values[i], have_slots);
    }
    return true;
}

}  // namespace

field_index::field_index(std::size_t fields_max)
    : fields_(std::make_unique<field[]>(fields_max)), fields_max_(fields_max) {
    CORRO_ASSERT(fields_max >= 1);
}

void field_index::clear() noexcept {
    text_ = begin_string_ = {};
    slots_.fill(0);
    bad_count_ = 0;
    damage_.reset();
    fields_[0] = {};
    count_ = 0;
}

std::optional<message_problem> field_index::index(std::string_view received, const frame_result& frame) noexcept {
    CORRO_ASSERT(frame.state == frame_state::complete);
    text_ = received.substr(0, frame.bytes);
    begin_string_ =
        text_.substr(2, static_cast<std::size_t>(std::countr_zero(ends_in(text_, 0, frame.body_begin))) - 2);
    slots_.fill(0);
    bad_count_ = 0;
    damage_.reset();
    count_ = 0;
    std::optional<message_problem> first;
    // Where the fields begin that are not in the index yet. Each but the last one is whole.
    std::array<std::uint32_t, begins_kept + block_bytes + 8> begins;
    begins[0] = static_cast<std::uint32_t>(frame.body_begin);
    std::size_t whole = 0;
    index_end into{fields_.get(), slots_.data(), 0};  // stores into the slots may alias the members
    for (std::size_t block = frame.body_begin; block < frame.body_end;) {
        for (; block < frame.body_end && whole < begins_kept; block += block_bytes) {
            std::uint64_t ends = ends_in(text_, block, frame.body_end);
            if (begins[whole] > block) [[unlikely]] {
                // Within data, SOH ends no field.
                const std::size_t within = begins[whole] - block;
                ends = within < block_bytes ? ends & ~std::uint64_t{0} << within : 0;
            }
            whole += note_begins(ends, block, begins.data() + whole + 1);
        }
        std::size_t taken = 0;
        while (taken != whole) {
            const std::size_t now = std::min(fields_at_once, whole - taken);
            const std::size_t skipped = fields_at_once - now;
            if (skipped <= taken && into.count + now <= fields_max_ &&
                take_fields(text_.data(), begins.data() + taken - skipped, skipped, &into)) [[likely]] {
                taken += now;
                continue;
            }
            count_ = into.count;
            const std::size_t next = take_one_by_one(begins.data() + taken, now, frame.body_end, &first);
            if (next == 0) return first;
            into.count = count_;
            // Data may end behind what looked like fields, and behind the blocks that were read.
            begins[whole] = std::max(begins[whole], static_cast<std::uint32_t>(next));
            while (begins[taken] < next) ++taken;
        }
        begins[0] = begins[whole];
        whole = 0;
    }
    count_ = into.count;
    return first;
}

/// Takes fields of any form. @return Where the next one begins; 0: no more fit.
std::size_t field_index::take_one_by_one(const std::uint32_t* begins, std::size_t count, std::size_t body_end,
                                         std::optional<message_problem>* first) noexcept {
    std::size_t next = begins[0];
    for (std::size_t i = 0; i < count && next == begins[i]; ++i) {
        next = take_any_field(begins[i], begins[i + 1] - 1, body_end, first);
        if (next == 0) return 0;
    }
    return next;
}

/// Takes the field up to the SOH at `end`, whatever it is. @return Where the next one begins; 0: no more fit.
std::size_t field_index::take_any_field(std::size_t begin, std::size_t end, std::size_t body_end,
                                        std::optional<message_problem>* first) noexcept {
    const auto note = [&](reject_reason why, std::uint32_t tag) {
        if (!*first) *first = message_problem{why, tag};
    };
    const auto note_damage = [&](reject_reason why, std::uint32_t tag) {
        note(why, tag);
        if (!damage_) damage_ = message_problem{why, tag};
    };
    const std::string_view whole = text_.substr(begin, end - begin);
    const std::size_t equals = whole.find('=');
    const std::uint32_t tag = equals != std::string_view::npos ? tag_of(whole.substr(0, equals)) : 0;
    if (tag == 0) {
        note(reject_reason::invalid_tag, 0);
        note_bad(0, begin, end, count_);
        return end + 1;
    }
    const std::size_t value = begin + equals + 1;
    std::size_t size = end - value;
    if (count_ != 0 && fields_[count_ - 1].tag == length_tag_of(tag)) {
        const auto length = unsigned_value(this->value(fields_[count_ - 1]));
        if (length && *length != 0 && *length < body_end - value && text_[value + *length] == soh) {
            size = *length;
        } else {
            note_damage(reject_reason::incorrect_format, tag);
        }
    }
    if (size == 0) {
        note(reject_reason::tag_without_value, tag);
        note_bad(tag, begin, value - 1, count_);
    } else if (count_ == fields_max_) {
        note_damage(reject_reason::other, tag);
        return 0;
    } else {
        index_end into{fields_.get(), slots_.data(), count_};
        into.add(tag, std::uint64_t{size} << 32U | value, count_ < slots_end);
        count_ = into.count;
    }
    return value + size + 1;
}

/// @param begin, end  Of the field, or of its tag.
void field_index::note_bad(std::uint32_t tag, std::size_t begin, std::size_t end, std::size_t before) noexcept {
    if (bad_count_ == bad_.size()) return;
    const std::size_t equals = text_.substr(begin, end - begin).find('=');
    const bool is_whole = equals == std::string_view::npos;  // without a '='
    bad_field& into = bad_[bad_count_++];
    into.tag = tag;
    into.offset = static_cast<std::uint32_t>(begin);
    into.size = static_cast<std::uint32_t>(is_whole ? end - begin : equals);
    into.before = static_cast<std::uint32_t>(before);
    into.has_equals = !is_whole || tag != 0;
}

// As many slots are taken as there are fields.
bool field_index::may_repeat() const noexcept {
    static_assert(slots_count % block_bytes == 0 && sizeof(slots_[0]) == 1);
    if (count_ > slotted_max) return true;
    std::size_t free = 0;
    for (std::size_t block = 0; block < slots_count; block += block_bytes) {
        const char* const slots = reinterpret_cast<const char*>(slots_.data() + block);
        free += static_cast<std::size_t>(std::popcount(find_in_block(slots, '\0')));
    }
    return slots_count - free != count_;
}

const field* field_index::search(std::uint32_t tag, std::size_t from) const noexcept {
    return find(tag, {from, count_});
}

const field* field_index::find(std::uint32_t tag, field_range among) const noexcept {
    for (std::size_t i = among.begin; i < among.end; ++i) {
        if (fields_[i].tag == tag) return &fields_[i];
    }
    return nullptr;
}

}  // namespace corro::fix
