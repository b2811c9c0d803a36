// SPDX-License-Identifier: Apache-2.0
#include "apps/corro_fix_echo/configuration.hpp"

#include <fmt/format.h>

// A text is not to end the program: src/node/configuration/configuration_table.hpp has the reason.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fix/dictionary/dictionary.hpp"
#include "fix/dictionary/validator.hpp"

namespace corro::app {
namespace {

constexpr std::array<std::string_view, 6> begin_strings{"FIX.4.0", "FIX.4.1", "FIX.4.2",
                                                        "FIX.4.3", "FIX.4.4", "FIXT.1.1"};

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    if (!stream) throw echo_configuration_error(fmt::format("{}: cannot be read", file.string()));
    return text;
}

/// Dictionaries by their files: sessions that name the same file share what was read.
class dictionary_shelf {
 public:
    explicit dictionary_shelf(std::filesystem::path folder) : folder_(std::move(folder)) {}

    std::shared_ptr<const fix::dictionary> get(const std::string& file) {
        std::shared_ptr<const fix::dictionary>& made = read_[file];
        if (made == nullptr) {
            const std::filesystem::path path = folder_ / file;
            made = fix::dictionary::read(text_of(path), path.string());
        }
        return made;
    }

 private:
    std::filesystem::path folder_;
    std::map<std::string, std::shared_ptr<const fix::dictionary>> read_;
};

/// One [[session]]. It records which keys were read.
class session_table {
 public:
    session_table(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

    [[noreturn]] void fail(std::string_view key, const std::string& why) const {
        const toml::node* const node = table_.get(key);
        const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
        throw echo_configuration_error(fmt::format("{}:{}: session.{}: {}", file_, line, key, why));
    }

    [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

    std::string text(std::string_view key, const std::string& example) {
        known_.emplace(key);
        const toml::node* const node = table_.get(key);
        if (node == nullptr) fail(key, fmt::format("is missing; write {} = \"{}\"", key, example));
        const auto value = node->value_exact<std::string>();
        if (!value || value->empty()) fail(key, fmt::format("expected a text; write {} = \"{}\"", key, example));
        return *value;
    }

    bool flag(std::string_view key, bool otherwise) {
        known_.emplace(key);
        const toml::node* const node = table_.get(key);
        if (node == nullptr) return otherwise;
        const auto value = node->value_exact<bool>();
        if (!value) fail(key, "expected true or false");
        return *value;
    }

    std::uint64_t number(std::string_view key, std::uint64_t otherwise) {
        known_.emplace(key);
        const toml::node* const node = table_.get(key);
        if (node == nullptr) return otherwise;
        const auto value = node->value_exact<std::int64_t>();
        if (!value || *value < 0) fail(key, "expected a number from 0 on");
        return static_cast<std::uint64_t>(*value);
    }

    /// The texts of an inner table, by their keys.
    std::map<std::string, std::string> texts(std::string_view key, const std::string& example) {
        known_.emplace(key);
        const toml::node* const node = table_.get(key);
        if (node == nullptr) fail(key, "is missing; write " + example);
        std::map<std::string, std::string> all;
        const toml::table* const inner = node->as_table();
        if (inner == nullptr) fail(key, "expected a table; write " + example);
        for (const auto& [name, value] : *inner) {
            const auto text = value.value_exact<std::string>();
            if (!text) fail(key, "expected texts; write " + example);
            all.emplace(name.str(), *text);
        }
        return all;
    }

    /// Refuses keys that were not read.
    void finish() const {
        for (const auto& [key, node] : table_) {
            if (known_.contains(std::string(key.str()))) continue;
            throw echo_configuration_error(
                fmt::format("{}:{}: session.{}: there is no such key for this session; remove it", file_,
                            node.source().begin.line, key.str()));
        }
    }

 private:
    const toml::table& table_;
    std::string file_;
    std::set<std::string> known_;
};

fix::validation_options options_of(session_table& table) {
    fix::validation_options options;
    options.allows_fields_out_of_order = table.flag("allow_fields_out_of_order", false);
    options.allows_fields_without_value = table.flag("allow_fields_without_value", false);
    options.allows_user_fields = table.flag("allow_user_fields", false);
    options.allows_unknown_fields = table.flag("allow_unknown_fields", false);
    options.allows_any_group_order = table.flag("allow_any_group_order", false);
    return options;
}

std::shared_ptr<const fix::validation> rules_of(session_table& table, const fix::session_identity& names,
                                                dictionary_shelf& shelf) {
    auto rules = std::make_shared<fix::validation>();
    const bool is_transport = names.begin_string == "FIXT.1.1";
    const std::string example = is_transport ? "FIXT11.xml" : "FIX44.xml";
    rules->session = shelf.get(table.text("dictionary", example));
    if (rules->session->version() != names.begin_string) {
        table.fail("dictionary", fmt::format("it describes {}, and begin_string is {}; name another file",
                                             rules->session->version(), names.begin_string));
    }
    rules->options = options_of(table);
    if (!is_transport) return rules;
    constexpr const char* applications = "application_dictionaries";
    for (const auto& [version, file] :
         table.texts(applications, "application_dictionaries = { 9 = \"FIX50SP2.xml\" }")) {
        rules->applications.emplace_back(version, shelf.get(file));
        if (!rules->applications.back().second->is_transport()) continue;
        table.fail(applications, fmt::format("{} describes FIXT; name the dictionary of an application", file));
    }
    const auto own =
        std::ranges::find(rules->applications, names.default_appl_ver_id, &fix::validation::application::first);
    if (own == rules->applications.end()) {
        table.fail(applications,
                   fmt::format("default_appl_ver_id is \"{}\"; add a dictionary for it", names.default_appl_ver_id));
    }
    return rules;
}

fix::session_settings session_of(const toml::table& from, const std::string& file, dictionary_shelf& shelf) {
    session_table table(from, file);
    fix::session_settings made;
    fix::session_identity& names = made.identity;
    names.begin_string = table.text("begin_string", "FIX.4.4");
    if (std::ranges::find(begin_strings, names.begin_string) == begin_strings.end()) {
        table.fail("begin_string", fmt::format("expected one of {}", fmt::join(begin_strings, ", ")));
    }
    names.sender_comp_id = table.text("sender", "ISLD");
    names.target_comp_id = table.text("target", "TW");
    if (names.begin_string == "FIXT.1.1") names.default_appl_ver_id = table.text("default_appl_ver_id", "9");
    made.checked_by = rules_of(table, names, shelf);
    made.style = fix::session_style::quickfix;
    made.resets_on_logon = table.flag("reset_on_logon", true);
    made.resend_request_max = table.number("resend_request_max", 0);
    made.sends_next_expected = table.flag("next_expected", false);
    const bool has_milliseconds = names.begin_string != "FIX.4.0" && names.begin_string != "FIX.4.1";
    made.precision = has_milliseconds ? fix::time_precision::milliseconds : fix::time_precision::seconds;
    table.finish();
    return made;
}

}  // namespace

std::vector<fix::session_settings> read_echo_sessions(const std::filesystem::path& file) {
    toml::table root;
    try {
        root = toml::parse(text_of(file), file.string());
    } catch (const toml::parse_error& error) {
        throw echo_configuration_error(
            fmt::format("{}:{}: not TOML: {}", file.string(), error.source().begin.line, error.description()));
    }
    for (const auto& [key, node] : root) {
        if (key.str() == "session") continue;
        throw echo_configuration_error(
            fmt::format("{}:{}: {}: there is no such key; sessions are tables headed [[session]]", file.string(),
                        node.source().begin.line, key.str()));
    }
    const toml::array* const tables = root["session"].as_array();
    if (tables == nullptr || tables->empty() || !tables->is_homogeneous(toml::node_type::table)) {
        throw echo_configuration_error(
            fmt::format("{}: it has no session; add a table headed [[session]]", file.string()));
    }
    dictionary_shelf shelf(file.parent_path());
    std::vector<fix::session_settings> all;
    for (const toml::node& each : *tables) {
        fix::session_settings made = session_of(*each.as_table(), file.string(), shelf);
        const auto same = std::ranges::find(all, made.identity, &fix::session_settings::identity);
        if (same != all.end()) {
            throw echo_configuration_error(
                fmt::format("{}:{}: session: another one has the same names; change sender or "
                            "target",
                            file.string(), each.source().begin.line));
        }
        all.push_back(std::move(made));
    }
    return all;
}

}  // namespace corro::app
