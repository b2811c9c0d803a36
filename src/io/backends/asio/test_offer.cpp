// Linked into a test program: all its typed tests run on Asio.
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
