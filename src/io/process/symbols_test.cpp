// SPDX-License-Identifier: Apache-2.0
#include "io/process/symbols.hpp"

#include <gtest/gtest.h>

namespace corro::io {

// Not static: a symbol table has it whatever the optimiser does.
[[gnu::noinline]] int a_function_with_this_name(int given) {
    asm volatile("" : "+r"(given));
    return given;
}

namespace {

TEST(symbols, name_the_function_of_an_address_and_of_one_within_it) {
    symbol_table symbols;
    const auto* const begin = reinterpret_cast<const char*>(&a_function_with_this_name);
    EXPECT_EQ(symbols.symbol_at(begin), "_ZN5corro2io25a_function_with_this_nameEi");
    EXPECT_EQ(symbols.symbol_at(begin + 1), "_ZN5corro2io25a_function_with_this_nameEi");
}

TEST(symbols, of_an_address_without_a_function_are_a_file_and_an_offset) {
    symbol_table symbols;
    static const int number = 0;
    const std::string found = symbols.symbol_at(&number);
    EXPECT_TRUE(found.find("+0x") != std::string::npos) << found;
    int local = 0;
    EXPECT_EQ(symbols.symbol_at(&local), "nowhere");
}

TEST(coroutine_name, is_that_of_the_function_for_both_compilers) {
    EXPECT_EQ(coroutine_name("_ZN3app5outerEv.resume"), "app::outer");
    EXPECT_EQ(coroutine_name("_ZN3app6server4sessEi.destroy"), "app::server::sess");
    EXPECT_EQ(coroutine_name("_ZN3app4textB5cxx11Ev.resume"), "app::text");
    EXPECT_EQ(coroutine_name("_ZN3app5outerEPZNS_5outerEvE21_ZN3app5outerEv.Frame.actor"), "app::outer");
    EXPECT_EQ(coroutine_name("_ZN3app6server4sessEPZNS0_4sessEiE27_ZN3app6server4sessEi.Frame.actor"),
              "app::server::sess");
    EXPECT_EQ(coroutine_name("_ZZ4mainENUliE_clEPZZ4mainENKS_clEiE26_ZZ4mainENKUliE_clEi.Frame.actor.cold"),
              "main::{lambda(int)#1}::operator()");
}

TEST(coroutine_name, that_is_no_mangled_one_stays_as_it_is) {
    EXPECT_EQ(coroutine_name("main"), "main");
    EXPECT_EQ(coroutine_name(""), "");
    EXPECT_EQ(coroutine_name("/usr/bin/program+0x12"), "/usr/bin/program+0x12");
    EXPECT_EQ(coroutine_name("_Znonsense.resume"), "_Znonsense");
    EXPECT_EQ(coroutine_name("x.Frame.actor"), "x.Frame.actor");
}

}  // namespace
}  // namespace corro::io
