// SPDX-License-Identifier: Apache-2.0
// The phase of each book and the data that belongs to it: when it ends, what an auction collects, the prices that a
// halt keeps from waiting orders, the circuit breaker.
//
// Most orders meet a book without rules, so one byte per book marks whether there is anything to check.
//
// Units: ticks, lots, nanoseconds since the epoch; books by index.
// Cost: allocates at construction only. Setting a phase is logarithmic in the number of books.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/phases/resume_times.hpp"
#include "matching/entry.hpp"
#include "risk/circuit_breaker.hpp"

namespace corro::facility {

struct book_phase {
    domain::trading_phase phase = domain::trading_phase::continuous;
    bool resumes_now = false;         ///< only while phases resume
    bool owes_uncross = false;        ///< has collected orders since it last matched
    bool has_auction_orders = false;  ///< has taken orders for one auction only since then
    bool is_settled = false;
    std::int64_t resume_time = 0;
    // The prices traded while a halt delayed triggered orders; low above high when there are none.
    domain::price_ticks pending_low{std::numeric_limits<std::int64_t>::max()};
    domain::price_ticks pending_high = domain::no_price;
    risk::circuit_breaker breaker;
    matching::equilibrium indicative{};  ///< as last published in the current auction

    /// Adds traded prices to those that waiting orders see when the book resumes.
    void delay_stops(domain::price_ticks low, domain::price_ticks high) noexcept {
        pending_low = std::min(pending_low, low);
        pending_high = std::max(pending_high, high);
    }
};

namespace book_flag {
inline constexpr std::uint8_t halted = 1;
inline constexpr std::uint8_t dynamic_band = 2;
inline constexpr std::uint8_t circuit_breaker = 4;
inline constexpr std::uint8_t collecting = 8;
inline constexpr std::uint8_t closed = 16;
}  // namespace book_flag

class phase_table {
 public:
    /// @param books_max  The most books ever, those of `instruments` first.
    phase_table(std::span<const domain::instrument> instruments, std::uint32_t books_max)
        : flags_(books_max), books_(books_max), resume_times_(books_max) {
        for (std::uint32_t book = 0; book < instruments.size(); ++book) define(book, instruments[book]);
    }

    /// Sets the rules of a book from its instrument, before its first order.
    void define(std::uint32_t book, const domain::instrument& i) noexcept {
        if (i.dynamic_band != 0) flags_[book] |= book_flag::dynamic_band;
        if (i.breaker_move != 0) flags_[book] |= book_flag::circuit_breaker;
    }

    /// Bits of book_flag; 0 when there is nothing to check.
    [[nodiscard]] std::uint8_t flags(std::uint32_t book) const noexcept { return flags_[book]; }
    [[nodiscard]] book_phase& operator[](std::uint32_t book) noexcept { return books_[book]; }
    [[nodiscard]] const book_phase& operator[](std::uint32_t book) const noexcept { return books_[book]; }
    [[nodiscard]] bool is_continuous(std::uint32_t book) const noexcept {
        return books_[book].phase == domain::trading_phase::continuous;
    }
    [[nodiscard]] bool is_collecting(std::uint32_t book) const noexcept {
        return (flags_[book] & book_flag::collecting) != 0;
    }
    [[nodiscard]] bool is_any_collecting() const noexcept { return collecting_count_ != 0; }
    /// The reason why a book takes no orders at all, or none.
    [[nodiscard]] domain::reject_reason check_open(std::uint32_t book) const noexcept {
        using domain::reject_reason;
        constexpr unsigned shut = book_flag::halted | book_flag::closed;
        if ((flags_[book] & shut) == 0) [[likely]]
            return reject_reason::none;
        return books_[book].is_settled                   ? reject_reason::instrument_settled
               : (flags_[book] & book_flag::halted) != 0 ? reject_reason::instrument_halted
                                                         : reject_reason::instrument_closed;
    }

    void set(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time) noexcept {
        using domain::trading_phase;
        const bool collects = domain::collects(phase);
        collecting_count_ -= is_collecting(book) ? 1U : 0U;
        collecting_count_ += collects ? 1U : 0U;
        books_[book].phase = phase;
        const bool may_end = collects || phase == trading_phase::halted;
        books_[book].resume_time = may_end ? resume_time : 0;
        resume_times_.set(book, may_end && resume_time != 0 ? resume_time : resume_times::never);
        next_resume_ = resume_times_.first();
        constexpr unsigned of_phases = book_flag::halted | book_flag::collecting | book_flag::closed;
        flags_[book] = static_cast<std::uint8_t>((flags_[book] & ~of_phases) |
                                                 (collects                         ? book_flag::collecting
                                                  : phase == trading_phase::halted ? book_flag::halted
                                                  : phase == trading_phase::closed ? book_flag::closed
                                                                                   : 0));
    }
    /// When the next phase ends by itself; the largest number when none does.
    [[nodiscard]] std::int64_t next_resume() const noexcept { return next_resume_; }
    /// The first book whose phase ends then. There must be one.
    [[nodiscard]] std::uint32_t next_book_to_resume() const noexcept { return resume_times_.book_of_first(); }

    /// Saves everything but the next resume time, or loads it into a newly made table.
    void transfer(base::archive& a) noexcept {
        for (std::uint8_t& flags : flags_) a.value(flags);
        for (book_phase& b : books_) {
            a.value(b.phase, b.resumes_now, b.resume_time, b.pending_low, b.pending_high);
            b.breaker.transfer(a);
            a.value(b.owes_uncross, b.has_auction_orders, b.is_settled, b.indicative.price, b.indicative.volume,
                    b.indicative.imbalance);
        }
        for (std::uint32_t book = 0; a.loads() && book < books_.size(); ++book) {
            const std::int64_t time = books_[book].resume_time;
            if (time != 0) resume_times_.set(book, time);
        }
        if (a.loads()) next_resume_ = resume_times_.first();
        a.value(collecting_count_);
    }
    /// Saves the next resume time, or checks the saved one.
    void transfer_next_resume(base::archive& a) noexcept {
        std::int64_t next = next_resume_;
        a.value(next);
        a.require(next == next_resume_);
    }

 private:
    std::uint32_t collecting_count_ = 0;
    std::int64_t next_resume_ = resume_times::never;
    std::vector<std::uint8_t> flags_;
    std::vector<book_phase> books_;
    resume_times resume_times_;
};
static_assert(sizeof(phase_table) == 2 * 8 + 2 * 24 + 32 && sizeof(book_phase) == 96,
              "`transfer` knows every member; then correct the size here");

}  // namespace corro::facility
