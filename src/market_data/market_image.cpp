// SPDX-License-Identifier: Apache-2.0
#include "market_data/market_image.hpp"

namespace corro::market_data {

market_image::market_image(std::span<const domain::instrument> instruments, std::uint64_t hash_key)
    : hash_key_(hash_key) {
    for (const domain::instrument& i : instruments) define(i);
}

void market_image::make_place(domain::instrument_id id) {
    if (id.value >= markets_.size()) markets_.resize(std::size_t{id.value} + 1, market(hash_key_));
}

void market_image::define(const domain::instrument& instrument) {
    instruments_.define(instrument);
    make_place(instrument.id);
}

void market_image::begin_definition(std::span<const domain::event> events) {
    for (const domain::event& event : events) {
        CORRO_ASSERT(domain::is_definition(event.kind), "only a definition has a beginning");
        take_definition(event);
    }
}

// The first events of a definition are about an instrument that does not exist yet.
void market_image::take_definition(const domain::event& event) {
    make_place(event.instrument);
    begun_.push_back(event);
    if (!definitions_.take(event)) return;
    begun_.clear();
    const domain::instrument* made = instruments_.define(definitions_.get());
    CORRO_ASSERT(made != nullptr, "the facility must have checked the definition");
}

bool market_image::adopt(domain::instrument_id id, const feed::book_image& book) {
    if (instruments_.find(id) == nullptr) return false;
    markets_[id.value].book = book;
    return true;
}

void market_image::prefetch(std::span<const domain::prefetch_hint> coming) const noexcept {
    const auto for_each_known = [&](auto&& look) {
        for (const domain::prefetch_hint& f : coming) {
            if (f.order.value != 0 && f.instrument.value < markets_.size()) {
                look(markets_[f.instrument.value].book, f.order);
            }
        }
    };
    for_each_known([](const feed::book_image& book, domain::order_id order) { book.prefetch(order); });
    for_each_known([](const feed::book_image& book, domain::order_id order) { book.prefetch_order(order); });
    for_each_known([](const feed::book_image& book, domain::order_id order) { book.prefetch_neighbours(order); });
}

void market_image::prefetch(const domain::event& event, int step) const noexcept {
    using enum domain::event_kind;
    const bool is_of_order = event.kind == order_added || event.kind == order_reduced || event.kind == order_deleted;
    if (!is_of_order || event.instrument.value >= markets_.size()) return;
    const feed::book_image& book = markets_[event.instrument.value].book;
    if (event.kind == order_added) {
        if (step == 0) book.prefetch_addition(event.book.order);
        return;
    }
    if (step == 0) book.prefetch(event.book.order);
    if (step == 1) book.prefetch_order(event.book.order);
    if (step == 2) book.prefetch_neighbours(event.book.order);
}

market_image market_image::without_orders() const {
    market_image made({}, hash_key_);
    made.instruments_ = instruments_;
    made.markets_.resize(markets_.size(), market(hash_key_));
    return made;
}

void market_image::transfer_books(base::archive& a) {
    instruments_.for_each([&](const domain::instrument& i) { markets_[i.id.value].book.transfer(a); });
}

}  // namespace corro::market_data
