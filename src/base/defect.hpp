// SPDX-License-Identifier: Apache-2.0
// Defects that a test build can have, one at a time, to see whether `corro simulate` finds them.
//
//     if (CORRO_DEFECT(answers_before_durable)) return sequence_;
//
// Only a build with the CMake option CORRO_DEFECTS can have one, chosen by name: `corro-simulate --defect NAME`.
// tools/simulation_defects tries all of them, and docs/benchmarks/simulation.md has the results. In every other build
// the condition is the constant false.
//
// Each name stands in this list once, with what the venue then does, and in the sources of the product once.
// Only sources include this header; headers do not.
//
// Threads: any; the defect is chosen before the first venue starts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

// clang-format off
#define CORRO_DEFECTS_LIST(X)                                                                                          \
    X(answers_before_durable, "An answer leaves before its command is durable")                                        \
    X(sync_left_out, "The journal counts what it has written as synced, without a sync")                               \
    X(segment_name_not_synced, "The name of a new segment is not synced before commands are written to it")            \
    X(block_checksum_ignored, "The reader takes blocks of the journal whose checksum is wrong")                        \
    X(last_segment_not_synced, "A start builds on the last segment without syncing it again")                          \
    X(manifest_not_confirmed, "A start overwrites the older slot of the manifest while the newer one is not durable")  \
    X(request_numbers_forgotten, "A start forgets which requests are in the journal")                                  \
    X(request_executed_twice, "A logon expects the session's last request again")                                      \
    X(resend_skips_answer, "A resend begins one answer too late")                                                      \
    X(resend_repeats_content, "A resend sends its first answer under the numbers of the next ones, too")               \
    X(answer_to_another_session, "One answer in sixty-four goes to the session beside its own")                        \
    X(feed_loses_message_at_snapshot, "The newest message of the feed is missing after a start from a snapshot")       \
    X(silent_peer_kept, "A session is never ended because its peer is silent")                                         \
    X(position_not_restored, "A start from a snapshot loses one position")                                             \
    X(time_goes_back, "Venue time begins with the wall clock, also when the journal's last command is later")          \
    X(directory_name_not_synced, "A start makes the directory of a journal and does not sync its name")                \
    X(full_segment_not_synced, "The next segment begins before the full one is synced")                                \
    X(written_counts_as_durable, "An answer leaves when its command is written, before the sync")                      \
    X(failed_sync_repeated, "The journal repeats a sync that failed, and believes the second one")                     \
    X(part_of_block_taken_for_whole, "A block of the journal counts as written when a part of it is")                  \
    X(snapshot_checksum_ignored, "A start loads a snapshot whose checksum is wrong")                                   \
    X(snapshot_before_durable, "A snapshot may have commands that are written and not durable")                        \
    X(snapshot_repeats_command, "A start from a snapshot executes its last command again")                             \
    X(answers_dropped_behind_disk, "Answers that wait for the disk are dropped when there are many")                   \
    X(throttle_forgotten, "A start from a snapshot forgets the counts of the throttle")                                \
    X(time_follows_clock_at_once, "Venue time jumps with the wall clock")                                              \
    X(cancels_missing_in_snapshot, "A snapshot lacks the requests for a cancel on disconnect")                         \
    X(disconnect_cancel_left_out, "A lost connection does not cancel the orders of its session")                       \
    X(absent_session_not_cancelled, "After a start, the orders of sessions that do not come back stay")                \
    X(logout_cancels, "A logout cancels the orders of its session, like a lost connection")                            \
    X(heartbeats_left_out, "A session that is idle gets no heartbeats")                                                \
    X(fill_not_reported, "One fill in 64 is not reported to its session")                                              \
    X(deletion_not_published, "One deletion of an order in 64 is missing in the feed")                                 \
    X(picture_claims_next_message, "A snapshot of the books claims to contain the next message of the feed")           \
    X(kill_switch_forgotten, "A start from a snapshot switches kill switches off")                                     \
    X(lost_request_not_rejected, "A request that a crash took from one partition is never answered")                   \
    X(lost_requests_rejected_late, "Sessions may log on before the requests that a crash took are rejected")           \
    X(answers_merged_as_they_come, "Answers of partitions are numbered as they come, not in the order of requests")    \
    X(gateway_gone_cancels_nothing, "Nothing is cancelled when a gateway dies")                                        \
    X(request_not_noted_for_gateways, "A gateway that links again is not told which requests have been executed")      \
    X(silent_link_kept, "A link is never ended because its other end is silent")                                       \
    X(timers_early, "Timers fire after three quarters of their time")                                                  \
    X(accepting_ends_without_descriptors, "A listener that finds no free descriptor accepts nothing any more")         \
    X(killed_orders_stay, "A kill switch leaves the orders of its account open")                                       \
    X(limits_not_restored, "A start from a snapshot forgets the limits of accounts")                                   \
    X(foreign_gateway_admits, "A gateway admits the accounts of other gateways")                                       \
    X(half_definition_forgotten, "A distributor that joins in the middle of a definition misses its first half")       \
    X(reserve_open_to_orders, "On a full disk, orders may use the space that is reserved for cancels")                 \
    X(missed_cancel_ended, "A cancel on disconnect that a full disk has refused counts as done")                       \
    X(merged_after_failure, "Answers of other partitions still leave when the journal of one has failed")              \
    X(half_lost_request_not_rejected, "A request to all partitions that a crash took from one of them is not rejected")\
    X(returned_session_cancelled, "A session that came back in time still loses its orders after the grace period")    \
    X(fix_number_not_journaled, "One FIX session message in eight leaves without its number in the journal")           \
    X(fix_resend_of_another_report, "One FIX report in 64 is sent again with the content of the report behind it")     \
    X(fix_report_filled, "One FIX report in 64 becomes a gap fill when it is sent again")                              \
    X(fix_possible_duplicate_not_marked, "FIX messages are sent again without PossDupFlag and OrigSendingTime")
// clang-format on

namespace corro::base {

enum class defect : std::uint8_t {
    none,
#define CORRO_DEFECT_NAME(name, words) name,
    CORRO_DEFECTS_LIST(CORRO_DEFECT_NAME)
#undef CORRO_DEFECT_NAME
};

struct defect_entry {
    std::string_view name;
    std::string_view words;  ///< one sentence without its full stop
};

/// Of all defects but `none`, in their order.
inline constexpr std::array defect_entries{
#define CORRO_DEFECT_ENTRY(name, words) defect_entry{#name, words},
    CORRO_DEFECTS_LIST(CORRO_DEFECT_ENTRY)
#undef CORRO_DEFECT_ENTRY
};

#ifdef CORRO_DEFECTS

/// The defect of this process.
inline defect chosen_defect = defect::none;

[[nodiscard]] inline bool has_defect(defect which) noexcept {
    return chosen_defect == which;
}

[[nodiscard]] constexpr std::optional<defect> defect_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < defect_entries.size(); ++i) {
        if (defect_entries[i].name == name) return static_cast<defect>(i + 1);
    }
    return std::nullopt;
}

#else

[[nodiscard]] consteval bool has_defect(defect /*which*/) noexcept {
    return false;
}

#endif

}  // namespace corro::base

/// Whether this process has the defect of that name.
#define CORRO_DEFECT(name) ::corro::base::has_defect(::corro::base::defect::name)
