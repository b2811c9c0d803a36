// SPDX-License-Identifier: Apache-2.0
// A platform: the machine as the contexts on it see it.
//
// Everything that a machine gives comes from here: kernels for contexts, the time, random bytes, the disk, addresses
// of names, and workers, which are contexts that run beside the one that asks. The kernels of Linux stand behind the
// platforms in io/loop/machine.hpp. A platform of one's own, such as a simulated machine, takes their place whole:
// a context and what stands on it ask nothing else.
//
// Threads: any, except where a function names one.
// Cost:    one virtual call each. Ticks cost none: users keep the `tick_clock`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/loop/backend.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"

namespace corro::io {

class context;
struct context_options;
class file_faults;
class storage;
template <class T>
class task;

/// The result of `resolve`: the addresses of a name.
using resolved = std::expected<std::vector<endpoint>, std::error_code>;

/// A context that runs beside others, on its own thread if the platform has threads.
///
/// Threads: the one that made it, except what `where` allows.
class worker {
 public:
    worker() = default;
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    /// @pre Its work has ended and was joined, or was never started (asserted).
    virtual ~worker() = default;

    /// Its context. Until `start`, objects may be made on it; after `join`, they may be destroyed.
    [[nodiscard]] virtual context& where() noexcept = 0;

    /// Runs `work` on its context, beside the caller. Once until `join` (asserted).
    /// @throws std::system_error if the system gives no thread.
    virtual void start(task<void> work) = 0;

    /// Waits until the work has ended and rethrows its exception. Blocks the calling thread, so the caller must ask the
    /// work to end first. Does nothing without started work.
    virtual void join() = 0;

    /// Whether work was started and not joined yet.
    [[nodiscard]] virtual bool is_started() const noexcept = 0;
};

/// A machine, real or simulated. It outlives its contexts.
class platform {
 public:
    /// The backend of a context.
    struct made_backend {
        /// Not null.
        std::unique_ptr<backend> own;
        /// Why it is not the requested one, for a log; empty if it is.
        std::string notice;
    };

    platform() = default;
    platform(const platform&) = delete;
    platform& operator=(const platform&) = delete;
    virtual ~platform() = default;

    /// The name of its backends: "epoll", "uring" and so on.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// A backend for one context. @throws std::system_error if the kernel refuses (start-up).
    [[nodiscard]] virtual made_backend make_backend() = 0;

    /// The time since some moment in the past; never decreases.
    [[nodiscard]] virtual steady_time now() noexcept = 0;

    /// The time of day, which may be set forward and back.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_now() noexcept = 0;

    /// For timing stages of a microsecond. The first call may take 20 ms, to calibrate.
    [[nodiscard]] virtual const tick_clock& ticks() = 0;

    /// Fills `into` with bytes that nobody can predict, or, on a simulated machine, with bytes of its seed. Aborts when
    /// the generator fails: without it no logon is safe.
    virtual void fill_random(std::span<std::byte> into) noexcept = 0;

    /// The addresses of `host`, with `port`; see `resolve` in io/net/resolver.hpp, which names the errors.
    [[nodiscard]] virtual task<resolved> look_up(std::string host, std::uint16_t port) = 0;

    /// Returns the disk for one context.
    /// @param faults  Breaks calls, in tests; outlives the storage and its files. Null for none.
    [[nodiscard]] virtual std::unique_ptr<storage> make_storage(context& on, file_faults* faults) = 0;

    /// A worker whose context is made with these options, on this platform whatever they say.
    /// @throws std::system_error if the kernel refuses the backend (start-up).
    [[nodiscard]] virtual std::unique_ptr<worker> make_worker(context_options options) = 0;

    /// Processors that the threads of this process may use; at least 1. A simulated machine has as many as are useful.
    [[nodiscard]] virtual std::size_t processors_count() const noexcept = 0;

    /// Ends the process with this exit code: no destructor runs, and no thread is waited for, since any may hang. On a
    /// simulated machine the call returns, and the process is killed before time passes.
    virtual void end_process(int code) noexcept { std::_Exit(code); }
};

/// The machine that the process runs on, by the kernel interface that suits every kernel and thread: epoll.
[[nodiscard]] platform& default_platform() noexcept;

}  // namespace corro::io
