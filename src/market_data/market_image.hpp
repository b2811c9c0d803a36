// SPDX-License-Identifier: Apache-2.0
// The public books of a venue as of one message of its feed, with the definitions of its instruments.
//
// A function of the events: it knows no feed log, no socket and no clock. The publisher of a feed keeps one, from which
// snapshots and depth pictures are made.
//
// Threads: one, or none that writes. Cost: per event one update of a book; memory grows with instruments and open
// orders.
// Source:  docs/spec/derived_messages.md, public messages; docs/spec/market_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/prefetch_hint.hpp"
#include "feed/book_image.hpp"
#include "wire/instrument_table.hpp"

namespace corro::market_data {

class market_image {
 public:
    /// @param hash_key  Of the books; changes no result, only the speed.
    explicit market_image(std::span<const domain::instrument> instruments = {}, std::uint64_t hash_key = 0);

    /// For set-up: adds an instrument, or replaces its definition. @pre It is sound by domain::validate (asserted).
    void define(const domain::instrument& instrument);
    /// For set-up: the first events of a definition that later events complete.
    void begin_definition(std::span<const domain::event> events);
    /// For set-up: the number of the last command whose events are in the image.
    void set_last_command(std::uint64_t sequence) noexcept { last_command_ = sequence; }
    /// Sets the book of an instrument. False for an unknown instrument.
    [[nodiscard]] bool adopt(domain::instrument_id id, const feed::book_image& book);

    /// Applies the next message of the feed; the last event of a definition adds its instrument.
    /// @param sequence  The number of the message.
    /// Inlined, because it runs once per message.
    /// @pre   The event is public, its instrument or the definition of it is known, and it does not contradict the
    ///        image (all asserted).
    [[gnu::always_inline]] void apply(const domain::event& event, std::uint64_t sequence) noexcept {
        if (domain::is_definition(event.kind)) [[unlikely]]
            take_definition(event);
        CORRO_ASSERT(event.instrument.value < markets_.size(), "an event must be about a known instrument");
        market& about = markets_[event.instrument.value];
        const feed::image_status status = about.book.apply(event);
        CORRO_ASSERT(status == feed::image_status::applied, "the facility's events must be consistent");
        about.changed_at = sequence;
        last_command_ = event.command.value;
    }

    /// Prefetches the memory for the events of these commands, as far as their orders are known. Changes no state.
    void prefetch(std::span<const domain::prefetch_hint> coming) const noexcept;
    /// The same for an event that will be applied soon.
    void prefetch(const domain::event& event) const noexcept {
        // The definition of its instrument may be among the events that are not applied yet.
        if (event.kind != domain::event_kind::order_added || event.instrument.value >= markets_.size()) return;
        markets_[event.instrument.value].book.prefetch_addition(event.book.order);
    }

    /// The same in steps 0 to 2, for changes of orders too; each reads what the one before has fetched.
    void prefetch(const domain::event& event, int step) const noexcept;

    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return instruments_; }
    /// The book of an instrument; nullptr for an unknown one. Valid until the next definition.
    [[nodiscard]] const feed::book_image* book(domain::instrument_id id) const noexcept {
        return instruments_.find(id) == nullptr ? nullptr : &markets_[id.value].book;
    }
    /// The number of the last message about an instrument; 0 when none was applied. @pre It is known (asserted).
    [[nodiscard]] std::uint64_t changed_at(domain::instrument_id id) const noexcept {
        CORRO_ASSERT(id.value < markets_.size(), "the instrument must be known");
        return markets_[id.value].changed_at;
    }
    /// The events of a definition whose last event has not come yet.
    [[nodiscard]] std::span<const domain::event> begun_definition() const noexcept { return begun_; }
    [[nodiscard]] std::uint64_t last_command() const noexcept { return last_command_; }

    /// An image with the same instruments and empty books.
    [[nodiscard]] market_image without_orders() const;
    /// Writes all books, or loads them into an image without orders; invalid values fail the archive.
    void transfer_books(base::archive& a);

 private:
    struct market {
        explicit market(std::uint64_t hash_key) : book(hash_key) {}
        feed::book_image book;
        std::uint64_t changed_at = 0;
    };

    void take_definition(const domain::event& event);
    void make_place(domain::instrument_id id);

    std::uint64_t hash_key_;
    wire::instrument_table instruments_;
    std::vector<market> markets_;  ///< by instrument id
    domain::definition_reader definitions_;
    std::vector<domain::event> begun_;  ///< the events of an incomplete definition
    std::uint64_t last_command_ = 0;
};

}  // namespace corro::market_data
