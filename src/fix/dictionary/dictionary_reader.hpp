// SPDX-License-Identifier: Apache-2.0
// Reads a data dictionary from XML, and lays its tables out.
//
// pugixml parses. It expands no entities of a document type, and its parser does not recurse. What remains is bounded
// here: components that contain themselves are refused, and those that name each other many times run into
// dictionary_steps_max.
//
// Threads: one. Cost: allocates; some milliseconds for the largest dictionaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pugixml.hpp>

#include "fix/dictionary/dictionary.hpp"

namespace corro::fix {

class dictionary_reader {
 public:
    dictionary_reader(std::string_view xml, std::string name);

    /// @throws dictionary_error
    [[nodiscard]] std::shared_ptr<const dictionary> read();

 private:
    using row_number = dictionary::row_number;
    using field_number = dictionary::field_number;

    struct draft_member {
        field_number field = 0;
        bool is_required = false;
        row_number group = dictionary::no_row;
    };
    struct draft_row {
        std::vector<draft_member> members;
        std::unordered_map<field_number, std::size_t> places;
        std::size_t depth = 0;  ///< groups within each other
    };

    void parse();
    void read_version();
    void read_fields();
    void read_values(const pugi::xml_node& of, field_definition& into);
    void read_components();
    void read_frame();
    void read_messages();
    void add_members(const pugi::xml_node& of, row_number row, bool is_required, std::size_t depth);
    void add_component(const pugi::xml_node& reference, row_number row, bool is_required, std::size_t depth);
    void add_member(const pugi::xml_node& node, row_number row, bool is_required, row_number group);
    row_number group_row(const pugi::xml_node& group, std::size_t depth);
    row_number new_row(const pugi::xml_node& at);
    void lay_out();
    void lay_out_row(row_number number);
    void index_tags();

    [[nodiscard]] std::string attribute(const pugi::xml_node& of, const char* name) const;
    [[nodiscard]] bool is_required(const pugi::xml_node& node) const;
    [[nodiscard]] value_kind kind_of(std::string_view type) const;
    [[noreturn]] void fail(const pugi::xml_node& at, const std::string& why) const;
    [[noreturn]] void fail_at(std::ptrdiff_t offset, const std::string& why) const;

    std::string_view xml_;
    std::string name_;
    pugi::xml_document document_;
    pugi::xml_node root_;
    std::shared_ptr<dictionary> made_;
    bool has_characters_ = true;  ///< CHAR is one character: from FIX 4.2 on
    std::unordered_map<std::string, field_number> by_name_;
    std::unordered_map<std::string, pugi::xml_node> components_;
    std::vector<std::string> open_components_;
    std::map<std::ptrdiff_t, row_number> groups_;  ///< by the place of their elements in the XML
    std::vector<draft_row> rows_;
    std::size_t steps_ = 0;
};

}  // namespace corro::fix
