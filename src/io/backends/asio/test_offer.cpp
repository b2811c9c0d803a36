// SPDX-License-Identifier: Apache-2.0
// A test program that links this file runs all its typed tests on Asio.
#include "io/backends/asio/asio_backend.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io::asio {
namespace {

[[maybe_unused]] const bool is_chosen = [] {
    only_tested_platform = &asio_platform();
    return true;
}();

}  // namespace
}  // namespace corro::io::asio
