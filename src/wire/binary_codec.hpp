// SPDX-License-Identifier: Apache-2.0
// The Corro Binary protocol between bytes and the domain: frames in a received buffer, requests, events, definitions.
//
// A server reads `next_frame`, dispatches session messages to their views (wire/generated/corro_binary.hpp) after
// `check`, and hands the rest to `decode_command`. A client does the same with `decode_event`.
//
// Layout: docs/spec/corro_binary.md. Units: billionths and units on the wire, ticks and lots in the domain.
// Limits: wire/limits.hpp. Threads: pure functions. Cost: no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <system_error>

#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/prefetch_hint.hpp"
#include "wire/errors.hpp"
#include "wire/frame.hpp"
#include "wire/generated/corro_binary.hpp"
#include "wire/instrument_table.hpp"
#include "wire/limits.hpp"

namespace corro::wire {

/// The version of the protocol that this side supports; sent in `challenge` and `hello`.
inline constexpr std::uint16_t protocol_version = schema_version;
inline constexpr std::uint16_t protocol_version_min = 1;
/// The first version with resend_gap.
inline constexpr std::uint16_t protocol_version_resend_gap = 2;

static_assert(message_bytes_max * 2 <= frame_bytes_max, "a later version may double the longest message");

/// Finds one frame at the front of `bytes`.
///
/// @return  The frame, pointing into `bytes`, or nothing when more bytes are needed (at most frame_bytes_max in all).
/// @error   foreign_format (another schema id), unsupported_version (0), malformed_length (not a multiple of 8),
///          too_large; each is reported as soon as the header is complete. The connection cannot continue.
[[nodiscard]] std::expected<std::optional<frame>, std::error_code> next_frame(
    std::span<const std::byte> bytes) noexcept;

/// Writes `message` to the front of `out`.
/// @return  Bytes written: Message::frame_bytes; 0 when `out` is shorter than that, and then nothing was written.
template <class Message>
    requires requires { Message::message_id; }
[[nodiscard]] std::size_t encode(const Message& message, std::uint64_t sequence, std::span<std::byte> out) noexcept {
    if (out.size() < Message::frame_bytes) return 0;
    store(message, sequence, out.data());
    return Message::frame_bytes;
}

// Requests.

/// Reads a request into `command`, all of which is overwritten; a mass_quote is read by decode_mass_quote.
///
/// Violations of the protocol are refused here. An unknown instrument, or a price or quantity that is not a
/// multiple of the tick or lot, becomes the command's verdict, so that the facility rejects it. `sequence`,
/// `time`, `session`, `account` and `is_operator` are left at zero for the caller to fill in.
///
/// @return  The reason for a `reject`; false when `command` is complete. A message that is not a request gives
///          unexpected_message or unknown_template.
[[nodiscard]] refusal decode_command(const frame& from, const instrument_table& instruments,
                                     domain::command& command) noexcept;

/// Reads the order that a request names, for a prefetch. Checks only the length. The caller fills in account and
/// session. False for a message that names no order.
[[nodiscard]] bool decode_prefetch_hint(const frame& from, domain::prefetch_hint& into) noexcept;

/// Writes a command as a request, with `command.request()` as the header's sequence.
///
/// @param instrument  The command's instrument; a nameless one for a command that names none.
/// @return            Bytes written; 0 when `out` is too short (message_bytes_max always suffices), and for a command
///                    that is not a request.
[[nodiscard]] std::size_t encode(const domain::command& command, const domain::instrument& instrument,
                                 std::span<std::byte> out) noexcept;

/// Quotes in one mass_quote.
inline constexpr std::size_t mass_quote_max = 6;

/// The commands of a mass_quote: all but the last have quote_flag::more.
struct mass_quote_commands {
    std::array<domain::command, mass_quote_max> commands;
    std::size_t count = 0;
};

/// Reads a mass_quote; otherwise as decode_command.
[[nodiscard]] refusal decode_mass_quote(const frame& from, const instrument_table& instruments,
                                        mass_quote_commands& into) noexcept;

/// Writes 1 to mass_quote_max commands of kind enter_quote as one mass_quote, numbered `request`. The client's name and
/// the self-match instruction are those of the first.
/// @return  Bytes written; 0 when `out` is too short (message_bytes_max always suffices).
[[nodiscard]] std::size_t encode_mass_quote(std::span<const domain::command> quotes,
                                            const instrument_table& instruments, std::uint32_t request,
                                            std::span<std::byte> out) noexcept;

// Derived messages.

/// The message that an event of this kind becomes.
[[nodiscard]] constexpr template_id message_of(domain::event_kind kind) noexcept {
    return static_cast<template_id>(32 + static_cast<std::uint16_t>(kind));
}

/// Writes an event as its derived message.
///
/// @param instrument  The event's instrument; a nameless one for a reject that names none.
/// @param sequence    The header's sequence: of the session, of the feed, or 0 in a snapshot.
/// @return            Bytes written; 0 when `out` is too short (message_bytes_max always suffices).
[[nodiscard]] std::size_t encode(const domain::event& event, const domain::instrument& instrument,
                                 std::uint64_t sequence, std::span<std::byte> out) noexcept;

/// Reads a derived message into `event`, all of which is overwritten.
///
/// @error  unknown_type (not a derived message), malformed_length, malformed_field (also a price or quantity that is
///         not a multiple of the instrument's tick or lot), unknown_instrument (except in messages that name none, in
///         an order_rejected and in those that define one).
[[nodiscard]] std::error_code decode_event(const frame& from, const instrument_table& instruments,
                                           domain::event& event) noexcept;

// Reference data.

/// Writes an instrument as an instrument_definition. domain::validate must find the instrument sound.
/// @return  Bytes written; 0 when `out` is too short.
[[nodiscard]] std::size_t encode(const domain::instrument& instrument, std::uint64_t sequence,
                                 std::span<std::byte> out) noexcept;

/// Writes one leg of a strategy as an instrument_leg.
/// @param index  Below the instrument's legs_count.
/// @return       Bytes written; 0 when `out` is too short.
[[nodiscard]] std::size_t encode_leg(const domain::instrument& instrument, std::size_t index, std::uint64_t sequence,
                                     std::span<std::byte> out) noexcept;

/// Reads an instrument_leg into its strategy, which must be in the table.
/// @error  unknown_type (another message), malformed_length, malformed_field (also a leg beyond the strategy's count),
///         unknown_instrument.
[[nodiscard]] std::error_code decode_leg(const frame& from, instrument_table& instruments) noexcept;

/// Reads an instrument_definition.
/// @error  unknown_type (another message), malformed_length, malformed_field (also a definition that domain::validate
///         refuses).
[[nodiscard]] std::expected<domain::instrument, std::error_code> decode_instrument(const frame& from) noexcept;

// Logon.

/// The bytes that a `hello` authenticates.
inline constexpr std::size_t logon_proof_input_bytes = 13 + 32 + 48;

/// Lays out what the proof of `hello` is computed over: "corro-logon-1", the challenge's nonce, and hello's block up to
/// the proof. `proof` itself is not read.
[[nodiscard]] std::array<std::byte, logon_proof_input_bytes> logon_proof_input(
    const std::array<std::byte, 32>& challenge_nonce, const hello& hello) noexcept;

}  // namespace corro::wire
