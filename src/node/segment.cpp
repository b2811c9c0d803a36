#include "node/segment.hpp"

#include <algorithm>
#include <array>

#include "node/limits.hpp"
#include "node/segment_map.hpp"

namespace corro::node {
namespace {

std::unique_ptr<facility_thread> thread_of(io::context& context, const configuration& c,
                                           gateway::command_queue& commands) {
    if (c.threading == threading_mode::inline_) return nullptr;
    return std::make_unique<facility_thread>(context, commands, c.busy_poll, segment_queue_capacity);
}

}  // namespace

std::size_t segment_edge::accept(std::span<const domain::event> events) noexcept {
    std::array<domain::event, 64> named;
    for (std::span<const domain::event> rest = events; !rest.empty();) {
        const std::span<domain::event> piece = std::span(named).first(std::min(rest.size(), named.size()));
        std::copy_n(rest.begin(), piece.size(), piece.begin());
        for (domain::event& e : piece) {
            if (is_mark(e)) [[unlikely]]
                continue;
            segment_map::leave_segment(e, index_);
            if (domain::is_public(e.kind)) feed_.publish(e);
        }
        if (log_ != nullptr) without_marks(piece, [this](auto run) { log_->note(run); });
        merger_.accept(index_, piece);
        rest = rest.subspan(piece.size());
    }
    return events.size();
}

segment::segment(io::context& context, const configuration& c, const io::tick_clock& clock, answer_merger& merger,
                 telemetry::producer* log, std::uint32_t sessions_count)
    : own(c),
      edge_context(context),
      feed(context, c, log),
      edge(c.shard, feed, merger),
      commands(segment_queue_capacity),
      thread(thread_of(context, c, commands)),
      host(facility_options_of(c, context.runs_on()), c.instruments, clock, edge) {
    host.throttle(throttle_options_of(c), sessions_count);
    host.limit_open_orders(c.account_open_orders_max);
    if (!c.journal_directory.empty()) journal = std::make_unique<host_journal>(host_context(), context, own);
}

}  // namespace corro::node
