// SPDX-License-Identifier: Apache-2.0
// Market protection: the limits of what an account's quotes trade in a window of time, and what happens at a limit. The
// rules are docs/spec/matching.md.
#pragma once

#include "domain/command.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/quotes/quote_table.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

class market_protection {
 public:
    market_protection(matching::engine& engine, const order_directory& orders, quote_table& quotes,
                      message_writer& writer, rejections& rejects)
        : engine_(engine), orders_(orders), quotes_(quotes), writer_(writer), rejections_(rejects) {}

    void set_protection(const domain::command& c) noexcept;
    void reset_protection(const domain::command& c) noexcept;
    /// Withdraws the quotes of the accounts whose protection has tripped.
    void withdraw_tripped() noexcept {
        if (!quotes_.trips().empty()) [[unlikely]]
            withdraw();
    }

 private:
    void withdraw() noexcept;

    matching::engine& engine_;
    const order_directory& orders_;
    quote_table& quotes_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility
