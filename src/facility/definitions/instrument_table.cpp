// SPDX-License-Identifier: Apache-2.0
#include "facility/definitions/instrument_table.hpp"

#include <algorithm>
#include <cstddef>

#include "base/assert.hpp"

namespace corro::facility {

namespace {

[[nodiscard]] std::vector<std::uint32_t> index_by_id(std::span<const domain::instrument> instruments,
                                                     std::uint32_t reserved) {
    // The ids of instruments that will be defined later are not known.
    std::uint32_t id_max = reserved == 0 ? 0 : domain::instruments_max;
    for (const domain::instrument& i : instruments) id_max = std::max(id_max, i.id.value);
    CORRO_ASSERT(id_max <= domain::instruments_max, "the caller must validate the definitions");
    std::vector<std::uint32_t> books(std::size_t{id_max} + 1, instrument_table::none);
    for (std::uint32_t book = 0; book < instruments.size(); ++book) {
        std::uint32_t& entry = books[instruments[book].id.value];
        CORRO_ASSERT(instruments[book].id.value != 0 && entry == instrument_table::none,
                     "ids must be distinct and not 0");
        entry = book;
    }
    return books;
}

[[nodiscard]] std::vector<domain::instrument> with_room(std::span<const domain::instrument> instruments,
                                                        std::uint32_t reserved) {
    std::vector<domain::instrument> made;
    made.reserve(instruments.size() + reserved);
    made.assign(instruments.begin(), instruments.end());
    return made;
}

/// Narrows the price range of books that imply prices, so that the sum of two prices is a valid price.
[[nodiscard]] std::vector<domain::instrument> narrowed(std::span<const domain::instrument> instruments,
                                                       std::uint32_t reserved) {
    std::vector<domain::instrument> made = with_room(instruments, reserved);
    const auto narrow = [](domain::instrument& i) {
        const domain::price_ticks reach = domain::implied_reach(i);
        i.price_low = std::max(i.price_low, domain::price_ticks{-reach.value});
        i.price_high = std::min(i.price_high, reach);
    };
    for (domain::instrument& i : made) {
        if (!i.implied) continue;
        narrow(i);
        for (domain::instrument& other : made) {
            if (other.id == i.legs[0].instrument || other.id == i.legs[1].instrument) narrow(other);
        }
    }
    return made;
}

[[nodiscard]] instrument_table::order_bounds bounds_of(const domain::instrument& i) noexcept {
    return {std::max(i.price_low, domain::price_ticks{-domain::price_ticks_max}),
            std::min(i.price_high, domain::price_ticks{domain::price_ticks_max}), i.order_quantity_max};
}

}  // namespace

instrument_table::instrument_table(std::span<const domain::instrument> instruments, std::uint32_t reserved)
    : definitions_(with_room(instruments, reserved)),
      instruments_(narrowed(instruments, reserved)),
      books_(index_by_id(instruments, reserved)) {
    likes_.reserve(reserved);
    bounds_.reserve(instruments.size() + reserved);
    for (const domain::instrument& i : instruments_) bounds_.push_back(bounds_of(i));
    by_product_.reserve(instruments.size() + reserved);
    for (std::uint32_t book = 0; book < instruments_.size(); ++book) {
        by_product_.push_back({instruments_[book].product.value, book});
    }
    std::sort(by_product_.begin(), by_product_.end());
}

std::span<const instrument_table::product_book> instrument_table::books_of(domain::product_id product) const noexcept {
    const auto first = std::lower_bound(by_product_.begin(), by_product_.end(), product_book{product.value, 0});
    const auto last = std::lower_bound(first, by_product_.end(), product_book{product.value, none});
    return {first, last};
}

bool instrument_table::add(const domain::instrument& made, domain::instrument_id like) noexcept {
    definitions_.push_back(made);
    if (!domain::validate_legs(made, definitions_).empty()) {
        definitions_.pop_back();
        return false;
    }
    const std::uint32_t book = count();
    instruments_.push_back(made);
    bounds_.push_back(bounds_of(made));
    likes_.push_back(like);
    books_[made.id.value] = book;
    const product_book added{made.product.value, book};
    by_product_.insert(std::upper_bound(by_product_.begin(), by_product_.end(), added), added);
    return true;
}

}  // namespace corro::facility
