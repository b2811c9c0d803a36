// Test support: a fixture whose tests run once per backend. Where the kernel lacks or forbids io_uring, its tests are
// skipped and say why.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/loop/backend_offer.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"

namespace corro::io {

/// Every backend that this library brings along; in a program that offers Asio's, that one.
inline auto all_backends() {
    if (asio_backend_is_offered()) return testing::ValuesIn(std::vector<backend_kind>{backend_kind::asio});
    return testing::ValuesIn(std::vector<backend_kind>{backend_kind::epoll, backend_kind::uring});
}

inline std::string backend_test_name(const testing::TestParamInfo<backend_kind>& info) {
    if (info.param == backend_kind::asio) return "asio";
    return info.param == backend_kind::uring ? "uring" : "epoll";
}

class on_backend : public testing::TestWithParam<backend_kind> {
 protected:
    void SetUp() override {
        if (!ctx.backend_notice().empty()) GTEST_SKIP() << ctx.backend_notice();
    }

    context ctx{context_options(GetParam() == backend_kind::uring ? backend_kind::uring_if_possible : GetParam())};
};

}  // namespace corro::io

/// Runs the fixture's tests on every backend.
#define CORRO_ON_EVERY_BACKEND(fixture) \
    INSTANTIATE_TEST_SUITE_P(backends, fixture, ::corro::io::all_backends(), ::corro::io::backend_test_name)
