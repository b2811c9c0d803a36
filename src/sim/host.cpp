// SPDX-License-Identifier: Apache-2.0
#include "sim/host.hpp"

#include <utility>

#include "base/assert.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"

namespace corro::sim {

host::host(world& in, std::uint64_t number, std::string name, std::vector<io::endpoint> addresses)
    : world_(in),
      number_(number),
      name_(std::move(name)),
      addresses_(std::move(addresses)),
      clock_(in.now_ns()),
      disk_(disk_pace::at_once, in.seed_of("disk of " + name_)),
      power_cuts_(in.seed_of("power cuts of " + name_)) {
    for (io::endpoint& each : addresses_) {
        each = each.with_port(0);
        world_.network().add_address(each, *this);
    }
}

io::endpoint host::loopback_like(const io::endpoint& like) noexcept {
    return like.family() == io::address_family::ipv4 ? io::endpoint::loopback(0) : io::endpoint::loopback_ipv6(0);
}

io::endpoint host::address_like(const io::endpoint& like) const noexcept {
    for (const io::endpoint& each : addresses_) {
        if (each.family() == like.family()) return each;
    }
    return loopback_like(like);
}

process& host::start_process(std::string name) {
    CORRO_ASSERT(is_on_, "a process needs a host with power");
    process& made = processes_.emplace_back(*this, ++processes_started_count_, std::move(name));
    if (observer* const who = world_.watched_by()) who->process_started(made);
    return made;
}

void host::forget_ended() {
    processes_.remove_if([](const process& each) { return !each.is_alive() && !each.has_contexts(); });
}

void host::cut_power() {
    CORRO_ASSERT(is_on_, "a host loses the power that it has");
    is_on_ = false;
    for (process& each : processes_) each.end(false);
    disk_.cut_power(power_cuts_);
    say_changed();
}

void host::set_clock_rate(std::int64_t ppb) {
    clock_.set_rate(world_.now_ns(), ppb);
    world_.agenda().list_all();
}

void host::restore_power() {
    is_on_ = true;
    say_changed();
}

void host::say_changed() {
    if (observer* const who = world_.watched_by()) who->host_changed(*this);
}

void host::set_paused(bool paused) {
    is_paused_ = paused;
    say_changed();
    world_.agenda().list_all();
}

}  // namespace corro::sim
