// SPDX-License-Identifier: Apache-2.0
// Test support: a venue in processes of a simulated host, which the test kills at any moment of virtual time.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue.hpp"
#include "sim/host.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace corro::testing {

/// A role that runs in a process of its own.
/// @tparam Role  Has `run` and `close`.
template <class Role>
class simulated_process {
 public:
    /// @param make  Makes the role, given its context; it may run the context.
    template <class Make>
    simulated_process(sim::host& on, const std::string& name, Make make)
        : process_(on.start_process(name)),
          context_(io::context_options(process_)),
          role_(make(context_)),
          serving_(context_) {
        serving_.spawn(role_->run());
        is_running_ = true;
    }
    ~simulated_process() { kill(); }
    simulated_process(const simulated_process&) = delete;
    simulated_process& operator=(const simulated_process&) = delete;

    [[nodiscard]] const Role& role() const noexcept { return *role_; }

    /// Ends it at once. The objects of the program end cut off, by the failures of their calls.
    void kill() {
        if (!is_running_) return;
        process_.kill();
        // What a venue wrote stays; nothing more reaches the disk, which no other role of the host uses.
        try {
            end();
        } catch (const std::exception&) {
            // Of a call that failed.
        }
    }
    /// Closes it in order.
    void close() { end(); }

 private:
    void end() {
        is_running_ = false;
        role_->close();
        io::block_on(context_, serving_.join());
    }

    sim::process& process_;
    io::context context_;
    std::unique_ptr<Role> role_;
    io::task_scope serving_;
    bool is_running_ = false;
};

/// A venue, or its facility.
class simulated_venue : public simulated_process<node::venue> {
 public:
    simulated_venue(sim::host& on, const node::configuration& c,
                    node::order_entry_place place = node::order_entry_place::here)
        : simulated_process(on, "venue", [&](io::context& context) {
              auto made = std::make_unique<node::venue>(context, c, place);
              io::block_on(context, made->start());
              return made;
          }) {}
    [[nodiscard]] io::endpoint order_entry() const noexcept { return role().order_entry_endpoint(); }
};

class simulated_gateway : public simulated_process<node::gateway_role> {
 public:
    simulated_gateway(sim::host& on, const node::configuration& c)
        : simulated_process(on, "gateway", [&](io::context& context) {
              return std::make_unique<node::gateway_role>(context, c, nullptr);
          }) {}
};

}  // namespace corro::testing
