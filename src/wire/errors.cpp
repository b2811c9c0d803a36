// SPDX-License-Identifier: Apache-2.0
#include "wire/errors.hpp"

#include <string>

namespace corro::wire {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "wire"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<wire_errc>(code)) {
            case wire_errc::truncated: return "the input ends too early";
            case wire_errc::malformed_length: return "a length contradicts the format";
            case wire_errc::too_large: return "larger than the limit";
            case wire_errc::unknown_type: return "an unknown message type";
            case wire_errc::malformed_field: return "a field has a value that its definition does not allow";
            case wire_errc::out_of_range: return "a number does not fit its field";
            case wire_errc::foreign_format: return "not in this format";
            case wire_errc::unsupported_version: return "a version of the format that is not supported";
            case wire_errc::buffer_too_small: return "the output buffer is too small";
            case wire_errc::unknown_instrument: return "an instrument without a definition";
        }
        return "unknown wire error";
    }
};

}  // namespace

const std::error_category& wire_category() noexcept {
    static const category instance;
    return instance;
}

}  // namespace corro::wire
