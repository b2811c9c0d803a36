// SPDX-License-Identifier: Apache-2.0
#include "recorded/errors.hpp"

#include <string>

namespace corro::recorded {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "archive"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<archive_errc>(code)) {
            case archive_errc::damaged_archive: return "the compressed data is damaged";
            case archive_errc::truncated_archive: return "the compressed data ends too early";
            case archive_errc::unpacked_too_large: return "the compressed data unpacks to more than the limit";
        }
        return "unknown archive error";
    }
};

}  // namespace

const std::error_category& archive_category() noexcept {
    static const category instance;
    return instance;
}

}  // namespace corro::recorded
