// SPDX-License-Identifier: Apache-2.0
// Test support: plays scripts of what a peer sends and what a session must answer.
//
// A file holds scripts. A script has a line for each step; # begins a comment.
//
//   script NAME                 begins one
//   clause TEXT                 the rule that it tests, and where it stands
//   with NAME=VALUE ...         settings: side, begin_string, heartbeat, reset_on_logon, reset_on_logout,
//                               reset_on_disconnect, next_expected, tolerance, kept, sub_ids, style, structure,
//                               dictionary (yes, user_fields, fixt), schedule (HH:MM-HH:MM, UTC); and the numbers
//                               before: sent, received
//   connect                     the connection is there
//   send BODY                   the peer sends a message. Missing fields 49, 52 and 56 are added
//   send_from A B BODY          the same with other CompIDs
//   send_as BEGIN_STRING BODY   the same with another BeginString
//   raw TEXT                    the peer sends these bytes
//   expect BODY                 the session sends this next. Fields 49, 52 and 56 are compared if they are given
//   deliver BODY                the application gets this next
//   version TEXT                the application's version of the message that it has got last
//   application BODY            the application sends this
//   reject REASON TAG           the application rejects the last message
//   business_reject REASON TEXT the application rejects the last message
//   refuse TEXT                 the next Logon is refused
//   log_out TEXT                the application logs out
//   wait SECONDS                time passes
//   clock SECONDS               the time of day jumps
//   disconnect                  the peer closes the connection
//   closed                      the session closes it
//   numbers SENT RECEIVED       the next numbers
//
// SOH is written as |. What the session sends or delivers and the script does not name is a failure.
#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fix/session/message_store.hpp"
#include "fix/session/session.hpp"

namespace corro::fix::testing {

struct script_line {
    std::size_t number = 0;
    std::string verb;
    std::string rest;
};

struct script {
    std::string name;
    std::string clause;
    std::string file;
    std::vector<script_line> lines;
};

/// For GoogleTest's messages.
void PrintTo(const script& one, std::ostream* out);

/// The first word, and the rest behind spaces.
[[nodiscard]] std::pair<std::string, std::string> split(std::string_view text);

/// The same rules for the other end: of the acceptors' scripts, those in which the peer logs on first and once become
/// scripts in which the session does, unless they have side=acceptor.
[[nodiscard]] std::vector<script> with_initiators(const std::vector<script>& all);

/// What a broken session does; for controls.
enum class breakage : std::uint8_t { none, drops_a_message, changes_a_message, drops_a_delivery, stays_connected };

class script_player {
 public:
    explicit script_player(const script& played, breakage how = breakage::none, std::size_t broken_at = 0);

    /// Plays it. @return The failures, in words; empty if there is none.
    [[nodiscard]] std::vector<std::string> play();
    /// What a broken session can break: messages sent, deliveries, ends.
    [[nodiscard]] std::size_t count_of(breakage how) const;

 private:
    void step(const script_line& line);
    void configure(std::string_view settings);
    void receive(std::string_view bytes);
    void act_on(taken what);
    void collect();
    void pass_time(std::int64_t nanoseconds);
    void expect_no_more();
    void fail(const std::string& what);
    [[nodiscard]] std::string whole(std::string_view body, std::string_view from, std::string_view to,
                                    std::string_view begin_string) const;
    [[nodiscard]] std::string now_text() const;

    const script& script_;
    breakage how_;
    std::size_t broken_at_;
    std::size_t sent_count_ = 0;
    std::size_t delivered_count_ = 0;
    std::size_t ends_count_ = 0;
    const script_line* line_ = nullptr;
    std::vector<std::string> failures_;

    session_settings settings_;
    memory_store store_;
    std::unique_ptr<session> session_;
    instant now_;
    std::string input_;
    std::deque<std::string> sent_;
    std::deque<std::string> delivered_;
    std::string refusal_;
    bool is_connected_ = false;
};

}  // namespace corro::fix::testing
