// What the gateway asks for an operator, about the venue and not about the market: how it is, and whether a snapshot
// can be made. The gateway knows the sessions and their rights; what stands behind it is known to whoever implements
// the desk, in this process or in another.
//
// Layout: questions and answers are plain bytes, because they travel between processes of one build.
// Units:  sequence numbers of the venue. Threads: the gateway's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "domain/types.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::gateway {

enum class admin_request_kind : std::uint8_t { status, snapshot };

struct admin_request {
    std::uint64_t question = 0;  ///< the operator's number for it
    std::uint64_t logon = 0;     ///< of the session; an answer is for nobody who logged on later
    domain::session_id session{};
    domain::instrument_id instrument{};  ///< whose phase is wanted; 0: none
    admin_request_kind wish = admin_request_kind::status;
};
static_assert(std::is_trivially_copyable_v<admin_request>);

/// How a venue is, or one of its segments, beside its gateway.
struct venue_report {
    std::uint64_t last_command = 0;      ///< sequenced
    std::uint64_t durable_command = 0;   ///< 0 without a journal
    std::uint64_t snapshot_command = 0;  ///< in the newest snapshot; 0 when there is none
    std::uint64_t feed_sequence = 1;     ///< of the feed's next message
    domain::instrument_id instrument{};  ///< the one that was asked for; 0 when it is not here
    domain::trading_phase phase = domain::trading_phase::continuous;
    wire::journal_state journal = wire::journal_state::no_journal;
    std::uint8_t segment = 0;
    std::uint8_t segments_count = 1;
};

struct admin_reply {
    admin_request to;
    venue_report venue;
    wire::snapshot_outcome outcome = wire::snapshot_outcome::begun;  ///< of a wish for a snapshot
};
static_assert(std::is_trivially_copyable_v<admin_reply>);

struct admin_service {
    /// Takes a question of a session with the operator's right. It is answered by
    /// order_entry_gateway::deliver_admin_reply, before this returns or later, a status once for each segment.
    /// @return  none, or why there is no answer.
    [[nodiscard]] virtual wire::session_reject_reason ask(const admin_request& question) = 0;

 protected:
    ~admin_service() = default;
};

}  // namespace corro::gateway
