// SPDX-License-Identifier: Apache-2.0
#include "market/recording/recording.hpp"

#include <fmt/format.h>

#include <utility>

#include "io/loop/context.hpp"
#include "io/task/scope.hpp"
#include "journal/identity.hpp"
#include "journal/patience.hpp"
#include "journal/writer.hpp"

namespace corro::market {
namespace {

/// Commands between two hand-overs to the journal; half a MiB stays in the cache.
constexpr std::size_t chunk_commands = 4'096;

/// Segments' headers have a time; with a fixed one, runs of one seed write the same bytes.
std::int64_t no_wall_clock() {
    return 0;
}

/// @param ended  Set to what ended the journal before the market.
io::task<> run_and_append(market* world, std::int64_t until_ns, journal::writer* log, const recording_options* options,
                          journal::problem* ended) {
    for (bool is_over = false; !is_over && !ended->code;) {
        is_over = world->run(until_ns, chunk_commands);
        for (const domain::command& c : world->commands()) {
            while (!ended->code && !log->append(c)) {
                *ended = co_await journal::wait_for_space(log, options->directory);
            }
            if (ended->code) break;
        }
        world->forget_commands();
        if (options->progress) options->progress(world->now_ns());
    }
    log->close();
}

}  // namespace

io::task<journal::problem> record(market* world, std::int64_t until_ns, journal::storage* files,
                                  recording_options options) {
    CORRO_ASSERT(world->options().keeps_commands, "a recording needs the commands");
    auto lock = co_await journal::directory_lock::take(files, options.directory);
    if (!lock) co_return lock.error();
    journal::writer_options writing;
    writing.venue = journal::identity(options.venue_name, journal::fingerprint_of(world->options().instruments));
    writing.mode = journal::durability::none;
    writing.wall_clock_ns = &no_wall_clock;
    journal::journal_end end;
    auto opened = co_await journal::writer::open(std::move(*lock), std::move(end), writing);
    if (!opened) co_return opened.error();
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*opened)->run());
    journal::problem ended;
    scope.spawn(run_and_append(world, until_ns, opened->get(), &options, &ended));
    co_await scope.join();
    co_return (*opened)->failed() ? (*opened)->error() : ended;
}

std::string venue_toml(const market& world, const std::string& venue_name, const std::string& journal,
                       const std::string& instruments_toml) {
    const facility::facility_options made = world.venue_options();
    std::string key(64, '0');
    key.back() = '1';
    return fmt::format(
        "# The venue of a simulated market, for corro book, corro export and corro journal.\n\n"
        "[venue]\nname = \"{}\"\nkeys = \"public\"\norders_max = {}\naccounts_max = {}\n\n"
        "[facility]\njournal = \"{}\"\ndurability = \"none\"\n\n{}\n"
        "[[account]]\nid = 1\nname = \"agent\"\nkey = \"{}\"\n",
        venue_name, made.orders_max, made.accounts_max, journal, instruments_toml, key);
}

}  // namespace corro::market
