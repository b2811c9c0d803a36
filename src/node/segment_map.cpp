#include "node/segment_map.hpp"

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
constexpr std::uint64_t order_bits = std::uint64_t{segments_max - 1} << order_shift;
constexpr unsigned trade_shift = 56;
static_assert(segments_max == 32 && order_shift + 5 == 32);

void rename(domain::order_id& id, std::size_t segment) noexcept {
    if (id.value != 0) id.value |= std::uint64_t{segment} << order_shift;
}
void rename(domain::trade_id& id, std::size_t segment) noexcept {
    if (id.value != 0) id.value |= std::uint64_t{segment} << trade_shift;
}

[[nodiscard]] bool is_of_one_partition(const domain::query_order& q) noexcept {
    return (q.flags == 0 && q.order.value != 0) || (q.flags & domain::query_flag::behind) != 0;
}

}  // namespace

segment_map::segment_map(const configuration& c) : segments_count_(c.segments.size()) {
    CORRO_ASSERT(segments_count_ != 0 && segments_count_ <= segments_max);
    for (const domain::instrument& i : c.instruments) {
        if (i.id.value >= by_instrument_.size()) by_instrument_.resize(std::size_t{i.id.value} + 1, nowhere);
        by_instrument_[i.id.value] = static_cast<std::uint8_t>(segment_of(c, i));
    }
}

std::size_t segment_map::home_of(domain::order_id id) const noexcept {
    const std::size_t segment = (id.value & order_bits) >> order_shift;
    return segment < segments_count_ ? segment : nowhere;
}

std::size_t segment_map::target_of(const command& c) const noexcept {
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
            // Orders behind another one are in its partition; the answers of other partitions end with their own
            // orders.
            return is_of_one_partition(c.query_order()) ? first_if_unknown(home_of(c.named_order())) : all;
        case command_kind::cancel_orders:
        case command_kind::new_trading_day:
        case command_kind::change_phase: return c.instrument.value == 0 ? all : first_if_unknown(home_of(c.instrument));
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

void segment_map::enter_segment(command& c, std::size_t segment) noexcept {
    if (!c.names_order()) return;
    domain::order_id& named = c.named_order();
    if ((named.value & order_bits) >> order_shift == segment) named.value &= ~order_bits;
}

void segment_map::leave_segment(event& e, std::size_t segment) noexcept {
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_rejected:
        case event_kind::order_status: return rename(e.order.order, segment);
        case event_kind::order_executed: return rename(e.execution.order, segment);
        case event_kind::trade_capture: rename(e.capture.trade, segment); return rename(e.capture.order, segment);
        case event_kind::leg_capture:
        case event_kind::leg_trade: rename(e.leg_fill.trade, segment); return rename(e.leg_fill.order, segment);
        case event_kind::order_added:
        case event_kind::order_reduced:
        case event_kind::order_deleted: return rename(e.book.order, segment);
        case event_kind::trade: return rename(e.trade.trade, segment);
        default: return;
    }
}

}  // namespace corro::node
