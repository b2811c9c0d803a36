// SPDX-License-Identifier: Apache-2.0
// Corro Binary as a protocol of the acceptor: makes a binary_session of each connection.
//
// Threads: one context. Source: docs/spec/corro_binary.md.
#pragma once

#include <cstddef>
#include <span>

#include "gateway/binary/binary_shared.hpp"
#include "gateway/transport/protocol.hpp"

namespace corro::gateway {

class binary_protocol final : public protocol {
 public:
    /// All outlive the protocol.
    binary_protocol(io::context& context, const gateway_options& options, const account_directory& accounts,
                    session_registry& registry, command_queue& commands, const answer_log& answers,
                    const io::tick_clock& clock, gateway_statistics& statistics) noexcept
        : shared_(context, options, accounts, registry, commands, answers, clock, statistics) {}

    [[nodiscard]] io::task<void> serve(transport_stream stream, connection_place* place) override;
    [[nodiscard]] std::span<const std::byte> words_without_room() const noexcept override;

    /// Buffers for sessions that are kept for the next ones.
    [[nodiscard]] std::size_t spare_buffers_count() const noexcept { return shared_.buffers.spare_count(); }

 private:
    binary_shared shared_;
};

}  // namespace corro::gateway
