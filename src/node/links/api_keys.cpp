// SPDX-License-Identifier: Apache-2.0
#include "node/links/api_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gateway/accounts.hpp"
#include "gateway/limits.hpp"
#include "node/configuration/configuration_parts.hpp"
#include "node/configuration/configuration_table.hpp"

namespace corro::node {
namespace {

void read_api_key(table_reader& r, const configuration& c, std::vector<api::api_key>& all) {
    r.knows({"account", "client_id", "session"});
    api::api_key key;
    key.client_id = r.text("client_id");
    const bool is_sound =
        !key.client_id.empty() && key.client_id.size() <= api::client_id_bytes_max && is_printable(key.client_id);
    if (!is_sound) {
        r.fail("client_id",
               fmt::format("expected 1 to {} characters. {}", api::client_id_bytes_max, printable_expected));
    }
    key.account = domain::account_id{static_cast<std::uint32_t>(r.number("account", 1, gateway::account_id_max))};
    const auto owner = std::ranges::find(c.accounts, key.account, &gateway::account::id);
    if (owner == c.accounts.end()) r.fail("account", fmt::format("there is no [[account]] {}", key.account.value));
    if (!owner->copies_of.empty()) r.fail("account", "is a drop copy, which enters no orders");
    key.session_number =
        static_cast<std::uint32_t>(r.number("session", 1, 1, gateway::account_directory::sessions_max));
    if (key.session_number > owner->sessions_count) {
        r.fail("session", fmt::format("account {} has {} sessions", key.account.value, owner->sessions_count));
    }
    if (owner->speaks_fix(key.session_number)) r.fail("session", "speaks FIX");
    key.secret = owner->key;
    for (const api::api_key& other : all) {
        if (other.client_id == key.client_id) r.fail("client_id", "is used twice");
        const bool is_same = other.account == key.account && other.session_number == key.session_number;
        if (is_same) r.fail("session", "is used twice");
    }
    all.push_back(std::move(key));
}

}  // namespace

std::vector<api::api_key> parse_api_keys(std::string_view text, const std::string& file, const configuration& c) {
    std::vector<api::api_key> all;
    try {
        const toml::table root = toml::parse(text, file);
        read_array(root, "api_key", file, [&](table_reader& r) { read_api_key(r, c, all); });
    } catch (const toml::parse_error& e) {
        throw configuration_error(fmt::format("{}:{}: not TOML: {}", file, e.source().begin.line, e.description()));
    }
    return all;
}

std::vector<api::api_key> load_api_keys(const configuration& c) {
    if (c.file.empty() || (c.api_listen.empty() && c.api_tls_listen.empty())) return {};
    return parse_api_keys(text_of_file(c.file), c.file, c);
}

}  // namespace corro::node
