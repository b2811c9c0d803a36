// SPDX-License-Identifier: Apache-2.0
// What one client has got of one instrument, and what it lacks.
//
// A subscription keeps the levels and values that were sent last, and compares them with those of now. So a client that
// was slow gets the newest state of each level, whatever happened between; trades are not conflated, they come all.
//
// Threads: the publisher's context. Limits: levels_max, changes_max.
// Cost:    each call is linear in the levels of the request; 24 bytes per level sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "feed/book_image.hpp"
#include "fix_market_data/entries.hpp"
#include "fix_market_data/markets.hpp"
#include "fix_market_data/request.hpp"

namespace corro::fix_market_data {

/// A request, for all of its subscriptions.
struct request_terms {
    std::string id;  ///< MDReqID (262)
    request_kind kind = request_kind::snapshot;
    fix_version version = fix_version::v4_4;
    std::uint32_t levels = 0;  ///< per side
    bool is_incremental = false;
    bool wants_aggressor = false;
    entry_types types;
    std::uint32_t subscriptions_count = 0;  ///< that are left
};

class client_subscriptions;

class subscription {
 public:
    /// All outlive the subscription.
    subscription(client_subscriptions& owner, request_terms& of, market& about) noexcept
        : owner_(owner), of_(of), about_(about) {}

    enum class lack : std::uint8_t {
        nothing,
        snapshot,  ///< a W
        changes,   ///< an X; there may be more behind it
        trades,    ///< trades are not there any more: the connection cannot go on
    };

    /// Collects what the client lacks, for one message, which counts as sent.
    /// @param into  Is overwritten: at most changes_max entries of an X, or all of a W.
    /// @pre   all.is_between_commands() (asserted)
    [[nodiscard]] lack collect(markets& all, std::vector<entry>& into);

    /// Whether there may be something to collect.
    [[nodiscard]] bool is_behind() const noexcept { return !has_begun_ || version_ != about_.version; }
    /// Whether older trades are lacking than those that are kept.
    [[nodiscard]] bool has_lost_trades() const noexcept {
        return sends_trades() && about_.trades_count - trades_sent_ > about_.trades.size();
    }
    /// RptSeq (83) of the next entry of an X; `count` entries are numbered.
    [[nodiscard]] std::uint64_t number(std::size_t count) noexcept {
        const std::uint64_t first = numbered_ + 1;
        numbered_ += count;
        return first;
    }

    [[nodiscard]] client_subscriptions& owner() const noexcept { return owner_; }
    [[nodiscard]] request_terms& request() const noexcept { return of_; }
    [[nodiscard]] market& about() const noexcept { return about_; }

    bool is_marked = false;           ///< stands in its client's list of what is behind
    std::size_t place_in_market = 0;  ///< in `subscribers`, if it gets updates
    std::size_t place_in_client = 0;

 private:
    /// A value of the day, or an implied price.
    struct value {
        bool is_there = false;
        std::optional<std::int64_t> price;
        std::optional<std::uint64_t> size;
        char condition = '\0';
        friend bool operator==(const value&, const value&) = default;
    };
    struct picture {
        std::array<value, entry_types_count> values;
        std::array<value, 2> implied;
    };

    [[nodiscard]] bool sends_trades() const noexcept {
        return has_begun_ && of_.is_incremental && of_.types.has(entry_type::trade);
    }
    [[nodiscard]] picture picture_of_now(const markets& all) const;
    void append_trades(const domain::instrument& i, std::vector<entry>& into);
    void append_level_changes(markets& all, domain::side side, const domain::instrument& i, std::vector<entry>& into);
    void append_value_changes(const picture& now, std::vector<entry>& into) const;
    void append_all(markets& all, const domain::instrument& i, const picture& now, std::vector<entry>& into);
    void remember(const picture& now);
    [[nodiscard]] entry entry_of(const tape_entry& t, const domain::instrument& i) const;
    [[nodiscard]] static entry entry_of(const value& v, entry_type type, bool is_implied) noexcept;

    client_subscriptions& owner_;
    request_terms& of_;
    market& about_;
    bool has_begun_ = false;
    std::uint64_t version_ = 0;
    std::uint64_t trades_sent_ = 0;
    std::uint64_t numbered_ = 0;
    std::vector<feed::image_level> sent_[2];  ///< best first
    picture sent_values_;
};

}  // namespace corro::fix_market_data
