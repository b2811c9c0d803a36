// SPDX-License-Identifier: Apache-2.0
// Limits of the composition of a process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "facility/limits.hpp"
#include "node/venue/venue_time.hpp"

namespace corro::node {

/// Commands executed in a batch before the sockets of the same thread are served.
inline constexpr std::size_t commands_batch_max = 512;

/// Events passed on in a batch before they are sent and the sockets are served.
inline constexpr std::size_t events_batch_max = 4'096;

/// Public events between a replay and the publishing of them: 1 MiB. A power of two.
inline constexpr std::size_t feed_relay_capacity = 1U << 14U;

/// Events between the facility's thread and the thread of gateway and feed: 4 MiB, some 6,000 commands.
inline constexpr std::size_t event_ring_capacity = 1U << 16U;

/// Commands that are returned because the journal did not accept them.
inline constexpr std::size_t refusals_ring_capacity = 1U << 10U;

/// Events in the host's backlog; above half of this the host accepts no commands. The backlog grows when one command
/// causes more events.
inline constexpr std::size_t backlog_events_max = 1U << 17U;

/// The default time that an idle facility thread polls for commands before it sleeps. Longer than the pauses of a busy
/// venue, but short enough for a quiet one.
inline constexpr std::chrono::microseconds busy_poll_default{50};

/// Bytes of the newest feed messages in a snapshot: some 60,000 messages, so that subscribers that are not further
/// behind continue without a gap after a restart.
inline constexpr std::size_t snapshot_feed_bytes_max = std::size_t{4} << 20U;

/// The default number of snapshots to keep: one to start from, and two more in case it is damaged.
inline constexpr std::size_t snapshots_kept_default = 3;

/// Partitions of one venue. Their index has five bits in an order id.
inline constexpr std::size_t partitions_max = 32;

/// Characters in a partition's name, which is also the session of its feed: MoldUDP64 allows ten.
inline constexpr std::size_t partition_name_max = 10;

/// Gateway processes of one facility. The receivers of an event are bits of one word.
inline constexpr std::size_t gateways_max = 64;

/// Characters in a gateway's name.
inline constexpr std::size_t gateway_name_max = 31;
inline constexpr std::size_t fix_name_max = 64;

/// Commands in the ring to a facility's thread, from a venue of partitions or from links: 2 MiB. Their source waits
/// when it is full.
inline constexpr std::size_t partition_queue_capacity = 1U << 14U;

/// Private events of one partition that wait for answers of others; beyond this no more events are taken from it.
inline constexpr std::size_t answers_waiting_max = 1U << 16U;

/// Lost requests that a start of a venue of several partitions rejects: seconds of work, and more than can wait for a
/// disk. With more of them each session gets a share.
inline constexpr std::size_t lost_requests_max = 1U << 18U;

/// The longest time that a start waits for these rejects before it serves clients. Only a disk that hangs takes it.
inline constexpr std::chrono::milliseconds past_requests_patience{10'000};

/// Commands about its connection that a session may add to the operators' reserve of one journal segment: its logon,
/// the cancel of its orders, its end.
inline constexpr std::uint32_t connection_commands_max = 3;

/// The default number of commands between two snapshots of a running venue: few enough that a start after a crash
/// replays them in some seconds, and many enough that snapshots cost little.
inline constexpr std::uint64_t snapshot_every_default = 10'000'000;

/// Instruments that a venue may reserve: their books are made at the start, with some 100 KiB each.
inline constexpr std::uint32_t instruments_reserved_max = 10'000;

/// The default time for sessions to log on again after a start before their orders are cancelled, if they asked for
/// cancel on disconnect: longer than the pause between two attempts of a client, but shorter than a large market move.
inline constexpr std::chrono::milliseconds cancel_grace_default{10'000};

/// The interval at which a running venue compares its time with the wall clock.
inline constexpr std::chrono::milliseconds clock_look_interval{1'000};

/// The default for the largest difference of the rates of venue time and wall clock during a correction, in parts per
/// million. It corrects an offset of a second in 100 seconds and one of an hour in four days; a throttle's window is up
/// to one percent longer or shorter during that time.
inline constexpr std::uint32_t clock_slew_ppm_default = 10'000;

/// The interval at which a running venue checks whether calls on its journals' files return, and the duration after
/// which a call is reported.
inline constexpr std::chrono::milliseconds disk_look_interval{100};
inline constexpr std::chrono::milliseconds disk_notice_after{1'000};

/// The default time after which a disk that does not respond is given up: longer than the retries of controllers and
/// network file systems. The configurable minimum is a few checks.
inline constexpr std::chrono::milliseconds disk_patience_default{30'000};
inline constexpr std::chrono::milliseconds disk_patience_min{1'000};

/// The time that the end of a process waits for the event log, which may be on the hanging disk.
inline constexpr std::chrono::milliseconds log_patience{1'000};

/// The interval at which a running venue checks whether a snapshot is due.
inline constexpr std::chrono::milliseconds snapshot_look_interval{50};

static_assert(2 * std::chrono::nanoseconds(clock_look_interval).count() < venue_time::correction_ns);
static_assert(clock_slew_ppm_default <= venue_time::slew_ppm_max);
static_assert(facility::events_buffered_max < backlog_events_max / 2);

}  // namespace corro::node
