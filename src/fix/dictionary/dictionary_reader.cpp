// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/dictionary_reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "fix/codec/tags.hpp"

namespace corro::fix {
namespace {

using namespace std::string_view_literals;

/// The first two rows; `dictionary` gives them by these numbers.
constexpr std::size_t rows_of_the_frame = 2;

/// The forms of values by the names of data types.
constexpr std::array<std::pair<std::string_view, value_kind>, 23> kinds{{
    {"AMT"sv, value_kind::decimal},
    {"BOOLEAN"sv, value_kind::boolean},
    {"CHAR"sv, value_kind::character},
    {"DAYOFMONTH"sv, value_kind::day},
    {"FLOAT"sv, value_kind::decimal},
    {"INT"sv, value_kind::integer},
    {"LENGTH"sv, value_kind::integer},
    {"LOCALMKTDATE"sv, value_kind::date},
    {"MONTHYEAR"sv, value_kind::month},
    {"MULTIPLECHARVALUE"sv, value_kind::words},
    {"MULTIPLESTRINGVALUE"sv, value_kind::words},
    {"MULTIPLEVALUESTRING"sv, value_kind::words},
    {"NUMINGROUP"sv, value_kind::integer},
    {"PERCENTAGE"sv, value_kind::decimal},
    {"PRICE"sv, value_kind::decimal},
    {"PRICEOFFSET"sv, value_kind::decimal},
    {"QTY"sv, value_kind::decimal},
    {"SEQNUM"sv, value_kind::integer},
    {"TAGNUM"sv, value_kind::integer},
    {"UTCDATE"sv, value_kind::date},
    {"UTCDATEONLY"sv, value_kind::date},
    {"UTCTIMEONLY"sv, value_kind::time},
    {"UTCTIMESTAMP"sv, value_kind::timestamp},
}};

bool is_element(const pugi::xml_node& node, std::string_view name) {
    return node.type() == pugi::node_element && node.name() == name;
}

}  // namespace

std::shared_ptr<const dictionary> dictionary::read(std::string_view xml, const std::string& name) {
    return dictionary_reader(xml, name).read();
}

dictionary_reader::dictionary_reader(std::string_view xml, std::string name)
    : xml_(xml), name_(std::move(name)), made_(std::make_shared<dictionary>()) {}

std::shared_ptr<const dictionary> dictionary_reader::read() {
    parse();
    read_version();
    read_fields();
    read_components();
    rows_.resize(rows_of_the_frame);
    read_frame();
    read_messages();
    lay_out();
    return made_;
}

// --- Errors ----------------------------------------------------------------------------------------------------------

void dictionary_reader::fail_at(std::ptrdiff_t offset, const std::string& why) const {
    const auto end = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(xml_)));
    const auto line = 1 + std::ranges::count(xml_.substr(0, end), '\n');
    throw dictionary_error(name_ + ", line " + std::to_string(line) + ": " + why);
}

void dictionary_reader::fail(const pugi::xml_node& at, const std::string& why) const {
    fail_at(at.offset_debug(), why);
}

std::string dictionary_reader::attribute(const pugi::xml_node& of, const char* name) const {
    const pugi::xml_attribute found = of.attribute(name);
    if (!found || *found.value() == '\0') fail(of, "<" + std::string(of.name()) + "> needs the attribute " + name);
    return found.value();
}

bool dictionary_reader::is_required(const pugi::xml_node& node) const {
    const std::string_view value = node.attribute("required").value();
    if (value == "Y" || value == "y") return true;
    if (value.empty() || value == "N" || value == "n") return false;
    fail(node, "required must be Y or N, not \"" + std::string(value) + "\"");
}

// --- The parts of the file -------------------------------------------------------------------------------------------

void dictionary_reader::parse() {
    if (xml_.size() > dictionary_bytes_max) {
        throw dictionary_error(name_ + ": it has more than " + std::to_string(dictionary_bytes_max) + " bytes");
    }
    const pugi::xml_parse_result parsed = document_.load_buffer(xml_.data(), xml_.size());
    if (!parsed) fail_at(parsed.offset, std::string("this is not XML: ") + parsed.description());
    root_ = document_.child("fix");
    if (!root_) fail_at(0, "this is not a data dictionary: the outermost element must be <fix>");
}

void dictionary_reader::read_version() {
    const std::string_view type = root_.attribute("type").value();
    if (!type.empty() && type != "FIX" && type != "FIXT") {
        fail(root_, "type must be FIX or FIXT, not \"" + std::string(type) + "\"");
    }
    made_->version_ = std::string(type == "FIXT" ? "FIXT" : "FIX") + "." + attribute(root_, "major") + "." +
                      attribute(root_, "minor");
    const unsigned service_pack = root_.attribute("servicepack").as_uint();
    if (made_->version_ == "FIX.5.0" && service_pack <= 2)
        made_->application_version_ = std::to_string(7 + service_pack);
    has_characters_ = made_->version_ != "FIX.4.0" && made_->version_ != "FIX.4.1";
}

