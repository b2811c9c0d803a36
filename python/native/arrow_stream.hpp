// SPDX-License-Identifier: Apache-2.0
// A frame as an Arrow stream of one batch. Its arrays are the frame's own: only flags, which Arrow packs into bits, and
// the marks of missing values are made.
//
// Threads: as the Arrow specification asks: a stream has one reader at a time; what it gave may go to other threads.
#pragma once

#include "native/arrow_abi.hpp"
#include "native/frame.hpp"

namespace corro::python {

/// Fills `out`, whose receiver calls `out->release`. The stream and what it gives keep the frame alive.
void export_stream(frame_pointer from, ArrowArrayStream* out);
/// The same for the names and types of the columns.
void export_schema(const frame& from, ArrowSchema* out);

}  // namespace corro::python
