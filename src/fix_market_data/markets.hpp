// SPDX-License-Identifier: Apache-2.0
// What the sessions of market data by FIX share: of each instrument the levels in order, the trades, and when anything
// has changed. Each message of the feed is read once here, from the feed log, however many sessions there are.
//
// Threads: the publisher's context.
// Limits:  trades_kept_max trades of an instrument behind a round; the levels of instruments that were asked for.
// Cost:    per message of the feed one look at its type; a level costs a search and the move of the better levels.
// Source:  docs/spec/market_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "feed/book_image.hpp"
#include "market_data/feed_publisher.hpp"

namespace corro::fix_market_data {

class subscription;

/// A trade of the tape.
struct tape_entry {
    domain::tape_trade trade;
    domain::time_ns time{};
    domain::side aggressor{};
};

/// One instrument.
struct market {
    domain::instrument_id id{};
    std::uint64_t version = 1;  ///< counts changes
    bool is_changed = false;    ///< since the last round
    /// Per side, the best level last. Kept up to date once it is asked for.
    std::vector<feed::image_level> ladder[2];
    bool has_ladder = false;
    /// The newest trades. The last one has the number trades_count.
    std::deque<tape_entry> trades;
    std::uint64_t trades_count = 0;
    std::optional<tape_entry> last_trade;
    std::optional<domain::auction_state> auction;  ///< as it is indicated, or as the last one was
    bool is_in_auction = false;
    std::optional<domain::price_ticks> settlement;
    std::vector<subscription*> subscribers;  ///< those that get updates
};

class markets {
 public:
    /// `publisher` outlives this.
    explicit markets(const market_data::feed_publisher& publisher);

    /// Begins with the next message of the feed. @pre No ladder is made (asserted).
    void begin() noexcept;
    /// Reads what was added to the feed log. If more was added than it keeps, levels and values are taken from the
    /// image, and trades are lost.
    void catch_up();
    /// Whether the books are as they were between two commands. Only then is anything told about them.
    [[nodiscard]] bool is_between_commands() const noexcept { return is_between_commands_; }

    /// The instrument with this name; nullptr if there is none.
    [[nodiscard]] market* find(std::string_view symbol);
    /// The same, by number; it is made if necessary.
    [[nodiscard]] market& at(domain::instrument_id id);
    /// Its definition. Valid until the next one.
    [[nodiscard]] const domain::instrument& definition(const market& of) const noexcept;
    /// Its book. Valid until the next definition.
    [[nodiscard]] const feed::book_image& book(const market& of) const noexcept;
    /// Makes its ladder, if there is none. @pre is_between_commands (asserted)
    void prepare(market& what);

    [[nodiscard]] bool has_changed() const noexcept { return !changed_.empty(); }
    /// Those that have changed since the last call.
    void take_changed(std::vector<market*>& into);
    /// Drops trades that every session with room has got.
    void trim(market& of);

    /// Levels that were looked at since the beginning, by this and by subscriptions: what the work is measured by.
    [[nodiscard]] std::uint64_t& steps() noexcept { return steps_; }

 private:
    struct name_hash {
        using is_transparent = void;
        [[nodiscard]] std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>()(name);
        }
    };

    void take(std::span<const std::byte> packet);
    void apply(const domain::event& event, market& to);
    void set_level(market& of, domain::side side, const domain::level& level);
    void note(market& changed);
    void begin_again();
    void make_ladder(market& what);

    const market_data::feed_publisher& publisher_;
    std::uint64_t position_ = 0;  ///< in the feed log, of the next message
    bool is_between_commands_ = true;
    bool has_lost_messages_ = false;  ///< the feed log went on by more than it keeps
    std::vector<std::unique_ptr<market>> by_id_;
    std::vector<market*> changed_;
    std::unordered_map<std::string, domain::instrument_id, name_hash, std::equal_to<>> by_name_;
    std::size_t named_count_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace corro::fix_market_data
