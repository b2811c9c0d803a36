// The constructor of the state machine.

#include <algorithm>

#include "base/assert.hpp"
#include "facility/state_machine.hpp"

namespace corro::facility {

namespace {

constexpr std::uint32_t no_book = 0xffffffffU;

[[nodiscard]] std::vector<std::uint32_t> index_by_id(std::span<const domain::instrument> instruments,
                                                     std::uint32_t reserved) {
    // The ids of instruments that will be defined later are not known.
    std::uint32_t id_max = reserved == 0 ? 0 : domain::instruments_max;
    for (const domain::instrument& i : instruments) id_max = std::max(id_max, i.id.value);
    CORRO_ASSERT(id_max <= domain::instruments_max, "the caller must validate the definitions");
    std::vector<std::uint32_t> books(std::size_t{id_max} + 1, no_book);
    for (std::uint32_t book = 0; book < instruments.size(); ++book) {
        std::uint32_t& entry = books[instruments[book].id.value];
        CORRO_ASSERT(instruments[book].id.value != 0 && entry == no_book, "ids must be distinct and not 0");
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

[[nodiscard]] std::uint32_t books_max(std::span<const domain::instrument> instruments,
                                      const facility_options& options) noexcept {
    return static_cast<std::uint32_t>(instruments.size()) + options.instruments_reserved;
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

}  // namespace

facility::state_machine::state_machine(const facility_options& options, std::span<const domain::instrument> instruments,
                                       event_consumer& consumer)
    : definitions_(with_room(instruments, options.instruments_reserved)),
      instruments_(narrowed(instruments, options.instruments_reserved)),
      books_(index_by_id(instruments, options.instruments_reserved)),
      engine_({.orders_max = options.orders_max,
               .accounts_max = options.accounts_max,
               .books_count = books_max(instruments, options),
               .window_bits = options.window_bits,
               .touch = options.touch}),
      orders_(options.orders_max, options.touch, options.hash_key),
      positions_(options.positions_max, books_max(instruments, options), options.hash_key),
      quotes_(options.positions_max, options.accounts_max),
      exposures_(options.positions_max, options.accounts_max),
      rules_(instruments, books_max(instruments, options), options.accounts_max),
      options_(options),
      strategies_(instruments, books_max(instruments, options)),
      implied_(instruments, strategies_, books_max(instruments, options)),
      writer_(engine_, orders_, positions_, quotes_, exposures_, strategies_, implied_, instruments,
              books_max(instruments, options), consumer) {
    static_assert(none == no_book);
    likes_.reserve(options.instruments_reserved);
    accounts_.reserve(accounts_defined_max);
    by_product_.reserve(books_max(instruments, options));
    resuming_.reserve(books_max(instruments, options));
    for (std::uint32_t book = 0; book < instruments_.size(); ++book) {
        const domain::allocation_policy& policy = instruments_[book].allocation;
        if (policy.algorithm != domain::match_algorithm::fifo) engine_.set_policy(book, policy);
        by_product_.push_back({instruments_[book].product.value, book});
    }
    std::sort(by_product_.begin(), by_product_.end());
}

}  // namespace corro::facility
