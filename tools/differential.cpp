// SPDX-License-Identifier: Apache-2.0
// Compares the venue with its reference for as long as one likes.
//
//     differential [--operations N] [--seed S] [--threads T] [--quiet]
//
// Runs of 5,000 random commands each, every one with its own seed drawn from S; every event and the state hash after
// every command are compared. The runs are dealt out to T threads (as many as the machine has, unless given); which
// runs there are depends on N and S alone. Shows its progress on standard error, prints a summary, and exits with 0
// when all agreed. At a difference it prints the first one found, with the seed of its run that repeats it, and exits
// with 1.

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "facility_reference/differential.hpp"

namespace {

using namespace corro;
using namespace corro::facility::testing;

constexpr std::uint64_t operations_per_run = 5'000;

struct options {
    std::uint64_t operations = 10'000'000;
    std::uint64_t seed = 1;
    std::uint64_t threads = std::thread::hardware_concurrency();
    bool is_quiet = false;
};

/// What the runs have met, so that a summary can say whether they went to the hard places.
struct coverage {
    std::array<std::uint64_t, 256> commands{};  ///< by kind
    std::array<std::uint64_t, 256> events{};    ///< by kind
    std::array<std::uint64_t, 256> reasons{};

    void add(const coverage& other) {
        for (std::size_t i = 0; i < commands.size(); ++i) {
            commands[i] += other.commands[i];
            events[i] += other.events[i];
            reasons[i] += other.reasons[i];
        }
    }
};

/// The runs, dealt out in order; shared by the workers.
class deal {
 public:
    deal(std::uint64_t seed, std::uint64_t runs) : seeds_(seed), left_(runs) {}

    std::optional<std::uint64_t> next() {
        const std::lock_guard lock(mutex_);
        if (left_ == 0 || !difference_.empty()) return std::nullopt;
        --left_;
        return seeds_();
    }
    void report(std::string difference) {
        const std::lock_guard lock(mutex_);
        if (difference_.empty()) difference_ = std::move(difference);
    }
    void finish(const coverage& seen) {
        const std::lock_guard lock(mutex_);
        seen_.add(seen);
        ++finished_;
    }
    [[nodiscard]] std::uint64_t finished() {
        const std::lock_guard lock(mutex_);
        return finished_;
    }
    /// After all workers have ended.
    [[nodiscard]] const std::string& difference() const { return difference_; }
    [[nodiscard]] const coverage& seen() const { return seen_; }

    std::atomic<std::uint64_t> operations_done{0};

 private:
    std::mutex mutex_;
    base::prng seeds_;
    std::uint64_t left_;
    std::uint64_t finished_ = 0;
    std::string difference_;
    coverage seen_;
};

void work(deal& runs) {
    coverage seen;
    while (const auto seed = runs.next()) {
        command_generator generator(*seed);
        twin both(generator.profile().options, generator.profile().instruments);
        for (std::uint64_t i = 0; i < operations_per_run; ++i) {
            const domain::command command = generator.next();
            const std::string difference = both.apply(command);
            if (!difference.empty()) {
                runs.report("run of seed " + std::to_string(*seed) + ": " + difference);
                break;
            }
            ++seen.commands[static_cast<std::uint8_t>(command.kind)];
            for (const domain::event& e : both.events()) {
                ++seen.events[static_cast<std::uint8_t>(e.kind)];
                ++seen.reasons[static_cast<std::uint8_t>(e.reason)];
            }
            generator.learn(both.events());
        }
        runs.operations_done += operations_per_run;
    }
    runs.finish(seen);
}

[[nodiscard]] bool take_number(const char* text, std::uint64_t& into) {
    const std::string_view digits = text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return error == std::errc{} && end == digits.data() + digits.size();
}

[[nodiscard]] std::optional<options> read(int argc, char** argv) {
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        std::uint64_t* into = name == "--operations" ? &o.operations
                              : name == "--seed"     ? &o.seed
                              : name == "--threads"  ? &o.threads
                                                     : nullptr;
        if (name == "--quiet") {
            o.is_quiet = true;
        } else if (into == nullptr || ++i == argc || !take_number(argv[i], *into)) {
            return std::nullopt;
        }
    }
    if (o.threads == 0) o.threads = 1;
    return o;
}

void print_summary(const coverage& seen, std::uint64_t operations, const options& o, double seconds) {
    std::uint64_t events = 0;
    for (const std::uint64_t count : seen.events) events += count;
    const auto print = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
    std::printf(
        "%llu operations, %llu events, %llu state hashes compared in %.1f s on %llu threads (%.2f million a second)\n",
        print(operations), print(events), print(operations), seconds, print(o.threads),
        static_cast<double>(operations) / seconds / 1e6);
    std::printf("commands by kind:");
    for (std::size_t kind = 0; kind < seen.commands.size(); ++kind) {
        // Omits rare kinds: the generator also makes a few commands of each unknown kind.
        if (seen.commands[kind] > operations / 1'000) std::printf(" %zu: %llu", kind, print(seen.commands[kind]));
    }
    std::printf("\nevents:");
    for (std::size_t kind = 0; kind < seen.events.size(); ++kind) {
        if (seen.events[kind] != 0) {
            std::printf(" %s %llu", name_of(static_cast<domain::event_kind>(kind)), print(seen.events[kind]));
        }
    }
    std::printf("\nreasons:");
    for (std::size_t reason = 1; reason < seen.reasons.size(); ++reason) {
        if (seen.reasons[reason] == 0) continue;
        const std::string_view name = domain::to_string(static_cast<domain::reject_reason>(reason));
        std::printf(" %.*s %llu", static_cast<int>(name.size()), name.data(), print(seen.reasons[reason]));
    }
    std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
    const auto o = read(argc, argv);
    if (!o) {
        std::fprintf(stderr, "usage: differential [--operations N] [--seed S] [--threads T] [--quiet]\n");
        return 2;
    }
    const auto began = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    deal runs(o->seed, (o->operations + operations_per_run - 1) / operations_per_run);
    std::vector<std::thread> workers;
    for (std::uint64_t i = 0; i < o->threads; ++i) workers.emplace_back([&runs] { work(runs); });
    for (double shown = 0; runs.finished() < o->threads;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (o->is_quiet || seconds() - shown < 5) continue;
        shown = seconds();
        const auto done = runs.operations_done.load();
        std::fprintf(stderr, "%5.1f%%  %llu of %llu operations agree, %.0f s, about %.0f s to go\n",
                     100.0 * static_cast<double>(done) / static_cast<double>(o->operations),
                     static_cast<unsigned long long>(done), static_cast<unsigned long long>(o->operations), shown,
                     done == 0 ? 0 : shown * (static_cast<double>(o->operations) / static_cast<double>(done) - 1));
    }
    for (std::thread& each : workers) each.join();

    const std::uint64_t done = runs.operations_done;
    if (!runs.difference().empty()) {
        std::printf("DIFFERENCE after about %llu operations, %s\n", static_cast<unsigned long long>(done),
                    runs.difference().c_str());
        return 1;
    }
    print_summary(runs.seen(), done, *o, seconds());
    std::printf("no difference from seed %llu\n", static_cast<unsigned long long>(o->seed));
    return 0;
}
