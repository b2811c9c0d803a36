// SPDX-License-Identifier: Apache-2.0
// Starting again at the address of a process that was killed.
#pragma once

#include <chrono>
#include <system_error>
#include <thread>

namespace corro::app {

/// How long an address may be in use before that is an error.
inline constexpr std::chrono::milliseconds address_patience{2000};

/// Returns `make()`, which listens; tries again while an address is in use, for address_patience at most.
///
/// When a killed process has ended, its addresses are free. Those of an io_uring are not: Linux closes its sockets in
/// the background (measured: up to 160 ms later).
///
/// @throws What `make` throws.
template <class Make>
auto when_free(Make make) {
    using clock = std::chrono::steady_clock;
    clock::time_point end = clock::time_point::max();
    while (true) {
        try {
            return make();
        } catch (const std::system_error& e) {
            if (e.code() != std::errc::address_in_use || clock::now() > end) throw;
        }
        if (end == clock::time_point::max()) end = clock::now() + address_patience;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

}  // namespace corro::app
