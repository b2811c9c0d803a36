// Linked into a test program: all its typed tests run on Asio.
#include "io/backends/asio/asio_backend.hpp"

namespace corro::io::asio {
namespace {

[[maybe_unused]] const bool offered = [] {
    register_backend();
    return true;
}();

}  // namespace
}  // namespace corro::io::asio
