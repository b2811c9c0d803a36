#include "simulation/faults.hpp"

#include <algorithm>
#include <utility>

#include "simulation/plan.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr double lossy = 0.2;
constexpr std::uint64_t slow_bytes_per_second = 20'000;
constexpr std::int64_t clock_rate_ppb = 200'000;
constexpr std::chrono::milliseconds slow_disk_call{30};

/// Every call of a disk takes up to this.
sim::disk_latency latency_up_to(std::chrono::nanoseconds most) {
    sim::disk_latency all;
    for (sim::time_range* each : {&all.read, &all.write, &all.sync_data, &all.names, &all.resize}) each->most = most;
    return all;
}

}  // namespace

void fault_injector::plan(const std::vector<fault>& faults, std::vector<sim::host*> clients,
                          std::function<void(std::string_view)> tell) {
    clients_ = std::move(clients);
    tell_ = std::move(tell);
    for (const fault& each : faults) {
        world_.plan_after(each.at, [this, &each] {
            tell_(words_of(each));
            begin(each);
        });
    }
}

void fault_injector::begin(const fault& one) {
    is_of_link(one.kind) ? begin_of_link(one) : begin_of_venue(one);
}

void fault_injector::begin_of_venue(const fault& one) {
    switch (one.kind) {
        case fault_kind::kill:
            venue_.kill();
            next_start_ = std::max(next_start_, world_.now() + one.length);
            return;
        case fault_kind::power_cut: venue_.cut_power(); return after(one, [this] { host_.restore_power(); });
        case fault_kind::pause: host_.set_paused(true); return after(one, [this] { host_.set_paused(false); });
        case fault_kind::clock_jump: return host_.set_wall_clock_forward(one.length);
        case fault_kind::clock_rate:
            host_.set_clock_rate(one.length.count() % 2 == 0 ? clock_rate_ppb : -clock_rate_ppb);
            return after(one, [this] { host_.set_clock_rate(0); });
        case fault_kind::slow_disk:
            host_.disk().latency() = latency_up_to(slow_disk_call);
            return after(one, [this] { host_.disk().latency() = sim::disk_latency(); });
        default: return;
    }
}

void fault_injector::begin_of_link(const fault& one) {
    const sim::host& client = *clients_[one.client_host];
    switch (one.kind) {
        case fault_kind::loss:
            for (sim::link* each : links_of(client)) each->options().loss = lossy;
            return after(one, [this, &client] {
                for (sim::link* each : links_of(client)) each->options().loss = 0;
            });
        case fault_kind::slow_link:
            for (sim::link* each : links_of(client)) each->options().bytes_per_second = slow_bytes_per_second;
            return after(one, [this, &client] {
                for (sim::link* each : links_of(client)) each->options().bytes_per_second = 0;
            });
        default:
            set_cut(client, one.kind, true);
            return after(one, [this, &client, kind = one.kind] { set_cut(client, kind, false); });
    }
}

std::vector<sim::link*> fault_injector::links_of(const sim::host& client) {
    return {&world_.link_between(client, host_), &world_.link_between(host_, client)};
}

void fault_injector::set_cut(const sim::host& client, fault_kind which, bool cut) {
    if (which != fault_kind::cut_from_venue) world_.link_between(client, host_).set_cut(cut);
    if (which != fault_kind::cut_to_venue) world_.link_between(host_, client).set_cut(cut);
}

void fault_injector::end_all(const sim::link_options& usual) {
    host_.restore_power();
    host_.set_paused(false);
    host_.set_clock_rate(0);
    host_.disk().latency() = sim::disk_latency();
    for (const sim::host* client : clients_) {
        for (sim::link* way : links_of(*client)) {
            way->set_cut(false);
            way->options() = usual;
        }
    }
    next_start_ = world_.now();
}

}  // namespace corro::simulation
