// SPDX-License-Identifier: Apache-2.0
// All books of a venue according to its feed, and the number of the feed's next message.
//
// It begins with a snapshot's messages and continues with the feed's; every message must fit the ones before. It is
// independent of the transport.
//
// Threads: none of its own. Cost: no allocation per message beyond the growth of the books.
// Source: docs/spec/market_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "feed/book_image.hpp"
#include "wire/instrument_table.hpp"

namespace corro::client {

/// The best prices of an instrument, as decimals.
struct best_prices {
    std::optional<double> bid;  ///< of the best buyer; empty without buyers
    std::optional<double> ask;  ///< of the best seller
    double middle = 0;  ///< between both, a multiple of the tick; without one of them the other; without both the last
                        ///< trade's; without any 0
    double tick = 0;    ///< the smallest step of a price
};

class market_image {
 public:
    /// Takes one message of a snapshot. @return Whether the snapshot is complete now.
    /// @error unexpected_message, feed_contradiction, wire errors.
    [[nodiscard]] std::expected<bool, std::error_code> take_snapshot(std::span<const std::byte> message);

    /// Takes the next message of the feed. @return Its event, already applied to its book.
    /// @error sequence_gap (the message has another number), feed_contradiction, wire errors: the image is then stale.
    [[nodiscard]] std::expected<domain::event, std::error_code> take(std::span<const std::byte> message);

    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return instruments_; }
    /// The book of an instrument; nullptr for an unknown one.
    [[nodiscard]] const feed::book_image* book(domain::instrument_id id) const noexcept {
        return instruments_.find(id) == nullptr ? nullptr : &books_[id.value];
    }
    /// The best prices of the instrument with this symbol; empty if the symbol is unknown. Visits the instruments.
    [[nodiscard]] std::optional<best_prices> best(std::string_view symbol) const;
    /// The number of the next feed message.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }
    /// The last command with all its events applied; at first that of the snapshot.
    [[nodiscard]] std::uint64_t last_command() const noexcept { return last_command_; }
    /// The events of an incomplete definition; empty when there is none.
    [[nodiscard]] std::span<const domain::event> begun_definition() const noexcept { return begun_definition_; }

 private:
    [[nodiscard]] std::error_code apply(const domain::event& event);
    [[nodiscard]] bool continues_definition(const domain::event& event) const noexcept;

    wire::instrument_table instruments_;
    domain::definition_reader definitions_;
    std::vector<domain::event> begun_definition_;
    std::vector<feed::book_image> books_;  ///< by instrument id
    std::uint64_t next_sequence_ = 0;
    std::uint64_t last_command_ = 0;
    bool begun_ = false;
};

}  // namespace corro::client