value_kind dictionary_reader::kind_of(std::string_view type) const {
    if (type == "CHAR" && !has_characters_) return value_kind::text;
    if (type == "TIME" && !has_characters_) return value_kind::timestamp;
    const auto found = std::ranges::find(kinds, type, &std::pair<std::string_view, value_kind>::first);
    return found != kinds.end() ? found->second : value_kind::text;
}

void dictionary_reader::read_fields() {
    const pugi::xml_node section = root_.child("fields");
    if (!section) fail(root_, "<fix> needs a section <fields>");
    std::map<std::uint32_t, std::string> names;
    for (const pugi::xml_node& each : section.children("field")) {
        field_definition made;
        made.name = attribute(each, "name");
        const std::string number = attribute(each, "number");
        const char* const end = number.data() + number.size();
        const auto [stopped, error] = std::from_chars(number.data(), end, made.tag);
        if (error != std::errc() || stopped != end || made.tag == 0 || made.tag > tag_max) {
            fail(each, "the number of field " + made.name + " must be 1 to " + std::to_string(tag_max) + ", not \"" +
                           number + "\"");
        }
        made.kind = kind_of(attribute(each, "type"));
        const auto [other, is_new] = names.emplace(made.tag, made.name);
        if (!is_new)
            fail(each, "the fields " + other->second + " and " + made.name + " have the same number " + number);
        if (made_->fields_.size() == dictionary_fields_max) {
            fail(each, "a dictionary may have " + std::to_string(dictionary_fields_max) + " fields");
        }
        if (!by_name_.emplace(made.name, static_cast<field_number>(made_->fields_.size())).second) {
            fail(each, "two fields have the name " + made.name);
        }
        read_values(each, made);
        made_->fields_.push_back(std::move(made));
    }
    if (made_->fields_.empty()) fail(section, "<fields> needs a <field>");
}

void dictionary_reader::read_values(const pugi::xml_node& of, field_definition& into) {
    std::vector<std::string> words;
    for (const pugi::xml_node& each : of.children("value")) {
        const std::string value = attribute(each, "enum");
        into.has_values = true;
        const auto letter = static_cast<unsigned char>(value[0]);
        if (value.size() == 1 && letter < 128) {
            into.letters[letter / 64U] |= std::uint64_t{1} << letter % 64U;
        } else {
            words.push_back(value);
        }
    }
    std::ranges::sort(words);
    into.words_begin = static_cast<std::uint32_t>(made_->words_.size());
    into.words_count = static_cast<std::uint32_t>(words.size());
    std::ranges::move(words, std::back_inserter(made_->words_));
}

void dictionary_reader::read_components() {
    for (const pugi::xml_node& each : root_.child("components").children("component")) {
        const std::string name = attribute(each, "name");
        if (!components_.emplace(name, each).second) fail(each, "two components have the name " + name);
    }
}

// Header and trailer. Those of FIX 5.0 are in the dictionary of FIXT.
void dictionary_reader::read_frame() {
    const bool needs_frame = made_->is_transport() || made_->version_.starts_with("FIX.4");
    for (field_definition& each : made_->fields_) {
        if (needs_frame) each.place = dictionary::standard_place(each.tag);
    }
    for (const row_number row : {dictionary::header_row(), dictionary::trailer_row()}) {
        const bool is_header = row == dictionary::header_row();
        const pugi::xml_node section = root_.child(is_header ? "header" : "trailer");
        add_members(section, row, true, 0);
        if (needs_frame && rows_[row].members.empty()) {
            fail(section ? section : root_, is_header ? "<header> needs a <field>" : "<trailer> needs a <field>");
        }
        for (const draft_member& each : rows_[row].members) {
            made_->fields_[each.field].place = is_header ? field_place::header : field_place::trailer;
        }
    }
}

void dictionary_reader::read_messages() {
    const pugi::xml_node section = root_.child("messages");
    if (!section) fail(root_, "<fix> needs a section <messages>");
    for (const pugi::xml_node& each : section.children("message")) {
        const std::string type = attribute(each, "msgtype");
        const row_number row = new_row(each);
        made_->messages_.emplace_back(type, row);
        add_members(each, row, true, 0);
    }
    if (made_->messages_.empty()) fail(section, "<messages> needs a <message>");
    std::ranges::sort(made_->messages_);
    const auto same = std::ranges::adjacent_find(made_->messages_, {}, &std::pair<std::string, row_number>::first);
    if (same != made_->messages_.end()) fail(section, "two messages have the msgtype " + same->first);
}

// --- Members ---------------------------------------------------------------------------------------------------------

dictionary::row_number dictionary_reader::new_row(const pugi::xml_node& at) {
    if (rows_.size() == dictionary_rows_max || (rows_.size() + 1) * made_->fields_.size() > dictionary_entries_max) {
        fail(at, "the dictionary has too many messages and groups for its number of fields");
    }
    rows_.emplace_back();
    return static_cast<row_number>(rows_.size() - 1);
}

