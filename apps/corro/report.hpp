// What the exchange has to say for itself when it ends, or is asked.
#pragma once

namespace corro::node {
class exchange;
}

namespace corro::app {

/// Prints the latency tables and the counts of gateway and feed to standard output.
void print_exchange_report(const node::exchange& exchange);

}  // namespace corro::app
