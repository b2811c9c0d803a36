// The rules that an operator or an instrument's definition adds to plain trading: halts, dynamic price bands, circuit
// breakers, limits of accounts, firms and kill switches.
//
// Most commands meet none of them, so one byte per book and one per account mark whether there is anything to check;
// the rules themselves are stored apart.
//
// Units: ticks, lots, nanoseconds since the epoch; books and accounts by index.
// Limits: sessions_killed_max (facility/limits.hpp).
// Cost: allocates at construction only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "domain/account.hpp"
#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "facility/limits.hpp"
#include "facility/resume_times.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

using domain::account_limits;

struct book_rules {
    domain::trading_phase phase = domain::trading_phase::continuous;
    bool resumes_now = false;         ///< only while phases resume
    bool owes_uncross = false;        ///< has collected orders since it last matched
    bool has_auction_orders = false;  ///< has taken orders for one auction only since then
    bool is_settled = false;
    std::int64_t resume_time = 0;
    // The prices traded while a halt delayed triggered orders; low above high when there are none.
    domain::price_ticks pending_low{std::numeric_limits<std::int64_t>::max()};
    domain::price_ticks pending_high = domain::no_price;
    // The circuit breaker.
    std::int64_t window_end = std::numeric_limits<std::int64_t>::min();
    domain::price_ticks reference = domain::no_price;
    domain::price_ticks last_seen = domain::no_price;
    std::uint64_t volume_seen = 0;
    matching::equilibrium indicative{};  ///< as last published in the current auction
};

namespace book_flag {
inline constexpr std::uint8_t halted = 1;
inline constexpr std::uint8_t dynamic_band = 2;
inline constexpr std::uint8_t circuit_breaker = 4;
inline constexpr std::uint8_t collecting = 8;
inline constexpr std::uint8_t closed = 16;
}  // namespace book_flag

namespace account_flag {
inline constexpr std::uint8_t limited = 1;
inline constexpr std::uint8_t killed = 2;           ///< the account or its firm
inline constexpr std::uint8_t sessions_killed = 4;  ///< some of its sessions
inline constexpr std::uint8_t configured = 8;       ///< its limits come from the configuration; forbids nothing
}  // namespace account_flag

class trading_rules {
 public:
    /// @param books_max  The most books ever, those of `instruments` first.
    trading_rules(std::span<const domain::instrument> instruments, std::uint32_t books_max, std::uint32_t accounts_max)
        : book_flags_(books_max),
          books_(books_max),
          account_flags_(accounts_max),
          limits_(accounts_max),
          is_account_killed_(accounts_max),
          is_firm_killed_(accounts_max),
          resume_times_(books_max) {
        sessions_.reserve(sessions_killed_max);
        for (std::uint32_t book = 0; book < instruments.size(); ++book) define(book, instruments[book]);
    }

    /// Sets the rules of a book from its instrument, before its first order.
    void define(std::uint32_t book, const domain::instrument& i) noexcept {
        if (i.dynamic_band != 0) book_flags_[book] |= book_flag::dynamic_band;
        if (i.breaker_move != 0) book_flags_[book] |= book_flag::circuit_breaker;
    }

    /// Not 0 when an order of the account in the book must be checked.
    [[nodiscard]] std::uint32_t any(std::uint32_t book, domain::account_id account) const noexcept {
        return std::uint32_t{book_flags_[book]} | account_flags_[account.value];
    }
    [[nodiscard]] std::uint8_t book_flags(std::uint32_t book) const noexcept { return book_flags_[book]; }
    [[nodiscard]] std::uint8_t account_flags(domain::account_id account) const noexcept {
        return account_flags_[account.value];
    }
    [[nodiscard]] book_rules& book(std::uint32_t book) noexcept { return books_[book]; }
    [[nodiscard]] const book_rules& book(std::uint32_t book) const noexcept { return books_[book]; }
    [[nodiscard]] const account_limits& limits(domain::account_id account) const noexcept {
        return limits_[account.value];
    }
    [[nodiscard]] bool is_halted(std::uint32_t book) const noexcept {
        return (book_flags_[book] & book_flag::halted) != 0;
    }
    [[nodiscard]] bool is_collecting(std::uint32_t book) const noexcept {
        return (book_flags_[book] & book_flag::collecting) != 0;
    }
    [[nodiscard]] bool is_any_collecting() const noexcept { return collecting_count_ != 0; }
    /// True when the kill switch of the account, of its firm or of the session is on.
    [[nodiscard]] bool is_killed(domain::account_id account, domain::session_id session) const noexcept {
        const std::uint8_t flags = account_flags_[account.value];
        return (flags & account_flag::killed) != 0 ||
               ((flags & account_flag::sessions_killed) != 0 && find(account, session) != sessions_.end());
    }
    [[nodiscard]] bool is_account_killed(std::uint32_t account) const noexcept { return is_account_killed_[account]; }
    [[nodiscard]] bool is_firm_killed(std::uint32_t firm) const noexcept { return is_firm_killed_[firm]; }

