// SPDX-License-Identifier: Apache-2.0
// The messages between a facility and a gateway over their link.
//
// Both must run on one machine and have the same build, or they refuse each other: records have their memory
// layout, and the greeting contains that layout, the venue, its instruments and sessions. Before the greetings both
// ends prove that they have the link's secret: node/links/link_handshake.hpp.
//
// Layout: a frame is its payload's size (4 bytes) and kind (4 bytes), little-endian, and the payload: any number of
//         records of that kind.
// Limits: link_frame_bytes_max.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "node/configuration/configuration.hpp"
#include "node/configuration/limits.hpp"
#include "wire/authentication.hpp"

namespace corro::node {

enum class link_message : std::uint32_t {
    greeting = 1,      ///< proven_greeting; the second in both directions, the gateway's before the facility's
    refusal = 2,       ///< a proof and a sentence; the link ends. The configurations do not fit. Without the proof: the
                       ///< versions differ
    busy = 3,          ///< a sentence; the link ends. Another gateway of this name is connected; retry
    answers = 4,       ///< to the gateway: a piece of gateway::answer_log, saved; that of its sessions
    answers_end = 5,   ///< to the gateway: the end of the answers; later ones follow
    commands = 6,      ///< to the facility: domain::command
    events = 9,        ///< to the gateway: private domain::event
    answered = 10,     ///< to the gateway: 8 bytes, the number of the link's answered commands
    overloaded = 11,   ///< to the gateway: domain::command that was not accepted
    heartbeat = 12,    ///< in both directions, empty: no other message was sent for a while
    definition = 13,   ///< to the gateway: linked_instrument, one that was defined while the venue ran
    question = 14,     ///< to the facility: gateway::admin_request
    reply = 15,        ///< to the gateway: gateway::admin_reply
    noted_cancel = 7,  ///< to the gateway: noted_cancel; one of its sessions has a cancel on disconnect
    hello = 16,        ///< link_hello; the first in both directions, the gateway's before the facility's
    unauthenticated_connection =
        17,               ///< to the gateway: a sentence; the link ends. The gateway has not proved the secret
    read_again = 18,      ///< to the facility: link_greeting; the gateway has read its configuration again
    journal_failed = 19,  ///< to the gateway, empty: the facility accepts no more commands
};

inline constexpr std::uint64_t link_magic = 0x4b4e'494c'4f52'5243;  // "CRROLINK"
inline constexpr std::uint32_t link_version = 9;

inline constexpr std::size_t link_head_bytes = 8;

/// The largest payload from a peer that has not proved the link's secret.
inline constexpr std::size_t link_stranger_frame_bytes_max = 1'024;

/// Connections to a facility's link that have not proved the secret. A further one evicts the oldest.
inline constexpr std::size_t link_strangers_max = 32;

/// The largest payload. About as much as one read of the kernel's buffer.
inline constexpr std::size_t link_frame_bytes_max = 256 * 1024;

/// Bytes that wait to be sent; above this a process accepts no input that would add more.
inline constexpr std::size_t link_waiting_bytes_max = 4 * 1024 * 1024;

/// Bytes that wait to be sent to one gateway; above this it counts as dead. Commands of other gateways fill this
/// backlog, and they must not wait for a gateway that does not read. A million events.
inline constexpr std::size_t link_backlog_bytes_max = 64 * 1024 * 1024;

/// The time limit for a peer's greeting, and for sending the last bytes.
inline constexpr std::chrono::milliseconds link_patience{2'000};

/// The interval at which each side checks what was sent and received. A side that has sent nothing since the last check
/// sends a heartbeat.
inline constexpr std::chrono::milliseconds link_look_interval{250};

/// Checks without a message after which the peer counts as dead: between 2.75 and 3 seconds. Only this detects a
/// stopped process or an unreachable machine; a working process is never silent for so long.
inline constexpr std::uint32_t link_silent_looks_max = 12;

/// The pause between two attempts of a gateway to connect to the facility.
inline constexpr std::chrono::milliseconds link_retry_interval{50};

/// A cancel on disconnect from before the facility's start, which waits for the session's logon.
struct noted_cancel {
    domain::session_id session{};
    domain::account_id account{};
};

struct link_greeting {
    std::uint64_t magic = 0;
    std::uint32_t version = 0;
    std::uint32_t sessions_count = 0;
    std::uint64_t layout = 0;        ///< of the records
    std::uint64_t instruments = 0;   ///< domain::fingerprint_of
    std::uint64_t accounts = 0;      ///< of the accounts and their sessions
    std::uint64_t keys = 0;          ///< of all accounts
    std::uint64_t epoch = 0;         ///< from the facility: the epoch of its journal; 0 for none
    std::uint64_t life = 0;          ///< from the facility: a random id of its process
    std::array<std::byte, 16> id{};  ///< from the facility: the venue's id from its journal; zeros for none
    std::array<char, 16> venue{};
    std::array<char, gateway_name_max + 1> gateway{};  ///< the gateway's name; it ends with a zero
};
static_assert(std::has_unique_object_representations_v<link_greeting>, "a proof covers its bytes");

/// A greeting and the proof that its sender has the link's secret.
struct proven_greeting {
    link_greeting greeting;
    wire::proof proof{};
};

/// @throws configuration_error when the configuration has no secret for links.
void require_link_secret(const configuration& c);

/// The greeting of a process with this configuration. The facility fills in epoch, life and id.
[[nodiscard]] link_greeting greeting_of(const configuration& c);

/// Why the two are incompatible, as a sentence; empty when they are compatible. Does not compare the gateway's name.
[[nodiscard]] std::string mismatch(const link_greeting& ours, const link_greeting& theirs);

}  // namespace corro::node
