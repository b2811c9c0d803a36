// SPDX-License-Identifier: Apache-2.0
// Requests of a session about its orders: the state of one, of all, the positions of its account, and the reset of
// request numbers at the start of a day; and the names that its requests have.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/facility.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/order_lookup.hpp"
#include "facility/orders/rejections.hpp"
#include "matching/engine.hpp"
#include "risk/positions.hpp"

namespace corro::facility {

class session_requests {
 public:
    session_requests(const instrument_table& instruments, const risk::positions& held, const order_lookup& lookup,
                     const matching::engine& engine, order_directory& orders, message_writer& writer,
                     rejections& rejects)
        : instruments_(instruments),
          positions_(held),
          lookup_(lookup),
          engine_(engine),
          orders_(orders),
          writer_(writer),
          rejections_(rejects) {}

    /// Announces the name of a request that has one: to the session that sent it, before all its other messages.
    void announce_name(const domain::command& c) noexcept;
    void query_order(const domain::command& c) noexcept;
    void reset_session_numbers(const domain::command& c) noexcept;

    [[nodiscard]] query_cost last_query() const noexcept { return last_query_; }
    /// Orders and positions that were read.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_; }

 private:
    void query_positions(const domain::command& c) noexcept;

    const instrument_table& instruments_;
    const risk::positions& positions_;
    const order_lookup& lookup_;
    const matching::engine& engine_;
    order_directory& orders_;
    message_writer& writer_;
    rejections& rejections_;
    query_cost last_query_;
    std::uint64_t steps_ = 0;
};

}  // namespace corro::facility
