// SPDX-License-Identifier: Apache-2.0
// Test support: a small registry of two suites whose subjects do nothing.
#pragma once

#include "lab/registry.hpp"

namespace corro::lab {

inline registry small_registry() {
    registry all;
    const auto nothing = [](const run_parameters&) { return measurement(); };
    all.declare("first", {{"speed", "/s", better::higher, "goes fast"}});
    all.declare("first", {{"pairs", "/s", better::higher, "goes to and fro"},
                          {"pairs_worst", "ns", better::lower, "the worst of them"}});
    all.declare("second", {{"delay", "ns", better::lower, "waits"}}, 2);
    for (const char* const subject : {"corro_epoll", "asio_callbacks", "raw_epoll"}) {
        all.implement("first", "speed", subject, nothing);
        all.implement("first", "pairs", subject, nothing);
    }
    for (const char* const subject : {"corro_epoll", "asio_callbacks"})
        all.implement("second", "delay", subject, nothing);
    return all;
}

}  // namespace corro::lab
