// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/credentials.hpp"

#include <fmt/format.h>

#include <string>

namespace corro::node {

client::credentials credentials_of(const configuration& c, std::string_view account) {
    std::string names;
    for (const gateway::account& each : c.accounts) {
        names += (names.empty() ? "" : ", ") + each.name;
        if (each.name != account) continue;
        client::credentials who;
        who.account = each.id;
        who.key = each.key;
        return who;
    }
    throw configuration_error(fmt::format("no account \"{}\"; the configuration has: {}", account, names));
}

}  // namespace corro::node
