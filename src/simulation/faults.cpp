// SPDX-License-Identifier: Apache-2.0
#include "simulation/faults.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr double lossy = 0.2;
constexpr std::uint64_t slow_bytes_per_second = 20'000;
constexpr std::int64_t clock_rate_ppb = 200'000;
constexpr std::chrono::milliseconds slow_disk_call{30};
constexpr std::uint64_t room_bytes_max = 256U * 1024;  // of a full disk
constexpr std::chrono::milliseconds restart_after_damage{20};

}  // namespace

void fault_injector::plan(const std::vector<fault>& faults, std::vector<sim::host*> client_hosts,
                          std::vector<trader*> traders, std::function<void(std::string_view)> tell) {
    client_hosts_ = std::move(client_hosts);
    traders_ = std::move(traders);
    tell_ = std::move(tell);
    for (const fault& each : faults) {
        world_.plan_after(each.at, [this, &each] {
            tell_(words_of(each, shape_));
            begin(each);
        });
    }
}

void fault_injector::after(const fault& one, std::function<void()> end) {
    world_.plan_after(one.length, [this, ends = std::move(end)] {
        if (!have_all_ended_) ends();
    });
}

void fault_injector::begin(const fault& one) {
    const std::size_t index = index_of_target(one, shape_);
    switch (target_of(one.kind)) {
        case fault_target::process:
            if (one.kind == fault_kind::kill) return venue_.kill(index, one.length);
            venue_.set_without_descriptors(index, true);
            return after(one, [this, index] { venue_.set_without_descriptors(index, false); });
        case fault_target::host: return begin_of_host(one, index);
        case fault_target::facility: return begin_of_disk(one);
        case fault_target::link: return begin_of_link(one, index);
        case fault_target::trader:
            if (shape_.venue.gateways_count < 2) return;  // there is no wrong one
            traders_[index]->set_straying(true);
            return after(one, [this, index] { traders_[index]->set_straying(false); });
    }
}

void fault_injector::begin_of_host(const fault& one, std::size_t index) {
    sim::host& where = venue_.host(index);
    switch (one.kind) {
        case fault_kind::power_cut: venue_.cut_power(index); return after(one, [&where] { where.restore_power(); });
        case fault_kind::pause: where.set_paused(true); return after(one, [&where] { where.set_paused(false); });
        case fault_kind::clock_jump: return where.set_wall_clock_forward(one.length);
        case fault_kind::clock_rate:
            where.set_clock_rate(one.length.count() % 2 == 0 ? clock_rate_ppb : -clock_rate_ppb);
            return after(one, [&where] { where.set_clock_rate(0); });
        default: return;
    }
}

void fault_injector::begin_of_disk(const fault& one) {
    disk_trouble& disk = venue_.disk();
    switch (one.kind) {
        case fault_kind::slow_disk:
            disk.set_longest_call(slow_disk_call);
            return after(one, [&disk] { disk.end_slowness(); });
        case fault_kind::failed_sync: return disk.fail_next_sync();
        case fault_kind::failed_write: return disk.fail_next_write();
        case fault_kind::hanging_disk: return disk.hang_next_call(one.length);
        case fault_kind::short_writes:
            disk.set_short_writes(true);
            return after(one, [&disk] { disk.set_short_writes(false); });
        case fault_kind::full_disk:
            disk.fill(random_.below(room_bytes_max));
            return after(one, [&disk] { disk.make_room(); });
        case fault_kind::damage: venue_.kill(0, restart_after_damage); return disk.damage(random_);
        default: return;
    }
}

void fault_injector::begin_of_link(const fault& one, std::size_t index) {
    switch (one.kind) {
        case fault_kind::loss:
            for (sim::link* each : directions_of(index)) each->options().loss = lossy;
            return after(one, [this, index] {
                for (sim::link* each : directions_of(index)) each->options().loss = 0;
            });
        case fault_kind::slow_link:
            for (sim::link* each : directions_of(index)) each->options().bytes_per_second = slow_bytes_per_second;
            return after(one, [this, index] {
                for (sim::link* each : directions_of(index)) each->options().bytes_per_second = 0;
            });
        default:
            set_cut(index, one.kind, true);
            return after(one, [this, index, kind = one.kind] { set_cut(index, kind, false); });
    }
}

const sim::host& fault_injector::host(std::size_t index) const {
    const std::size_t of_venue = venue_.hosts_count();
    return index < of_venue ? venue_.host(index) : *client_hosts_[index - of_venue];
}

std::vector<sim::link*> fault_injector::directions_of(std::size_t link) {
    const link_ends ends = shape_.ends_of_link(link);
    return {&world_.link_between(host(ends.far), host(ends.near)),
            &world_.link_between(host(ends.near), host(ends.far))};
}

void fault_injector::set_cut(std::size_t link, fault_kind which, bool cut) {
    const std::vector<sim::link*> directions = directions_of(link);
    if (which != fault_kind::cut_from_venue) directions[0]->set_cut(cut);
    if (which != fault_kind::cut_to_venue) directions[1]->set_cut(cut);
}

/// A FIX session needs clocks that agree.
void fault_injector::set_clocks_right() {
    const auto set_right = [](sim::host& of) { of.set_wall_clock_forward(-of.clock().wall_offset()); };
    for (std::size_t k = 0; k < venue_.hosts_count(); ++k) set_right(venue_.host(k));
    for (sim::host* each : client_hosts_) set_right(*each);
}

void fault_injector::set_clients_cut(bool cut) {
    const std::size_t count = shape_.client_hosts_count * shape_.venue.hosts_count();
    for (std::size_t link = 0; link < count; ++link) set_cut(link, fault_kind::cut, cut);
}

void fault_injector::end_all(const sim::link_options& usual) {
    have_all_ended_ = true;
    for (std::size_t k = 0; k < venue_.hosts_count(); ++k) {
        sim::host& each = venue_.host(k);
        each.restore_power();
        each.set_paused(false);
        each.set_clock_rate(0);
    }
    venue_.disk().end_all();
    for (std::size_t k = 0; k < shape_.venue.processes_count(); ++k) venue_.set_without_descriptors(k, false);
    for (std::size_t link = 0; link < shape_.links_count(); ++link) {
        for (sim::link* way : directions_of(link)) {
            way->set_cut(false);
            way->options() = usual;
        }
    }
    for (trader* each : traders_) each->set_straying(false);
    if (shape_.fix_clients_count != 0) set_clocks_right();
    venue_.start_soon();
}

}  // namespace corro::simulation
