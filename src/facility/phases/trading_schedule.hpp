// SPDX-License-Identifier: Apache-2.0
// When trading changes: phases that an operator sets or that end by themselves, orders that expire, the start of a day.
// A book that resumes enters the orders whose trigger price has traded meanwhile. See docs/spec/phases.md.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/types.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/implied/implied_books.hpp"
#include "facility/implied/order_matcher.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/orders/stop_orders.hpp"
#include "facility/phases/phase_changes.hpp"
#include "facility/phases/phase_table.hpp"
#include "facility/quotes/market_protection.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

class trading_schedule {
 public:
    trading_schedule(const instrument_table& instruments, phase_table& phases, phase_changes& changes,
                     matching::engine& engine, const order_directory& orders, implied_books& implied,
                     order_matcher& matcher, stop_orders& stops, market_protection& protection, message_writer& writer,
                     rejections& rejects)
        : instruments_(instruments),
          phases_(phases),
          changes_(changes),
          engine_(engine),
          orders_(orders),
          implied_(implied),
          matcher_(matcher),
          stops_(stops),
          protection_(protection),
          writer_(writer),
          rejections_(rejects) {}

    /// Expires orders and ends phases that are due before a command's time.
    void process_due_times(domain::time_ns now) noexcept;
    void change_phase(const domain::command& c) noexcept;
    void begin_day(const domain::command& c) noexcept;

    /// Orders and books that were read.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_; }

 private:
    void resume_halted() noexcept;
    /// Resumes the books that have come to phase continuous: crossed triangles trade, then triggered orders enter.
    void go_on() noexcept;
    void match_crossed_triangles() noexcept;
    /// Enters the waiting orders that a halt has delayed.
    void enter_pending(std::uint32_t book) noexcept;

    const instrument_table& instruments_;
    phase_table& phases_;
    phase_changes& changes_;
    matching::engine& engine_;
    const order_directory& orders_;
    implied_books& implied_;
    order_matcher& matcher_;
    stop_orders& stops_;
    market_protection& protection_;
    message_writer& writer_;
    rejections& rejections_;
    std::uint64_t steps_ = 0;
};

}  // namespace corro::facility
