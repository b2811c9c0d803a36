// SPDX-License-Identifier: Apache-2.0
// The cost of the journal: appending, waiting for the disk, reading back.
//
//     corro_journal_bench [--smoke] [--uring] [--commands N] [DIRECTORY]
//
// DIRECTORY, by default one below the system's directory for temporary files, should be on the disk to measure.
// --smoke: a few commands, to check that the rows run. The disk limits the rate of `group` and `each`, so it is
// printed with the time of one sync; the rows of reading read from the system's cache.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "io/loop/machine.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal/reader.hpp"
#include "journal/writer.hpp"

namespace corro::journal {
namespace {

struct settings {
    std::uint64_t commands_count = 10'000'000;
    io::platform* backend = &io::epoll_platform();
    std::string directory = (std::filesystem::temp_directory_path() / "corro_journal_bench").string();
};

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

writer_options options_of(durability mode) {
    writer_options options;
    options.venue = identity("BENCH", 1);
    options.mode = mode;
    return options;
}

void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "corro_journal_bench: %s\n", what);
    std::exit(1);
}

/// Appends as fast as the journal accepts commands, `burst` at a time, and yields between bursts.
io::task<> append_all(writer* log, std::uint64_t count, std::uint64_t burst) {
    domain::command command;
    std::uint64_t in_burst = 0;
    while (count != 0 && !log->failed()) {
        command.sequence = domain::sequence_number{log->next_sequence()};
        command.time = domain::time_ns{static_cast<std::int64_t>(log->next_sequence())};
        if (!log->append(command)) {
            co_await log->progressed().wait();
        } else if (--count, ++in_burst == burst) {
            in_burst = 0;
            co_await io::yield();
        }
    }
}

struct written {
    double seconds = 0;
    writer_statistics statistics;
};

io::task<written> write_all(storage* files, std::string directory, durability mode, std::uint64_t count,
                            std::uint64_t burst) {
    auto lock = co_await directory_lock::take(files, directory);
    expect(lock.has_value(), "the directory cannot be locked");
    auto log = co_await writer::open(std::move(*lock), journal_end(), options_of(mode));
    expect(log.has_value(), "the journal cannot be opened");
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    written result;
    const double start = now_s();
    co_await append_all(log->get(), count, burst);
    while ((*log)->durable_sequence() < count && !(*log)->failed()) co_await (*log)->progressed().wait();
    result.seconds = now_s() - start;
    result.statistics = (*log)->statistics();
    (*log)->close();
    co_await scope.join();
    expect(!(*log)->failed(), "writing failed");
    co_return result;
}

io::task<double> read_all(storage* files, std::string directory, std::uint64_t count) {
    const double start = now_s();
    const reader_options options;
    auto opened = co_await reader::open(files, directory, options);
    expect(opened.has_value(), "the journal cannot be read");
    std::uint64_t found = 0;
    std::int64_t sum = 0;
    for (;;) {
        const auto commands = co_await (*opened)->next();
        expect(commands.has_value(), "the journal is damaged");
        if (commands->empty()) break;
        for (const domain::command& c : *commands) sum += c.time.value;
        found += commands->size();
    }
    expect(found == count && sum == static_cast<std::int64_t>(count * (count + 1) / 2),
           "a command differs from the one written");
    co_return now_s() - start;
}

void write_row(const settings& how, durability mode, std::uint64_t count, std::uint64_t burst, bool reads) {
    std::filesystem::remove_all(how.directory);
    io::context ctx{io::context_options(*how.backend)};
    disk_storage files(ctx);
    const written w = io::block_on(ctx, write_all(&files, how.directory, mode, count, burst));
    std::printf("write %-6s %9llu commands, bursts of %5llu %11.0f commands/s %7.1f per block %9.1f us per sync\n",
                std::string(name_of(mode)).c_str(), static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(burst), static_cast<double>(count) / w.seconds,
                static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(w.statistics.blocks_count, 1)),
                w.seconds * 1e6 / static_cast<double>(std::max<std::uint64_t>(w.statistics.syncs_count, 1)));
    if (!reads) return;
    double best = 1e18;
    for (int i = 0; i < 3; ++i) best = std::min(best, io::block_on(ctx, read_all(&files, how.directory, count)));
    std::printf("read         %9llu commands %23s %11.0f commands/s %7.3f s\n", static_cast<unsigned long long>(count),
                "", static_cast<double>(count) / best, best);
}

void run(const settings& how) {
    const std::uint64_t many = how.commands_count;
    const std::uint64_t few = std::max<std::uint64_t>(many / 5'000, 10);
    write_row(how, durability::none, many, 1'000, true);
    write_row(how, durability::async, many, 1'000, false);
    write_row(how, durability::group, many, 1'000, false);
    write_row(how, durability::none, std::max<std::uint64_t>(many / 10, 10), 1, true);
    write_row(how, durability::group, few, 1, false);
    write_row(how, durability::each, few, 1, false);
    std::filesystem::remove_all(how.directory);
}

}  // namespace
}  // namespace corro::journal

int main(int argc, char** argv) {
    corro::journal::settings how;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--smoke") {
            how.commands_count = 5'000;
        } else if (argument == "--uring") {
            how.backend = &corro::io::uring_platform();
        } else if (argument == "--commands" && i + 1 < argc) {
            how.commands_count = std::strtoull(argv[++i], nullptr, 10);
        } else {
            how.directory = std::string(argument) + "/corro_journal_bench";
        }
    }
    corro::journal::run(how);
}
