// Limits of the composition of a process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "facility/limits.hpp"
#include "node/venue_time.hpp"

namespace corro::node {

/// Commands executed in a row before the sockets of the same thread get their turn.
inline constexpr std::size_t commands_batch_max = 512;

/// Events passed on in a row before they are sent and the sockets get their turn.
inline constexpr std::size_t events_batch_max = 4'096;

/// Events between the facility's thread and the thread of gateway and feed: 4 MiB, some 6,000 commands.
inline constexpr std::size_t event_ring_capacity = 1U << 16U;

/// Commands on their way back because the journal did not take them.
inline constexpr std::size_t refusals_ring_capacity = 1U << 10U;

/// Events that wait for their way out; from half of it on the host takes no commands. It grows when one command causes
/// more than the rest.
inline constexpr std::size_t backlog_events_max = 1U << 17U;

/// How long an idle facility thread looks for commands before it sleeps, unless configured otherwise. Longer than the
/// pauses of a busy venue, shorter than what a quiet one should cost.
inline constexpr std::chrono::microseconds busy_poll_default{50};

/// How much of the feed's recent past goes into a snapshot: some 60,000 messages, so that subscribers who were not that
/// far behind go on without a gap after a restart.
inline constexpr std::size_t snapshot_feed_bytes_max = std::size_t{4} << 20U;

/// Snapshots that stay beside the journal unless configured otherwise: one to start from, and two more in case it is
/// damaged.
inline constexpr std::size_t snapshots_kept_default = 3;

/// Segments of one venue. Their number stands in five bits of every order's id.
inline constexpr std::size_t segments_max = 32;

/// Characters in a segment's name, which is also the session of its feed: MoldUDP64 has room for ten.
inline constexpr std::size_t segment_name_max = 10;

/// Processes that serve the sessions of one facility. Who hears of an event is told by bits of one word.
inline constexpr std::size_t gateways_max = 64;

/// Characters in a gateway's name.
inline constexpr std::size_t gateway_name_max = 31;

/// Commands on the way to a facility's thread from a venue of segments or from links: 2 MiB. Their source waits behind.
inline constexpr std::size_t segment_queue_capacity = 1U << 14U;

/// Private events of one segment that wait for other segments' answers before nothing more is taken from it.
inline constexpr std::size_t answers_waiting_max = 1U << 16U;

/// Requests that a start of a venue of several segments refuses because they may have been lost: seconds of work, and
/// more than wait for a disk. Of more than these, each session gets its part.
inline constexpr std::size_t lost_requests_max = 1U << 18U;

/// Commands about its connection that a session may put into the room for operators, of one segment of the journal: it
/// comes, its orders are cancelled, it has gone.
inline constexpr std::uint32_t connection_commands_max = 3;

/// Commands between two snapshots of a venue that runs, unless configured otherwise: as many as are replayed in some
/// seconds, which then is what a start after a crash takes; and seldom enough that making them costs little.
inline constexpr std::uint64_t snapshot_every_default = 10'000'000;

/// Instruments that a venue may keep room for: their books are made at the start, of some 100 KiB each.
inline constexpr std::uint32_t instruments_reserved_max = 10'000;

/// How long sessions may take to come back after a start before their orders are cancelled, if they asked for that and
/// unless configured otherwise: longer than clients wait between two attempts, shorter than a market moves far.
inline constexpr std::chrono::milliseconds cancel_grace_default{10'000};

/// How often a venue that runs compares its time with the wall clock.
inline constexpr std::chrono::milliseconds clock_look_interval{1'000};

/// By how much the rate of venue time may differ from the wall clock's while it comes back to it, in parts per million:
/// an offset of a second is gone after 100 seconds, one of an hour after four days, and a throttle's window is one
/// percent longer or shorter meanwhile.
inline constexpr std::uint32_t clock_slew_ppm_default = 10'000;

/// How often a venue that runs looks whether the calls on its journals' files return, and how long one may take before
/// it is reported.
inline constexpr std::chrono::milliseconds disk_look_interval{100};
inline constexpr std::chrono::milliseconds disk_notice_after{1'000};

/// How long a call on the journal's files may take before the disk is taken for broken, unless configured otherwise:
/// longer than controllers and network file systems take for their own retries. The least that may be configured is a
/// few looks.
inline constexpr std::chrono::milliseconds disk_patience_default{30'000};
inline constexpr std::chrono::milliseconds disk_patience_min{1'000};

/// How long the end of a process waits for the event log, which may be on the disk that hangs.
inline constexpr std::chrono::milliseconds log_patience{1'000};

/// How often a venue that runs looks whether a snapshot is due.
inline constexpr std::chrono::milliseconds snapshot_look_interval{50};

static_assert(2 * std::chrono::nanoseconds(clock_look_interval).count() < venue_time::correction_ns);
static_assert(clock_slew_ppm_default <= venue_time::slew_ppm_max);
static_assert(facility::events_buffered_max < backlog_events_max / 2);

}  // namespace corro::node
