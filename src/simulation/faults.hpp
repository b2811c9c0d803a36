// Makes the faults of a plan happen in a simulated world, and ends them.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "sim/host.hpp"
#include "sim/link.hpp"
#include "sim/world.hpp"
#include "simulation/plan.hpp"
#include "simulation/served_venue.hpp"

namespace corro::simulation {

class fault_injector {
 public:
    fault_injector(sim::world& in, sim::host& venue_host, served_venue& venue)
        : world_(in), host_(venue_host), venue_(venue) {}

    /// Lets the faults happen at their times, counted from now. A fault that begins while another of its kind lasts
    /// goes on until either ends. Once.
    /// @param faults   Outlives the events of the world.
    /// @param clients  The hosts that `fault::client_host` counts.
    /// @param tell     Called when one begins.
    void plan(const std::vector<fault>& faults, std::vector<sim::host*> clients,
              std::function<void(std::string_view)> tell);

    /// Ends all that have begun. @param usual  What holds for links without faults.
    void end_all(const sim::link_options& usual);

    /// A venue that was killed does not start again before this.
    [[nodiscard]] io::steady_time next_start() const noexcept { return next_start_; }

 private:
    void begin(const fault& one);
    void begin_of_venue(const fault& one);
    void begin_of_link(const fault& one);
    void after(const fault& one, std::function<void()> end) { world_.plan_after(one.length, std::move(end)); }
    [[nodiscard]] std::vector<sim::link*> links_of(const sim::host& client);
    void set_cut(const sim::host& client, fault_kind which, bool cut);

    sim::world& world_;
    sim::host& host_;
    served_venue& venue_;
    std::vector<sim::host*> clients_;
    std::function<void(std::string_view)> tell_;
    io::steady_time next_start_{};
};

}  // namespace corro::simulation
