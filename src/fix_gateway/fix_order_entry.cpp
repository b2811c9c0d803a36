// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/fix_order_entry.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "fix_gateway/fix_session.hpp"

namespace corro::fix_gateway {

namespace {

gateway::gateway_options smaller(gateway::gateway_options options) {
    options.connections_max = std::min(options.connections_max, fix_connections_max);
    options.strangers_max = std::min(options.strangers_max, fix_connections_max / 4);
    options.strangers_reserved = std::min(options.strangers_reserved, options.strangers_max / 4);
    return options;
}

}  // namespace

fix_order_entry::fix_order_entry(io::context& context, const fix_options& options, gateway::order_entry_gateway& beside,
                                 const gateway::account_directory& accounts, gateway::command_queue& commands,
                                 const gateway::answer_log& answers)
    : options_(options),
      of_gateway_(smaller(beside.options())),
      shared_(context, of_gateway_, options_, accounts, beside.registry(), commands, answers, beside.counts()),
      acceptor_(context, of_gateway_, *this, beside.counts()) {}

io::task<void> fix_order_entry::serve(gateway::transport_stream stream, gateway::connection_place* place) {
    return fix_session::run(std::make_unique<fix_session>(shared_, std::move(stream), *place));
}

}  // namespace corro::fix_gateway