/// @param is_required  Whether what `of` stands for is required, so that a required member of it is.
void dictionary_reader::add_members(const pugi::xml_node& of, row_number row, bool is_required, std::size_t depth) {
    if (depth > dictionary_depth_max) {
        fail(of, "components and groups may be " + std::to_string(dictionary_depth_max) + " deep");
    }
    for (const pugi::xml_node& each : of.children()) {
        if (++steps_ > dictionary_steps_max) {
            fail(each, "the messages and groups have more than " + std::to_string(dictionary_steps_max) +
                           " fields once their components are put in place");
        }
        const bool is_required_here = is_required && this->is_required(each);
        if (is_element(each, "field")) {
            add_member(each, row, is_required_here, dictionary::no_row);
        } else if (is_element(each, "group")) {
            add_member(each, row, is_required_here, group_row(each, depth + 1));
        } else if (is_element(each, "component")) {
            add_component(each, row, is_required_here, depth + 1);
        }
    }
}

void dictionary_reader::add_component(const pugi::xml_node& reference, row_number row, bool is_required,
                                      std::size_t depth) {
    const std::string name = attribute(reference, "name");
    const auto found = components_.find(name);
    if (found == components_.end()) fail(reference, "there is no component " + name);
    const auto begin = std::ranges::find(open_components_, name);
    if (begin != open_components_.end()) {
        std::string way;
        for (auto each = begin; each != open_components_.end(); ++each) way += *each + " > ";
        fail(reference, "component " + name + " contains itself: " + way + name);
    }
    open_components_.push_back(name);
    add_members(found->second, row, is_required, depth);
    open_components_.pop_back();
}

void dictionary_reader::add_member(const pugi::xml_node& node, row_number row, bool is_required, row_number group) {
    const std::string name = attribute(node, "name");
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) fail(node, "<fields> has no field " + name);
    draft_row& into = rows_[row];
    if (group != dictionary::no_row) {
        into.depth = std::max(into.depth, rows_[group].depth + 1);
        if (into.depth > group_depth_max) fail(node, "groups may be " + std::to_string(group_depth_max) + " deep");
        made_->group_depth_ = std::max(made_->group_depth_, into.depth);
    }
    const auto [place, is_new] = into.places.emplace(found->second, into.members.size());
    if (is_new) {
        into.members.push_back({found->second, is_required, group});
        return;
    }
    // A component may bring a field that is there already.
    draft_member& there = into.members[place->second];
    there.is_required = there.is_required || is_required;
    if (there.group == dictionary::no_row) there.group = group;
}

// A group has the same members wherever its component is put in.
dictionary::row_number dictionary_reader::group_row(const pugi::xml_node& group, std::size_t depth) {
    const auto known = groups_.find(group.offset_debug());
    if (known != groups_.end()) return known->second;
    const row_number row = new_row(group);
    add_members(group, row, true, depth);
    if (rows_[row].members.empty()) fail(group, "group " + attribute(group, "name") + " has no field");
    groups_.emplace(group.offset_debug(), row);
    return row;
}

// --- The tables ------------------------------------------------------------------------------------------------------

void dictionary_reader::lay_out() {
    made_->entries_.resize(rows_.size() * made_->fields_.size());
    made_->rows_.resize(rows_.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) lay_out_row(static_cast<row_number>(row));
    made_->by_letter_.fill(dictionary::no_row);
    for (const auto& [type, row] : made_->messages_) {
        const auto letter = static_cast<unsigned char>(type[0]);
        if (type.size() == 1) made_->by_letter_[letter] = row;
    }
    index_tags();
}

void dictionary_reader::lay_out_row(row_number number) {
    dictionary::member_row& into = made_->rows_[number];
    unsigned place = 0;
    for (const draft_member& each : rows_[number].members) {
        into.members.push_back(each.field);
        const std::uint32_t tag = made_->fields_[each.field].tag;
        const bool is_in_every_frame = tag == tag::begin_string || tag == tag::body_length || tag == tag::check_sum;
        if (each.is_required && !is_in_every_frame) into.required.push_back(each.field);
        if (each.group != dictionary::no_row) into.groups.emplace_back(each.field, each.group);
        const unsigned bits = ++place | (each.is_required ? dictionary::member::required_bit : 0U) |
                              (each.group != dictionary::no_row ? dictionary::member::group_bit : 0U);
        made_->entries_[std::size_t{number} * made_->fields_.size() + each.field].bits =
            static_cast<std::uint16_t>(bits);
    }
    std::ranges::sort(into.required, {}, [this](field_number each) { return made_->fields_[each].tag; });
}

void dictionary_reader::index_tags() {
    std::uint32_t dense_end = 0;
    for (const field_definition& each : made_->fields_) {
        if (each.tag < dictionary_dense_tags) dense_end = std::max(dense_end, each.tag + 1);
    }
    made_->dense_.assign(dense_end, dictionary::no_field);
    for (std::size_t i = 0; i < made_->fields_.size(); ++i) {
        const std::uint32_t tag = made_->fields_[i].tag;
        const auto number = static_cast<field_number>(i);
        if (tag < dense_end) {
            made_->dense_[tag] = number;
        } else {
            made_->sparse_.emplace_back(tag, number);
        }
    }
    std::ranges::sort(made_->sparse_);
}

}  // namespace corro::fix
