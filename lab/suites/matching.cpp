// SPDX-License-Identifier: Apache-2.0
// Suite `matching`: the book alone and with every derived message, the reference, and a book as most people write it.

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "lab/matching/recorded.hpp"
#include "lab/matching/subjects.hpp"
#include "lab/matching/workload.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

/// A workload, given how many operations it should have.
using workload_maker = std::function<workload(std::uint64_t operations)>;

struct matching_row {
    std::string name;
    std::string does;
    workload_maker make;
    bool has_resting_orders = false;  ///< after its setup: then what an order takes in memory is measured
    bool suits_the_reference = true;  ///< the reference is too slow for many orders
    bool shares = false;              ///< then the plain book, first in and first out, cannot do it
};

constexpr double operations_per_second = 2e6;
constexpr std::uint64_t operations_min = 20'000;
constexpr std::uint64_t operations_max = 2'000'000;
constexpr std::uint64_t reference_slower_by = 10;
constexpr std::size_t sampled_every = 4;
constexpr int passes_min = 3;

const std::vector<matching_row>& rows() {
    static const std::vector<matching_row> all{
        {"typical", "45% add, 45% cancel, 5% amend down, 5% take; 10,000 resting orders around a moving middle",
         [](std::uint64_t n) { return typical(1, n); }, true},
        {"deep", "the same mix with 1,000,000 resting orders on 10,000 prices a side (20,000 orders in a short run)",
         [](std::uint64_t n) { return deep(1, n, n > operations_min * 10 ? 1'000'000 : 20'000); }, true, false},
        {"sparse", "the same mix with 10,000 resting orders, prices spread over 10^9 ticks",
         [](std::uint64_t n) { return sparse(1, n); }, true, false},
        {"sweep_same", "ten orders rest at one price, then one order takes all; per operation",
         [](std::uint64_t n) { return sweep("sweep_same", 1, n, 0); }},
        {"sweep_close", "the same, each a tick apart", [](std::uint64_t n) { return sweep("sweep_close", 1, n, 1); }},
        {"sweep_sparse", "the same, a million ticks apart",
         [](std::uint64_t n) { return sweep("sweep_sparse", 1, n, 1'000'003); }},
        {"mass_cancel", "an account quotes both sides of 100 books and cancels all at once; per order cancelled",
         [](std::uint64_t n) { return mass_cancel("mass_cancel", 1, n / 400 + 1, false); }},
        {"mass_cancel_full", "the same in books that hold 200 orders of others",
         [](std::uint64_t n) { return mass_cancel("mass_cancel_full", 1, n / 400 + 1, true); }, false, false},
        {"pro_rata", "an order shares 3,000 lots pro rata among 1,000 orders at one price; per trade",
         [](std::uint64_t n) { return pro_rata("pro_rata", 1, n, 3'000); }, false, false, true},
        {"pro_rata_few",
         "an order shares 100 lots among 1,000 orders, and rounding gives all to one; per order looked at",
         [](std::uint64_t n) { return pro_rata("pro_rata_few", 1, n, 100); }, false, false, true},
    };
    return all;
}

/// From the allocator, and mapped beside it: `base::make_zeroed_memory` maps large memory itself.
std::uint64_t allocated_bytes() {
    constexpr std::size_t data_at = 5;  // of the numbers in this file: writable pages that are no file's
    std::ifstream file("/proc/self/statm");
    std::uint64_t data_pages = 0;
    for (std::size_t i = 0; i <= data_at; ++i) file >> data_pages;
    verify(!file.fail(), "/proc/self/statm has six numbers");
    const auto facts = mallinfo2();
    return facts.uordblks + data_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) - facts.arena;
}

struct pass {
    double ns_per_operation = 0;
    double bytes = 0;  ///< allocated by the subject, after the setup
    std::uint64_t agreed = 0;
    std::uint64_t said = 0;
};

template <class Subject>
void run_all(Subject& subject, std::span<const operation> all) {
    if constexpr (requires { subject.run(all); }) {
        subject.run(all);
    } else {
        for (const operation& o : all) subject.run(o);
    }
}

template <class Subject>
pass time_whole(const workload& w) {
    pass result;
    const std::uint64_t before = allocated_bytes();
    const auto subject = std::make_unique<Subject>(w);
    run_all(*subject, w.setup);
    result.bytes = static_cast<double>(allocated_bytes() - before);
    std::uint64_t ns = 0;
    if (w.times_only_account_cancels) {
        std::uint64_t ticks = 0;
        for (const operation& o : w.measured) {
            const std::uint64_t begin = clock().now_ticks_ordered();
            subject->run(o);
            if (o.what == operation::kind::cancel_account) ticks += clock().now_ticks_ordered() - begin;
        }
        ns = clock().to_ns(ticks);
    } else {
        const std::uint64_t begin = thread_ns();
        run_all(*subject, w.measured);
        ns = thread_ns() - begin;
    }
    result.ns_per_operation = static_cast<double>(ns) / static_cast<double>(w.measured_orders);
    result.agreed = subject->agreed();
    result.said = subject->said();
    return result;
}

/// One operation in `sampled_every` is timed by itself; the cost of reading the clock is taken off.
template <class Subject>
base::latency_histogram time_samples(const workload& w) {
    base::latency_histogram into;
    std::uint64_t overhead = ~std::uint64_t{0};
    for (int i = 0; i < 1'000; ++i) {
        const std::uint64_t begin = clock().now_ticks_ordered();
        overhead = std::min(overhead, clock().now_ticks_ordered() - begin);
    }
    const auto subject = std::make_unique<Subject>(w);
    for (const operation& o : w.setup) subject->run(o);
    // At random places: regular ones could coincide with a workload's period.
    base::prng dice(1);
    for (const operation& o : w.measured) {
        const bool is_due =
            w.times_only_account_cancels ? o.what == operation::kind::cancel_account : dice.below(sampled_every) == 0;
        if (!is_due) {
            subject->run(o);
            continue;
        }
        const std::uint64_t begin = clock().now_ticks_ordered();
        subject->run(o);
        const std::uint64_t ticks = clock().now_ticks_ordered() - begin;
        const std::uint64_t ns = clock().to_ns(ticks > overhead ? ticks - overhead : 0);
        into.record(w.times_only_account_cancels ? ns / 200 : ns);
    }
    return into;
}

/// The result that all subjects must reach is that of the simplest subject that supports the workload.
template <class Simplest>
std::uint64_t agreed_by(const workload& w) {
    Simplest simplest(w);
    for (const operation& o : w.setup) simplest.run(o);
    for (const operation& o : w.measured) simplest.run(o);
    return simplest.agreed();
}

template <class Subject>
measurement measure(const workload& w, bool has_resting_orders, double seconds) {
    const bool shares = w.allocation.algorithm != domain::match_algorithm::fifo;
    const std::uint64_t agreed = shares ? agreed_by<core_subject>(w) : agreed_by<plain_subject>(w);

    std::vector<double> times;
    pass first;
    const std::uint64_t begin = clock().now_ticks();
    do {
        const pass one = time_whole<Subject>(w);
        if (times.empty()) first = one;
        verify_equal(one.agreed, agreed, "a subject disagrees on what rests, trades and leaves");
        verify_equal(one.said, first.said, "two passes differ");
        times.push_back(one.ns_per_operation);
    } while (times.size() < passes_min ||
             static_cast<double>(clock().between_ns(begin, clock().now_ticks())) < seconds * 1e9);
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];

    measurement result;
    const latency_summary latency = summary_of(time_samples<Subject>(w));
    result.values = {median, latency.p50, latency.p99, latency.p999, 1e9 / median};
    if (has_resting_orders) result.values.push_back(first.bytes / static_cast<double>(w.setup.size()));
    result.latency_ns = latency;
    return result;
}

std::uint64_t operations_for(double seconds) {
    return std::clamp(static_cast<std::uint64_t>(seconds * operations_per_second), operations_min, operations_max);
}

void declare_row(registry& into, const std::string& name, const std::string& does, bool has_resting_orders) {
    std::vector<row> made{{name, "ns", better::lower, does},
                          {name + "_p50", "ns", better::lower, "of operations timed one by one"},
                          {name + "_p99", "ns", better::lower, "of operations timed one by one"},
                          {name + "_p999", "ns", better::lower, "of operations timed one by one"},
                          {name + "_rate", "/s", better::higher, "operations per second"}};
    if (has_resting_orders) {
        made.push_back({name + "_bytes", "B", better::lower, "memory of the subject per resting order"});
    }
    into.declare("matching", std::move(made));
}

template <class Subject>
void implement(registry& into, const std::string& name, std::string_view subject, const workload_maker& make,
               bool has_resting_orders, std::uint64_t slower_by = 1) {
    into.implement("matching", name, subject, [=](const run_parameters& how) {
        const std::uint64_t operations = std::max(operations_for(how.seconds) / slower_by, operations_min);
        return measure<Subject>(make(operations), has_resting_orders, how.seconds);
    });
}

void implement_all(registry& into, const std::string& name, const workload_maker& make, bool has_resting_orders,
                   bool suits_the_reference, bool shares) {
    implement<core_subject>(into, name, "corro_core", make, has_resting_orders);
    implement<facility_subject>(into, name, "corro_messages", make, has_resting_orders);
    if (!shares) implement<plain_subject>(into, name, "std_map", make, has_resting_orders);
    if (suits_the_reference) {
        implement<reference_subject>(into, name, "reference", make, has_resting_orders, reference_slower_by);
    }
}

}  // namespace

void declare_matching(registry& into) {
    for (const matching_row& one : rows()) declare_row(into, one.name, one.does, one.has_resting_orders);
    for (const recording& one : recordings()) {
        declare_row(
            into, std::string(one.row),
            fmt::format("{}; needs CORRO_DATA_DIR to name the folder with {}", one.does, fmt::join(one.files, " and ")),
            false);
    }
}

void implement_matching(registry& into) {
    for (const matching_row& one : rows()) {
        implement_all(into, one.name, one.make, one.has_resting_orders, one.suits_the_reference, one.shares);
    }
    for (const recording& one : recordings()) {
        const auto files = find_files(one);
        if (!files) continue;
        const auto make = [read = one.read, files = *files](std::uint64_t) { return read(files); };
        implement_all(into, std::string(one.row), make, false, false, false);
    }
}

}  // namespace corro::lab
