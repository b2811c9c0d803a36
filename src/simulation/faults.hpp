// SPDX-License-Identifier: Apache-2.0
// Makes the faults of a plan happen in a simulated world, and ends them.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "sim/host.hpp"
#include "sim/link.hpp"
#include "sim/world.hpp"
#include "simulation/plan.hpp"
#include "simulation/site.hpp"
#include "simulation/traders.hpp"

namespace corro::simulation {

class fault_injector {
 public:
    fault_injector(sim::world& in, site& venue, const run_shape& shape)
        : world_(in), venue_(venue), shape_(shape), random_(in.stream("faults")) {}

    /// Lets the faults happen at their times, counted from now. A fault that begins while another of its kind lasts
    /// goes on until either ends. Once.
    /// @param faults   Outlives the events of the world.
    /// @param tell     Called when one begins.
    void plan(const std::vector<fault>& faults, std::vector<sim::host*> client_hosts, std::vector<trader*> traders,
              std::function<void(std::string_view)> tell);

    /// Ends all that have begun. @param usual  What holds for links without faults.
    void end_all(const sim::link_options& usual);

    /// Cuts all links between clients and venue, or mends them.
    void set_clients_cut(bool cut);

 private:
    void begin(const fault& one);
    void begin_of_host(const fault& one, std::size_t index);
    void begin_of_disk(const fault& one);
    void begin_of_link(const fault& one, std::size_t index);
    /// Plans the end of a fault, unless all have been ended before.
    void after(const fault& one, std::function<void()> end);
    [[nodiscard]] const sim::host& host(std::size_t index) const;
    /// Both directions of a link; to the venue, or its facility, first.
    [[nodiscard]] std::vector<sim::link*> directions_of(std::size_t link);
    void set_clocks_right();
    void set_cut(std::size_t link, fault_kind which, bool cut);

    sim::world& world_;
    site& venue_;
    const run_shape& shape_;
    base::prng random_;
    std::vector<sim::host*> client_hosts_;
    std::vector<trader*> traders_;
    std::function<void(std::string_view)> tell_;
    bool have_all_ended_ = false;
};

}  // namespace corro::simulation
