// A world in memory: one thread, virtual time, a network and a disk that lose nothing and take no time.
//
//     sim::world world(seed);
//     io::context server(io::context_options(world.machine()));
//     io::context client(io::context_options(world.machine()));
//     io::block_on(client, work());            // steps `server` too, and moves the time when nothing is left to do
//
// Every context on the world's machine is a member of the world. While one of them is run, and finds nothing to do, the
// others take their turns in the order in which they were made; when none of them has anything to do, the time jumps to
// the next timer of any. So ten minutes of heartbeats take as long as the heartbeats' own work, and the same seed gives
// the same run. Workers (io/loop/platform.hpp) are members like all others, without a thread.
//
// A world in which every task waits for something that no task and no timer brings would wait for ever: an assertion
// ends it.
//
// Limits:  each stream holds `stream_bytes_max` in each direction, each datagram socket `datagrams_max` datagrams, each
//          acceptor as many connections as its backlog says. Signals, child processes and what io::file_system opens
//          are those of the process.
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "io/loop/platform.hpp"
#include "sim/memory_disk.hpp"
#include "sim/memory_network.hpp"

namespace corro::sim {

class memory_backend;

/// One thread's worth of machines. It outlives its contexts.
class world {
 public:
    /// The time of day at which every world begins: 2026-01-05, 08:00 UTC, a Monday.
    static constexpr std::chrono::sys_seconds beginning{std::chrono::sys_days(std::chrono::year(2026) / 1 / 5) +
                                                        std::chrono::hours(8)};

    explicit world(std::uint64_t seed);
    world(const world&) = delete;
    world& operator=(const world&) = delete;
    /// @pre No context of it is left (asserted).
    ~world();

    /// The platform of its contexts.
    [[nodiscard]] io::platform& machine() noexcept { return *machine_; }

    /// The time since some moment before the beginning.
    [[nodiscard]] io::steady_time now() const noexcept { return io::steady_time(std::chrono::nanoseconds(now_ns_)); }
    /// The time of day: the time that has passed, and what it was set forward or back.
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept;
    /// Sets the time of day forward, or back.
    void set_wall_clock_forward(std::chrono::nanoseconds by) noexcept { wall_offset_ += by; }
    /// Gives a name addresses for `io::resolve`.
    void add_name(const std::string& name, std::vector<io::endpoint> addresses) { names_[name] = std::move(addresses); }

    /// Lets every context that is not being run go on until `*done` is true. For those who block in a world.
    void run_others_until(const bool* done);

    // For its backends and platform.

    void join(memory_backend& member) { members_.push_back(&member); }
    void leave(memory_backend& member) noexcept;
    /// Goes on with the others until there is news for `waiting`, or its `timeout` is over (negative: none).
    void wait(memory_backend& waiting, std::chrono::nanoseconds timeout);
    [[nodiscard]] memory_network& network() noexcept { return network_; }
    [[nodiscard]] memory_disk& disk() noexcept { return disk_; }
    [[nodiscard]] const std::map<std::string, std::vector<io::endpoint>>& names() const noexcept { return names_; }
    [[nodiscard]] base::prng& random() noexcept { return random_; }
    [[nodiscard]] const io::tick_clock& ticks() const noexcept { return ticks_; }

 private:
    [[nodiscard]] bool step_others();
    [[nodiscard]] io::steady_time next_due_of_others() const noexcept;

    std::uint64_t now_ns_ = 1'000'000'000;
    std::chrono::nanoseconds wall_offset_{0};
    io::tick_clock ticks_;
    base::prng random_;
    memory_network network_;
    memory_disk disk_;
    std::map<std::string, std::vector<io::endpoint>> names_;
    std::vector<memory_backend*> members_;  // in the order in which they were made
    std::unique_ptr<io::platform> machine_;
};

}  // namespace corro::sim
