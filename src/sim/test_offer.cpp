// Linked into a test program: all its typed tests run in a world in memory.
#include "io/testing/backend_tests.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

[[maybe_unused]] const bool is_chosen = [] {
    static world everything(1);
    io::only_tested_platform = &everything.machine();
    return true;
}();

}  // namespace
}  // namespace corro::sim
