// SPDX-License-Identifier: Apache-2.0
// Reports of a venue at its end or on request.
#pragma once

namespace corro::node {
class venue;
}  // namespace corro::node

namespace corro::app {

/// Prints the latency tables and the counts of order entry and feeds to standard output. Includes facilities with
/// threads of their own only if `at_rest`, when these have ended.
void print_report(const node::venue& venue, bool at_rest);

}  // namespace corro::app
