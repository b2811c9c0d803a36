// SPDX-License-Identifier: Apache-2.0
// `corro generate`: writes a journal of seeded order flow, without an exchange, to study rules and to measure what
// reads journals.
//
// The configuration's accounts enter, amend and cancel orders in all its instruments around prices that wander. Most
// orders rest for a while: when ten thousand are out, more are cancelled than entered. The first command is of
// 2026-01-05T09:00:00Z, and a second has some 350 commands. The same seed gives the same commands.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "commands.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal/patience.hpp"
#include "journal/writer.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::app {
namespace {

struct generate_options {
    std::string config;
    std::string directory;
    std::uint64_t commands_count = 200'000;
    std::uint64_t seed = 1;
};

constexpr std::int64_t start_ns = 1'767'603'600'000'000'000;
constexpr std::size_t orders_out_max = 10'000;

class flow {
 public:
    flow(const node::configuration& venue, std::uint64_t seed) : venue_(venue), random_(seed) {
        for (const domain::instrument& i : venue.instruments) {
            middles_.push_back((i.price_low.value + i.price_high.value) / 2);
        }
    }

    domain::command next() {
        domain::command c;
        c.sequence = domain::sequence_number{++count_};
        c.time = domain::time_ns{time_ += 1 + static_cast<std::int64_t>(random_.below(5'700'000))};
        c.set_request(static_cast<std::uint32_t>(count_));
        const bool is_crowded = out_.size() >= orders_out_max;
        const std::uint64_t dice = random_.below(100);
        if (out_.empty() || dice < (is_crowded ? 40U : 60U)) {
            enter(c);
        } else {
            change(c, dice >= 95);
        }
        return c;
    }

 private:
    struct order {
        std::uint32_t account_index;
        std::uint32_t instrument_index;
        std::uint64_t name;
    };

    void sign(domain::command& c, const order& o) {
        c.account = venue_.accounts[o.account_index].id;
        c.session = domain::session_id{c.account.value};
        c.instrument = venue_.instruments[o.instrument_index].id;
        c.client_order = domain::client_order_id{o.name};
    }
    domain::price_ticks price(const order& o, domain::side side) {
        std::int64_t& middle = middles_[o.instrument_index];
        if (random_.below(50) == 0) middle += static_cast<std::int64_t>(random_.below(3)) - 1;
        const auto away = static_cast<std::int64_t>(random_.below(60)) - 2;  // some meet the other side
        return domain::price_ticks{side == domain::side::buy ? middle - away : middle + away};
    }
    void enter(domain::command& c) {
        const order o{static_cast<std::uint32_t>(random_.below(venue_.accounts.size())),
                      static_cast<std::uint32_t>(random_.below(venue_.instruments.size())), count_};
        sign(c, o);
        c.kind = domain::command_kind::enter_order;
        c.order_terms().side = random_.below(2) == 0 ? domain::side::buy : domain::side::sell;
        c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random_.below(20))};
        c.order_terms().time_in_force = domain::time_in_force::gtc;
        c.enter_order().price = price(o, c.order_terms().side);
        out_.push_back(o);
    }
    void change(domain::command& c, bool amends) {
        const std::size_t at = random_.below(out_.size());
        sign(c, out_[at]);
        c.kind = amends ? domain::command_kind::amend_order : domain::command_kind::cancel_order;
        if (amends) {
            c.amend_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random_.below(20))};
            c.amend_order().price = price(out_[at], random_.below(2) == 0 ? domain::side::buy : domain::side::sell);
            return;
        }
        out_[at] = out_.back();
        out_.pop_back();
    }

    const node::configuration& venue_;
    base::prng random_;
    std::vector<std::int64_t> middles_;
    std::vector<order> out_;
    std::uint64_t count_ = 0;
    std::int64_t time_ = start_ns;
};

/// @param ended  Set to what ended the journal before its last command.
io::task<> append(journal::writer* log, std::string directory, flow* from, std::uint64_t count,
                  journal::problem* ended) {
    for (std::uint64_t i = 0; i < count && !ended->code; ++i) {
        const domain::command c = from->next();
        while (!ended->code && !log->append(c)) *ended = co_await journal::wait_for_space(log, directory);
    }
    log->close();
}

/// Returns what went wrong; empty when nothing did.
io::task<std::string> write(journal::storage* files, std::string directory, journal::writer_options options, flow* from,
                            std::uint64_t count) {
    auto lock = co_await journal::directory_lock::take(files, directory);
    if (!lock) co_return lock.error().text;
    journal::journal_end end;
    auto opened = co_await journal::writer::open(std::move(*lock), std::move(end), options);
    if (!opened) co_return opened.error().text;
    journal::writer* const log = opened->get();
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn(log->run());
    journal::problem ended;
    scope.spawn(append(log, directory, from, count, &ended));
    co_await scope.join();
    co_return log->failed() ? log->error().text : ended.text;
}

int generate(const generate_options& options) {
    const node::configuration venue = node::load_configuration(options.config);
    if (!venue.partitions.empty()) {
        throw node::configuration_error(options.config +
                                        ": a venue with partitions has several journals; remove [[partition]]");
    }
    std::error_code error;
    if (!std::filesystem::is_empty(options.directory, error) && !error) {
        throw std::runtime_error(
            fmt::format("{}: is not empty; name a directory that does not exist", options.directory));
    }
    flow from(venue, options.seed);
    io::context context;
    journal::disk_storage disk(context);
    journal::writer_options writing;
    writing.venue = journal::identity(venue.venue_name, journal::fingerprint_of(venue.instruments));
    writing.mode = journal::durability::async;
    const std::string problem =
        io::block_on(context, write(&disk, options.directory, writing, &from, options.commands_count));
    if (!problem.empty()) throw std::runtime_error(problem);
    fmt::print("{}: {} commands of seed {}\n", options.directory, options.commands_count, options.seed);
    return 0;
}

}  // namespace

void add_generate_command(command_line& line) {
    auto options = std::make_shared<generate_options>();
    const subcommand command =
        line.add_subcommand("generate", "Write a journal of seeded order flow, without running an exchange");
    command.add_option("-c,--config", options->config, "Configuration with the instruments and the accounts")
        .required();
    command.add_option("directory", options->directory, "Directory of the journal; created if missing").required();
    command.add_option("--commands", options->commands_count, "Number of commands")
        .shows_default()
        .in_range(std::uint64_t{1}, std::uint64_t{1'000'000'000});
    command.add_option("--seed", options->seed, "Seed of the flow").shows_default();
    command.footer(
        "Orders, amends and cancels of all accounts in all instruments, around prices that wander. They do not depend "
        "on\n"
        "what trades: the same seed gives the same commands under any rules of the configuration.");
    command.runs([options] { return generate(*options); });
}

}  // namespace corro::app
