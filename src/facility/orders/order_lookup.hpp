// SPDX-License-Identifier: Apache-2.0
// Finds the order that a command names, and prefetches the orders of coming commands.
#pragma once

#include <cstdint>
#include <span>

#include "domain/command.hpp"
#include "domain/prefetch_hint.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/limits.hpp"
#include "facility/orders/order_directory.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

class order_lookup {
 public:
    static constexpr std::uint32_t none = 0xffffffffU;
    /// The slot of an order, or a reject reason.
    struct result {
        std::uint32_t slot = none;
        domain::reject_reason reason = domain::reject_reason::none;
    };

    order_lookup(const matching::engine& engine, const order_directory& orders) : engine_(engine), orders_(orders) {}

    /// The open order that a command names by its id or, without one, by a request or by its `client_order`.
    [[nodiscard]] result find(const domain::command& c, domain::order_id order,
                              std::uint32_t target_request) const noexcept {
        return order.value != 0 ? find_by_id(c, order) : find_by_name(c, target_request);
    }
    /// facility::expect.
    void prefetch(std::span<domain::prefetch_hint> coming) const noexcept;
    /// How many of the commands that wait have their memory fetched.
    enum class reach : std::uint8_t { none, one, all };
    [[nodiscard]] reach reach_now() const noexcept {
        const std::uint32_t open = engine_.open_orders_count();
        return open < look_ahead_one_orders_min ? reach::none : open < look_ahead_orders_min ? reach::one : reach::all;
    }
    /// facility::look_ahead.
    [[gnu::always_inline]] void look_ahead(reach r, std::span<const domain::command> waiting,
                                           const instrument_table& instruments) noexcept {
        if (r == reach::all) return look_at_all(waiting, instruments);
        if (r == reach::one && waiting.size() > 1) {
            ++steps_;
            look_at(waiting[1]);
        }
    }
    /// Looks at commands since the facility was made.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_; }

 private:
    [[nodiscard]] result find_by_id(const domain::command& c, domain::order_id order) const noexcept {
        using domain::reject_reason;
        if (!engine_.is_open(order)) {
            return {none, engine_.was_issued(order) ? reject_reason::order_not_open : reject_reason::unknown_order};
        }
        const std::uint32_t slot = matching::engine::slot_of(order);
        const order_record& record = orders_[slot];
        if (record.account != c.account) return {none, reject_reason::unknown_order};
        if ((record.flags & quote_mark) != 0) return {none, reject_reason::order_is_quote};
        return {slot, reject_reason::none};
    }
    [[nodiscard]] result find_by_name(const domain::command& c, std::uint32_t target_request) const noexcept;
    /// Prefetches what a command reads first.
    [[gnu::always_inline]] void look_at(const domain::command& c) const noexcept {
        if (c.kind == domain::command_kind::enter_order) {
            orders_.prefetch_name(c.account, c.client_order);
            orders_.prefetch_request(c.session, c.request());
        } else if (c.kind == domain::command_kind::cancel_order || c.kind == domain::command_kind::amend_order) {
            if (c.named_order().value == 0) {
                if (c.named_request() == 0) return orders_.prefetch_name(c.account, c.client_order);
                return orders_.prefetch_request(c.session, c.named_request());
            }
            const std::uint32_t slot = engine_.likely_slot_of(c.named_order());
            if (slot != none) engine_.prefetch(slot);
        }
    }
    void look_at_all(std::span<const domain::command> waiting, const instrument_table& instruments) noexcept;
    template <int Step>
    void fetch(const domain::command& c, const instrument_table& instruments) noexcept;

    const matching::engine& engine_;
    const order_directory& orders_;
    // The commands that wait, as of the last look ahead: other ones are a new queue. Never dereferenced.
    const domain::command* next_ = nullptr;
    const domain::command* end_ = nullptr;
    std::uint64_t steps_ = 0;
};

}  // namespace corro::facility
