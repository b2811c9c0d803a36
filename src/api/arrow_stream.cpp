// SPDX-License-Identifier: Apache-2.0
#include "api/arrow_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/assert.hpp"

namespace corro::api {
namespace {

static_assert(std::endian::native == std::endian::little, "the stream says that it is little endian");

// Numbers of Message.fbs and Schema.fbs.
constexpr std::int16_t metadata_v5 = 4;
constexpr std::uint8_t header_schema = 1;
constexpr std::uint8_t header_record_batch = 3;
constexpr std::uint8_t type_int = 2;
constexpr std::uint8_t type_utf8 = 5;
constexpr std::uint8_t type_bool = 6;
constexpr std::uint8_t type_decimal = 7;
constexpr std::uint8_t type_timestamp = 10;
constexpr std::int16_t unit_nanosecond = 3;
constexpr std::int32_t decimal_precision = 28;
constexpr std::int32_t decimal_scale = 9;

/// Writes a FlatBuffer from its root on.
class flat_writer {
 public:
    /// The place of an offset that is not known yet.
    using place = std::size_t;
    /// The places of a table's fields, by slot.
    using fields = std::vector<place>;

    flat_writer() { bytes_.resize(4); }  // the root's offset
    [[nodiscard]] static constexpr place root() noexcept { return 0; }

    /// A table that `from` refers to. @param sizes  Of the field of each slot: 1, 2, 4 or 8 bytes, 0 for none.
    fields table(place from, std::initializer_list<std::size_t> sizes) {
        // Field places within the table, behind the offset of its own table of places; largest fields first.
        fields at(sizes.size(), 0);
        std::size_t end = 4;
        for (const std::size_t size : {8U, 4U, 2U, 1U}) {
            std::size_t slot = 0;
            for (const std::size_t each : sizes) {
                if (each == size) end = (at[slot] = end) + size;
                ++slot;
            }
        }
        align(2, 0);
        const std::size_t places = bytes_.size();
        append(static_cast<std::uint16_t>(4 + 2 * sizes.size()));
        append(static_cast<std::uint16_t>(end));
        for (const std::size_t each : at) append(static_cast<std::uint16_t>(each));
        align(8, 4);  // so that fields of 8 bytes are aligned
        const std::size_t begin = bytes_.size();
        refer(from, begin);
        append(static_cast<std::int32_t>(begin - places));
        bytes_.resize(begin + end);
        for (place& each : at) each += begin;
        return at;
    }
    void text(place from, std::string_view value) {
        align(4, 0);
        refer(from, bytes_.size());
        append(static_cast<std::uint32_t>(value.size()));
        bytes_ += value;
        bytes_ += '\0';
    }
    /// A list of offsets; returns their places.
    std::vector<place> list(place from, std::size_t count) {
        align(4, 0);
        refer(from, bytes_.size());
        append(static_cast<std::uint32_t>(count));
        std::vector<place> places(count);
        for (place& each : places) {
            each = bytes_.size();
            append(std::uint32_t{0});
        }
        return places;
    }
    /// A list of structs of two numbers.
    void pairs(place from, std::span<const std::array<std::int64_t, 2>> values) {
        align(8, 4);
        refer(from, bytes_.size());
        append(static_cast<std::uint32_t>(values.size()));
        for (const auto& [first, second] : values) {
            append(first);
            append(second);
        }
    }
    template <class Number>
    void set(place at, Number value) noexcept {
        std::memcpy(bytes_.data() + at, &value, sizeof(value));
    }
    /// The bytes, a multiple of 8.
    [[nodiscard]] std::string take() {
        align(8, 0);
        return std::move(bytes_);
    }

 private:
    void align(std::size_t to, std::size_t rest) {
        while (bytes_.size() % to != rest) bytes_ += '\0';
    }
    template <class Number>
    void append(Number value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    void refer(place from, std::size_t to) noexcept { set(from, static_cast<std::uint32_t>(to - from)); }

    std::string bytes_;
};

/// A message's root table; returns the place of its header's offset.
flat_writer::place begin_message(flat_writer& out, std::uint8_t header, std::int64_t body_bytes) {
    const flat_writer::fields message = out.table(flat_writer::root(), {2, 1, 4, 8});
    out.set(message[0], metadata_v5);
    out.set(message[1], header);
    out.set(message[3], body_bytes);
    return message[2];
}

/// The type of a field. @param kind, from  Places of the type's number and offset.
void write_type(flat_writer& out, column_type type, flat_writer::place kind, flat_writer::place from) {
    switch (type) {
        case column_type::integer: {
            out.set(kind, type_int);
            const flat_writer::fields is = out.table(from, {4, 1});
            out.set(is[0], std::int32_t{64});
            out.set(is[1], std::uint8_t{1});
            break;
        }
        case column_type::decimal: {
            out.set(kind, type_decimal);
            const flat_writer::fields is = out.table(from, {4, 4, 4});
            out.set(is[0], decimal_precision);
            out.set(is[1], decimal_scale);
            out.set(is[2], std::int32_t{128});
            break;
        }
        case column_type::time: {
            out.set(kind, type_timestamp);
            const flat_writer::fields is = out.table(from, {2, 4});
            out.set(is[0], unit_nanosecond);
            out.text(is[1], "UTC");
            break;
        }
        case column_type::text:
            out.set(kind, type_utf8);
            out.table(from, {});
            break;
        case column_type::boolean:
            out.set(kind, type_bool);
            out.table(from, {});
            break;
    }
}

std::string schema_message(const row_table& table) {
    flat_writer out;
    const flat_writer::place header = begin_message(out, header_schema, 0);
    const flat_writer::fields schema = out.table(header, {0, 4});
    const std::vector<flat_writer::place> fields = out.list(schema[1], table.columns.size());
    for (std::size_t k = 0; k < fields.size(); ++k) {
        const row_column& column = table.columns[k];
        // name, nullable, type_type, type, dictionary, children
        const flat_writer::fields field = out.table(fields[k], {4, 1, 1, 4, 0, 4});
        out.text(field[0], column.name);
        out.set(field[1], std::uint8_t{1});
        write_type(out, column.type, field[2], field[3]);
        out.list(field[5], 0);
    }
    return out.take();
}

/// The data of a record batch: buffers behind each other, each at a multiple of 8.
struct batch_body {
    void add(std::string_view bytes) {
        buffers.push_back({static_cast<std::int64_t>(all.size()), static_cast<std::int64_t>(bytes.size())});
        all += bytes;
        all.resize((all.size() + 7) / 8 * 8);
    }
    std::string all;
    std::vector<std::array<std::int64_t, 2>> nodes;    ///< rows, nulls
    std::vector<std::array<std::int64_t, 2>> buffers;  ///< offset, length
};

template <class Number>
void append(std::string& to, Number value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string bits_of(const std::vector<std::int64_t>& numbers, bool (*is_set)(std::int64_t)) {
    std::string bits((numbers.size() + 7) / 8, '\0');
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (is_set(numbers[k])) bits[k / 8] = static_cast<char>(bits[k / 8] | (1 << (k % 8)));
    }
    return bits;
}

void add_column(batch_body& to, const row_column& column) {
    const std::vector<std::int64_t>& numbers = column.numbers;
    const bool is_text = column.type == column_type::text;
    const std::int64_t nulls = is_text ? 0 : std::ranges::count(numbers, no_number);
    to.nodes.push_back({static_cast<std::int64_t>(numbers.size()), nulls});
    to.add(nulls == 0 ? std::string() : bits_of(numbers, [](std::int64_t n) { return n != no_number; }));
    std::string data;
    switch (column.type) {
        case column_type::text:
            CORRO_ASSERT(column.texts.size() <= std::numeric_limits<std::int32_t>::max());
            append(data, std::int32_t{0});
            for (const std::int64_t end : numbers) append(data, static_cast<std::int32_t>(end));
            to.add(data);
            to.add(column.texts);
            return;
        case column_type::decimal:
            for (const std::int64_t each : numbers) {
                append(data, each);
                append(data, std::int64_t{each < 0 ? -1 : 0});
            }
            break;
        case column_type::boolean: data = bits_of(numbers, [](std::int64_t n) { return n == 1; }); break;
        default: data.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t));
    }
    to.add(data);
}

std::string batch_message(const batch_body& body, std::int64_t rows_count) {
    flat_writer out;
    const flat_writer::place header =
        begin_message(out, header_record_batch, static_cast<std::int64_t>(body.all.size()));
    const flat_writer::fields batch = out.table(header, {8, 4, 4});
    out.set(batch[0], rows_count);
    out.pairs(batch[1], body.nodes);
    out.pairs(batch[2], body.buffers);
    return out.take();
}

/// A message in its envelope: a mark, the size of the metadata, the metadata.
void append_message(std::string& to, std::string_view metadata) {
    append(to, std::uint32_t{0xFFFFFFFF});
    append(to, static_cast<std::uint32_t>(metadata.size()));
    to += metadata;
}

}  // namespace

std::string arrow_of(const row_table& table) {
    batch_body body;
    for (const row_column& each : table.columns) add_column(body, each);
    std::string stream;
    append_message(stream, schema_message(table));
    append_message(stream, batch_message(body, static_cast<std::int64_t>(table.rows_count())));
    stream += body.all;
    append_message(stream, {});
    return stream;
}

}  // namespace corro::api
