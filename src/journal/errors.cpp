// SPDX-License-Identifier: Apache-2.0
#include "journal/errors.hpp"

#include <fmt/format.h>

namespace corro::journal {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "journal"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<journal_errc>(code)) {
            case journal_errc::damaged: return "the journal is damaged";
            case journal_errc::missing_segment: return "a segment of the journal is missing";
            case journal_errc::foreign_venue: return "the journal of another venue";
            case journal_errc::unsupported_version: return "unsupported version of the journal's format";
            case journal_errc::foreign_file: return "not a journal file";
            case journal_errc::sequence_gap: return "sequence numbers are missing or repeated";
            case journal_errc::broken_chain: return "files of different copies of a journal";
            case journal_errc::missing_manifest: return "the manifest of the journal is missing";
            case journal_errc::stale_manifest: return "the manifest of the journal is older than its segments";
            case journal_errc::missing_end: return "the end of the journal is missing";
            case journal_errc::different_moments: return "the journals of a venue are from different moments";
            case journal_errc::in_use: return "another process uses the journal";
            case journal_errc::stale_epoch: return "a writer with a newer epoch owns this journal";
            case journal_errc::out_of_reach: return "the journal does not have the requested command";
            case journal_errc::disk_full: return "no space on the disk";
        }
        return "unknown journal error";
    }
};

}  // namespace

const std::error_category& journal_category() noexcept {
    static const category instance;
    return instance;
}

problem system_problem(std::error_code error, const std::string& path, std::string_view what) {
    return {error, fmt::format("{}: {}: {}", path, what, error.message()), path};
}

}  // namespace corro::journal
