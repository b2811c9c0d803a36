// SPDX-License-Identifier: Apache-2.0
// The clients of a simulated run, on hosts of their own: traders by both protocols, an operator, and subscribers of the
// feeds.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "io/loop/context.hpp"
#include "io/task/scope.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"
#include "simulation/fix_traders.hpp"
#include "simulation/plan.hpp"
#include "simulation/subscriber.hpp"
#include "simulation/traders.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {

class clients {
 public:
    /// Begins to trade. `whole` outlives the clients.
    clients(sim::world& in, const plan& whole, findings* found);
    clients(const clients&) = delete;
    clients& operator=(const clients&) = delete;
    ~clients() = default;

    [[nodiscard]] const std::vector<sim::host*>& hosts() const noexcept { return hosts_; }
    /// The traders, and behind them the operator, if there is one.
    [[nodiscard]] const std::vector<trader*>& sessions() const noexcept { return sessions_; }
    /// The traders by FIX.
    [[nodiscard]] const std::vector<fix_client*>& by_fix() const noexcept { return by_fix_; }
    /// One for each partition.
    [[nodiscard]] const std::vector<subscriber*>& subscribers() const noexcept { return subscribers_; }

    /// No new requests from now on.
    void finish() noexcept;
    /// Ends all of them. @pre The world may be run.
    void end();

 private:
    /// A host, and a process for its clients.
    struct place {
        explicit place(sim::host& on) : host(on) {}
        sim::host& host;
        io::context context{io::context_options(host.start_process("clients"))};
        std::vector<std::unique_ptr<trader>> traders;
        std::vector<std::unique_ptr<fix_client>> by_fix;
        std::vector<std::unique_ptr<subscriber>> subscribers;
        io::task_scope tasks{context};
    };
    void add_session(trader_settings settings, place& home);
    void add_fix_client(std::size_t index, const seat& own, place& home);
    void add_subscriber(std::size_t partition);
    [[nodiscard]] trader_settings settings_of_session(const seat& of) const;
    [[nodiscard]] trader_settings settings_of_trader(std::size_t index, const seat& own) const;
    [[nodiscard]] trader_settings settings_of_operator() const;

    sim::world& world_;
    const plan& plan_;
    findings* found_;
    std::vector<std::unique_ptr<place>> places_;
    std::vector<sim::host*> hosts_;
    std::vector<trader*> sessions_;
    std::vector<fix_client*> by_fix_;
    std::vector<subscriber*> subscribers_;
};

}  // namespace corro::simulation
