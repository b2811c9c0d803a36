// Reports of the exchange at its end or on request.
#pragma once

namespace corro::node {
class exchange;
class segmented_exchange;
}  // namespace corro::node

namespace corro::app {

/// Prints the latency tables and the counts of gateway and feed to standard output.
void print_exchange_report(const node::exchange& exchange);
/// The same for a venue of several segments. Includes the facilities only if `at_rest`, when their threads have ended.
void print_segments_report(const node::segmented_exchange& exchange, bool at_rest);

}  // namespace corro::app
