// SPDX-License-Identifier: Apache-2.0
// The structures of Arrow's C data interface and C stream interface: an ABI, so that no library is needed.
//
// Layout: fixed by the specification; names of types and members are its own.
// Source: Apache Arrow, "The Arrow C data interface" and "The Arrow C stream interface".
#pragma once

#include <cstdint>

extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace corro::python {

/// ArrowSchema::flags: values may be missing.
inline constexpr std::int64_t arrow_nullable = 2;

}  // namespace corro::python
