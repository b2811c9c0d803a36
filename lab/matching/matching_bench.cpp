// Times matching: nanoseconds per operation of each workload on each subject.
//
//     matching_bench [--repeats N] [--operations N] [--only WORKLOAD] [--subject NAME] [--small]
//
// Mean: the median of N passes of all operations, each on a fresh subject after the workload's setup, in processor time
// of the thread (mass cancels in elapsed time, call by call). Percentiles: one more pass in which every operation is
// timed by itself; the cost of reading the clock is measured and taken off.
// `--small` runs everything a little, to show that it runs.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "base/histogram.hpp"
#include "base/tsc_clock.hpp"
#include "lab/matching/subjects.hpp"
#include "lab/matching/workload.hpp"

namespace {

using namespace corro;
using namespace corro::lab;

struct options {
    int repeats = 5;
    std::uint64_t operations = 2'000'000;
    std::string_view only;
    std::string_view subject;
};

/// Processor time of this thread: what other processes take in between is not counted.
std::uint64_t thread_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

struct sums {
    std::uint64_t agreed = 0;
    std::uint64_t said = 0;
    friend bool operator==(const sums&, const sums&) = default;
};

/// The time of all measured operations, in nanoseconds per order or operation.
template <class Subject>
double time_whole(const workload& w, const base::tsc_clock& clock, sums& found) {
    const auto subject = std::make_unique<Subject>(w);
    for (const operation& o : w.setup) subject->run(o);
    std::uint64_t ticks = 0;
    if (w.times_only_account_cancels) {
        for (const operation& o : w.measured) {
            const std::uint64_t begin = clock.now_ticks_ordered();
            subject->run(o);
            if (o.what == operation::kind::cancel_account) ticks += clock.now_ticks_ordered() - begin;
        }
    } else {
        const std::uint64_t begin = thread_ns();
        for (const operation& o : w.measured) subject->run(o);
        found = {subject->agreed(), subject->said()};
        return static_cast<double>(thread_ns() - begin) / static_cast<double>(w.measured_orders);
    }
    found = {subject->agreed(), subject->said()};
    return static_cast<double>(clock.to_ns(ticks)) / static_cast<double>(w.measured_orders);
}

template <class Subject>
void time_each(const workload& w, const base::tsc_clock& clock, base::latency_histogram& into) {
    std::uint64_t overhead = ~std::uint64_t{0};
    for (int i = 0; i < 1'000; ++i) {
        const std::uint64_t begin = clock.now_ticks_ordered();
        overhead = std::min(overhead, clock.now_ticks_ordered() - begin);
    }
    const auto subject = std::make_unique<Subject>(w);
    for (const operation& o : w.setup) subject->run(o);
    for (const operation& o : w.measured) {
        const std::uint64_t begin = clock.now_ticks_ordered();
        subject->run(o);
        const std::uint64_t ticks = clock.now_ticks_ordered() - begin;
        into.record(clock.to_ns(ticks > overhead ? ticks - overhead : 0));
    }
}

template <class Subject>
void report(const workload& w, const options& chosen, const base::tsc_clock& clock, std::uint64_t& agreed) {
    if (!chosen.subject.empty() && chosen.subject != Subject::name) return;
    std::vector<double> passes;
    sums first;
    for (int i = 0; i < chosen.repeats; ++i) {
        sums found;
        passes.push_back(time_whole<Subject>(w, clock, found));
        if (i == 0) first = found;
        if (agreed == 0) agreed = found.agreed;
        if (found != first || found.agreed != agreed) {
            std::fprintf(stderr, "%s on %s: passes or subjects differ\n", w.name.data(), Subject::name);
            std::exit(1);
        }
    }
    std::sort(passes.begin(), passes.end());
    base::latency_histogram each;
    if (!w.times_only_account_cancels) time_each<Subject>(w, clock, each);
    std::printf("%-22s %-14s %8.1f %8.1f %8llu %8llu %8llu\n", w.name.data(), Subject::name, passes[passes.size() / 2],
                passes.front(), static_cast<unsigned long long>(each.value_at_percentile(50)),
                static_cast<unsigned long long>(each.value_at_percentile(99)),
                static_cast<unsigned long long>(each.value_at_percentile(99.9)));
    std::fflush(stdout);
}

void report_all(const workload& w, const options& chosen, const base::tsc_clock& clock) {
    std::uint64_t agreed = 0;
    report<core_subject>(w, chosen, clock, agreed);
    report<facility_subject>(w, chosen, clock, agreed);
    report<plain_subject>(w, chosen, clock, agreed);
}

}  // namespace

int main(int argc, char** argv) {
    options chosen;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--small") {
            chosen.repeats = 2;
            chosen.operations = 20'000;
        } else if (i + 1 < argc && name == "--repeats") {
            chosen.repeats = std::max(1, std::atoi(argv[++i]));
        } else if (i + 1 < argc && name == "--operations") {
            chosen.operations = std::strtoull(argv[++i], nullptr, 10);
        } else if (i + 1 < argc && name == "--only") {
            chosen.only = argv[++i];
        } else if (i + 1 < argc && name == "--subject") {
            chosen.subject = argv[++i];
        } else {
            std::fprintf(
                stderr,
                "usage: matching_bench [--repeats N] [--operations N] [--only WORKLOAD] [--subject NAME] [--small]\n");
            return 2;
        }
    }
    const base::tsc_clock clock;
    const auto wanted = [&](std::string_view name) { return chosen.only.empty() || chosen.only == name; };
    const std::uint64_t n = chosen.operations;
    std::printf("%-22s %-14s %8s %8s %8s %8s %8s\n", "workload", "subject", "ns/op", "best", "p50", "p99", "p99.9");
    if (wanted("typical")) report_all(typical(1, n), chosen, clock);
    if (wanted("deep")) report_all(deep(1, n), chosen, clock);
    if (wanted("sparse")) report_all(sparse(1, n), chosen, clock);
    if (wanted("sweep same")) report_all(sweep("sweep same", 1, n, 0), chosen, clock);
    if (wanted("sweep close")) report_all(sweep("sweep close", 1, n, 1), chosen, clock);
    if (wanted("sweep sparse")) report_all(sweep("sweep sparse", 1, n, 1'000'003), chosen, clock);
    if (wanted("mass cancel")) report_all(mass_cancel("mass cancel", 1, n / 400 + 1, false), chosen, clock);
    if (wanted("mass cancel full")) report_all(mass_cancel("mass cancel full", 1, n / 400 + 1, true), chosen, clock);
    return 0;
}
