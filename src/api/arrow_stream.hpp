// SPDX-License-Identifier: Apache-2.0
// A table as an Arrow IPC stream: a schema, one record batch, the end.
//
// The metadata are FlatBuffers. Only four kinds of their tables are needed, so they are written by hand, front to back:
// a table is followed by what it refers to, and the offset is written when its place is known.
//
// Columns: integer as int64, decimal as decimal128(28, 9), time as timestamp in nanoseconds with the zone UTC, text as
// utf8, boolean as bool. All may be null.
//
// Source:  Arrow columnar format 1.4, "Serialization and Interprocess Communication"; Message.fbs and Schema.fbs.
// Threads: any. Cost: a copy of each column.
#pragma once

#include <string>

#include "api/row_table.hpp"

namespace corro::api {

/// @pre Fewer than 2^31 bytes of text in a column (asserted).
[[nodiscard]] std::string arrow_of(const row_table& table);

}  // namespace corro::api
