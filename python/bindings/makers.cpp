// SPDX-License-Identifier: Apache-2.0
// Environments in the extension module: the module's side of native/maker.hpp and native/market_batch.hpp.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "native/maker.hpp"
#include "native/market_batch.hpp"

namespace nb = nanobind;

namespace corro::python {
namespace {

template <class T>
using given_array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T>
using filled_array = nb::ndarray<T, nb::numpy, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const given_array<T>& from) {
    return {from.data(), from.size()};
}

template <class T>
std::span<T> span_of(const filled_array<T>& from, std::size_t size) {
    if (from.size() != size) throw nb::value_error("an array of results has the wrong size");
    return {from.data(), size};
}

using rule_tuple = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, double>;

std::vector<maker_rules> rules_of(const std::vector<rule_tuple>& from) {
    std::vector<maker_rules> made;
    for (const auto& [instrument, lots, distance, position, aversion] : from) {
        made.push_back({instrument, lots, distance, position, aversion});
    }
    return made;
}

/// Actions of one maker, in numbers of 64 bits.
template <class T>
std::vector<double> action_of(const makers& self, const given_array<T>& action) {
    if (action.size() != 2 * self.count()) {
        throw argument_error("action: give " + std::to_string(2 * self.count()) + " numbers, two for each instrument");
    }
    return {action.data(), action.data() + action.size()};
}

nb::object observation_of(const makers& self) {
    const std::size_t size = maker_numbers * self.count();
    auto* const values = new float[size];
    const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<float*>(p); });
    self.observe({values, size});
    return nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<1>, nb::c_contig>(values, {size}, owner));
}

nb::dict facts_of(const makers& self, std::size_t index) {
    const maker_facts facts = self.facts(index);
    nb::dict made;
    made["position"] = facts.position;
    made["value_ticks"] = facts.value_ticks;
    made["middle"] = facts.middle;
    return made;
}

template <class T>
nb::tuple step(makers& self, const given_array<T>& action) {
    const std::vector<double> wanted = action_of(self, action);
    std::array<float, maker_numbers> few{};
    std::vector<float> many;
    std::span<float> seen(few);
    if (self.count() > 1) {
        many.resize(maker_numbers * self.count());
        seen = many;
    }
    double reward = 0;
    {
        const nb::gil_scoped_release others_run;
        reward = self.step(wanted, seen, raise_if_interrupted);
    }
    return nb::make_tuple(observation_of(self), reward, self.is_over());
}

}  // namespace

void bind_makers(nb::module_& m) {
    nb::class_<makers>(m, "Makers")
        .def(
            "__init__",
            [](makers* self, market& of, std::size_t seat, const std::vector<rule_tuple>& rules, std::int64_t interval_ns) {
                new (self) makers(of, seat, rules_of(rules), interval_ns);
            },
            nb::keep_alive<1, 2>(), nb::arg("of"), nb::arg("seat"), nb::arg("rules"), nb::arg("interval_ns"))
        .def("act", [](makers& self, const given_array<float>& action) { self.act(action_of(self, action)); },
             nb::arg("action").noconvert())
        .def("act", [](makers& self, const given_array<double>& action) { self.act(action_of(self, action)); },
             nb::arg("action"))
        .def("reward", &makers::reward)
        .def("observe", &observation_of)
        .def("facts", &facts_of, nb::arg("index"))
        .def("step", &step<float>, nb::arg("action").noconvert())
        .def("step", &step<double>, nb::arg("action"));
    nb::class_<market_batch>(m, "MarketBatch")
        .def(
            "__init__",
            [](market_batch* self, std::string text, std::string file, std::string beside, const std::vector<rule_tuple>& rules,
               std::int64_t interval_ns, std::size_t count, std::size_t threads) {
                const nb::gil_scoped_release others_run;
                new (self) market_batch(
                    {std::move(text), std::move(file), std::move(beside), rules_of(rules), interval_ns, count, threads});
            },
            nb::arg("text"), nb::arg("file"), nb::arg("beside"), nb::arg("rules"), nb::arg("interval_ns"), nb::arg("count"),
            nb::arg("threads"))
        .def("advance",
             [](market_batch& self, const given_array<std::uint8_t>& turns, const given_array<std::uint64_t>& seeds,
                const given_array<double>& actions, const filled_array<float>& observations,
                const filled_array<double>& rewards, const filled_array<std::uint8_t>& is_over,
                const filled_array<std::int64_t>& position, const filled_array<double>& value,
                const filled_array<double>& middle) {
                 const std::size_t count = turns.size();
                 const std::size_t all = actions.size() / 2;
                 const batch_rows into{span_of(observations, all * maker_numbers), span_of(rewards, count),
                                       span_of(is_over, count), span_of(position, all), span_of(value, all),
                                       span_of(middle, all)};
                 {
                     const nb::gil_scoped_release others_run;
                     self.advance(span_of(turns), span_of(seeds), span_of(actions), into);
                 }
                 raise_if_interrupted();
             })
        .def("totals", &market_batch::totals, nb::arg("index"));
}

}  // namespace corro::python
