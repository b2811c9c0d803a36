// SPDX-License-Identifier: Apache-2.0
// Shares an incoming order among the resting orders at one price, for books that are not simply first in, first out.
//
// `share_out` is the arithmetic, independent of books; `allocation_table` holds each book's policy and top orders,
// and the working memory. The rules with their rounding are in docs/spec/allocation.md.
//
// Units: lots.
// Limits: as many claims as the engine has orders.
// Threads: none of its own.
// Cost: nothing is allocated after the last `define`. Sharing goes over the claims once per step of the algorithm, at
//       most five times; selecting the orders for levelling is linear on average.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "domain/allocation.hpp"
#include "domain/types.hpp"

namespace corro::matching {

/// One resting order at the price. Claims stand in time order.
struct claim {
    std::uint32_t index = 0;  ///< the engine's index of the order
    std::uint32_t account = 0;
    std::uint32_t open = 0;   ///< lots that it shows
    std::uint32_t share = 0;  ///< lots that it gets
};

/// The rank of a claim without a pro rata share: the larger its rest, the lower the number; then the older.
using level_rank = std::uint64_t;

namespace detail {

/// Adds up to `lots` to the claim's share. Returns the number added.
[[nodiscard]] inline std::uint32_t give(claim& c, std::uint32_t lots) noexcept {
    const std::uint32_t taken = std::min(lots, c.open - c.share);
    c.share += taken;
    return taken;
}

[[nodiscard]] inline std::uint32_t in_time_order(std::span<claim> claims, std::uint32_t lots) noexcept {
    std::uint32_t left = lots;
    for (claim& c : claims) {
        if (left == 0) break;
        left -= give(c, left);
    }
    return lots - left;
}

/// Gives every maker its percentage of `lots`, rounded down, up to the displayed lots of its orders other than the top
/// order.
[[nodiscard]] inline std::uint32_t to_makers(const domain::allocation_policy& p, std::span<claim> claims,
                                             const claim* top, std::uint32_t lots) noexcept {
    std::array<std::uint32_t, domain::lead_market_makers_max> owed{};
    std::uint32_t makers_count = 0;
    for (const domain::lead_market_maker& m : p.makers) {
        if (m.percent == 0) break;
        owed[makers_count++] = static_cast<std::uint32_t>(std::uint64_t{lots} * m.percent / 100);
    }
    if (makers_count == 0) return 0;
    std::uint32_t given = 0;
    for (claim& c : claims) {
        if (&c == top) continue;
        for (std::uint32_t m = 0; m < makers_count; ++m) {
            if (p.makers[m].account.value != c.account) continue;
            const std::uint32_t taken = give(c, owed[m]);
            owed[m] -= taken;
            given += taken;
        }
    }
    return given;
}

/// Gives each claim a part of `lots` in proportion to its rest, rounded down; nothing below the minimum. Writes the
/// claims that got nothing to `ranks`, if that is large enough for all claims. Returns the lots given.
[[nodiscard]] inline std::uint32_t pro_rata(std::span<claim> claims, std::uint32_t lots, std::uint32_t minimum,
                                            std::span<level_rank> ranks, std::uint32_t& ranks_count) noexcept {
    std::uint64_t total = 0;
    for (const claim& c : claims) total += c.open - c.share;
    std::uint32_t given = 0;
    for (std::uint32_t i = 0; i < claims.size(); ++i) {
        claim& c = claims[i];
        const std::uint32_t rest = c.open - c.share;
        if (rest == 0) continue;
        const auto part = static_cast<std::uint32_t>(std::uint64_t{lots} * rest / total);
        if (part != 0 && part >= minimum) {
            c.share += part;
            given += part;
        } else if (!ranks.empty()) {
            ranks[ranks_count++] = (std::uint64_t{~rest} << 32) | i;
        }
    }
    return given;
}

/// Gives one lot to each claim without a pro rata share, until no lots are left.
[[nodiscard]] inline std::uint32_t level_out(std::span<claim> claims, std::span<level_rank> ranks,
                                             std::uint32_t lots) noexcept {
    if (lots < ranks.size()) {
        std::nth_element(ranks.begin(), ranks.begin() + lots, ranks.end());
        ranks = ranks.first(lots);
    }
    for (const level_rank rank : ranks) ++claims[static_cast<std::uint32_t>(rank)].share;
    return static_cast<std::uint32_t>(ranks.size());
}

}  // namespace detail

/// Divides `lots` among the claims: their shares, 0 before the call, add up to `lots` afterwards.
///
/// @param claims  In time order; they show more than `lots` together.
/// @param top     The claim of the top order, or null.
/// @param ranks   As many as there are claims, if the policy levels.
inline void share_out(const domain::allocation_policy& p, std::span<claim> claims, claim* top, std::uint32_t lots,
                      std::span<level_rank> ranks) noexcept {
    std::uint32_t left = lots;
    if (top != nullptr) {
        left -= detail::give(*top, p.top_maximum != 0 ? std::min(left, p.top_maximum) : left);
    }
    if (domain::has_makers(p.algorithm)) left -= detail::to_makers(p, claims, top, left);
    if (domain::is_pro_rata(p.algorithm) && left != 0) {
        const bool splits = p.algorithm == domain::match_algorithm::split;
        if (splits) {
            const std::uint64_t first = (std::uint64_t{left} * p.fifo_percent + 99) / 100;
            left -= detail::in_time_order(claims, static_cast<std::uint32_t>(first));
        }
        const bool levels = splits && p.levels;
        std::uint32_t ranks_count = 0;
        if (left != 0) {
            left -= detail::pro_rata(claims, left, domain::pro_rata_minimum_of(p),
                                     levels ? ranks.first(claims.size()) : std::span<level_rank>{}, ranks_count);
        }
        if (left != 0 && levels) left -= detail::level_out(claims, ranks.first(ranks_count), left);
    }
    static_cast<void>(detail::in_time_order(claims, left));
}

/// The policies of an engine's books and their top orders.
class allocation_table {
 public:
    /// Sets a book's policy, before its first order. Allocates.
    void define(std::uint32_t book, const domain::allocation_policy& policy, std::uint32_t books_count,
                std::uint32_t orders_capacity) {
        policies_.resize(books_count);
        tops_.resize(2 * std::size_t{books_count});
        policies_[book] = policy;
        if (policy.algorithm == domain::match_algorithm::fifo) return;
        is_active_ = true;
        claims_.resize(orders_capacity);
        if (policy.levels) ranks_.resize(orders_capacity);
    }

