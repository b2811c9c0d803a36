// Compares the venue with its reference for as long as one likes.
//
//     differential [--operations N] [--seed S]
//
// Runs of 5,000 random commands each, every one with its own seed drawn from S; every event and the state hash after
// every command are compared. Prints the first difference with the seed that repeats it and exits with 1; exits with 0
// when N operations agreed.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/random.hpp"
#include "facility/differential.hpp"

int main(int argc, char** argv) {
    std::uint64_t operations = 10'000'000;
    std::uint64_t seed = 1;
    for (int i = 1; i < argc; i += 2) {
        const std::string_view name = argv[i];
        if (i + 1 == argc || (name != "--operations" && name != "--seed")) {
            std::fprintf(stderr, "usage: differential [--operations N] [--seed S]\n");
            return 2;
        }
        (name == "--seed" ? seed : operations) = std::strtoull(argv[i + 1], nullptr, 10);
    }
    corro::base::prng seeds{seed};
    constexpr std::uint64_t operations_per_run = 5'000;
    std::uint64_t done = 0;
    for (; done < operations; done += operations_per_run) {
        const std::string difference = corro::facility::testing::run_differential(seeds(), operations_per_run);
        if (!difference.empty()) {
            std::printf("after %llu operations, %s\n", static_cast<unsigned long long>(done), difference.c_str());
            return 1;
        }
        if (done % 10'000'000 == 0 && done != 0) {
            std::printf("%llu operations agree\n", static_cast<unsigned long long>(done));
            std::fflush(stdout);
        }
    }
    std::printf("%llu operations from seed %llu: no difference\n", static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(seed));
    return 0;
}
