// SPDX-License-Identifier: Apache-2.0
// Ends a program that was built for x86-64-v3 with a sentence, where the processor is older. Without it the first
// instruction that the processor does not have would end it, without a word.
//
// It runs before every other constructor of the program, and is compiled for the oldest x86-64 itself.

#include <unistd.h>

#include <cstring>

namespace {

void end_with(const char* sentence) noexcept {
    const ssize_t written = ::write(STDERR_FILENO, sentence, std::strlen(sentence));
    ::_exit(written < 0 ? 2 : 1);
}

[[gnu::constructor(101)]] void check_processor() noexcept {
    __builtin_cpu_init();
    const bool has_all = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                         __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                         __builtin_cpu_supports("popcnt") != 0;
    if (has_all) return;
    end_with(
        "This program was built for x86-64-v3: processors with AVX2, BMI and FMA, from about 2013 on. This one is "
        "older.\n"
        "Build it with -DCORRO_ARCH=x86-64, or use the packages, which run on every x86-64 processor.\n");
}

}  // namespace
