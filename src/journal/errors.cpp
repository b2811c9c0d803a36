#include "journal/errors.hpp"

namespace corro::journal {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "journal"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<journal_errc>(code)) {
            case journal_errc::damaged: return "bytes of the journal are not what was written";
            case journal_errc::missing_segment: return "a segment of the journal is missing";
            case journal_errc::foreign_venue: return "the journal of another venue";
            case journal_errc::unsupported_version: return "a version of the format that is not supported";
            case journal_errc::foreign_file: return "not a file of a journal";
            case journal_errc::sequence_gap: return "sequence numbers are missing or occur twice";
            case journal_errc::broken_chain: return "files of different copies of a journal";
            case journal_errc::missing_manifest: return "the manifest of the journal is missing";
            case journal_errc::stale_manifest: return "the manifest of the journal is older than its segments";
            case journal_errc::missing_end: return "the end of the journal is missing";
            case journal_errc::different_moments: return "journals of different moments";
            case journal_errc::in_use: return "another process has the journal";
            case journal_errc::stale_epoch: return "somebody with a newer epoch has written here";
            case journal_errc::out_of_reach: return "the journal does not hold what was asked for";
            case journal_errc::disk_full: return "no room on the disk";
        }
        return "unknown journal error";
    }
};

}  // namespace

const std::error_category& journal_category() noexcept {
    static const category instance;
    return instance;
}

}  // namespace corro::journal
