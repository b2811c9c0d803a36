// SPDX-License-Identifier: Apache-2.0
// The venue of a simulated run: its hosts and its processes, and the operator who starts them again.
//
// A process that was killed is started again later, and so is one that a failing disk has ended. A process that ends
// without such a reason breaks a promise.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/loop/timer.hpp"
#include "node/venue/venue.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"
#include "simulation/disk_trouble.hpp"
#include "simulation/findings.hpp"
#include "simulation/plan.hpp"
#include "simulation/served_process.hpp"

namespace corro::simulation {

class site {
 public:
    /// How long the operator needs to see that a process has failed.
    static constexpr std::chrono::milliseconds operator_delay{500};

    site(sim::world& in, const plan& whole, findings* found, std::function<void(const std::string&)> tell);
    site(const site&) = delete;
    site& operator=(const site&) = delete;
    ~site() = default;

    /// Starts all processes.
    void start();
    /// Destroys what has ended, and starts again what is due. To be called often, outside of the world's turns.
    void tend();
    /// Ends all processes in order, one after another; `tend` goes on with it until `has_ended`.
    void close() noexcept { is_closing_ = true; }
    [[nodiscard]] bool has_ended() const noexcept;
    /// Starts the facility alone. @pre `has_ended`.
    void start_facility();

    /// Every process serves, and none has failed.
    [[nodiscard]] bool is_serving() const;
    [[nodiscard]] bool is_facility_serving() const { return processes_.front().runs->is_serving(); }
    [[nodiscard]] bool is_facility_running() const { return processes_.front().runs->is_running(); }
    /// @pre The facility is running.
    [[nodiscard]] const node::venue& venue() const noexcept;
    [[nodiscard]] std::uint64_t starts_count() const noexcept;
    [[nodiscard]] std::uint64_t failures_count() const noexcept { return failures_count_; }

    // For faults.

    void kill(std::size_t process, std::chrono::nanoseconds until_start);
    void cut_power(std::size_t host);
    void restore_power(std::size_t host) { hosts_[host]->restore_power(); }
    void set_without_descriptors(std::size_t process, bool without) noexcept;
    [[nodiscard]] disk_trouble& disk() noexcept { return disk_; }
    [[nodiscard]] sim::host& host(std::size_t index) noexcept { return *hosts_[index]; }
    [[nodiscard]] std::size_t hosts_count() const noexcept { return hosts_.size(); }
    /// Lets all that was killed start now.
    void start_soon() noexcept;

 private:
    struct place {
        std::unique_ptr<served_process> runs;
        std::size_t host = 0;
        io::steady_time next_start{};
        io::steady_time kill_at{};          ///< when the operator ends it, because it has failed; 0: not
        std::uint64_t troubles_before = 0;  ///< of the disk, when it was started
        bool had_trouble_before = false;
        std::string damaged_before;  ///< the name of a damaged file, when it was started
        bool was_serving = false;
        bool lacked_descriptors = false;
    };
    void add_processes(const plan& whole);
    void add(const venue_shape& shape, program_maker make);
    /// Its name in sentences.
    [[nodiscard]] std::string words_of(const place& which) const;
    void start(place& which);
    void tend(place& which);
    void tend_failed(place& which);
    void judge(place& which, const process_end& end);
    void close_next();

    sim::world& world_;
    findings* found_;
    std::function<void(const std::string&)> tell_;
    std::vector<sim::host*> hosts_;
    disk_trouble disk_;
    std::vector<place> processes_;  // the facility first
    std::uint64_t failures_count_ = 0;
    bool is_closing_ = false;
    bool is_facility_alone_ = false;
};

}  // namespace corro::simulation
