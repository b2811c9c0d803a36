// SPDX-License-Identifier: Apache-2.0
#include "gateway/order_entry_gateway.hpp"

#include <utility>

#include "io/task/scope.hpp"

namespace corro::gateway {

order_entry_gateway::order_entry_gateway(io::context& context, const gateway_options& options,
                                         std::span<const domain::instrument> instruments,
                                         const account_directory& accounts, command_queue& commands,
                                         answer_log& answers, const io::tick_clock& clock)
    : context_(context),
      options_(options),
      registry_(context, options_, instruments, accounts, commands, answers, statistics_),
      binary_(context, options_, accounts, registry_, commands, answers, clock, statistics_),
      acceptor_(context, options_, binary_, statistics_) {}

io::task<void> order_entry_gateway::serve(io::tcp_acceptor port) {
    std::vector<listener> one;
    one.emplace_back(transport_kind::tcp, std::move(port));
    co_await serve(std::move(one));
}

io::task<void> order_entry_gateway::serve(std::vector<listener> listeners) {
    io::task_scope upkeep(context_);
    upkeep.spawn(registry_.run_absent_cancels());
    upkeep.spawn(registry_.run_daily_resets());
    co_await acceptor_.serve(std::move(listeners));
    upkeep.request_stop();
    co_await upkeep.join();
}

void order_entry_gateway::close() noexcept {
    acceptor_.close();
    registry_.close();
}

}  // namespace corro::gateway
