// SPDX-License-Identifier: Apache-2.0
// Test support: a fixture whose tests run once per backend. Where the kernel lacks or forbids io_uring, its tests are
// skipped and say why.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The one platform on which a program runs the tests; null: on every one that the library brings along.
inline platform* only_tested_platform = nullptr;

/// Why a test cannot hold there; empty if it can. Null: they all can. Suites by their names without "backends/".
inline std::string (*reason_to_skip)(std::string_view suite, std::string_view test) = nullptr;

/// How a failing test names its parameter.
inline void PrintTo(platform* on, std::ostream* to) {
    *to << on->name();
}

inline auto all_backends() {
    if (only_tested_platform != nullptr) return testing::ValuesIn(std::vector<platform*>{only_tested_platform});
    return testing::ValuesIn(std::vector<platform*>{&epoll_platform(), &uring_if_possible_platform()});
}

inline std::string backend_test_name(const testing::TestParamInfo<platform*>& info) {
    return std::string(info.param->name());
}

class on_backend : public testing::TestWithParam<platform*> {
 protected:
    void SetUp() override {
        if (!ctx.backend_notice().empty()) GTEST_SKIP() << ctx.backend_notice();
        if (reason_to_skip == nullptr) return;
        const testing::TestInfo& me = *testing::UnitTest::GetInstance()->current_test_info();
        std::string_view suite = me.test_suite_name();
        suite.remove_prefix(suite.find('/') + 1);
        std::string_view test = me.name();
        const std::string reason = reason_to_skip(suite, test.substr(0, test.find('/')));
        if (!reason.empty()) GTEST_SKIP() << reason;
    }

    context ctx{context_options(*GetParam())};
};

/// A task that ends at once.
inline task<> nothing() {
    co_return;
}

}  // namespace corro::io

/// Runs the fixture's tests on every backend.
#define CORRO_ON_EVERY_BACKEND(fixture) \
    INSTANTIATE_TEST_SUITE_P(backends, fixture, ::corro::io::all_backends(), ::corro::io::backend_test_name)
