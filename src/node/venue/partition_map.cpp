// SPDX-License-Identifier: Apache-2.0
#include "node/venue/partition_map.hpp"

#include "base/assert.hpp"
#include "domain/definition.hpp"

namespace corro::node {
namespace {

using domain::command;
using domain::command_kind;
using domain::event;
using domain::event_kind;

/// The lower half of an order's id is its slot, and no partition has enough slots to reach these bits.
constexpr unsigned order_shift = 27;
constexpr std::uint64_t order_bits = std::uint64_t{partitions_max - 1} << order_shift;
constexpr unsigned trade_shift = 56;
static_assert(partitions_max == 32 && order_shift + 5 == 32);

void rename(domain::order_id& id, std::size_t partition) noexcept {
    if (id.value != 0) id.value |= std::uint64_t{partition} << order_shift;
}
void rename(domain::trade_id& id, std::size_t partition) noexcept {
    if (id.value != 0) id.value |= std::uint64_t{partition} << trade_shift;
}

[[nodiscard]] bool is_of_one_partition(const domain::query_order& q) noexcept {
    return (q.flags == 0 && q.order.value != 0) || (q.flags & domain::query_flag::behind) != 0;
}

}  // namespace

partition_map::partition_map(const configuration& c) : partitions_count_(c.partitions.size()) {
    CORRO_ASSERT(partitions_count_ != 0 && partitions_count_ <= partitions_max);
    for (const domain::instrument& i : c.instruments) define(i.id, partition_of(c, i));
}

void partition_map::define(domain::instrument_id id, std::size_t partition) {
    if (id.value >= by_instrument_.size()) by_instrument_.resize(std::size_t{id.value} + 1, nowhere);
    by_instrument_[id.value] = static_cast<std::uint8_t>(partition);
}

std::size_t partition_map::home_of(domain::order_id id) const noexcept {
    const std::size_t partition = (id.value & order_bits) >> order_shift;
    return partition < partitions_count_ ? partition : nowhere;
}

std::size_t partition_map::target_of(const command& c) const noexcept {
    const auto first_if_unknown = [](std::size_t home) { return home == nowhere ? 0 : home; };
    switch (c.kind) {
        case command_kind::enter_order:
        case command_kind::enter_quote:
        case command_kind::settle_instrument: return first_if_unknown(home_of(c.instrument));
        case command_kind::define_instrument: return first_if_unknown(home_of(domain::definition_of(c).like));
        case command_kind::amend_order:
        case command_kind::cancel_order:
            if (c.named_order().value != 0) return first_if_unknown(home_of(c.named_order()));
            return home_of(c.instrument) == nowhere ? all : home_of(c.instrument);
        case command_kind::query_order:
            if ((c.query_order().flags & domain::query_flag::positions) != 0) {
                return c.instrument.value == 0 ? all : first_if_unknown(home_of(c.instrument));
            }
            // Orders behind another one are in its partition; the answers of other partitions end with their own
            // orders.
            return is_of_one_partition(c.query_order()) ? first_if_unknown(home_of(c.named_order())) : all;
        case command_kind::cancel_orders:
        case command_kind::new_trading_day:
        case command_kind::change_phase: return c.instrument.value == 0 ? all : first_if_unknown(home_of(c.instrument));
        // One journal is enough: nothing leaves before it is there.
        case command_kind::count_messages: return 0;
        // Where its request goes, or everywhere.
        case command_kind::name_order: return home_of(c.instrument) == nowhere ? all : home_of(c.instrument);
        // Commands about an account go to all partitions.
        case command_kind::set_protection:
        case command_kind::reset_protection:
        case command_kind::set_limits:
        case command_kind::define_account:
        case command_kind::set_account_limits:
        case command_kind::kill_switch: break;
        // Each journal has it, so that a start finds it whichever journal ends first.
        case command_kind::cancel_on_disconnect: break;
        // The session may have requests in all partitions.
        case command_kind::reset_session_numbers: break;
    }
    return all;
}

void partition_map::enter_partition(command& c, std::size_t partition) noexcept {
    if (!c.names_order()) return;
    domain::order_id& named = c.named_order();
    if ((named.value & order_bits) >> order_shift == partition) named.value &= ~order_bits;
}

void partition_map::leave_partition(event& e, std::size_t partition) noexcept {
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_rejected:
        case event_kind::order_status: return rename(e.order.order, partition);
        case event_kind::request_named: return rename(e.named.order, partition);
        case event_kind::order_executed: return rename(e.execution.order, partition);
        case event_kind::trade_capture: rename(e.capture.trade, partition); return rename(e.capture.order, partition);
        case event_kind::leg_capture:
        case event_kind::leg_trade: rename(e.leg_fill.trade, partition); return rename(e.leg_fill.order, partition);
        case event_kind::order_added:
        case event_kind::order_reduced:
        case event_kind::order_deleted: return rename(e.book.order, partition);
        case event_kind::trade: return rename(e.trade.trade, partition);
        default: return;
    }
}

}  // namespace corro::node
