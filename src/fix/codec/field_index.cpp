#include "fix/codec/field_index.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/assert.hpp"
#include "fix/codec/byte_block.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

constexpr std::uint64_t highs = 0x80 * each_byte;

/// The offset of the first '=' among eight characters; 8 if there is none.
std::size_t equals_in(std::uint64_t eight) noexcept {
    const std::uint64_t differs = eight ^ '=' * each_byte;
    // The high bit of each byte that is 0. Those above the lowest such one may be wrong.
    const std::uint64_t zeros = (differs - each_byte) & ~differs & highs;
    return static_cast<std::size_t>(std::countr_zero(zeros)) / 8;
}

/// The value of 1 to 7 digits at the low end of `text`, which '=' follows; 0 if they are not all digits, or begin with
/// 0.
std::uint32_t tag_of(std::uint64_t text, unsigned digits) noexcept {
    // The digits' values, moved to the high end behind zeros.
    const std::uint64_t values = (text ^ '0' * each_byte) << (8 * (8 - digits));
    // A value is below 10: adding 0x76 leaves the high bit clear, and the character had none.
    if ((((values + 0x76 * each_byte) | values) & highs) != 0 || (text & 0xff) == '0') return 0;
    // Two, four and then all eight digits into one number.
    const std::uint64_t two = values * (10 * 256 + 1) >> 8U & 0x00ff00ff00ff00ffU;
    const std::uint64_t four = two * (100 * 65'536 + 1) >> 16U & 0x0000ffff0000ffffU;
    return static_cast<std::uint32_t>(four * (std::uint64_t{10'000} << 32U | 1U) >> 32U);
}

/// The same for any length. @param from  A field without its SOH. @return The offset of '='; 0: there is none.
std::size_t read_tag(std::string_view from, std::uint32_t* tag) noexcept {
    *tag = 0;
    const std::size_t equals = from.find('=');
    if (equals == std::string_view::npos) return 0;
    const auto value = unsigned_value(from.substr(0, equals));
    if (value && *value <= tag_max && from[0] != '0') *tag = static_cast<std::uint32_t>(*value);
    return equals;
}

/// By the last bits of a tag: whether a data field's tag has the same. It saves most fields the search.
constexpr std::array<bool, 128> may_be_data = [] {
    std::array<bool, 128> all{};
    for (const tag::data_field& each : tag::data_fields) all[each.data_tag % 128] = true;
    return all;
}();

/// Of a data field; 0 for other tags, which no field has.
std::uint32_t length_tag_of(std::uint32_t data_tag) noexcept {
    for (const tag::data_field& each : tag::data_fields) {
        if (each.data_tag == data_tag) return each.length_tag;
    }
    return 0;
}

}  // namespace

field_index::field_index(std::size_t fields_max)
    : fields_(std::make_unique<field[]>(fields_max)), fields_max_(fields_max) {
    CORRO_ASSERT(fields_max >= 1);
}

std::optional<message_problem> field_index::index(std::string_view received, const frame_result& frame) noexcept {
    CORRO_ASSERT(frame.state == frame_state::complete);
    text_ = received.substr(0, frame.bytes);
    begin_string_ = text_.substr(2, text_.find(soh) - 2);
    slots_.fill(0);
    bad_count_ = 0;
    damage_.reset();
    std::optional<message_problem> first;
    const auto note = [&first](reject_reason why, std::uint32_t tag) {
        if (!first) first = message_problem{why, tag};
    };
    const auto note_damage = [this, &note](reject_reason why, std::uint32_t tag) {
        note(why, tag);
        if (!damage_) damage_ = message_problem{why, tag};
    };
    const char* const text = text_.data();
    field* const fields = fields_.get();  // stores into the slots may alias the members
    std::size_t count = 0;
    std::size_t begin = frame.body_begin;  // of the next field
    for (std::size_t block = begin; block < frame.body_end; block += block_bytes) {
        std::array<char, block_bytes> last{};
        const char* bytes = text + block;
        if (text_.size() - block < block_bytes) {
            std::memcpy(last.data(), bytes, text_.size() - block);
            bytes = last.data();
        }
        for (std::uint64_t ends = find_in_block(bytes, soh); ends != 0; ends &= ends - 1) {
            const std::size_t end = block + static_cast<std::size_t>(std::countr_zero(ends));
            if (end < begin) continue;  // within data
            if (end >= frame.body_end) break;
            // Seven bytes of trailer stand behind the body: eight bytes can be read from any of its characters on.
            const std::uint64_t eight = load_eight(text + begin);
            std::size_t tag_bytes = equals_in(eight);
            std::uint32_t tag = 0;
            if (tag_bytes - 1 < 7) [[likely]]
                tag = tag_of(eight, static_cast<unsigned>(tag_bytes));
            if (tag == 0) [[unlikely]] {
                tag_bytes = read_tag(text_.substr(begin, end - begin), &tag);
                if (tag == 0) {
                    note(reject_reason::invalid_tag, 0);
                    note_bad(0, begin, end, count);
                    begin = end + 1;
                    continue;
                }
            }
            const std::size_t value = begin + tag_bytes + 1;
            std::size_t size = end - value;
            if (may_be_data[tag % 128] && count != 0 && fields[count - 1].tag == length_tag_of(tag)) [[unlikely]] {
                const auto length = unsigned_value(this->value(fields[count - 1]));
                if (length && *length != 0 && *length < frame.body_end - value && text[value + *length] == soh) {
                    size = *length;
                } else {
                    note_damage(reject_reason::incorrect_format, tag);
                }
            }
            begin = value + size + 1;
            if (size == 0) [[unlikely]] {
                note(reject_reason::tag_without_value, tag);
                note_bad(tag, value - tag_bytes - 1, value - 1, count);
                continue;
            }
            if (count == fields_max_) [[unlikely]] {
                note_damage(reject_reason::other, tag);
                count_ = count;
                return first;
            }
            fields[count] = {tag, static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(size)};
            ++count;
            std::uint8_t& slot = slots_[tag % slots_count];
            if (slot == 0 && count <= slotted_max) slot = static_cast<std::uint8_t>(count);
        }
    }
    count_ = count;
    return first;
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