    void set_phase(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time) noexcept {
        using domain::trading_phase;
        const bool collects = domain::collects(phase);
        collecting_count_ -= is_collecting(book) ? 1U : 0U;
        collecting_count_ += collects ? 1U : 0U;
        books_[book].phase = phase;
        const bool may_end = collects || phase == trading_phase::halted;
        books_[book].resume_time = may_end ? resume_time : 0;
        resume_times_.set(book, may_end && resume_time != 0 ? resume_time : resume_times::never);
        constexpr unsigned of_phases = book_flag::halted | book_flag::collecting | book_flag::closed;
        book_flags_[book] = static_cast<std::uint8_t>((book_flags_[book] & ~of_phases) |
                                                      (collects                         ? book_flag::collecting
                                                       : phase == trading_phase::halted ? book_flag::halted
                                                       : phase == trading_phase::closed ? book_flag::closed
                                                                                        : 0));
    }
    /// When the next phase ends by itself; the largest number when none does.
    [[nodiscard]] std::int64_t next_resume() const noexcept { return resume_times_.first(); }
    /// The first book whose phase ends then. There must be one.
    [[nodiscard]] std::uint32_t next_book_to_resume() const noexcept { return resume_times_.book_of_first(); }
    void set_limits(domain::account_id account, const account_limits& limits) noexcept {
        limits_[account.value] = limits;
        refresh(account.value);
    }
    /// Marks that the account's limits come from the configuration, now or earlier.
    void set_configured(domain::account_id account) noexcept {
        account_flags_[account.value] |= account_flag::configured;
    }
    void kill_account(domain::account_id account, bool on) noexcept {
        is_account_killed_[account.value] = on;
        refresh(account.value);
    }
    void kill_firm(std::uint32_t firm, bool on) noexcept {
        is_firm_killed_[firm] = on;
        for (std::uint32_t account = 0; account < limits_.size(); ++account) {
            if (limits_[account].firm == firm) refresh(account);
        }
    }
    /// False when the table of killed sessions is full.
    [[nodiscard]] bool kill_session(domain::account_id account, domain::session_id session, bool on) noexcept {
        const auto at = find(account, session);
        if (on && at == sessions_.end()) {
            if (sessions_.size() == sessions_killed_max) return false;
            const killed_session added{account.value, session.value};
            sessions_.insert(std::upper_bound(sessions_.begin(), sessions_.end(), added), added);
        } else if (!on && at != sessions_.end()) {
            sessions_.erase(at);
        }
        refresh(account.value);
        return true;
    }
    /// Calls `visit(account, session)` for each killed session, in their order.
    template <class Visit>
    void for_each_killed_session(Visit&& visit) const {
        for (const killed_session& s : sessions_) visit(s.account, s.session);
    }

    /// Saves everything, or loads it into newly made rules.
    void transfer(base::archive& a) noexcept {
        for (std::uint8_t& flags : book_flags_) a.value(flags);
        for (book_rules& b : books_) {
            a.value(b.phase, b.resumes_now, b.resume_time, b.pending_low, b.pending_high, b.window_end, b.reference,
                    b.last_seen, b.volume_seen);
            a.value(b.owes_uncross, b.has_auction_orders, b.is_settled, b.indicative.price, b.indicative.volume,
                    b.indicative.imbalance);
        }
        for (std::uint32_t book = 0; a.loads() && book < books_.size(); ++book) {
            const std::int64_t time = books_[book].resume_time;
            if (time != 0) resume_times_.set(book, time);
        }
        a.value(collecting_count_);
        const auto is_plain = [&](std::size_t i) {
            return !limits_[i].has_any() && limits_[i].firm == 0 && account_flags_[i] == 0 && !is_account_killed_[i] &&
                   !is_firm_killed_[i];
        };
        a.sparse(limits_.size(), is_plain, [&](std::size_t i) {
            bool is_account_killed = is_account_killed_[i];
            bool is_firm_killed = is_firm_killed_[i];
            a.value(limits_[i], account_flags_[i], is_account_killed, is_firm_killed);
            a.require(limits_[i].firm < limits_.size());
            is_account_killed_[i] = is_account_killed;
            is_firm_killed_[i] = is_firm_killed;
        });
        const std::uint32_t killed = a.count(sessions_.size(), sessions_killed_max);
        if (a.loads()) sessions_.resize(killed);
        for (killed_session& s : sessions_) a.value(s);
    }

 private:
    struct killed_session {
        std::uint32_t account;
        std::uint32_t session;
        friend auto operator<=>(const killed_session&, const killed_session&) = default;
    };
    [[nodiscard]] std::vector<killed_session>::const_iterator find(domain::account_id account,
                                                                   domain::session_id session) const noexcept {
        const killed_session wanted{account.value, session.value};
        const auto at = std::lower_bound(sessions_.begin(), sessions_.end(), wanted);
        return at != sessions_.end() && *at == wanted ? at : sessions_.end();
    }
    void refresh(std::uint32_t account) noexcept {
        const account_limits& limits = limits_[account];
        const bool is_killed = is_account_killed_[account] || (limits.firm != 0 && is_firm_killed_[limits.firm]);
        const bool has_session = std::any_of(sessions_.begin(), sessions_.end(),
                                             [&](const killed_session& s) { return s.account == account; });
        account_flags_[account] = static_cast<std::uint8_t>(
            (account_flags_[account] & account_flag::configured) | (limits.has_any() ? account_flag::limited : 0) |
            (is_killed ? account_flag::killed : 0) | (has_session ? account_flag::sessions_killed : 0));
    }

    std::uint32_t collecting_count_ = 0;
    std::vector<std::uint8_t> book_flags_;
    std::vector<book_rules> books_;
    std::vector<std::uint8_t> account_flags_;
    std::vector<account_limits> limits_;
    std::vector<bool> is_account_killed_;
    std::vector<bool> is_firm_killed_;
    std::vector<killed_session> sessions_;  ///< sorted
    resume_times resume_times_;             ///< of the books
};
static_assert(sizeof(trading_rules) == 8 + 5 * 24 + 2 * 40 + 32 && sizeof(book_rules) == 96 &&
                  sizeof(account_limits) == 24,
              "`transfer` knows every member; then correct the size here");

}  // namespace corro::facility
