// SPDX-License-Identifier: Apache-2.0
#include "node/venue/order_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fix/dictionary/dictionary.hpp"
#include "fix/dictionary/validator.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration_parts.hpp"
#include "node/venue/ports.hpp"

namespace corro::node {

gateway::account_directory account_directory_of(const configuration& c) {
    gateway::account_directory directory;
    for (const gateway::account& a : c.accounts) {
        if (const std::string problem = directory.add(a); !problem.empty()) {
            throw configuration_error(
                fmt::format("{}: {}", place_of(c, fmt::format("account {}", a.id.value)), problem));
        }
    }
    if (const std::string problem = directory.reserve(c.sessions_reserved); !problem.empty()) {
        throw configuration_error(place_of(c, "venue.sessions_reserved") + ": " + problem);
    }
    return directory;
}

namespace {

gateway::gateway_options options_of(const configuration& c, telemetry::producer* log, gateway::admin_service* desk) {
    gateway::gateway_options options;
    options.logon_timeout = c.logon_timeout;
    options.strangers_per_address_max = c.strangers_per_address_max;
    options.handshakes.steps_max = c.handshake_steps_max;
    options.logons_max = c.logons_max;
    options.session_day_begins = c.session_day_begins;
    options.output_buffer_bytes = c.output_buffer_bytes;
    options.timing_sample_every = c.timing_sample_every;
    options.log = log;
    options.desk = desk;
    const std::uint64_t per_second =
        std::uint64_t{c.requests_max} * 1'000 / static_cast<std::uint64_t>(c.requests_window.count());
    options.orders_max = c.account_open_orders_max;
    options.requests_per_second_max =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(per_second, c.requests_max == 0 ? 0 : 1, UINT32_MAX));
    return options;
}

std::string text_of_dictionary(const configuration& c, const std::string& file) {
    try {
        return text_of_file(file);
    } catch (const configuration_error&) {
        throw configuration_error(fmt::format("{}: cannot read {}", place_of(c, "fix.dictionaries"), file));
    }
}

fix_gateway::fix_options fix_options_of(const configuration& c) {
    fix_gateway::fix_options options;
    options.comp_id = c.fix_comp_id;
    options.quickfix_names = c.fix_quickfix_names;
    std::vector<std::shared_ptr<const fix::dictionary>> dictionaries;
    try {
        for (const std::string& file : c.fix_dictionaries) {
            dictionaries.push_back(fix::dictionary::read(text_of_dictionary(c, file), file));
        }
        fix::validation_options allowed;
        allowed.allows_user_fields = true;
        allowed.allows_own_messages = true;
        options.quickfix_rules = fix::rules_of(dictionaries, allowed);
    } catch (const fix::dictionary_error& error) {
        throw configuration_error(fmt::format("{}: {}", place_of(c, "fix.dictionaries"), error.what()));
    }
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

order_entry::order_entry(io::context& context, const configuration& c, const io::tick_clock& clock,
                         telemetry::producer* log, gateway::admin_service* desk)
    : clock_(clock),
      accounts_(account_directory_of(c)),
      commands_(gateway::command_queue_capacity),
      answers_(accounts_.sessions_capacity(), answer_options_of(c)),
      gateway_(context, options_of(c, log, desk), c.instruments, accounts_, commands_, answers_, clock),
      fix_(context, fix_options_of(c), gateway_, accounts_, commands_, answers_),
      context_(context),
      tables_(c.tables),
      accounts_max_(facility_options_of(c, context.runs_on()).accounts_max) {}

void order_entry::open(io::context& context, const configuration& c) {
    listeners_ = open_order_entry(context, c);
    endpoint_ = *listeners_.front().local_endpoint();
    fix_listeners_ = open_fix(context, c);
    if (!fix_listeners_.empty()) fix_endpoint_ = fix_listeners_.front().local_endpoint();
}

std::string order_entry::change_keys(const configuration& changed) {
    std::string problem = accounts_.change_keys(changed.accounts);
    if (problem.empty()) gateway_.end_withdrawn();
    return problem;
}

void order_entry::adopt_accounts(std::vector<host_journal*> journals,
                                 std::span<const facility::facility* const> states) {
    first_commands_ = node::adopt_accounts(accounts_, journals, states);
    journals_ = std::move(journals);
}

io::task<reread_outcome> order_entry::reread(configuration changed) {
    reread_outcome outcome = look_at(accounts_, changed, tables_, accounts_max_);
    if (!outcome.problems.empty()) co_return outcome;
    std::vector<domain::command> commands = commands_for(accounts_, changed.accounts);
    for (const domain::command& c : commands) {
        ++(c.kind == domain::command_kind::define_account ? outcome.accounts_added : outcome.limits_changed);
    }
    if (!commands.empty()) {
        const bool taken = co_await execute_all(std::move(commands));
        if (!taken) outcome.problems.emplace_back("the journal does not accept accounts and limits now");
    }
    if (outcome.problems.empty() && outcome.accounts_added != 0) {
        const std::vector<session_owner> owners = owners_with(accounts_, changed.accounts);
        for (host_journal* journal : journals_) {
            std::string problem = co_await journal->write_owners(owners);
            if (!problem.empty()) outcome.problems.push_back(std::move(problem));
        }
    }
    if (!outcome.problems.empty()) co_return outcome;
    accounts_.take(changed.accounts);
    gateway_.end_withdrawn();
    co_return outcome;
}

// False when the journal has not accepted all of them, or the venue ends.
io::task<bool> order_entry::execute_all(std::vector<domain::command> commands) {
    was_refused_ = false;
    for (const domain::command& c : commands) {
        while (!commands_.try_push(c)) {
            commands_.room().reset();
            const std::error_code stopped = co_await commands_.room().wait();
            if (stopped) co_return false;
        }
    }
    const std::uint64_t end = commands_.pushed_count();
    while (commands_.answered_count() < end) {
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        if (stopped) co_return false;
    }
    co_return !was_refused_;
}

io::task<void> order_entry::run() {
    if (!first_commands_.empty()) {
        const bool taken = co_await execute_all(std::move(first_commands_));
        static_cast<void>(taken);  // the next start executes them again
    }
    io::task_scope by_fix(context_);
    if (!fix_listeners_.empty()) by_fix.spawn(fix_.serve(std::move(fix_listeners_)));
    co_await gateway_.serve(std::move(listeners_));
    co_await by_fix.join();
    // The end of the last sessions may have caused cancels.
    while (commands_.answered_count() != commands_.pushed_count()) {
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        if (stopped) co_return;
    }
}

}  // namespace corro::node
