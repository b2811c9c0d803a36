// SPDX-License-Identifier: Apache-2.0
#include "fix_trading/fix_login.hpp"

#include <cstddef>

#include "fix/codec/tags.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_trading {
namespace {

std::string hexadecimal(const wire::api_key& key) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const std::byte each : key) {
        text += digits[std::to_integer<unsigned>(each) >> 4U];
        text += digits[std::to_integer<unsigned>(each) & 15U];
    }
    return text;
}

}  // namespace

fix::initiator_options initiator_of(const fix_login& who, io::endpoint venue) {
    fix::initiator_options options;
    options.session.identity.sender_comp_id = who.name;
    options.session.identity.target_comp_id = who.venue_name;
    options.session.heartbeat = who.heartbeat;
    options.resets_at_first = who.resets_numbers;
    options.servers = {venue};
    options.credentials = [password = hexadecimal(who.key),
                           cancels = who.cancel_on_disconnect](fix::message_writer& logon) {
        logon.put(fix::tag::password, password);
        if (cancels) logon.put(fix_gateway::tag::cancel_on_disconnect, true);
    };
    return options;
}

}  // namespace corro::fix_trading
