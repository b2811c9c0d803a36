// SPDX-License-Identifier: Apache-2.0
// The extension module corro._corro: the native part of the package, with few names. The package's own modules, in
// Python, give them their documented form.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "native/arrow_stream.hpp"
#include "native/errors.hpp"
#include "native/frame.hpp"
#include "native/journal.hpp"
#include "native/recorded.hpp"

namespace nb = nanobind;

namespace corro::python {

void raise_if_interrupted() {
    const nb::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

namespace {

const char* name_of(meaning what) noexcept {
    switch (what) {
        case meaning::number: return "number";
        case meaning::time: return "time";
        case meaning::duration: return "duration";
        case meaning::flag: return "flag";
        case meaning::category: return "category";
    }
    return "";
}

meaning meaning_of(const std::string& name) {
    for (const meaning each :
         {meaning::number, meaning::time, meaning::duration, meaning::flag, meaning::category}) {
        if (name == name_of(each)) return each;
    }
    throw argument_error("no meaning \"" + name + "\"");
}

const column& column_of(const frame& from, const std::string& name) {
    if (const column* const found = from.find(name)) return *found;
    throw nb::key_error(name.c_str());
}

/// The column's own memory, which the array keeps alive and may not change.
nb::object array_of(const frame_pointer& from, const std::string& name) {
    return std::visit(
        [&](const auto& values) {
            using value = typename std::decay_t<decltype(values)>::value_type;
            auto* const kept = new frame_pointer(from);
            const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<frame_pointer*>(p); });
            return nb::cast(
                nb::ndarray<nb::numpy, const value, nb::ndim<1>, nb::c_contig>(values.data(), {values.size()}, owner));
        },
        column_of(*from, name).values);
}

template <class Value>
column_values values_of(const nb::ndarray<>& array) {
    const auto* const first = static_cast<const Value*>(array.data());
    return std::vector<Value>(first, first + array.shape(0));
}

column_values values_of(const std::string& name, const nb::ndarray<>& array) {
    if (array.ndim() != 1 || (array.shape(0) > 1 && array.stride(0) != 1)) {
        throw argument_error("column \"" + name + "\": give one contiguous dimension");
    }
    if (array.dtype() == nb::dtype<std::int8_t>()) return values_of<std::int8_t>(array);
    if (array.dtype() == nb::dtype<std::uint8_t>()) return values_of<std::uint8_t>(array);
    if (array.dtype() == nb::dtype<std::int32_t>()) return values_of<std::int32_t>(array);
    if (array.dtype() == nb::dtype<std::uint32_t>()) return values_of<std::uint32_t>(array);
    if (array.dtype() == nb::dtype<std::int64_t>()) return values_of<std::int64_t>(array);
    if (array.dtype() == nb::dtype<std::uint64_t>()) return values_of<std::uint64_t>(array);
    if (array.dtype() == nb::dtype<double>()) return values_of<double>(array);
    throw argument_error("column \"" + name + "\": no such type of number in a frame");
}

/// Columns as name, meaning, array, categories: how a pickled frame comes back.
frame_pointer frame_of(const nb::list& columns) {
    std::vector<column> made;
    for (const nb::handle each : columns) {
        const auto parts = nb::cast<nb::tuple>(each);
        if (parts.size() != 4) throw argument_error("a column is name, meaning, array, categories");
        column c;
        c.name = nb::cast<std::string>(parts[0]);
        c.what = meaning_of(nb::cast<std::string>(parts[1]));
        c.values = values_of(c.name, nb::cast<nb::ndarray<>>(parts[2]));
        c.categories = nb::cast<std::vector<std::string>>(parts[3]);
        made.push_back(std::move(c));
    }
    return std::make_shared<frame>(std::move(made));
}

template <class Structure>
void destroy_capsule(PyObject* capsule) noexcept {
    const char* const name = PyCapsule_GetName(capsule);
    auto* const given = static_cast<Structure*>(PyCapsule_GetPointer(capsule, name));
    if (given == nullptr) return;
    // A receiver that took what is inside has set this to null.
    if (given->release != nullptr) given->release(given);
    delete given;
}

template <class Structure, class Fill>
nb::object capsule_of(const char* name, Fill&& fill) {
    auto given = std::make_unique<Structure>();
    fill(given.get());
    PyObject* const made = PyCapsule_New(given.get(), name, destroy_capsule<Structure>);
    if (made == nullptr) {
        given->release(given.get());
        throw nb::python_error();
    }
    static_cast<void>(given.release());
    return nb::steal(made);
}

void bind_frames(nb::module_& m) {
    nb::class_<frame>(m, "Columns")
        .def("__len__", &frame::rows)
        .def_prop_ro("names",
                     [](const frame& self) {
                         std::vector<std::string> names;
                         for (const column& each : self.columns()) names.push_back(each.name);
                         return names;
                     })
        .def("meaning",
             [](const frame& self, const std::string& name) { return name_of(column_of(self, name).what); })
        .def("values", [](const frame_pointer& self, const std::string& name) { return array_of(self, name); })
        .def("categories",
             [](const frame& self, const std::string& name) { return column_of(self, name).categories; })
        .def("arrow_stream",
             [](const frame_pointer& self) {
                 return capsule_of<ArrowArrayStream>("arrow_array_stream",
                                                     [&](ArrowArrayStream* out) { export_stream(self, out); });
             })
        .def("arrow_schema", [](const frame& self) {
            return capsule_of<ArrowSchema>("arrow_schema", [&](ArrowSchema* out) { export_schema(self, out); });
        });
    m.def("columns_of", &frame_of);
}

when when_of(const std::string& kind, std::int64_t value) {
    if (kind == "sequence") return {when::kind::sequence, value};
    if (kind == "time") return {when::kind::time, value};
    return {when::kind::end, 0};
}

using moment_tuple = std::pair<std::string, std::int64_t>;

void bind_journal(nb::module_& m) {
    nb::class_<instrument_facts>(m, "InstrumentFacts")
        .def_ro("name", &instrument_facts::name)
        .def_ro("id", &instrument_facts::id)
        .def_ro("kind", &instrument_facts::kind)
        .def_ro("tick_size", &instrument_facts::tick_size)
        .def_ro("lot_size", &instrument_facts::lot_size)
        .def_ro("expiry_ns", &instrument_facts::expiry_ns)
        .def_ro("decimals", &instrument_facts::decimals);
    nb::class_<book_facts>(m, "BookFacts")
        .def_ro("instrument", &book_facts::instrument)
        .def_ro("sequence", &book_facts::sequence)
        .def_ro("time_ns", &book_facts::time_ns)
        .def_prop_ro("levels", [](const book_facts& self) { return self.levels; })
        .def_prop_ro("orders", [](const book_facts& self) { return self.orders; })
        .def_ro("last", &book_facts::last)
        .def_ro("high", &book_facts::high)
        .def_ro("low", &book_facts::low)
        .def_ro("open", &book_facts::open)
        .def_ro("volume", &book_facts::volume)
        .def_ro("open_interest", &book_facts::open_interest);
    nb::class_<journal>(m, "Journal")
        .def(
            "__init__",
            [](journal* self, std::string config, std::string directory, std::string partition, bool ignores_index) {
                const nb::gil_scoped_release others_run;
                new (self)
                    journal({std::move(config), std::move(directory), std::move(partition), ignores_index});
            },
            nb::arg("config"), nb::arg("directory"), nb::arg("partition"), nb::arg("ignores_index"))
        .def_prop_ro("directory", &journal::directory)
        .def_prop_ro("instruments", &journal::instruments)
        .def(
            "read",
            [](journal& self, bool orders, bool trades, bool levels, bool quotes, std::string instrument,
               const std::string& from, std::int64_t from_value, const std::string& to, std::int64_t to_value) {
                const journal_choice what{orders, trades, levels, quotes, std::move(instrument), when_of(from, from_value),
                                          when_of(to, to_value)};
                journal_frames made;
                {
                    const nb::gil_scoped_release others_run;
                    made = self.read(what, raise_if_interrupted);
                }
                return nb::make_tuple(made.orders, made.trades, made.levels, made.quotes);
            },
            nb::arg("orders"), nb::arg("trades"), nb::arg("levels"), nb::arg("quotes"), nb::arg("instrument"), nb::arg("from"),
            nb::arg("from_value"), nb::arg("to"), nb::arg("to_value"))
        .def(
            "book_at",
            [](journal& self, const std::string& kind, std::int64_t value, const std::string& instrument,
               std::uint32_t depth, bool with_orders) {
                const when at = when_of(kind, value);
                const nb::gil_scoped_release others_run;
                return self.book_at(at, instrument, depth, with_orders, raise_if_interrupted);
            },
            nb::arg("kind"), nb::arg("value"), nb::arg("instrument"), nb::arg("depth"), nb::arg("with_orders"))
        .def(
            "to_lobster",
            [](journal& self, const std::string& directory, const std::string& instrument, std::uint32_t depth,
               const std::string& from, std::int64_t from_value, const std::string& to, std::int64_t to_value) {
                const when begin = when_of(from, from_value);
                const when end = when_of(to, to_value);
                const nb::gil_scoped_release others_run;
                return self.to_lobster(directory, instrument, depth, begin, end, raise_if_interrupted);
            },
            nb::arg("directory"), nb::arg("instrument"), nb::arg("depth"), nb::arg("from"), nb::arg("from_value"), nb::arg("to"),
            nb::arg("to_value"))
        .def(
            "make_index",
            [](journal& self, std::uint64_t interval) {
                index_facts made;
                {
                    const nb::gil_scoped_release others_run;
                    made = self.make_index(interval, raise_if_interrupted);
                }
                return nb::make_tuple(made.snapshots_written, made.snapshots, made.bytes_written, made.commands);
            },
            nb::arg("interval"));
}

void bind_recorded(nb::module_& m) {
    using released = nb::call_guard<nb::gil_scoped_release>;
    m.def(
        "read_dbn",
        [](const std::string& path, std::optional<std::uint32_t> instrument) {
            return read_dbn(path, instrument, raise_if_interrupted);
        },
        nb::arg("path"), nb::arg("instrument").none(), released());
    m.def(
        "read_dbn_definitions",
        [](const std::string& path) { return read_dbn_definitions(path, raise_if_interrupted); }, nb::arg("path"),
        released());
    m.def(
        "read_lobster", [](const std::string& path) { return read_lobster(path, raise_if_interrupted); },
        nb::arg("path"), released());
    m.def(
        "read_lobster_book", [](const std::string& path) { return read_lobster_book(path, raise_if_interrupted); },
        nb::arg("path"), released());
    m.def(
        "read_itch",
        [](const std::string& path, const std::string& stock) {
            return read_itch(path, stock, raise_if_interrupted);
        },
        nb::arg("path"), nb::arg("stock"), released());
}

}  // namespace
}  // namespace corro::python

NB_MODULE(_corro, m) {
    using namespace corro::python;
    m.attr("version") = CORRO_VERSION;
    nb::exception<data_error>(m, "DataError", PyExc_ValueError).attr("__doc__") =
        "A file cannot be read, is damaged, or is not what it should be.";
    nb::exception<setup_error>(m, "ConfigurationError", PyExc_ValueError).attr("__doc__") =
        "A key or value of a configuration or a scenario is invalid; the message has file, line and key.";
    // Registered last, found first.
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const argument_error& e) {
            PyErr_SetString(PyExc_ValueError, e.what());
        }
    });
    bind_frames(m);
    bind_journal(m);
    bind_recorded(m);
    bind_markets(m);
    bind_makers(m);
}
