// SPDX-License-Identifier: Apache-2.0
#include "facility/phases/instrument_settlement.hpp"

#include <cstdint>

#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;
using domain::trading_phase;

void instrument_settlement::settle_instrument(const command& c) noexcept {
    const domain::settle_instrument& settled = c.settle_instrument();
    if (!c.is_operator()) return rejections_.refuse(c, reject_reason::not_authorised);
    const std::uint32_t book = instruments_.book_of(c.instrument);
    if (book == instrument_table::none) return rejections_.refuse(c, reject_reason::unknown_instrument);
    book_phase& b = phases_[book];
    if (b.is_settled) return rejections_.refuse(c, reject_reason::instrument_settled);
    if (settled.price.value > domain::price_ticks_max || settled.price.value < -domain::price_ticks_max) {
        return rejections_.refuse(c, reject_reason::invalid_price);
    }
    writer_.withdraw_for(reject_reason::instrument_settled);
    engine_.cancel_book(book, [](std::uint32_t) { return true; }, writer_, matching::removal::expelled);
    const std::uint64_t open_interest = positions_.open_interest(book);
    for (std::uint32_t slot = 0; slot < positions_.count(); ++slot) {
        if (positions_[slot].instrument != book || positions_[slot].lots == 0) continue;
        const std::int64_t lots = positions_.settle(slot);
        writer_.position_settled(book, positions_[slot].account, lots, settled.price);
    }
    writer_.instrument_settled(book, settled.price, open_interest);
    b.is_settled = true;
    b.owes_uncross = b.has_auction_orders = false;
    changes_.enter_phase(book, trading_phase::closed, 0, reject_reason::instrument_settled);
    writer_.request_done(c.instrument, c.account);
}

}  // namespace corro::facility
