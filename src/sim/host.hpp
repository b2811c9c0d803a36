// SPDX-License-Identifier: Apache-2.0
// A simulated host: addresses, a disk, clocks, and the processes that run on it.
//
//     sim::host& exchange = world.add_host("exchange", {*io::endpoint::parse("10.0.0.1:0")});
//     sim::process& first = exchange.start_process("corro");
//     ...                                  // contexts on `first` serve
//     exchange.cut_power();                // unsynced bytes are lost, or not
//     ...                                  // what stood on `first` is destroyed
//     exchange.restore_power();
//     sim::process& second = exchange.start_process("corro");
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "io/net/endpoint.hpp"
#include "sim/disk.hpp"
#include "sim/host_clock.hpp"
#include "sim/ports.hpp"
#include "sim/process.hpp"

namespace corro::sim {

class host {
 public:
    host(world& in, std::uint64_t number, std::string name, std::vector<io::endpoint> addresses);
    host(const host&) = delete;
    host& operator=(const host&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The number of the host in its world, from 0.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    [[nodiscard]] world& where() const noexcept { return world_; }
    [[nodiscard]] const std::vector<io::endpoint>& addresses() const noexcept { return addresses_; }
    /// Its first address of the family of `like`, or the loopback address; port 0.
    [[nodiscard]] io::endpoint address_like(const io::endpoint& like) const noexcept;
    [[nodiscard]] static io::endpoint loopback_like(const io::endpoint& like) noexcept;

    /// Starts a process. It stays until the world ends, or until `forget_ended`. @pre The host has power (asserted).
    process& start_process(std::string name);
    [[nodiscard]] std::size_t processes_count() const noexcept { return processes_.size(); }
    /// Destroys the processes that have ended and have no context left.
    void forget_ended();

    /// All its processes end without a word to their peers, and the disk loses what the seed says of what was not
    /// synced. @pre It has power (asserted).
    void cut_power();
    void restore_power();
    [[nodiscard]] bool is_on() const noexcept { return is_on_; }

    /// While a host is paused, its processes do nothing; what is sent to it waits in its kernel.
    void set_paused(bool paused);
    [[nodiscard]] bool is_paused() const noexcept { return is_paused_; }

    /// Sets its time of day forward, or back.
    void set_wall_clock_forward(std::chrono::nanoseconds by) noexcept { clock_.set_wall_forward(by); }
    /// From now on its clocks gain `ppb` nanoseconds in each second, or lose them; see host_clock.
    void set_clock_rate(std::int64_t ppb);

    [[nodiscard]] host_clock& clock() noexcept { return clock_; }
    [[nodiscard]] const host_clock& clock() const noexcept { return clock_; }
    [[nodiscard]] sim::disk& disk() noexcept { return disk_; }
    [[nodiscard]] sim::ports& ports() noexcept { return ports_; }

 private:
    void say_changed();

    world& world_;
    std::uint64_t number_;
    std::string name_;
    std::vector<io::endpoint> addresses_;
    host_clock clock_;
    sim::disk disk_;
    sim::ports ports_;
    std::list<process> processes_;
    std::uint32_t processes_started_count_ = 0;
    base::prng power_cuts_;
    bool is_on_ = true;
    bool is_paused_ = false;
};

}  // namespace corro::sim
