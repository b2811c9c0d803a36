// SPDX-License-Identifier: Apache-2.0
// A simulated world: hosts, the network between them and virtual time, in one thread, from one seed.
//
//     sim::world world(seed);
//     sim::host& north = world.add_host("north", {address});
//     sim::process& server = north.start_process("server");
//     io::context here{io::context_options(server)};
//     ...
//     world.run_for(10min);                    // or io::block_on(here, work()), which steps all other contexts too
//
// Every context of every process is a member of the world. Contexts that have something to do take their turns in the
// order in which they were made; when none of them has, the time jumps to the next timer or the next event of the
// network, a disk or a host. So ten minutes of heartbeats take as long as the heartbeats' own work, and the same seed
// gives the same run, of which `digest` is a summary.
//
// Plain code, and actions that are planned, may do what they like with any context. A task acts on another context
// only through what is meant for it: the network, `io::context::deliver` and what stands on that.
//
// A small world needs no hosts: `machine()` is a process on a host of its own, whose network takes no time.
//
// A world in which every task waits for something that nothing brings would wait for ever, and one in which a task runs
// without ever waiting would stand still: an assertion ends either.
//
// Limits:  each stream holds `stream_window_bytes` in each direction, each datagram socket `datagrams_max` datagrams,
//          each acceptor as many connections as its backlog says. Signals, child processes and what io::file_system
//          opens are those of the process that simulates.
// Threads: one.
// Cost:    a turn costs what its contexts do, however many others wait. All contexts are looked at once by each call of
//          `run_until` and its like, after a planned action, and when a context that plain code runs (io::block_on)
//          waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "sim/agenda.hpp"
#include "sim/event_queue.hpp"
#include "sim/host.hpp"
#include "sim/network.hpp"
#include "sim/observer.hpp"
#include "sim/process.hpp"

namespace corro::sim {

class backend;

/// It outlives its contexts.
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

    /// Adds a host with its addresses, whose ports do not matter. Names and addresses are its own (asserted).
    host& add_host(std::string name, std::vector<io::endpoint> addresses);
    [[nodiscard]] const std::vector<std::unique_ptr<host>>& hosts() const noexcept { return hosts_; }
    /// The link from one host to another.
    [[nodiscard]] link& link_between(const host& from, const host& to) { return network_.link_between(from, to); }
    /// Cuts the links of `one` with all other hosts, both ways, or mends them.
    void set_isolated(const host& one, bool isolated);
    [[nodiscard]] sim::network& network() noexcept { return network_; }

    /// The process of a world that needs no hosts, its disk, and its time of day.
    [[nodiscard]] process& machine() noexcept { return *machine_; }
    [[nodiscard]] sim::disk& disk() noexcept { return machine_->on().disk(); }
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept { return machine_->wall_now(); }
    void set_wall_clock_forward(std::chrono::nanoseconds by) noexcept { machine_->on().set_wall_clock_forward(by); }

    /// The time since some moment before the beginning.
    [[nodiscard]] io::steady_time now() const noexcept { return io::steady_time(std::chrono::nanoseconds(now_ns_)); }
    [[nodiscard]] std::uint64_t now_ns() const noexcept { return now_ns_; }

    /// How often the contexts may take turns without time passing (asserted); the default is a million.
    void set_turns_at_one_time_max(std::uint64_t most) noexcept { turns_at_one_time_max_ = most; }

    /// Lets everything happen that is due until `end`, and sets the time to it.
    void run_until(io::steady_time end);
    void run_for(std::chrono::nanoseconds time) { run_until(now() + time); }
    /// Lets contexts that are not being run go on until `is_done`.
    void run_until_done(const std::function<bool()>& is_done);

    /// Lets `what` happen at a time that has not passed.
    void plan(std::uint64_t at_ns, std::function<void()> what);
    /// Lets `what` happen after `time`.
    void plan_after(std::chrono::nanoseconds time, std::function<void()> what);

    /// A generator of random numbers for a purpose, whose draws move no other purpose's.
    [[nodiscard]] base::prng stream(std::string_view purpose) const noexcept { return base::prng(seed_of(purpose)); }
    [[nodiscard]] std::uint64_t seed_of(std::string_view purpose) const noexcept;
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

    /// A summary of everything that has arrived anywhere: when, from where, and the bytes.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }

    /// Gives a name addresses for `io::resolve`. The names of hosts are known.
    void add_name(const std::string& name, std::vector<io::endpoint> addresses) { names_[name] = std::move(addresses); }
    [[nodiscard]] std::vector<io::endpoint> addresses_of(const std::string& name) const;

    /// How often a context was stepped: what the run has cost.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_count_; }

    /// Tells `who` what happens to hosts and processes from now on; null: nobody.
    void set_observer(observer* who) noexcept { observer_ = who; }

    // For its processes, their backends, its hosts and its network.
    [[nodiscard]] observer* watched_by() const noexcept { return observer_; }
    [[nodiscard]] sim::agenda& agenda() noexcept { return agenda_; }
    /// As `plan`, for what acts on contexts only through their backends.
    void plan_inside(std::uint64_t at_ns, action what) { events_.add(at_ns, std::move(what)); }
    /// Goes on with the others until there is news for `waiting`, or its `timeout` is over (negative: none).
    void wait(backend& waiting, std::chrono::nanoseconds timeout);
    void record(std::uint64_t from, std::uint64_t to, std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++numbers_count_; }

 private:
    [[nodiscard]] bool step_others();
    [[nodiscard]] std::uint64_t next_due_ns() const noexcept;
    template <class Condition>
    void go_on(std::uint64_t end, Condition is_done);
    void advance(std::uint64_t to_ns);
    void set_clocks() noexcept;

    std::uint64_t seed_;
    std::uint64_t now_ns_ = 1'000'000'000;
    std::uint64_t digest_ = 0;
    std::uint64_t numbers_count_ = 0;
    std::uint64_t turns_at_this_time_count_ = 0;
    std::uint64_t turns_at_one_time_max_ = 1'000'000;
    std::uint64_t steps_count_ = 0;
    event_queue events_;
    sim::agenda agenda_;
    observer* observer_ = nullptr;
    sim::network network_;
    std::vector<std::unique_ptr<host>> hosts_;
    std::map<std::string, std::vector<io::endpoint>> names_;
    process* machine_;
};

}  // namespace corro::sim
