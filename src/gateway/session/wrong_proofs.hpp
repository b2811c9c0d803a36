// SPDX-License-Identifier: Apache-2.0
// How long a refusal waits after wrong proofs: longer with each recent one from the same address or for the same
// account.
//
// Only refusals wait. A right proof is never looked up here, so that guessing cannot lock an account's owner out. A
// guesser gets one answer per connection and wait, and unauthenticated connections are bounded.
//
// Threads: one. Limits: wrong_proofs_places; addresses that share a place share the wait.
// Cost: two array accesses per refused logon; no allocation after construction.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "base/hash.hpp"
#include "domain/types.hpp"
#include "gateway/limits.hpp"

namespace corro::gateway {

class wrong_proofs {
 public:
    using clock = std::chrono::steady_clock;

    /// Counts a wrong proof. @param address  A number for its origin. @return  How long its refusal has to wait; the
    ///          caller bounds it.
    [[nodiscard]] std::chrono::milliseconds count(std::uint64_t address, domain::account_id account,
                                                  clock::time_point now) noexcept {
        const std::uint32_t most = std::max(count(addresses_, base::hasher().add(address).value(), now),
                                            count(accounts_, base::hasher().add(account.value).value(), now));
        if (most <= wrong_proofs_free) return std::chrono::milliseconds{0};
        const std::uint32_t doublings = std::min<std::uint32_t>(most - wrong_proofs_free - 1, 16);
        return wrong_proof_wait * (1U << doublings);
    }

 private:
    struct place {
        clock::time_point last{};
        std::uint32_t count = 0;
    };
    using places = std::array<place, wrong_proofs_places>;

    static std::uint32_t count(places& all, std::uint64_t hash, clock::time_point now) noexcept {
        place& p = all[hash % all.size()];
        const auto forgiven = static_cast<std::uint64_t>((now - p.last) / wrong_proof_forgiven);
        p.count = forgiven >= p.count ? 0 : p.count - static_cast<std::uint32_t>(forgiven);
        p.last = now;
        p.count = std::min(p.count + 1, wrong_proofs_counted_max);
        return p.count;
    }

    places addresses_{};
    places accounts_{};
};

}  // namespace corro::gateway
