// SPDX-License-Identifier: Apache-2.0
// What the parts of the extension module share.
#pragma once

#include <nanobind/nanobind.h>

#include "native/market.hpp"

namespace corro::python {

/// Runs Python's signal handlers. @throws nanobind::python_error, such as KeyboardInterrupt
void raise_if_interrupted();

void bind_markets(nanobind::module_& m);
/// Adds what agents in Python need.
void bind_agents(nanobind::class_<market>& to);
void bind_makers(nanobind::module_& m);

}  // namespace corro::python
