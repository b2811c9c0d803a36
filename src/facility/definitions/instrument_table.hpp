// SPDX-License-Identifier: Apache-2.0
// The instruments by book: as they were defined, and with the price ranges that implied matching leaves them.
//
// A book's index is the position of its instrument: those of the configuration first, then those that were defined
// while the venue ran.
//
// Cost: allocates at construction only. Finding a book takes constant time, the first book of a product logarithmic.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/instrument.hpp"
#include "domain/types.hpp"

namespace corro::facility {

class instrument_table {
 public:
    /// No such book.
    static constexpr std::uint32_t none = 0xffffffffU;

    struct product_book {
        std::uint32_t product = 0;
        std::uint32_t book = 0;
        friend auto operator<=>(const product_book&, const product_book&) = default;
    };

    /// What every limit order is checked against; two lie in a cache line.
    struct alignas(32) order_bounds {
        domain::price_ticks price_low{};
        domain::price_ticks price_high{};
        domain::quantity_lots quantity_max{};
    };

    /// @param instruments  Sound by domain::validate, ids distinct; at least one.
    /// @param reserved     Instruments that may be added.
    instrument_table(std::span<const domain::instrument> instruments, std::uint32_t reserved);

    /// The index of an instrument's book, or `none`.
    [[nodiscard]] std::uint32_t book_of(domain::instrument_id id) const noexcept {
        return id.value < books_.size() ? books_[id.value] : none;
    }
    /// The instrument of a book, with the price range that implied matching leaves it.
    [[nodiscard]] const domain::instrument& operator[](std::uint32_t book) const noexcept { return instruments_[book]; }
    /// Prices within these bounds pass check_price.
    [[nodiscard]] const order_bounds& bounds(std::uint32_t book) const noexcept { return bounds_[book]; }
    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(instruments_.size()); }
    [[nodiscard]] std::span<const domain::instrument> all() const noexcept { return instruments_; }
    /// All instruments, as they were defined.
    [[nodiscard]] std::span<const domain::instrument> definitions() const noexcept { return definitions_; }
    /// The instruments of the configuration, as they were defined.
    [[nodiscard]] std::span<const domain::instrument> configured() const noexcept {
        return definitions().first(definitions_.size() - likes_.size());
    }
    /// Those that were defined while the venue ran, as they were defined.
    [[nodiscard]] std::span<const domain::instrument> added() const noexcept {
        return definitions().subspan(configured().size());
    }
    /// For each added one, the instrument that it is like.
    [[nodiscard]] std::span<const domain::instrument_id> likes() const noexcept { return likes_; }
    /// The books of a product, in the order of books.
    [[nodiscard]] std::span<const product_book> books_of(domain::product_id product) const noexcept;

    /// Calls `visit(book)` for the book of an instrument, else for all of a product, else for all. Returns how many.
    ///
    /// @param instrument  0 for none.
    /// @param product     0 for none.
    template <class Visit>
    std::uint32_t visit_covered(domain::instrument_id instrument, domain::product_id product, Visit&& visit) const {
        if (instrument.value != 0) {
            const std::uint32_t one = book_of(instrument);
            if (one == none) return 0;
            visit(one);
            return 1;
        }
        if (product.value != 0) {
            const std::span<const product_book> covered = books_of(product);
            for (const product_book& p : covered) visit(p.book);
            return static_cast<std::uint32_t>(covered.size());
        }
        for (std::uint32_t book = 0; book < count(); ++book) visit(book);
        return count();
    }

    /// Adds the next book. Does not allocate. False, and nothing changes, when the definition is unsound together with
    /// its legs.
    ///
    /// @pre An instrument may still be added, and none has this id.
    [[nodiscard]] bool add(const domain::instrument& made, domain::instrument_id like) noexcept;

 private:
    std::vector<domain::instrument> definitions_;  ///< by book
    std::vector<domain::instrument> instruments_;  ///< the same, with the price bands that implied matching leaves
    std::vector<order_bounds> bounds_;             ///< by book, of `instruments_`
    std::vector<domain::instrument_id> likes_;     ///< of the added ones
    std::vector<std::uint32_t> books_;             ///< by instrument id
    std::vector<product_book> by_product_;         ///< sorted
};

}  // namespace corro::facility
