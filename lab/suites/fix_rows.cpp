// SPDX-License-Identifier: Apache-2.0
// Suite `fix`: FIX messages and sessions.

#include "lab/suites/suites.hpp"

namespace corro::lab {

void declare_fix(registry& into) {
    const auto codec = [&into](std::string name, std::string does) {
        into.declare("fix",
                     {{std::move(name), "ns", better::lower, std::move(does) + "; the fastest of many batches"}});
    };
    codec("parse_new_order",
          "find the frame of a NewOrderSingle (35=D, 18 fields), check its length and checksum, and make its fields "
          "accessible");
    codec("parse_execution_report", "the same with an ExecutionReport (35=8, 24 fields)");
    codec("validate_new_order", "parse the order, and check it against a data dictionary of FIX 4.4");
    codec("validate_execution_report", "the same with the ExecutionReport");
    codec("four_fields", "look four fields of a parsed order up: ClOrdID, Symbol, OrderQty, Price");
    codec("write_execution_report", "make the ExecutionReport with a new number and new times, as bytes");
    into.declare(
        "fix",
        {{"order_to_report_p50", "ns", better::lower,
          "from an order to its report over loopback TCP, one outstanding: the median. Client and server have a "
          "thread each; the client is Corro's for all subjects. Both ends keep what they send in memory"},
         {"order_to_report_p99", "ns", better::lower, "the same: the P99"}},
        2);
    into.declare(
        "fix",
        {{"venue_order_to_report_p50", "ns", better::lower,
          "from an order to its report over loopback TCP, one outstanding: the median. Ours is the whole venue, with "
          "matching, risk and market data, without a journal and with one; the peer answers without a look at the "
          "order"},
         {"venue_order_to_report_p99", "ns", better::lower, "the same: the P99"}},
        2);
    into.declare(
        "fix",
        {{"venue_order_to_report_polling_p50", "ns", better::lower,
          "the same with a client that polls for the report and does not sleep, for all subjects: the median. Only "
          "the venue is woken by the kernel, and the venue that polls is not"},
         {"venue_order_to_report_polling_p99", "ns", better::lower, "the same: the P99"}},
        2);
    into.declare(
        "fix",
        {{"venue_outstanding_200", "/s", better::higher, "the same with 200 orders outstanding: reports per second"}},
        2);
    into.declare(
        "fix", {{"outstanding_200", "/s", better::higher, "the same with 200 orders outstanding: reports per second"}},
        2);
}

}  // namespace corro::lab
