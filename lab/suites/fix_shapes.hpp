// SPDX-License-Identifier: Apache-2.0
// What the subjects of the suite `fix` have in common: the messages, and a client that sends orders over one session.
//
// Units:   as each row says. Threads: one; a server has a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fix/codec/message_writer.hpp"
#include "io/loop/context.hpp"
#include "lab/measurement.hpp"

namespace corro::lab {

/// A limit order (35=D) of 18 fields, as a whole message of FIX 4.4.
[[nodiscard]] std::string new_order_message();
/// Its acceptance (35=8), of 24 fields.
[[nodiscard]] std::string execution_report_message();

/// The part of FIX 4.4 that the suite uses, as a data dictionary in QuickFIX's format.
[[nodiscard]] std::string_view fix_dictionary_text() noexcept;

/// The body of a limit order, behind the header.
void put_order(fix::message_writer& into, std::string_view client_order, std::int64_t time);
/// The body of its acceptance.
void put_report(fix::message_writer& into, std::string_view client_order, std::int64_t time);

/// A server of FIX sessions on 127.0.0.1 that answers each order with an execution report, in a thread of its own. It
/// serves the session VENUE with TRADER, one connection, and ends when that has ended.
class fix_server {
 public:
    fix_server() = default;
    fix_server(const fix_server&) = delete;
    fix_server& operator=(const fix_server&) = delete;
    virtual ~fix_server() = default;
};

/// A port on 127.0.0.1 that is free now.
[[nodiscard]] std::uint16_t free_port();

/// What a thread does while nothing has arrived.
enum class idle_thread : std::uint8_t {
    sleeps,  ///< the kernel wakes it
    polls,   ///< it asks the kernel again and again, and uses a processor
};

/// What a client of a session has seen.
struct fix_orders {
    std::uint64_t reports_count = 0;
    timed_run run;
};
/// Logs on, keeps this number of orders outstanding, and logs out. The client is Corro's for all subjects.
/// @param password  Password (554) of the Logon; empty for none.
/// @throws wrong_result when a report is missing, or is of another order.
[[nodiscard]] fix_orders send_orders(const run_parameters& how, std::uint16_t port, std::size_t outstanding,
                                     std::string_view password = {}, idle_thread client = idle_thread::sleeps);
/// The options of a context whose thread does this.
[[nodiscard]] io::context_options options_of(io::platform& machine, idle_thread idle);

/// The nanoseconds of one operation, of the fastest batch of `count` operations.
template <class Batch>
[[nodiscard]] measurement fastest_of(const run_parameters& how, std::uint64_t count, Batch&& batch) {
    measurement made;
    made.values = {fastest_batch_ns(how.seconds, count, std::forward<Batch>(batch))};
    return made;
}

/// The rows of the time from an order to its report: the median and the P99.
[[nodiscard]] measurement order_to_report(const fix_orders& done);

}  // namespace corro::lab
