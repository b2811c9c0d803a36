// SPDX-License-Identifier: Apache-2.0
// Reports to a process that supervises this one, by systemd's protocol (sd_notify(3)): a datagram to the socket that
// the environment names, when the process serves, at intervals while its loop runs, and when it closes.
#pragma once

#include <string_view>

#include "io/task/task.hpp"

namespace corro::app {

/// Sends one message, such as "STOPPING=1". Does nothing without a supervisor; a message that is lost is not repeated.
void tell_supervisor(std::string_view message) noexcept;

/// Reports that the process serves. Then reports that it is alive, twice in each interval that the supervisor has asked
/// for, until a stop: it kills a process whose loop stands still.
[[nodiscard]] io::task<void> report_to_supervisor();

}  // namespace corro::app
