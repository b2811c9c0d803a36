// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/account.hpp"
#include "domain/limits.hpp"
#include "gateway/accounts.hpp"
#include "gateway/limits.hpp"
#include "node/configuration/configuration_parts.hpp"
#include "wire/authentication.hpp"

namespace corro::node {
namespace {

wire::api_key key_of(table_reader& r, std::string_view name, std::string_view text) {
    const auto key = wire::parse_api_key(text);
    if (!key) r.fail(name, "expected 64 hexadecimal digits");
    if (*key == wire::api_key{}) r.fail(name, "64 zeros are not a key; make one with openssl rand -hex 32");
    return *key;
}

/// Groups of accounts, by name.
using account_groups = std::map<std::string, std::vector<domain::account_id>>;

std::vector<domain::account_id> read_account_ids(table_reader& r, std::string_view key) {
    std::vector<domain::account_id> ids;
    for (const std::uint64_t id : r.numbers(key, 1, gateway::account_id_max)) {
        ids.emplace_back(static_cast<std::uint32_t>(id));
    }
    return ids;
}

void read_account_group(table_reader& r, account_groups& groups) {
    r.knows({"name", "members"});
    const std::string name = r.text("name");
    if (name.empty()) r.fail("name", "expected a name");
    std::vector<domain::account_id> members = read_account_ids(r, "members");
    if (members.empty()) r.fail("members", "a group needs at least one account");
    for (auto each = members.begin(); each != members.end(); ++each) {
        if (std::find(members.begin(), each, *each) != each) {
            r.fail("members", fmt::format("account {} is named twice", each->value));
        }
    }
    if (!groups.try_emplace(name, std::move(members)).second) r.fail("name", "is used twice");
}

/// One key, or a list of them.
void read_keys(table_reader& r, gateway::account& a) {
    if (!r.has("keys")) {
        a.key = read_key(r, "key");
        return;
    }
    if (r.has("key")) r.fail("keys", "expected either key or keys, not both");
    const std::vector<std::string> texts = r.texts("keys", gateway::account_keys_max);
    if (texts.empty()) r.fail("keys", fmt::format("expected 1 to {} keys", gateway::account_keys_max));
    for (const std::string& text : texts) a.more_keys.push_back(key_of(r, "keys", text));
    a.key = a.more_keys.front();
    a.more_keys.erase(a.more_keys.begin());
}

/// Nothing when the file has no limits: operators' limits then apply.
std::optional<domain::account_limits> read_limits(table_reader& r) {
    constexpr std::array names{"order_quantity_max", "notional_max", "position_max", "open_orders_max", "firm"};
    const bool any = std::any_of(names.begin(), names.end(), [&](const char* name) { return r.has(name); });
    domain::account_limits l;
    const auto number = [&](const char* name, std::uint64_t max) {
        return static_cast<std::uint32_t>(r.number(name, 0, 0, max));
    };
    l.order_quantity_max = number("order_quantity_max", domain::order_quantity_lots_max);
    l.notional_max = static_cast<std::int64_t>(r.number("notional_max", 0, 0, INT64_MAX));
    l.position_max = number("position_max", UINT32_MAX);
    l.open_orders_max = number("open_orders_max", UINT32_MAX);
    l.firm = number("firm", gateway::account_id_max);
    return any ? std::optional(l) : std::nullopt;
}

gateway::account read_account(table_reader& r, const account_groups& groups) {
    r.knows({"copies_of", "firm", "gateway", "id", "key", "keys", "name", "notional_max", "open_orders_max", "operator",
             "order_quantity_max", "position_max", "sessions"});
    gateway::account a;
    a.id = domain::account_id{static_cast<std::uint32_t>(r.number("id", 1, gateway::account_id_max))};
    a.name = r.text("name", fmt::format("account-{}", a.id.value));
    if (!is_printable(a.name)) r.fail("name", printable_expected);
    read_keys(r, a);
    a.sessions_count = static_cast<std::uint32_t>(r.number("sessions", 1, 1, gateway::account_directory::sessions_max));
    a.is_operator = r.flag("operator", false);
    a.gateway = read_gateway_name(r);
    a.limits = read_limits(r);
    if (r.is_text("copies_of")) {
        const auto group = groups.find(r.text("copies_of"));
        if (group == groups.end()) r.fail("copies_of", "there is no [[account_group]] of this name");
        a.copies_of = group->second;
    } else {
        a.copies_of = read_account_ids(r, "copies_of");
    }
    if (a.is_operator && !a.copies_of.empty()) r.fail("copies_of", "an operator's account cannot be a drop copy");
    return a;
}

/// A session that speaks FIX.
void read_fix_session(table_reader& r, configuration& c, std::set<std::string>& names) {
    r.knows({"account", "name", "session", "style"});
    const std::string name = r.text("name");
    const bool is_sound = !name.empty() && name.size() <= fix_name_max && is_printable(name);
    if (!is_sound) r.fail("name", fmt::format("expected 1 to {} characters. {}", fix_name_max, printable_expected));
    if (!names.insert(name).second) r.fail("name", "is used twice");
    const domain::account_id id{static_cast<std::uint32_t>(r.number("account", 1, gateway::account_id_max))};
    const auto owner = std::ranges::find(c.accounts, id, &gateway::account::id);
    if (owner == c.accounts.end()) r.fail("account", fmt::format("there is no [[account]] {}", id.value));
    const std::uint64_t number = r.number("session", 1, 1, gateway::account_directory::sessions_max);
    if (number > owner->sessions_count) {
        r.fail("session", fmt::format("account {} has {} sessions", id.value, owner->sessions_count));
    }
    if (owner->speaks_fix(static_cast<std::uint32_t>(number))) r.fail("session", "has a name already");
    if (owner->fix_names.size() < number) owner->fix_names.resize(number);
    owner->fix_names[number - 1] = name;
    const std::string style = r.text("style", "corro");
    if (style != "corro" && style != "quickfix") r.fail("style", "expected \"corro\" or \"quickfix\"");
    if (style == "quickfix") c.fix_quickfix_names.push_back(name);
}

}  // namespace

bool is_printable(std::string_view name) noexcept {
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\' && c != '`'; });
}

wire::api_key read_key(table_reader& r, std::string_view name) {
    return key_of(r, name, r.text(name));
}

std::string read_gateway_name(table_reader& r) {
    std::string name = r.text("gateway", "");
    if (name.size() > gateway_name_max) {
        r.fail("gateway", fmt::format("expected at most {} characters in a gateway's name", gateway_name_max));
    }
    return name;
}

void read_accounts(const toml::table& root, const std::string& file, configuration& c) {
    account_groups groups;
    read_array(root, "account_group", file, [&](table_reader& r) { read_account_group(r, groups); });
    gateway::account_directory directory;
    std::set<std::string> gateways;
    std::set<wire::api_key> keys;
    read_array(root, "account", file, [&](table_reader& r) {
        c.accounts.push_back(read_account(r, groups));
        if (const std::string problem = directory.add(c.accounts.back()); !problem.empty()) r.fail("id", problem);
        const gateway::account& added = c.accounts.back();
        bool is_new = keys.insert(added.key).second;
        for (const wire::api_key& key : added.more_keys) is_new = keys.insert(key).second && is_new;
        if (!is_new) {
            r.fail(added.more_keys.empty() ? "key" : "keys", "is used twice; each account needs keys of its own");
        }
        gateways.insert(added.gateway);
        if (gateways.size() > gateways_max)
            r.fail("gateway", fmt::format("expected at most {} gateways", gateways_max));
    });
    std::set<std::string> fix_names;
    read_array(root, "fix_session", file, [&](table_reader& r) { read_fix_session(r, c, fix_names); });
    read_array(root, "account_group", file, [&](table_reader& r) {
        for (const domain::account_id member : read_account_ids(r, "members")) {
            if (directory.find(member) != nullptr) continue;
            r.fail("members", fmt::format("there is no [[account]] {}", member.value));
        }
    });
}

}  // namespace corro::node
