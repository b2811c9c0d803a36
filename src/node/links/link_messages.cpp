// SPDX-License-Identifier: Apache-2.0
#include "node/links/link_messages.hpp"

#include <algorithm>

#include "base/byte_order.hpp"
#include "base/hash.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/fingerprint.hpp"
#include "gateway/admin_service.hpp"
#include "node/links/linked_instrument.hpp"

namespace corro::node {
namespace {

std::uint64_t layout_of_records() noexcept {
    base::hasher hasher;
    hasher.add(sizeof(domain::command)).add(sizeof(domain::event)).add(linked_instrument_bytes);
    constexpr std::size_t payload = offsetof(domain::command, payload);
    hasher.add(offsetof(domain::command, session)).add(payload + offsetof(domain::any_payload, request));
    hasher.add(payload + offsetof(domain::any_payload, verdict)).add(offsetof(domain::event, command));
    hasher.add(offsetof(domain::event, kind)).add(offsetof(domain::event, flags));
    hasher.add(sizeof(gateway::admin_request)).add(sizeof(gateway::admin_reply));
    return hasher.value();
}

std::uint64_t fingerprint_of(const std::vector<gateway::account>& accounts) noexcept {
    base::hasher hasher;
    for (const gateway::account& a : accounts) {
        hasher.add(a.id).add(a.sessions_count).add(a.is_operator).add(a.copies_of.size());
        for (const domain::account_id copied : a.copies_of) hasher.add(copied);
        hasher.add(a.gateway.size());
        for (const char letter : a.gateway) hasher.add(letter);
    }
    return hasher.value();
}

/// It reveals nothing about the keys.
std::uint64_t fingerprint_of_keys(const std::vector<gateway::account>& accounts) noexcept {
    base::hasher hasher;
    for (const gateway::account& a : accounts) {
        std::array<std::byte, sizeof(std::uint64_t)> id{};
        base::store_le<std::uint64_t>(id.data(), a.id.value);
        hasher.add(a.more_keys.size());
        const auto add = [&](const wire::api_key& key) {
            const wire::proof proof = wire::make_proof(key, id);
            hasher.add(base::load_le<std::uint64_t>(proof.data()));
        };
        add(a.key);
        for (const wire::api_key& key : a.more_keys) add(key);
    }
    return hasher.value();
}

}  // namespace

void require_link_secret(const configuration& c) {
    if (c.link_secret != wire::api_key{}) return;
    throw configuration_error(
        place_of(c, "link.secret") +
        ": is missing; facility and gateway authenticate each other with it. Add secret = \"...\" to "
        "[link] in both files, with 64 hexadecimal digits from openssl rand -hex 32");
}

link_greeting greeting_of(const configuration& c) {
    link_greeting greeting;
    greeting.magic = link_magic;
    greeting.version = link_version;
    for (const gateway::account& a : c.accounts) greeting.sessions_count += a.sessions_count;
    greeting.layout = layout_of_records();
    greeting.instruments = domain::fingerprint_of(c.instruments);
    greeting.accounts = fingerprint_of(c.accounts);
    greeting.keys = fingerprint_of_keys(c.accounts);
    std::copy_n(c.venue_name.begin(), std::min(c.venue_name.size(), greeting.venue.size()), greeting.venue.begin());
    std::copy_n(c.link_gateway.begin(), std::min(c.link_gateway.size(), gateway_name_max), greeting.gateway.begin());
    return greeting;
}

std::string mismatch(const link_greeting& ours, const link_greeting& theirs) {
    if (theirs.magic != ours.magic) return "the other end of the link is not a facility or gateway of Corro";
    if (theirs.version != ours.version || theirs.layout != ours.layout)
        return "the two ends of the link run different versions of Corro";
    if (theirs.venue != ours.venue) return "the two ends of the link belong to different venues";
    if (theirs.instruments != ours.instruments) return "the two ends of the link have different instruments";
    if (theirs.accounts != ours.accounts || theirs.sessions_count != ours.sessions_count)
        return "the two ends of the link have different accounts";
    if (theirs.keys != ours.keys) return "the two ends of the link have different keys for their accounts";
    return {};
}

}  // namespace corro::node
