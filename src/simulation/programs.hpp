// SPDX-License-Identifier: Apache-2.0
// The programs of a simulated venue, on the objects that `corro serve` runs.
//
// Threads: one context each.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/distributor_role.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue.hpp"
#include "simulation/served_process.hpp"

namespace corro::simulation {

/// A whole venue, or its facilities.
class venue_program final : public program {
 public:
    venue_program(io::context& on, const node::configuration& c, node::order_entry_place place)
        : venue_(on, c, place) {}

    io::task<void> start() override { return venue_.start(); }
    io::task<void> run() override { return venue_.run(); }
    void close() noexcept override { venue_.close(); }
    [[nodiscard]] std::string failure() const override {
        return venue_.failure() == nullptr ? std::string() : *venue_.failure();
    }
    [[nodiscard]] const node::venue& venue() const noexcept { return venue_; }

 private:
    node::venue venue_;
};

class gateway_program final : public program {
 public:
    gateway_program(io::context& on, const node::configuration& c) : gateway_(on, c, nullptr) {}

    io::task<void> start() override { co_return; }
    io::task<void> run() override { return gateway_.run(); }
    void close() noexcept override { gateway_.close(); }
    [[nodiscard]] std::string failure() const override { return gateway_.failure(); }

 private:
    node::gateway_role gateway_;
};

class distributor_program final : public program {
 public:
    distributor_program(io::context& on, const node::configuration& c, const io::endpoint& feed,
                        const io::endpoint& snapshots)
        : distributor_(on, c, feed, snapshots) {}

    io::task<void> start() override { co_return; }
    io::task<void> run() override { return distributor_.run(); }
    void close() noexcept override { distributor_.close(); }
    [[nodiscard]] std::string failure() const override { return distributor_.failure(); }

 private:
    node::distributor_role distributor_;
};

}  // namespace corro::simulation
