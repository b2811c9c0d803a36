// SPDX-License-Identifier: Apache-2.0
// The seed of a random test. For tests only: it reads the environment.
//
// CORRO_SEED=N repeats a run, CORRO_SEED=random draws a new seed; without it every run uses the same one, so that a
// clean clone stays green.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

namespace corro::base {

/// The seed for the test that calls it, printed to standard output in the form that repeats it.
[[nodiscard]] inline std::uint64_t test_seed() {
    constexpr std::uint64_t seed_default = 20'240'229;
    std::uint64_t seed = seed_default;
    if (const char* const text = std::getenv("CORRO_SEED")) {
        if (std::string_view{text} == "random") {
            std::random_device device;
            seed = (std::uint64_t{device()} << 32) | device();
        } else {
            char* end = nullptr;
            seed = std::strtoull(text, &end, 0);
            if (end == text || *end != '\0') {
                std::fprintf(stderr, "CORRO_SEED must be a number or \"random\": %s\n", text);
                std::abort();
            }
        }
    }
    std::printf("CORRO_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

}  // namespace corro::base
