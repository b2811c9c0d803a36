// SPDX-License-Identifier: Apache-2.0
// Cancels one order, or many of an account's orders at once. See docs/spec/matching.md.
#pragma once

#include "domain/command.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/order_lookup.hpp"
#include "facility/orders/rejections.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

class order_cancels {
 public:
    order_cancels(const instrument_table& instruments, const order_lookup& lookup, matching::engine& engine,
                  const order_directory& orders, message_writer& writer, rejections& rejects)
        : instruments_(instruments),
          lookup_(lookup),
          engine_(engine),
          orders_(orders),
          writer_(writer),
          rejections_(rejects) {}

    void cancel_order(const domain::command& c) noexcept;
    void cancel_orders(const domain::command& c) noexcept;

 private:
    const instrument_table& instruments_;
    const order_lookup& lookup_;
    matching::engine& engine_;
    const order_directory& orders_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility
