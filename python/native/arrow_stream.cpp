// SPDX-License-Identifier: Apache-2.0
#include "native/arrow_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace corro::python {
namespace {

template <class T>
const char* format_of() noexcept {
    if constexpr (std::is_same_v<T, std::int8_t>) return "c";
    if constexpr (std::is_same_v<T, std::uint8_t>) return "C";
    if constexpr (std::is_same_v<T, std::int32_t>) return "i";
    if constexpr (std::is_same_v<T, std::uint32_t>) return "I";
    if constexpr (std::is_same_v<T, std::int64_t>) return "l";
    if constexpr (std::is_same_v<T, std::uint64_t>) return "L";
    if constexpr (std::is_same_v<T, double>) return "g";
}

const char* format_of(const column& c) noexcept {
    switch (c.what) {
        case meaning::time: return "tsn:UTC";
        case meaning::duration: return "tDn";
        case meaning::flag: return "b";
        case meaning::number:
        case meaning::category: break;
    }
    return std::visit([](const auto& v) { return format_of<typename std::decay_t<decltype(v)>::value_type>(); },
                      c.values);
}

bool may_lack_values(const column& c) noexcept {
    return c.what == meaning::category || c.what == meaning::time || c.what == meaning::duration ||
           std::holds_alternative<std::vector<double>>(c.values);
}

// Schemas.

struct schema_parts {
    std::string name;
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> pointers;
    ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* s) {
    auto* const parts = static_cast<schema_parts*>(s->private_data);
    for (ArrowSchema& child : parts->children) {
        if (child.release != nullptr) child.release(&child);
    }
    if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
    delete parts;
    s->release = nullptr;
}

/// @param format  A literal.
void begin_schema(ArrowSchema* out, const char* format, std::string name, std::int64_t flags) {
    auto* const parts = new schema_parts{.name = std::move(name), .children = {}, .pointers = {}};
    *out = ArrowSchema{};
    out->format = format;
    out->name = parts->name.c_str();
    out->flags = flags;
    out->release = release_schema;
    out->private_data = parts;
}

void fill_schema(const column& c, ArrowSchema* out) {
    begin_schema(out, format_of(c), c.name, may_lack_values(c) ? arrow_nullable : 0);
    if (c.what != meaning::category) return;
    auto* const parts = static_cast<schema_parts*>(out->private_data);
    begin_schema(&parts->dictionary, "u", "", 0);
    out->dictionary = &parts->dictionary;
}

// Arrays.

struct array_parts {
    frame_pointer from;
    std::vector<const void*> buffers;
    std::vector<std::uint8_t> marks;  ///< a bit for each value that is there
    std::vector<std::uint8_t> bits;   ///< of flags
    std::vector<std::int32_t> ends;   ///< of texts
    std::string texts;
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> pointers;
    ArrowArray dictionary{};
};

void release_array(ArrowArray* a) {
    auto* const parts = static_cast<array_parts*>(a->private_data);
    // A receiver may have moved a child elsewhere: then it has no release here.
    for (ArrowArray& child : parts->children) {
        if (child.release != nullptr) child.release(&child);
    }
    if (parts->dictionary.release != nullptr) parts->dictionary.release(&parts->dictionary);
    delete parts;
    a->release = nullptr;
}

array_parts* begin_array(ArrowArray* out, frame_pointer from, std::size_t length) {
    auto* const parts = new array_parts;
    parts->from = std::move(from);
    *out = ArrowArray{};
    out->length = static_cast<std::int64_t>(length);
    out->release = release_array;
    out->private_data = parts;
    return parts;
}

void end_array(ArrowArray* out) {
    auto* const parts = static_cast<array_parts*>(out->private_data);
    out->n_buffers = static_cast<std::int64_t>(parts->buffers.size());
    out->buffers = parts->buffers.data();
}

/// One bit for each value, the lowest first.
template <class Values, class IsSet>
std::vector<std::uint8_t> packed(const Values& values, IsSet&& is_set) {
    std::vector<std::uint8_t> bits((values.size() + 7) / 8);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_set(values[i])) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << (i % 8)));
    }
    return bits;
}

