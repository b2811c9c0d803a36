// SPDX-License-Identifier: Apache-2.0
// Agents whose code is Python: the module's side of native/market_agents.cpp.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "domain/reject_reason.hpp"
#include "native/market.hpp"

namespace nb = nanobind;

namespace corro::python {
namespace {

constexpr std::int64_t pause_ns_max = 1'000'000'000'000'000;
constexpr std::int64_t never_ns = INT64_MAX / 2;  // market::never_ns

std::int64_t ns_of(double seconds) {
    if (!(seconds >= 0)) throw nb::value_error("an agent waits for 0 seconds or more");
    const double ns = std::round(seconds * 1e9);
    return ns < static_cast<double>(pause_ns_max) ? static_cast<std::int64_t>(ns) : never_ns;
}

/// Coroutines of traders, and one callable a crowd. The lists belong to the market's object in Python, which lives longer
/// than any run: a reference from here would be a cycle that nobody collects.
class python_code final : public outside {
 public:
    python_code(const nb::list& coroutines, const nb::list& crowds)
        : coroutines_(coroutines.ptr()), crowds_(crowds.ptr()), has_started_(nb::len(coroutines)) {}

    next_wait proceed(std::size_t trader, std::int32_t result) override {
        const nb::gil_scoped_acquire hold;
        PyObject* const coroutine = PyList_GET_ITEM(coroutines_, static_cast<Py_ssize_t>(trader));
        const nb::object sent = has_started_[trader] ? nb::steal(PyLong_FromLong(result)) : nb::none();
        has_started_[trader] = true;
        PyObject* given = nullptr;
        const PySendResult how = PyIter_Send(coroutine, sent.ptr(), &given);
        if (how == PYGEN_ERROR) throw nb::python_error();
        const nb::object what = nb::steal(given);
        next_wait made;
        if (how == PYGEN_RETURN) return made;
        if (PyFloat_CheckExact(given)) {
            made.what = next_wait::kind::sleep;
            made.ns = ns_of(PyFloat_AS_DOUBLE(given));
        } else if (PyLong_CheckExact(given)) {
            made.what = next_wait::kind::answer;
            made.number = nb::cast<std::uint32_t>(what);
        } else if (PyTuple_CheckExact(given) && PyTuple_GET_SIZE(given) == 3) {
            const auto parts = nb::borrow<nb::tuple>(what);
            made.what = next_wait::kind::news;
            made.news = nb::cast<std::uint8_t>(parts[0]);
            made.instrument = nb::cast<std::string>(parts[1]);
            made.ns = ns_of(nb::cast<double>(parts[2]));
        } else {
            throw nb::type_error("an agent awaits its own waits and requests, in the market's time; what it awaited "
                                 "belongs to another loop, such as asyncio's");
        }
        return made;
    }

    void act(std::size_t crowd) override {
        const nb::gil_scoped_acquire hold;
        nb::borrow(PyList_GET_ITEM(crowds_, static_cast<Py_ssize_t>(crowd)))();
    }

 private:
    PyObject* coroutines_;
    PyObject* crowds_;
    std::vector<bool> has_started_;
};

template <class T>
using column_of_requests = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const column_of_requests<T>& column) {
    return {column.data(), column.size()};
}

void* give_way() { return PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr; }
void take_back(void* given) { PyEval_RestoreThread(static_cast<PyThreadState*>(given)); }

}  // namespace

void bind_agents(nb::class_<market>& to) {
    wait_with({give_way, take_back});
    to.def("drive_with",
           [](market& self, const nb::list& coroutines, const nb::list& crowds) {
               self.drive_with(std::make_unique<python_code>(coroutines, crowds));
           })
        .def("now_ns", &market::now_ns)
        .def("instrument_names", &market::instrument_names)
        .def("reason",
             [](const market&, std::uint16_t code) {
                 return std::string(domain::to_string(static_cast<domain::reject_reason>(code)));
             })
        .def("crowd_view", &market::crowd_view)
        .def("crowd_send",
             [](market& self, std::size_t crowd, const column_of_requests<std::int32_t>& member,
                const column_of_requests<std::int8_t>& side, const column_of_requests<double>& price,
                const column_of_requests<std::int64_t>& quantity, const column_of_requests<std::uint8_t>& cancel,
                std::string time_in_force) {
                 const std::size_t rows = member.size();
                 if (side.size() != rows || price.size() != rows || quantity.size() != rows || cancel.size() != rows) {
                     throw nb::value_error("the columns of requests are equally long");
                 }
                 return self.crowd_send(crowd, {span_of(member), span_of(side), span_of(price), span_of(quantity),
                                                span_of(cancel), std::move(time_in_force)});
             });
}

}  // namespace corro::python
