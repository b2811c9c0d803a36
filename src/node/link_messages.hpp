// What the processes of a facility and of a gateway say to each other over their link.
//
// Both run on one machine and are of one build, or they refuse each other: records are what they are in memory, and
// the greeting says how that is laid out, for which venue, instruments and sessions. Before the greetings both ends
// prove that they have the link's secret: node/link_handshake.hpp.
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

#include "node/configuration.hpp"
#include "node/limits.hpp"
#include "wire/authentication.hpp"

namespace corro::node {

enum class link_message : std::uint32_t {
    greeting = 1,      ///< proven_greeting; the second in both directions, the gateway's before the facility's
    refusal = 2,       ///< a proof and a sentence; the link ends. The configurations do not fit. Without the proof: the
                       ///< versions differ
    busy = 3,          ///< a sentence; the link ends. Another gateway of this name is there; try again
    answers = 4,       ///< to the gateway: a piece of gateway::answer_log, saved; that of its sessions
    answers_end = 5,   ///< to the gateway: that was all of it; what follows comes after it
    commands = 6,      ///< to the facility: domain::command
    events = 9,        ///< to the gateway: private domain::event
    answered = 10,     ///< to the gateway: 8 bytes, so many of the link's commands are answered
    turned_away = 11,  ///< to the gateway: domain::command that was not taken
    heartbeat = 12,    ///< in both directions, empty: nothing else was said for a while
    definition = 13,   ///< to the gateway: domain::instrument, one that was defined while the venue ran
    question = 14,     ///< to the facility: gateway::admin_request
    reply = 15,        ///< to the gateway: gateway::admin_reply
    noted_cancel = 7,  ///< to the gateway: noted_cancel; a session of it comes back to a cancel on disconnect
    hello = 16,        ///< link_hello; the first in both directions, the gateway's before the facility's
    unauthenticated_connection =
        17,               ///< to the gateway: a sentence; the link ends. The gateway has not proved the secret
    read_again = 18,      ///< to the facility: link_greeting; the gateway has read its configuration again
    journal_failed = 19,  ///< to the gateway, empty: the facility takes nothing any more
};

inline constexpr std::uint64_t link_magic = 0x4b4e'494c'4f52'5243;  // "CRROLINK"
inline constexpr std::uint32_t link_version = 8;

inline constexpr std::size_t link_head_bytes = 8;

/// The largest payload that is read from a peer that has not proved the link's secret.
inline constexpr std::size_t link_stranger_frame_bytes_max = 1'024;

/// Connections to a facility's link that have not proved the secret. One more ends the oldest of them.
inline constexpr std::size_t link_strangers_max = 32;

/// The largest payload. One read of the kernel's buffer brings about as much.
inline constexpr std::size_t link_frame_bytes_max = 256 * 1024;

/// Bytes that wait to leave before a process takes no more of what would cause more.
inline constexpr std::size_t link_waiting_bytes_max = 4 * 1024 * 1024;

/// Bytes that wait to leave to one gateway before the facility takes it for dead: what others do fills this, and they
/// are not held up for a gateway that does not read. A million events.
inline constexpr std::size_t link_backlog_bytes_max = 64 * 1024 * 1024;

/// How long a peer may take to greet, and the last bytes to leave.
inline constexpr std::chrono::milliseconds link_patience{2'000};

/// How often each side looks whether anything was said and heard. Who said nothing since the last look says that he is
/// there.
inline constexpr std::chrono::milliseconds link_look_interval{250};

/// Looks without a word after which the peer is taken for dead: between 2.75 and 3 seconds. A process that is stopped,
/// or whose machine cannot be reached, is noticed by this alone; and none stays away from its link for so long.
inline constexpr std::uint32_t link_silent_looks_max = 12;

/// How long a gateway waits between two attempts to reach the facility.
inline constexpr std::chrono::milliseconds link_retry_interval{50};

/// A cancel on disconnect that stands at the facility from before its start, until the session logs on.
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
    std::uint64_t accounts = 0;      ///< who has which sessions
    std::uint64_t keys = 0;          ///< of all accounts
    std::uint64_t epoch = 0;         ///< the facility's: of its journal; 0 for none
    std::uint64_t life = 0;          ///< the facility's: a number by chance, which no other process has
    std::array<std::byte, 16> id{};  ///< the facility's: of the venue, from its journal; zeros for none
    std::array<char, 16> venue{};
    std::array<char, gateway_name_max + 1> gateway{};  ///< the gateway's name; it ends with a zero
};
static_assert(std::has_unique_object_representations_v<link_greeting>, "its bytes are what a proof is of");

/// A greeting and the proof that who sends it has the link's secret.
struct proven_greeting {
    link_greeting greeting;
    wire::proof proof{};
};

/// @throws configuration_error when the configuration has no secret for links.
void require_link_secret(const configuration& c);

/// What a process with this configuration says. Epoch, life and id are the facility's to fill in.
[[nodiscard]] link_greeting greeting_of(const configuration& c);

/// Why the two cannot work together, as a sentence; empty when they can.
/// Nothing is said of the gateway's name here.
[[nodiscard]] std::string mismatch(const link_greeting& ours, const link_greeting& theirs);

}  // namespace corro::node
