// SPDX-License-Identifier: Apache-2.0
// From a client's messages to commands.
//
// Prices and quantities become ticks and lots exactly. What the venue's units cannot express becomes the command's
// verdict, and the facility refuses the command, so that it is sequenced and answered like any other.
//
// Threads: one context. Cost: no allocation.
// Source:  docs/spec/fix_orders.md, "Requests".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "domain/command.hpp"
#include "domain/long_name.hpp"
#include "domain/prefetch_hint.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix_gateway/fix_version.hpp"
#include "fix_gateway/symbols.hpp"

namespace corro::fix_gateway {

/// Why a message is no request. It has no effect.
struct request_problem {
    /// Not 0: a Reject (3) with this reason and tag. @see fix::reject_reason
    std::uint32_t tag = 0;
    /// A type that is invalid is rejected without a tag.
    fix::reject_reason reason = fix::reject_reason::other;
    /// Otherwise: a BusinessMessageReject (j) with this BusinessRejectReason (380) and text.
    std::uint32_t business_reason = 0;
    std::string_view text;

    [[nodiscard]] bool is_there() const noexcept { return tag != 0 || !text.empty(); }
    /// Whether it is answered by a Reject (3).
    [[nodiscard]] bool is_of_session() const noexcept {
        return tag != 0 || reason == fix::reject_reason::invalid_message_type;
    }
};

/// BusinessRejectReason (380).
inline constexpr std::uint32_t business_reason_other = 0;
inline constexpr std::uint32_t business_reason_unsupported_type = 3;
inline constexpr std::uint32_t business_reason_not_available = 4;
inline constexpr std::uint32_t business_reason_not_authorised = 6;

/// Quotes of one MassQuote (i), and instruments of one QuoteCancel (Z).
inline constexpr std::size_t quote_entries_max = 6;

/// The commands of one message, in their order.
struct request_commands {
    std::array<domain::command, quote_entries_max> commands;
    std::size_t count = 0;
};

/// The texts of the long names of a request: its own, and that of the order that it names.
struct request_texts {
    std::array<std::string_view, 2> texts;
    std::size_t count = 0;
};
/// Finds them in the request's message. @see domain::is_long_name
[[nodiscard]] request_texts texts_of(const fix::field_index& message, const domain::command& request) noexcept;
[[nodiscard]] inline bool has_long_name(const domain::command& request) noexcept {
    return domain::is_long_name(request.client_order) ||
           (request.may_have_name() && domain::is_long_name(request.request_name()));
}

/// Whether a message of this type may ask for several commands: `read_quotes` reads it.
[[nodiscard]] constexpr bool may_have_several(std::string_view message_type) noexcept {
    return message_type == "i" || message_type == "Z";
}

/// What NewOrderSingle (D), OrderCancelRequest (F) and OrderCancelReplaceRequest (G) will need: the order's name, and
/// the instrument of one that exists. Nothing of the message is checked. Account and session are left to the caller.
/// @return  False for other types, and without a name.
[[nodiscard]] bool read_prefetch_hint(std::string_view received, const fix::frame_result& frame, symbols& instruments,
                                      domain::prefetch_hint& into) noexcept;

/// Reads a message that asks for one command: NewOrderSingle (D), NewOrderMultileg (AB), OrderCancelRequest (F),
/// OrderCancelReplaceRequest (G), OrderStatusRequest (H), OrderMassStatusRequest (AF), OrderMassCancelRequest (q),
/// RequestForPositions (AN), Quote (S), SetProtection (U1), ResetProtection (U2). Session, account and request number
/// are left to the caller.
/// @param takes_resends  A NewOrderSingle with PossResend (97) is read: the caller knows whether it came before.
[[nodiscard]] request_problem read_request(const fix::field_index& message, symbols& instruments, fix_version version,
                                           domain::command& into, bool takes_resends = false) noexcept;

/// Reads MassQuote (i) and QuoteCancel (Z), likewise. Without a problem there is at least one command; all but the last
/// have quote_flag::more.
[[nodiscard]] request_problem read_quotes(const fix::field_index& message, symbols& instruments,
                                          request_commands& into) noexcept;

}  // namespace corro::fix_gateway
