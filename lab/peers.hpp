// SPDX-License-Identifier: Apache-2.0
// Registers all suites and the subjects that implement them.
//
// Threads: one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/registry.hpp"

namespace corro::lab {

struct lab_options {
    /// Thread counts of the rows that scale over threads; empty: each suite's own list.
    std::vector<int> threads;
};

/// Every suite with every subject that runs on this machine.
[[nodiscard]] registry make_registry(const lab_options& options);

/// The libraries that were compiled in, with their versions.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> peer_versions();

}  // namespace corro::lab
