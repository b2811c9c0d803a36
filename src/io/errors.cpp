// SPDX-License-Identifier: Apache-2.0
#include "io/errors.hpp"

#include <string>

namespace corro::io {
namespace {

class codes final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
            case errc::end_of_stream: return "the peer closed the stream";
            case errc::timed_out: return "the operation timed out";
            case errc::malformed_endpoint: return "not an address and port, such as 127.0.0.1:9000 or [::1]:9000";
            case errc::channel_closed: return "the channel is closed";
            case errc::host_not_found: return "the host name has no address";
            case errc::resolver_failed: return "the system's resolver failed";
        }
        return "unknown corro.io error " + std::to_string(value);
    }
};

class conditions final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io.condition"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<condition>(value)) {
            case condition::canceled: return "canceled";
            case condition::end_of_stream: return "end of stream";
            case condition::timed_out: return "timed out";
        }
        return "unknown corro.io condition " + std::to_string(value);
    }
    [[nodiscard]] bool equivalent(const std::error_code& code, int value) const noexcept override {
        switch (static_cast<condition>(value)) {
            case condition::canceled: return code == std::errc::operation_canceled;
            case condition::end_of_stream: return code == make_error_code(errc::end_of_stream);
            case condition::timed_out: return code == make_error_code(errc::timed_out) || code == std::errc::timed_out;
        }
        return false;
    }
};

const conditions the_conditions;
const codes the_codes;

}  // namespace

const std::error_category& error_category() noexcept {
    return the_codes;
}
std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), the_codes};
}
std::error_condition make_error_condition(condition which) noexcept {
    return {static_cast<int>(which), the_conditions};
}
std::error_code operation_canceled() noexcept {
    return std::make_error_code(std::errc::operation_canceled);
}

}  // namespace corro::io
