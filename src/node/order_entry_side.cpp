#include "node/order_entry_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "node/ports.hpp"

namespace corro::node {

gateway::account_directory account_directory_of(const configuration& c) {
    gateway::account_directory directory;
    for (const gateway::account& a : c.accounts) {
        if (const std::string problem = directory.add(a); !problem.empty()) {
            throw configuration_error(fmt::format("account {}: {}", a.id.value, problem));
        }
    }
    return directory;
}

namespace {

gateway::gateway_options options_of(const configuration& c, telemetry::producer* log, gateway::operator_desk* desk) {
    gateway::gateway_options options;
    options.logon_timeout = c.logon_timeout;
    options.strangers_per_address_max = c.strangers_per_address_max;
    options.handshakes.steps_max = c.handshake_steps_max;
    options.logons_max = c.logons_max;
    options.output_buffer_bytes = c.output_buffer_bytes;
    options.timing_sample_every = c.timing_sample_every;
    options.log = log;
    options.desk = desk;
    const std::uint64_t per_second =
        std::uint64_t{c.requests_max} * 1'000 / static_cast<std::uint64_t>(c.requests_window.count());
    options.requests_per_second_max =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(per_second, c.requests_max == 0 ? 0 : 1, UINT32_MAX));
    return options;
}

}  // namespace

gateway::answer_log_options answer_options_of(const configuration& c) {
    gateway::answer_log_options options;
    options.answers_max = c.answers_kept;
    options.session_answers_max = c.session_answers_kept;
    options.touch = c.touch;
    return options;
}

order_entry_side::order_entry_side(io::context& context, const configuration& c, const base::tsc_clock& clock,
                                   telemetry::producer* log, gateway::operator_desk* desk)
    : clock_(clock),
      accounts_(account_directory_of(c)),
      commands_(gateway::command_queue_capacity),
      answers_(accounts_.sessions_count(), answer_options_of(c)),
      gateway_(context, options_of(c, log, desk), c.instruments, accounts_, commands_, answers_, clock) {}

void order_entry_side::open(io::context& context, const configuration& c) {
    listeners_ = open_order_entry(context, c);
    endpoint_ = *listeners_.front().local_endpoint();
}

std::string order_entry_side::change_keys(const configuration& changed) {
    std::string problem = accounts_.change_keys(changed.accounts);
    if (problem.empty()) gateway_.end_withdrawn();
    return problem;
}

io::task<void> order_entry_side::run() {
    co_await gateway_.serve(std::move(listeners_));
    // The last sessions may have left cancels behind.
    while (commands_.answered_count() != commands_.pushed_count()) {
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        if (stopped) co_return;
    }
}

}  // namespace corro::node
