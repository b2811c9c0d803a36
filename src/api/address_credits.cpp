// SPDX-License-Identifier: Apache-2.0
#include "api/address_credits.hpp"

#include "base/assert.hpp"

namespace corro::api {

bool address_credits::begin(const io::endpoint& peer, io::steady_time now) {
    if (connections_count_ == connections_max) return false;
    if (addresses_.size() >= addresses_max) forget_some(now);
    if (addresses_.size() >= addresses_max && !addresses_.contains(peer.with_port(0))) return false;
    address& from = addresses_.try_emplace(peer.with_port(0), now).first->second;
    if (from.connections_count == per_address_max_) return false;
    ++from.connections_count;
    ++connections_count_;
    return true;
}

void address_credits::end(const io::endpoint& peer) noexcept {
    const auto found = addresses_.find(peer.with_port(0));
    CORRO_ASSERT(found != addresses_.end() && found->second.connections_count != 0, "the connection must be counted");
    --found->second.connections_count;
    --connections_count_;
}

bool address_credits::take(const io::endpoint& peer, std::uint32_t cost, io::steady_time now) noexcept {
    const auto found = addresses_.find(peer.with_port(0));
    return found != addresses_.end() && found->second.left.take(cost, now);
}

void address_credits::forget_some(io::steady_time now) {
    std::erase_if(addresses_, [now](const auto& each) {
        return each.second.connections_count == 0 && each.second.left.is_full(now);
    });
}

}  // namespace corro::api