template <class Values>
void mark_missing(const Values& values, array_parts& parts, ArrowArray& out) {
    const auto is_there = [](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
            return !std::isnan(value);
        } else if constexpr (std::is_same_v<decltype(value), std::int64_t>) {
            return value != no_time;
        } else {
            return value >= 0;
        }
    };
    out.null_count = static_cast<std::int64_t>(values.size()) - std::ranges::count_if(values, is_there);
    if (out.null_count != 0) parts.marks = packed(values, is_there);
}

void fill_texts(const frame_pointer& from, const std::vector<std::string>& texts, ArrowArray* out) {
    array_parts* const parts = begin_array(out, from, texts.size());
    parts->ends.push_back(0);
    for (const std::string& each : texts) {
        parts->texts += each;
        parts->ends.push_back(static_cast<std::int32_t>(parts->texts.size()));
    }
    parts->buffers = {nullptr, parts->ends.data(), parts->texts.data()};
    end_array(out);
}

void fill_array(const frame_pointer& from, const column& c, ArrowArray* out) {
    array_parts* const parts = begin_array(out, from, from->rows());
    std::visit(
        [&](const auto& values) {
            if (may_lack_values(c)) mark_missing(values, *parts, *out);
            const void* data = values.data();
            if (c.what == meaning::flag) {
                parts->bits = packed(values, [](auto value) { return value != 0; });
                data = parts->bits.data();
            }
            parts->buffers = {parts->marks.empty() ? nullptr : parts->marks.data(), data};
        },
        c.values);
    end_array(out);
    if (c.what != meaning::category) return;
    fill_texts(from, c.categories, &parts->dictionary);
    out->dictionary = &parts->dictionary;
}

void fill_batch(const frame_pointer& from, ArrowArray* out) {
    array_parts* const parts = begin_array(out, from, from->rows());
    try {
        parts->buffers = {nullptr};
        parts->children.resize(from->columns().size());
        for (std::size_t i = 0; i < parts->children.size(); ++i) {
            fill_array(from, from->columns()[i], &parts->children[i]);
            parts->pointers.push_back(&parts->children[i]);
        }
    } catch (...) {
        release_array(out);
        throw;
    }
    end_array(out);
    out->n_children = static_cast<std::int64_t>(parts->pointers.size());
    out->children = parts->pointers.data();
}

// The stream.

struct stream_parts {
    frame_pointer from;
    bool is_done = false;
    const char* error = nullptr;
};

template <class Work>
int guarded(stream_parts& parts, Work&& work) noexcept {
    try {
        work();
        return 0;
    } catch (const std::exception&) {
        // What can fail here is an allocation.
        parts.error = "not enough memory";
        return ENOMEM;
    }
}

stream_parts& parts_of(ArrowArrayStream* s) noexcept {
    return *static_cast<stream_parts*>(s->private_data);
}

}  // namespace

void export_schema(const frame& from, ArrowSchema* out) {
    begin_schema(out, "+s", "", 0);
    auto* const parts = static_cast<schema_parts*>(out->private_data);
    try {
        parts->children.resize(from.columns().size());
        for (std::size_t i = 0; i < parts->children.size(); ++i) {
            fill_schema(from.columns()[i], &parts->children[i]);
            parts->pointers.push_back(&parts->children[i]);
        }
    } catch (...) {
        release_schema(out);
        throw;
    }
    out->n_children = static_cast<std::int64_t>(parts->pointers.size());
    out->children = parts->pointers.data();
}

void export_stream(frame_pointer from, ArrowArrayStream* out) {
    *out = ArrowArrayStream{};
    out->private_data = new stream_parts{.from = std::move(from)};
    out->get_schema = [](ArrowArrayStream* s, ArrowSchema* into) {
        stream_parts& parts = parts_of(s);
        return guarded(parts, [&] { export_schema(*parts.from, into); });
    };
    out->get_next = [](ArrowArrayStream* s, ArrowArray* into) {
        stream_parts& parts = parts_of(s);
        return guarded(parts, [&] {
            if (parts.is_done) {
                *into = ArrowArray{};
            } else {
                fill_batch(parts.from, into);
                parts.is_done = true;
            }
        });
    };
    out->get_last_error = [](ArrowArrayStream* s) { return parts_of(s).error; };
    out->release = [](ArrowArrayStream* s) {
        delete static_cast<stream_parts*>(s->private_data);
        s->release = nullptr;
    };
}

}  // namespace corro::python
