// SPDX-License-Identifier: Apache-2.0
// Order entry by FIX: an acceptor of its own, whose sessions stand in the registry of the order-entry gateway beside
// those of Corro Binary.
//
// Threads: one context. Limits: gateway/limits.hpp.
// Source:  docs/spec/fix.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fix_gateway/shared.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "gateway/transport/acceptor.hpp"
#include "gateway/transport/listener.hpp"
#include "gateway/transport/protocol.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"

namespace corro::fix_gateway {

class fix_order_entry final : private gateway::protocol {
 public:
    /// All outlive this; `accounts`, `commands` and `answers` are those of the gateway.
    fix_order_entry(io::context& context, const fix_options& options, gateway::order_entry_gateway& beside,
                    const gateway::account_directory& accounts, gateway::command_queue& commands,
                    const gateway::answer_log& answers);
    fix_order_entry(const fix_order_entry&) = delete;
    fix_order_entry& operator=(const fix_order_entry&) = delete;

    /// Accepts and serves connections until `close` of this and of the gateway; ends when all have ended. Once
    /// (asserted).
    [[nodiscard]] io::task<void> serve(std::vector<gateway::listener> listeners) {
        return acceptor_.serve(std::move(listeners));
    }
    /// Serves one connection that is there already, until it has ended.
    [[nodiscard]] io::task<void> serve_stream(io::any_stream stream) {
        return acceptor_.serve_stream(std::move(stream));
    }
    /// No new connections. The gateway's `close` logs the sessions out.
    void close() noexcept { acceptor_.close(); }

 private:
    [[nodiscard]] io::task<void> serve(gateway::transport_stream stream, gateway::connection_place* place) override;
    [[nodiscard]] std::span<const std::byte> words_without_room() const noexcept override { return {}; }

    const fix_options options_;
    const gateway::gateway_options of_gateway_;
    fix_shared shared_;
    gateway::acceptor acceptor_;
};

}  // namespace corro::fix_gateway
