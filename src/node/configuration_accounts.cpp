#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gateway/accounts.hpp"
#include "node/configuration_parts.hpp"
#include "wire/authentication.hpp"

namespace corro::node {
namespace {

/// Accounts that are named together, by the group's name.
using account_groups = std::map<std::string, std::vector<domain::account_id>>;

std::vector<domain::account_id> read_account_ids(table_reader& r, std::string_view key) {
    std::vector<domain::account_id> ids;
    for (const std::uint64_t id : r.numbers(key, 1, gateway::account_id_max)) {
        ids.emplace_back(static_cast<std::uint32_t>(id));
    }
    return ids;
}

void read_account_group(table_reader& r, account_groups& groups) {
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
    r.finish();
}

gateway::account read_account(table_reader& r, const account_groups& groups) {
    gateway::account a;
    a.id = domain::account_id{static_cast<std::uint32_t>(r.number("id", 1, gateway::account_id_max))};
    a.name = r.text("name", fmt::format("account-{}", a.id.value));
    a.key = read_key(r, "key");
    a.sessions_count = static_cast<std::uint32_t>(r.number("sessions", 1, 1, gateway::account_directory::sessions_max));
    a.is_operator = r.flag("operator", false);
    a.gateway = read_gateway_name(r);
    if (r.is_text("copies_of")) {
        const auto group = groups.find(r.text("copies_of"));
        if (group == groups.end()) r.fail("copies_of", "there is no [[account_group]] of this name");
        a.copies_of = group->second;
    } else {
        a.copies_of = read_account_ids(r, "copies_of");
    }
    if (a.is_operator && !a.copies_of.empty()) r.fail("copies_of", "an operator's account cannot be a drop copy");
    r.finish();
    return a;
}

}  // namespace

wire::api_key read_key(table_reader& r, std::string_view name) {
    const auto key = wire::parse_api_key(r.text(name));
    if (!key) r.fail(name, "expected 64 hexadecimal digits");
    if (*key == wire::api_key{}) r.fail(name, "64 zeros are no key; openssl rand -hex 32 makes one");
    return *key;
}

std::string read_gateway_name(table_reader& r) {
    std::string name = r.text("gateway", "");
    if (name.size() > gateway_name_max) {
        r.fail("gateway", fmt::format("a gateway's name has at most {} characters", gateway_name_max));
    }
    return name;
}

void read_accounts(const toml::table& root, const std::string& file, configuration& c) {
    account_groups groups;
    read_array(root, "account_group", file, [&](table_reader& r) { read_account_group(r, groups); });
    gateway::account_directory directory;
    std::set<std::string> gateways;
    read_array(root, "account", file, [&](table_reader& r) {
        c.accounts.push_back(read_account(r, groups));
        if (const std::string problem = directory.add(c.accounts.back()); !problem.empty()) r.fail("id", problem);
        gateways.insert(c.accounts.back().gateway);
        if (gateways.size() > gateways_max) r.fail("gateway", fmt::format("there may be {} gateways", gateways_max));
    });
    read_array(root, "account_group", file, [&](table_reader& r) {
        for (const domain::account_id member : read_account_ids(r, "members")) {
            if (directory.find(member) != nullptr) continue;
            r.fail("members", fmt::format("{} is no [[account]] of the venue", member.value));
        }
    });
}

}  // namespace corro::node
