// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/validator.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix/dictionary/quick_form.hpp"

namespace corro::fix {
namespace {

constexpr std::uint64_t no_problem = std::numeric_limits<std::uint64_t>::max();

/// Stamps begin again at 1 when a message might not have enough of them.
constexpr std::uint32_t stamps_max = std::numeric_limits<std::uint32_t>::max() - message_bytes_max;

/// Heartbeat to Logout, and Logon.
bool is_of_session(std::string_view type) noexcept {
    return type.size() == 1 && ((type[0] >= '0' && type[0] <= '5') || type[0] == 'A');
}

/// MsgType (35) is the first field of a message, and is checked first.
std::uint32_t order_of(std::uint32_t tag) noexcept {
    return tag == tag::msg_type ? 0 : tag;
}

}  // namespace

std::vector<std::shared_ptr<const validation>> rules_of(
    const std::vector<std::shared_ptr<const dictionary>>& dictionaries, const validation_options& options) {
    std::vector<std::shared_ptr<validation>> made;
    for (const auto& each : dictionaries) {
        if (!each->application_version().empty()) continue;
        const auto is_same = [&each](const auto& other) { return other->session->version() == each->version(); };
        if (std::ranges::any_of(made, is_same)) {
            throw dictionary_error("two dictionaries describe " + each->version() + "; name one of them");
        }
        made.push_back(std::make_shared<validation>());
        made.back()->session = each;
        made.back()->options = options;
    }
    for (const auto& each : dictionaries) {
        if (each->application_version().empty()) continue;
        const auto transport = std::ranges::find_if(made, [](const auto& one) { return one->session->is_transport(); });
        if (transport == made.end()) {
            throw dictionary_error("a dictionary of " + each->version() + " needs that of FIXT.1.1 beside it");
        }
        auto& applications = (*transport)->applications;
        const auto same = std::ranges::find(applications, each->application_version(), &validation::application::first);
        if (same != applications.end()) {
            throw dictionary_error("two dictionaries have ApplVerID (1128) " + each->application_version() +
                                   "; name one of them");
        }
        applications.emplace_back(each->application_version(), each);
    }
    return {made.begin(), made.end()};
}

validator::validator(std::shared_ptr<const validation> rules) : rules_(std::move(rules)) {
    CORRO_ASSERT(rules_ != nullptr && rules_->session != nullptr);
    frame_ = rules_->session.get();
    std::size_t fields = frame_->fields_count();
    for (const validation::application& each : rules_->applications) {
        CORRO_ASSERT(each.second != nullptr);
        fields = std::max(fields, each.second->fields_count());
    }
    seen_in_frame_.resize(frame_->fields_count());
    for (stamps& each : seen_) each.resize(fields);
}

std::optional<message_problem> validator::check(const field_index& message) noexcept {
    begin(message);
    check_fields(message);
    check_bad_fields(message);
    check_required(message, header_, seen_in_frame_, stamp_, stage::header_required, 0);
    check_required(message, trailer_, seen_in_frame_, stamp_, stage::header_required, 1);
    check_required(message, fields_, seen_[0], stamp_, stage::body_required, 0);
    return first_ == no_problem ? std::nullopt : std::optional(problem_);
}

void validator::begin(const field_index& message) noexcept {
    if (stamps_end_ > stamps_max) {
        std::ranges::fill(seen_in_frame_, 0U);
        for (stamps& each : seen_) std::ranges::fill(each, 0U);
        stamps_end_ = 0;
    }
    stamp_ = ++stamps_end_;
    first_ = no_problem;
    place_ = field_place::header;
    const std::string_view type = message.message_type();
    body_ = !frame_->is_transport() || is_of_session(type) ? frame_ : application_of(message);
    header_ = {{frame_, dictionary::header_row()}, 0};
    trailer_ = {{frame_, dictionary::trailer_row()}, 0};
    fields_ = {{body_, body_ != nullptr ? body_->find_message(type) : dictionary::no_row}, 0};
    if (body_ != nullptr && fields_.at.row == dictionary::no_row) {
        note(stage::type, 0, 0, reject_reason::invalid_message_type, 0);
    }
}

const dictionary* validator::application_of(const field_index& message) const noexcept {
    const std::string_view version = message.get(tag::appl_ver_id).value_or(default_version_);
    for (const auto& [appl_ver_id, made] : rules_->applications) {
        if (appl_ver_id == version) return made.get();
    }
    return nullptr;
}

void validator::note(stage when, std::uint32_t order, std::size_t at, reject_reason why, std::uint32_t tag) noexcept {
    const std::uint64_t place =
        std::uint64_t{static_cast<std::uint8_t>(when)} << 60U | std::uint64_t{order} << 28U | at;
    if (place >= first_) return;
    first_ = place;
    problem_ = {why, tag};
}

// --- Fields ----------------------------------------------------------------------------------------------------------

// Most fields are the next ones of the container that the field in front was in, members of it, seen for the first
// time, no counters, and sound: those are dealt with here. What is not so is looked at by check_field.
void validator::check_fields(const field_index& message) noexcept {
    const std::span<const field> fields = message.fields();
    const char* const text = message.bytes().data();
    const std::uint32_t stamp = stamp_;
    for (std::size_t i = 0; i < fields.size();) {
        const field_place place = place_;
        container& in = in_place(place);
        stamps& seen = place == field_place::body ? seen_[0] : seen_in_frame_;
        std::size_t required = 0;
        // The body's fields are in the frame's dictionary if there is no other one.
        if (in.at.row != dictionary::no_row && in.at.of == frame_) {
            const dictionary& of = *frame_;
            const std::span<const dictionary::member> members = of.entries(in.at.row);
            std::uint32_t* const stamps_of = seen.data();
            for (; i < fields.size(); ++i) {
                const field here = fields[i];
                const field_number number = of.find(here.tag);
                if (number == dictionary::no_field) [[unlikely]]
                    break;
                const field_definition& definition = of.field(number);
                const dictionary::member member = members[number];
                if (definition.place != place || !member.is_plain() || stamps_of[number] == stamp ||
                    !is_sound_value(of, definition, {text + here.offset, here.size}))
                    break;
                stamps_of[number] = stamp;
                required += member.is_required();
            }
            in.required_count += required;
        }
        if (i != fields.size()) i = check_field(message, i);
    }
}

/// @return The index of the field behind it, and behind its entries if it counts a group.
std::size_t validator::check_field(const field_index& message, std::size_t at) noexcept {
    const std::uint32_t tag = message.fields()[at].tag;
    field_number number = frame_->find(tag);
    const field_place place =
        number != dictionary::no_field ? frame_->field(number).place : dictionary::standard_place(tag);
    check_place(place, tag, at);
    if (number == dictionary::no_field && place != field_place::body) [[unlikely]] {
        check_unknown(message, at, place == field_place::header ? stage::header : stage::trailer);
        return at + 1;
    }
    if (place == field_place::header) return check_member(message, at, number, header_, stage::header, seen_in_frame_);
    if (place == field_place::trailer)
        return check_member(message, at, number, trailer_, stage::trailer, seen_in_frame_);
    if (body_ == nullptr) return at + 1;
    if (body_ != frame_) number = body_->find(tag);
    if (number != dictionary::no_field) [[likely]]
        return check_member(message, at, number, fields_, stage::body, seen_[0]);
    check_unknown(message, at, stage::body);
    return at + 1;
}

field_place validator::place_of(std::uint32_t tag) const noexcept {
    const field_number number = frame_->find(tag);
    return number != dictionary::no_field ? frame_->field(number).place : dictionary::standard_place(tag);
}

// The header, then the body, then the trailer.
void validator::check_place(field_place place, std::uint32_t tag, std::size_t at) noexcept {
    const bool is_early = (place == field_place::header && place_ != field_place::header) ||
                          (place == field_place::body && place_ == field_place::trailer);
    if (is_early && !rules_->options.allows_fields_out_of_order) [[unlikely]] {
        note(stage::structure, 0, at, reject_reason::tag_out_of_order, tag);
    }
    if (place != field_place::header) place_ = place;
}

bool validator::allows(std::uint32_t unknown_tag) const noexcept {
    const validation_options& options = rules_->options;
    return unknown_tag >= user_tag_min ? options.allows_user_fields : options.allows_unknown_fields;
}

void validator::check_unknown(const field_index& message, std::size_t at, stage when) noexcept {
    const std::span<const field> fields = message.fields();
    const std::uint32_t tag = fields[at].tag;
    if (!allows(tag)) return note(when, tag, at, reject_reason::invalid_tag, tag);
    if (message.find(tag) != &fields[at]) note(when, tag, at, reject_reason::tag_appears_twice, tag);
}

std::size_t validator::check_member(const field_index& message, std::size_t at, field_number number, container& in,
                                    stage when, stamps& seen) noexcept {
    const field& here = message.fields()[at];
    const dictionary& of = *in.at.of;
    const field_definition& definition = of.field(number);
    const dictionary::member member =
        in.at.row != dictionary::no_row ? of.entry(in.at.row, number) : dictionary::member();
    const std::string_view value = message.value(here);
    const auto refuse = [&](reject_reason why) { note(when, order_of(here.tag), at, why, here.tag); };
    if (seen[number] == stamp_) {
        refuse(reject_reason::tag_appears_twice);
    } else {
        seen[number] = stamp_;
        if (member.is_required()) ++in.required_count;
        if (!has_form_in_message(definition.kind, value)) {
            refuse(reject_reason::incorrect_format);
        } else if (definition.has_values && !is_listed_value(of, definition, value)) {
            refuse(reject_reason::value_out_of_range);
        } else if (!member && definition.place == field_place::body && !allows(here.tag)) {
            refuse(reject_reason::tag_not_defined_for_message);
        }
    }
    if (!member.is_group()) [[likely]]
        return at + 1;
    return check_group(message, at + 1, {&of, of.group(in.at.row, number)}, 1, when);
}

// --- Groups ----------------------------------------------------------------------------------------------------------

// An entry begins with the group's first field, or with a field that the entry before has already. The group ends
// before the first field that is no member of it.
std::size_t validator::check_group(const field_index& message, std::size_t at, row_place group, std::size_t depth,
                                   stage when) noexcept {
    const std::span<const field> fields = message.fields();
    const field& counter = fields[at - 1];
    const std::size_t begin = at;
    const field_number first = group.of->members(group.row).front();
    stamps& seen = seen_[depth];
    container entry{group, 0};
    std::uint32_t stamp = 0;
    std::uint64_t entries = 0;
    unsigned last = 0;
    while (at < fields.size()) {
        const field& here = fields[at];
        const field_number number = group.of->find(here.tag);
        const dictionary::member member =
            number != dictionary::no_field ? group.of->entry(group.row, number) : dictionary::member();
        if (!member) break;
        const bool starts = number == first || entries == 0 || seen[number] == stamp;
        if (starts) {
            if (entries != 0) check_required(message, entry, seen, stamp, stage::entries_required, at);
            ++entries;
            stamp = ++stamps_end_;
            entry.required_count = 0;
        }
        check_order_in_entry(message, at, group, number, starts, &last);
        seen[number] = stamp;
        if (member.is_required()) ++entry.required_count;
        const field_definition& definition = group.of->field(number);
        if (!has_form_in_message(definition.kind, message.value(here))) {
            note(stage::entries, 0, at, reject_reason::incorrect_format, here.tag);
        } else if (definition.has_values && !is_listed_value(*group.of, definition, message.value(here))) {
            note(stage::entries, 0, at, reject_reason::value_out_of_range, here.tag);
        }
        ++at;
        if (member.is_group()) {
            at = check_group(message, at, {group.of, group.of->group(group.row, number)}, depth + 1, stage::entries);
        }
    }
    if (entries != 0) check_required(message, entry, seen, stamp, stage::entries_required, at);
    const auto claimed = unsigned_value(message.value(counter));
    if (claimed == entries) return at;
    const std::uint32_t order = when == stage::entries ? 0 : order_of(counter.tag);
    note(when, order, begin - 1, reject_reason::incorrect_group_count, counter.tag);
    return at;
}

void validator::check_order_in_entry(const field_index& message, std::size_t at, row_place group, field_number number,
                                     bool starts, unsigned* last) noexcept {
    if (rules_->options.allows_any_group_order) return;
    const unsigned place = group.of->entry(group.row, number).place();
    if (starts ? place != 1 : place < *last) {
        note(stage::entry_order, 0, at, reject_reason::group_fields_out_of_order, message.fields()[at].tag);
    }
    *last = place;
}

// --- What is missing, and what the index left out --------------------------------------------------------------------

void validator::check_required(const field_index& message, const container& in, const stamps& seen, std::uint32_t stamp,
                               stage when, std::size_t at) noexcept {
    if (in.at.row == dictionary::no_row) return;
    const std::span<const field_number> required = in.at.of->required(in.at.row);
    if (in.required_count == required.size()) [[likely]]
        return;
    for (const field_number each : required) {
        const std::uint32_t tag = in.at.of->field(each).tag;
        if (seen[each] == stamp) continue;
        // A field without a value is there; its own fault is that it has none.
        const auto bad = message.bad_fields();
        if (std::ranges::find(bad, tag, &bad_field::tag) != bad.end()) continue;
        return note(when, 0, at, reject_reason::required_tag_missing, tag);
    }
}

void validator::check_bad_fields(const field_index& message) noexcept {
    if (message.bad_fields().empty() && !message.damage()) [[likely]]
        return;
    if (message.damage()) note(stage::damage, 0, 0, message.damage()->reason, message.damage()->tag);
    for (const bad_field& each : message.bad_fields()) {
        if (!each.has_equals) {
            const std::uint32_t tag = each.before != 0 ? message.fields()[each.before - 1].tag : 0;
            note(stage::damage, 0, each.before, reject_reason::soh_in_value, tag);
        } else if (each.tag == 0) {
            note(stage::body, 0, each.before, reject_reason::invalid_tag, 0);
        } else if (!rules_->options.allows_fields_without_value) {
            const field_place place = place_of(each.tag);
            place_ = each.before != 0 ? place_of(message.fields()[each.before - 1].tag) : field_place::header;
            check_place(place, each.tag, each.before);
            const stage when = place == field_place::header    ? stage::header
                               : place == field_place::trailer ? stage::trailer
                                                               : stage::body;
            note(when, order_of(each.tag), each.before, reject_reason::tag_without_value, each.tag);
        }
    }
}

}  // namespace corro::fix
