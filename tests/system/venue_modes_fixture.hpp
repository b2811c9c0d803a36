// SPDX-License-Identifier: Apache-2.0
// Test support: the modes of a venue for parameterised tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "exchange_fixture.hpp"
#include "journal/writer.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::testing {

struct venue_mode {
    node::threading_mode threading;
    journal::durability durability;
};

/// The suffix of a test's name for a mode.
struct name_of_mode {
    std::string operator()(const ::testing::TestParamInfo<venue_mode>& m) const {
        return name_of(m.param.threading) + "_" + std::string(journal::name_of(m.param.durability));
    }
};

/// All threading modes with each of these durability modes.
[[nodiscard]] inline std::vector<venue_mode> modes_of(std::initializer_list<journal::durability> durabilities) {
    std::vector<venue_mode> all;
    for (const auto threading : {node::threading_mode::inline_, node::threading_mode::split}) {
        for (const auto durability : durabilities) all.push_back({threading, durability});
    }
    return all;
}
/// The modes in which acknowledged commands survive the end of the process.
[[nodiscard]] inline std::vector<venue_mode> lasting_modes() {
    using enum journal::durability;
    return modes_of({async, group, each});
}
[[nodiscard]] inline std::vector<venue_mode> all_modes() {
    using enum journal::durability;
    return modes_of({none, async, group, each});
}

}  // namespace corro::testing
