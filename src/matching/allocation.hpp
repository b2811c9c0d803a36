// Shares an incoming order among the resting orders at one price, for books that are not simply first in, first out.
//
// `share_out` is the arithmetic and knows no book; `allocation_table` remembers each book's policy and top orders and
// lends the space to work in. The rules with their rounding are docs/spec/allocation.md.
//
// Units: lots.
// Limits: as many claims as the engine has orders.
// Threads: none of its own.
// Cost: nothing is allocated after the last `define`. Sharing goes over the claims once per step of the algorithm, at
//       most five times; picking whom levelling favours is linear on average.
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
    std::uint32_t index = 0;  ///< the order, as its engine names it
    std::uint32_t account = 0;
    std::uint32_t open = 0;   ///< lots that it shows
    std::uint32_t share = 0;  ///< lots that it gets
};

/// A claim that got nothing pro rata: the larger what is left of it, the lower the number; then the older.
using level_rank = std::uint64_t;

namespace detail {

/// Adds up to `lots` to what the claim gets. Returns how many it took.
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

/// Every maker gets his percentage of `lots`, rounded down, as far as his orders other than the top order show it.
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

/// Everybody's part of `lots` by what is left of his order, rounded down; below the minimum nothing. `ranks` takes
/// those who got nothing, if it has room for all claims. Returns how much was given.
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

/// One lot to each of those who got nothing pro rata, as far as it goes.
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
/// @param ranks   Room for as many as there are claims, if the policy levels.
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

/// The policies of an engine's books and the orders that bettered their markets.
class allocation_table {
 public:
    /// Gives a book its policy; before its first order. Allocates.
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
    /// The order that bettered this side last, if it still stands where it stood then.
    [[nodiscard]] domain::order_id& top(std::uint32_t book, domain::side side) noexcept {
        return tops_[2 * std::size_t{book} + static_cast<std::size_t>(side)];
    }
    [[nodiscard]] domain::order_id top(std::uint32_t book, domain::side side) const noexcept {
        return tops_[2 * std::size_t{book} + static_cast<std::size_t>(side)];
    }
    [[nodiscard]] claim& claim_at(std::size_t i) noexcept { return claims_[i]; }
    [[nodiscard]] std::span<claim> claims(std::size_t count) noexcept { return std::span(claims_).first(count); }
    [[nodiscard]] std::span<level_rank> ranks() noexcept { return ranks_; }

    /// Saves the top orders, or loads them into a table that is as it was defined; policies are definitions.
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