    /// True as long as every book is first in, first out.
    [[nodiscard]] bool is_empty() const noexcept { return !is_active_; }
    /// True if the orders at one price of this book share by a policy.
    [[nodiscard]] bool shares(std::uint32_t book) const noexcept {
        return is_active_ && policies_[book].algorithm != domain::match_algorithm::fifo;
    }
    [[nodiscard]] const domain::allocation_policy& policy(std::uint32_t book) const noexcept { return policies_[book]; }
    /// The top order: the last one that improved this side's best price, if it still has its place.
    [[nodiscard]] domain::order_id& top(std::uint32_t book, domain::side side) noexcept {
        return tops_[2 * std::size_t{book} + static_cast<std::size_t>(side)];
    }
    [[nodiscard]] domain::order_id top(std::uint32_t book, domain::side side) const noexcept {
        return tops_[2 * std::size_t{book} + static_cast<std::size_t>(side)];
    }
    [[nodiscard]] claim& claim_at(std::size_t i) noexcept { return claims_[i]; }
    [[nodiscard]] std::span<claim> claims(std::size_t count) noexcept { return std::span(claims_).first(count); }
    [[nodiscard]] std::span<level_rank> ranks() noexcept { return ranks_; }

    /// Saves the top orders, or loads them into a newly made table; policies are part of the definitions.
    void transfer(base::archive& a) noexcept {
        a.sparse(
            tops_.size(), [&](std::size_t i) { return tops_[i].value == 0; },
            [&](std::size_t i) { a.value(tops_[i]); });
    }

 private:
    bool is_active_ = false;
    std::vector<domain::allocation_policy> policies_;  ///< by book
    std::vector<domain::order_id> tops_;               ///< two per book
    std::vector<claim> claims_;
    std::vector<level_rank> ranks_;
};
static_assert(sizeof(allocation_table) == 104, "`transfer` knows every member; then correct the size here");

}  // namespace corro::matching
