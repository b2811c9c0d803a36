#include "node/matching_host.hpp"

#include <chrono>

#include "base/assert.hpp"
#include "node/limits.hpp"

namespace corro::node {

matching_host::matching_host(const facility::facility_options& options, std::span<const domain::instrument> instruments,
                             const base::tsc_clock& clock, event_outlet& outlet)
    : clock_(clock),
      outlet_(outlet),
      start_ticks_(clock.now_ticks()),
      start_ns_(
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()),
      backlog_(backlog_events_max),
      facility_(options, instruments, *this) {}

bool matching_host::has_room() const noexcept {
    return backlog_.size() < backlog_events_max / 2;
}

void matching_host::execute(domain::command& command) noexcept {
    CORRO_ASSERT(has_room(), "a host is asked before it is given a command");
    command.sequence = domain::sequence_number{++sequence_};
    const std::uint64_t elapsed_ns = clock_.between_ns(start_ticks_, clock_.now_ticks());
    command.time = domain::time_ns{start_ns_ + static_cast<std::int64_t>(elapsed_ns)};
    facility_.apply(command);
}

void matching_host::consume(std::span<const domain::event> events) noexcept {
    emitted_count_ += events.size();
    std::size_t taken = 0;
    if (backlog_.empty()) [[likely]] {
        taken = outlet_.accept(events);
        if (taken == events.size()) [[likely]]
            return;
    }
    backlog_.push(events.subspan(taken));
}

void matching_host::release() noexcept {
    while (!backlog_.empty()) {
        const std::span<const domain::event> oldest = backlog_.front();
        const std::size_t taken = outlet_.accept(oldest);
        backlog_.pop(taken);
        if (taken != oldest.size()) return;
    }
}

}  // namespace corro::node
