// SPDX-License-Identifier: Apache-2.0
// A lambda's captures are destroyed with the lambda, and its coroutine may outlive it.
#include "io/task/task.hpp"

using namespace corro::io;

task<int> make(int number) {
#ifdef CORRO_CONTROL
    const auto give = [](int own) -> task<int> { co_return own; };
    const auto pass_on = [number, give] { return give(number); };
    return pass_on();
#else
    const auto give = [number]() -> task<int> { co_return number; };
    return give();
#endif
}
