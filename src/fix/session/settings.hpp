// SPDX-License-Identifier: Apache-2.0
// What two ends of a FIX session agree on, and how strict this end is.
//
// Source: FIX session layer, sections "Session identification" and "Establishing a FIX connection".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fix/codec/message_writer.hpp"
#include "fix/dictionary/validator.hpp"
#include "fix/session/schedule.hpp"

namespace corro::fix {

class session_scratch;

/// Which end connects, and sends its Logon first.
enum class session_side : std::uint8_t { acceptor, initiator };

/// What a session does where engines differ.
enum class session_style : std::uint8_t {
    corro,
    /// The order of checks, the texts and the ends of QuickFIX: for peers and tests that expect them. The guide has the
    /// table of differences.
    quickfix,
};

/// The names of a session, from this end. Empty ones are not sent and not compared.
struct session_identity {
    std::string begin_string = "FIX.4.4";  ///< BeginString (8), at most begin_string_bytes_max
    std::string sender_comp_id;            ///< SenderCompID (49) of what this end sends
    std::string sender_sub_id;             ///< SenderSubID (50)
    std::string sender_location_id;        ///< SenderLocationID (142)
    std::string target_comp_id;            ///< TargetCompID (56)
    std::string target_sub_id;             ///< TargetSubID (57)
    std::string target_location_id;        ///< TargetLocationID (143)
    std::string default_appl_ver_id;  ///< DefaultApplVerID (1137): sent in the Logon of FIXT.1.1, "9" for FIX 5.0 SP2

    friend bool operator==(const session_identity&, const session_identity&) = default;
};

/// The settings of one end.
struct session_settings {
    session_side side = session_side::acceptor;  ///< of this end
    session_identity identity;                   ///< sender is this end, target is the peer
    /// HeartBtInt (108) of an initiator; an acceptor takes the peer's. 0: none.
    std::chrono::seconds heartbeat{30};
    /// A message whose SendingTime (52) is further from this end's time of day is refused. 0: any is accepted.
    std::chrono::seconds sending_time_tolerance{120};
    std::chrono::milliseconds logon_timeout{10'000};  ///< for the peer's Logon, or its answer to this end's
    std::chrono::milliseconds logout_timeout{2'000};  ///< for the answer to a Logout
    session_style style = session_style::corro;       ///< where engines differ
    /// Of SendingTime (52); in QuickFIX's style of all times.
    time_precision precision = time_precision::milliseconds;
    bool resets_on_logon = false;       ///< an initiator sends ResetSeqNumFlag (141); an acceptor resets for it, and in
                                        ///< QuickFIX's style for each Logon
    bool resets_on_logout = false;      ///< both numbers begin at 1 behind a Logout
    bool resets_on_disconnect = false;  ///< both numbers begin at 1 behind the end of the connection
    bool sends_next_expected = false;   ///< NextExpectedMsgSeqNum (789) in the Logon
    /// When the session is open: outside of it there is no Logon, at its end a Logout, and with the next period both
    /// numbers begin at 1. Empty: always, with the same numbers.
    std::optional<session_schedule> schedule;
    std::size_t messages_kept_max = 1'024;      ///< behind a gap; those beyond are dropped, and come with the resend
    std::size_t bytes_kept_max = 1024U * 1024;  ///< the same in bytes
    /// Whether the peer's messages are rejected for the order of their fields, for tags that are there twice, and for
    /// groups that count other than they have, with a dictionary or without. @see check_structure.
    bool checks_structure = false;
    /// How many messages one ResendRequest (2) asks for at most: the parts of a longer gap are asked for one behind the
    /// other. 0: any number.
    std::uint64_t resend_request_max = 0;
    /// The dictionaries that the peer's messages are checked against; nullptr: the application checks them. May be
    /// shared by any number of sessions.
    std::shared_ptr<const validation> checked_by;
    /// Memory for one message, shared with other sessions of the thread; outlives them. A message that was taken is
    /// then valid until any of them takes another one, and one that is begun is sent before any of them begins another
    /// one. nullptr: the session has its own.
    session_scratch* scratch = nullptr;
};

}  // namespace corro::fix
