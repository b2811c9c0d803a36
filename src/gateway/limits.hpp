// SPDX-License-Identifier: Apache-2.0
// Limits of the order-entry gateway. Each has its reason; the configuration may lower but not raise those ending in
// _max.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::gateway {

/// Connections at once, logged on or not. Ten thousand sessions plus room for connections that have not logged on yet.
inline constexpr std::uint32_t connections_max = 12'000;

/// Connections that have not logged on yet. A newcomer beyond it takes the place of the oldest, so that silent
/// connections can neither use up the descriptors of the others nor keep out a client that has a key.
inline constexpr std::uint32_t strangers_max = 4'000;

/// Of these from one address. A program that opens all its sessions at once has 1,000 under way.
inline constexpr std::uint32_t strangers_per_address_max = 1'024;

/// Of these, at most a quarter, for addresses from which a session has logged on; and the number of addresses that
/// are remembered.
inline constexpr std::uint32_t strangers_reserved = strangers_max / 4;
inline constexpr std::uint32_t proven_addresses_max = 4'096;

/// Largest account id. The facility indexes accounts by their id, so ids are small numbers.
inline constexpr std::uint32_t account_id_max = 1'000'000;

/// How long a connection may take from accept to a correct hello.
inline constexpr std::chrono::milliseconds logon_timeout{5'000};

/// Keys that an account may have at once: the one in use, the next one, and two of programs that change theirs later.
inline constexpr std::size_t account_keys_max = 4;

/// Wrong proofs from one address, or for one account, whose refusals are not held back: typing errors.
inline constexpr std::uint32_t wrong_proofs_free = 3;
/// How long the next one waits; twice as long for each one more, up to the bound, which is shorter than logon_timeout.
inline constexpr std::chrono::milliseconds wrong_proof_wait{50};
inline constexpr std::chrono::milliseconds wrong_proof_wait_max{3'200};
/// Time after which one wrong proof is forgiven, and the most that are counted.
inline constexpr std::chrono::milliseconds wrong_proof_forgiven{2'000};
inline constexpr std::uint32_t wrong_proofs_counted_max = 32;
/// Entries in each of the two tables, by address and by account: 128 KiB together.
inline constexpr std::size_t wrong_proofs_places = 4'096;

/// Heartbeat intervals that a client may ask for. Shorter ones cost too much, longer ones hide a dead peer.
inline constexpr std::chrono::milliseconds heartbeat_interval_min{100};
inline constexpr std::chrono::milliseconds heartbeat_interval_max{60'000};

/// A peer that was silent for this many of its intervals is cut off, within a quarter of an interval more.
inline constexpr std::uint32_t silent_intervals_max = 2;

/// Bytes in either direction for a connection that has not logged on: one frame of any message, and the few that the
/// venue sends to it.
inline constexpr std::size_t stranger_buffer_bytes = 1'024;

/// Connections without a place that are sent the reason although that takes a while, each `farewell_timeout` at most:
/// over TLS or a WebSocket, or in the response to the request for one. Others are closed without a message.
inline constexpr std::uint32_t farewells_max = 64;

/// Handshakes of TLS under way, in all and from one address. Each takes up some 110 KB.
inline constexpr std::uint32_t handshakes_max = 1'024;
inline constexpr std::uint32_t handshakes_per_address_max = 512;

/// Steps of handshakes that are computed in a window, of all connections together. A handshake has two or three, of
/// which one takes 0.1 ms with an ECDSA certificate and 1 ms with RSA: unauthenticated
/// connections get this part of the thread's time and no more.
inline constexpr std::uint32_t handshake_steps_max = 400;
inline constexpr std::chrono::milliseconds handshake_window{1'000};

/// From the end of a step to the next: the thread serves all other connections meanwhile.
inline constexpr std::chrono::microseconds handshake_apart{1'000};

/// Steps that one connection may take for its handshake. A client that sends its hello in many small pieces is not a
/// client.
inline constexpr std::uint32_t handshake_steps_of_one_max = 12;

/// Bytes read at once from one session. Also bounds how many requests of one session run before the others get a turn.
inline constexpr std::size_t input_buffer_bytes = 16 * 1024;

/// The longest WebSocket message that a client may send. A message is a piece of the session's bytes, whole frames or
/// not; one that is as long as what is read at once from a socket loses nothing.
inline constexpr std::size_t websocket_message_bytes_max = 64 * 1024;

/// Bytes of answers that wait for a slow session before it is cut off. 512 KiB hold 5,000 answers.
inline constexpr std::size_t output_buffer_bytes = 512 * 1024;

/// Answers kept for clients that come back, 64 bytes each: of one session, and of all together. A session with
/// 10,000 answers a second may be away for a second and a half and miss nothing.
inline constexpr std::size_t session_answers_kept_max = 16 * 1024;
inline constexpr std::size_t answers_kept_max = 1024 * 1024;

/// Answers that are sent again in one turn of the loop, to all sessions together: a client that asks for its past costs
/// the others some ten microseconds in a row.
inline constexpr std::uint32_t answers_per_turn_max = 128;

/// Logons of one session in a window. A client whose connection breaks every second has two to spare. One that logs on
/// again and again to get its past is refused until the window has passed.
inline constexpr std::uint32_t logons_max = 32;
inline constexpr std::chrono::milliseconds logons_window{30'000};

/// The last number that a request may have, and how many numbers before the end are kept for requests that cancel: a
/// client whose numbers end can still cancel its orders, one after the other, and make a few mistakes.
inline constexpr std::uint64_t request_number_max = UINT32_MAX;
inline constexpr std::uint64_t request_numbers_for_cancels = std::uint64_t{1} << 16;

/// How often a gateway compares the clock with the schedule of session days.
inline constexpr std::chrono::milliseconds day_look_interval{1'000};

/// Requests that wait between all gateways and the facility.
inline constexpr std::size_t command_queue_capacity = 1U << 16U;

/// How long the last messages of a session may take to leave.
inline constexpr std::chrono::milliseconds farewell_timeout{1'000};

static_assert(handshake_steps_max * handshake_apart < handshake_window);
/// How often a gateway looks whether a crowd has left, and how many connections are a crowd: after it, unused memory
/// goes back to the system.
inline constexpr std::chrono::milliseconds crowd_look_interval{1'000};
inline constexpr std::uint32_t crowd_connections_min = 256;

static_assert(handshakes_per_address_max < handshakes_max && handshakes_max <= strangers_max);
static_assert(strangers_per_address_max <= strangers_max - strangers_reserved, "one address is not all");
static_assert(strangers_max < connections_max, "unauthenticated connections leave room for sessions");
static_assert(session_answers_kept_max <= answers_kept_max, "one session's answers fit the memory of all");
static_assert(input_buffer_bytes / 32 < command_queue_capacity, "one read of one session always fits the queue");

}  // namespace corro::gateway
