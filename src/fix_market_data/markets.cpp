// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/markets.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "fix_market_data/limits.hpp"
#include "wire/binary_codec.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::fix_market_data {
namespace {

/// The messages of single orders are most of the feed, and only the end of a command is needed of them.
bool is_of_order(wire::template_id message) noexcept {
    return message == wire::template_id::order_added || message == wire::template_id::order_reduced ||
           message == wire::template_id::order_deleted;
}

}  // namespace

markets::markets(const market_data::feed_publisher& publisher)
    : publisher_(publisher), position_(publisher.log().end_position()) {}

void markets::begin() noexcept {
    for (const auto& each : by_id_) CORRO_ASSERT(each == nullptr || !each->has_ladder);
    position_ = publisher_.log().end_position();
}

void markets::catch_up() {
    const market_data::feed_log& log = publisher_.log();
    if (!log.has(position_)) {
        position_ = log.position_of(log.first_sequence());
        has_lost_messages_ = true;
    }
    for (std::span<const std::byte> packet = log.packet_at(position_); !packet.empty();
         packet = log.packet_at(position_)) {
        position_ += packet.size();
        take(packet.subspan(wire::soup_bin_tcp::header_bytes));
    }
    if (has_lost_messages_ && is_between_commands_) {
        has_lost_messages_ = false;
        begin_again();
    }
}

// Levels and values are in the image. Trades are not: those who wanted them lack one at least.
void markets::begin_again() {
    for (const auto& each : by_id_) {
        if (each == nullptr) continue;
        if (each->has_ladder) make_ladder(*each);
        each->trades.clear();
        ++each->trades_count;
        note(*each);
    }
}

void markets::take(std::span<const std::byte> packet) {
    const auto frame = wire::next_frame(packet);
    CORRO_ASSERT(frame && *frame, "the feed log has whole messages");
    domain::event event;
    const std::error_code wrong = wire::decode_event(**frame, publisher_.image().instruments(), event);
    CORRO_ASSERT(!wrong, "the venue's own messages must be valid");
    is_between_commands_ = (event.flags & domain::event_flag::last_of_command) != 0;
    if (is_of_order((*frame)->message) || domain::is_definition(event.kind)) return;
    apply(event, at(event.instrument));
}

void markets::apply(const domain::event& event, market& to) {
    using domain::event_kind;
    switch (event.kind) {
        case event_kind::level_changed:
            if (!to.has_ladder) return;
            set_level(to, event.side, event.level);
            break;
        case event_kind::trade: {
            to.last_trade = tape_entry{event.trade, event.time, event.side};
            ++to.trades_count;
            if (!to.subscribers.empty()) {
                to.trades.push_back(*to.last_trade);
            } else {
                to.trades.clear();
            }
            break;
        }
        case event_kind::auction_indicative:
        case event_kind::auction_ended:
            to.auction = event.auction;
            to.is_in_auction = event.kind == event_kind::auction_indicative;
            break;
        case event_kind::instrument_settled: to.settlement = event.settlement.price; break;
        case event_kind::implied_top:
        case event_kind::price_update:
        case event_kind::statistics: break;  // these are in the image
        default: return;
    }
    note(to);
}

// The levels that change are mostly the best ones, which are at the end.
void markets::set_level(market& of, domain::side side, const domain::level& level) {
    std::vector<feed::image_level>& ladder = of.ladder[static_cast<int>(side)];
    const auto is_worse = [side](const feed::image_level& a, domain::price_ticks b) {
        return side == domain::side::buy ? a.price < b : a.price > b;
    };
    const auto place = std::lower_bound(ladder.begin(), ladder.end(), level.price, is_worse);
    const bool is_there = place != ladder.end() && place->price == level.price;
    if (level.orders_count == 0) {
        if (is_there) ladder.erase(place);
        return;
    }
    const feed::image_level now{level.price, level.quantity, static_cast<std::uint32_t>(level.orders_count)};
    if (is_there) {
        *place = now;
    } else {
        ladder.insert(place, now);
    }
}

void markets::note(market& changed) {
    ++changed.version;
    if (changed.is_changed || changed.subscribers.empty()) return;
    changed.is_changed = true;
    changed_.push_back(&changed);
}

market& markets::at(domain::instrument_id id) {
    if (id.value >= by_id_.size()) by_id_.resize(std::size_t{id.value} + 1);
    std::unique_ptr<market>& place = by_id_[id.value];
    if (place == nullptr) {
        place = std::make_unique<market>();
        place->id = id;
    }
    return *place;
}

// Instruments are added while the venue runs, and never leave.
market* markets::find(std::string_view symbol) {
    const wire::instrument_table& table = publisher_.image().instruments();
    if (named_count_ != table.count()) {
        table.for_each([this](const domain::instrument& i) { by_name_.try_emplace(std::string(i.name.view()), i.id); });
        named_count_ = table.count();
    }
    const auto found = by_name_.find(symbol);
    return found == by_name_.end() ? nullptr : &at(found->second);
}

const domain::instrument& markets::definition(const market& of) const noexcept {
    const domain::instrument* const found = publisher_.image().instruments().find(of.id);
    CORRO_ASSERT(found != nullptr, "a market is of a defined instrument");
    return *found;
}

const feed::book_image& markets::book(const market& of) const noexcept {
    const feed::book_image* const found = publisher_.book(of.id);
    CORRO_ASSERT(found != nullptr, "a market is of a defined instrument");
    return *found;
}

void markets::prepare(market& what) {
    CORRO_ASSERT(is_between_commands_, "within a command, the image is ahead");
    if (!what.has_ladder) make_ladder(what);
}

void markets::make_ladder(market& what) {
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        what.ladder[static_cast<int>(side)] = book(what).levels(side);
        std::ranges::reverse(what.ladder[static_cast<int>(side)]);
    }
    what.has_ladder = true;
}

void markets::take_changed(std::vector<market*>& into) {
    into.clear();
    into.swap(changed_);
    for (market* each : into) each->is_changed = false;
}

void markets::trim(market& of) {
    while (of.trades.size() > trades_kept_max) of.trades.pop_front();
}

}  // namespace corro::fix_market_data
