// SPDX-License-Identifier: Apache-2.0
#include "journal/advice.hpp"

namespace corro::journal {

std::string_view advice_for(std::error_code code) noexcept {
    if (code == journal_errc::damaged || code == journal_errc::sequence_gap) {
        return "Copy the directory elsewhere first. Then restore the segment from a backup; or, if a "
               "snapshot is newer than the damage, start from that snapshot and the segments after it.";
    }
    if (code == journal_errc::missing_segment) {
        return "Restore the segment from a backup. If an old one was removed on purpose, remove all older ones as "
               "well, and start from a snapshot. If the newest ones are lost, `corro journal adopt` accepts the "
               "journal without their commands.";
    }
    if (code == journal_errc::missing_manifest || code == journal_errc::stale_manifest ||
        code == journal_errc::missing_end) {
        return "Copy the directory elsewhere first. Then restore the missing files from a backup; or, if "
               "they are lost, `corro journal adopt` accepts the journal without their commands.";
    }
    if (code == journal_errc::different_moments) {
        return "Take the folders of all partitions from the same copy, made by `corro journal backup` or while the "
               "venue "
               "did not "
               "run.";
    }
    if (code == journal_errc::broken_chain) {
        return "Take all files of the journal from the same copy.";
    }
    if (code == journal_errc::foreign_venue) {
        return "A journal must be read with the configuration that wrote it: the venue's name, its partitions and its "
               "[[instrument]] tables. Use that one, or choose another, empty directory.";
    }
    if (code == journal_errc::unsupported_version) return "Use the version of corro that wrote it.";
    if (code == journal_errc::out_of_reach) return "Ask for a sequence number that the journal holds.";
    return "";
}

std::string with_advice(const problem& p) {
    std::string text = p.text;
    if (const std::string_view advice = advice_for(p.code); !advice.empty()) text.append("\n").append(advice);
    return text;
}

}  // namespace corro::journal
