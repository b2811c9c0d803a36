// From a client's messages to commands.
//
// Prices and quantities become ticks and lots exactly. What the venue's units cannot express becomes the command's
// verdict, and the facility refuses the command, so that it is sequenced and answered like any other.
//
// Threads: one context. Cost: no allocation.
// Source:  docs/spec/fix.md, "Requests".
#pragma once

#include <cstdint>
#include <string_view>

#include "domain/command.hpp"
#include "fix/codec/field_index.hpp"
#include "fix_gateway/symbols.hpp"

namespace corro::fix_gateway {

/// Why a message is no request. It has no effect.
struct request_problem {
    /// Not 0: a Reject (3) with this reason and tag. @see fix::reject_reason
    std::uint32_t tag = 0;
    fix::reject_reason reason = fix::reject_reason::other;
    /// Without a tag: a BusinessMessageReject (j) with this BusinessRejectReason (380) and text.
    std::uint32_t business_reason = 0;
    std::string_view text;

    [[nodiscard]] bool is_there() const noexcept { return tag != 0 || !text.empty(); }
};

/// BusinessRejectReason (380).
inline constexpr std::uint32_t business_reason_other = 0;
inline constexpr std::uint32_t business_reason_unsupported_type = 3;
inline constexpr std::uint32_t business_reason_not_available = 4;
inline constexpr std::uint32_t business_reason_not_authorised = 6;

/// Reads NewOrderSingle (D), OrderCancelRequest (F), OrderCancelReplaceRequest (G), OrderStatusRequest (H) and
/// OrderMassCancelRequest (q). Session, account and request number are left to the caller.
[[nodiscard]] request_problem read_request(const fix::field_index& message, symbols& instruments,
                                           domain::command& into) noexcept;

}  // namespace corro::fix_gateway
