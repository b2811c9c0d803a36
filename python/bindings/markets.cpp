// SPDX-License-Identifier: Apache-2.0
// Simulated markets in the extension module.

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "native/market.hpp"

namespace nb = nanobind;

namespace corro::python {

void bind_markets(nb::module_& m) {
    using released = nb::call_guard<nb::gil_scoped_release>;
    nb::class_<scenario_facts>(m, "ScenarioFacts")
        .def_ro("name", &scenario_facts::name)
        .def_ro("about", &scenario_facts::about)
        .def_ro("text", &scenario_facts::text)
        .def_ro("duration_ns", &scenario_facts::duration_ns)
        .def_ro("sample_ns", &scenario_facts::sample_ns)
        .def_ro("start_ns", &scenario_facts::start_ns)
        .def_ro("seed", &scenario_facts::seed)
        .def_ro("agents", &scenario_facts::agents)
        .def_ro("instruments", &scenario_facts::instruments);
    m.def("read_scenario", &read_scenario, nb::arg("text"), nb::arg("file"), released());
    nb::class_<market_totals>(m, "MarketTotals")
        .def_ro("now_ns", &market_totals::now_ns)
        .def_ro("commands", &market_totals::commands)
        .def_ro("trades", &market_totals::trades)
        .def_ro("rejects", &market_totals::rejects)
        .def_ro("digest", &market_totals::digest)
        .def_ro("state_hash", &market_totals::state_hash);
    nb::class_<market> markets(m, "Market");
    markets
        .def(
            "__init__",
            [](market* self, const std::string& text, const std::string& file, std::uint64_t seed, bool orders,
               bool trades, bool levels, bool quotes,
               const std::vector<std::pair<std::string, std::string>>& seats,
               const std::vector<std::pair<std::string, std::string>>& traders,
               const std::vector<std::tuple<std::string, std::string, std::uint32_t, std::string, std::int64_t>>& crowds) {
                std::vector<seat_wish> seat_wishes;
                for (const auto& [name, beside] : seats) seat_wishes.push_back({name, beside});
                std::vector<trader_wish> trader_wishes;
                for (const auto& [name, beside] : traders) trader_wishes.push_back({name, beside});
                std::vector<crowd_wish> crowd_wishes;
                for (const auto& [name, beside, count, instrument, every_ns] : crowds) {
                    crowd_wishes.push_back({name, beside, count, instrument, every_ns});
                }
                const nb::gil_scoped_release others_run;
                new (self) market(text, file, seed, {orders, trades, levels, quotes}, seat_wishes, trader_wishes,
                                  crowd_wishes);
            },
            nb::arg("text"), nb::arg("file"), nb::arg("seed"), nb::arg("orders"), nb::arg("trades"),
            nb::arg("levels"), nb::arg("quotes"), nb::arg("seats"), nb::arg("traders"), nb::arg("crowds"))
        .def(
            "run", [](market& self, std::int64_t until_ns) { self.run(until_ns, raise_if_interrupted); },
            nb::arg("until_ns"), released())
        .def("totals", &market::totals, released())
        .def("metrics",
             [](market& self) {
                 nb::dict made;
                 std::vector<std::pair<std::string, double>> all;
                 {
                     const nb::gil_scoped_release others_run;
                     all = self.metrics();
                 }
                 for (const auto& [name, value] : all) made[name.c_str()] = value;
                 return made;
             })
        .def("tables",
             [](const market& self) {
                 market_tables made;
                 {
                     const nb::gil_scoped_release others_run;
                     made = self.tables();
                 }
                 return nb::make_tuple(made.orders, made.trades, made.levels, made.quotes);
             })
        .def("positions", &market::positions, released())
        .def("notes", &market::notes, released())
        .def("book", &market::book, nb::arg("instrument"), nb::arg("depth"), nb::arg("with_orders"), released())
        .def("enter",
             [](market& self, std::size_t seat, bool is_buy, std::string instrument, bool has_limit,
                std::int64_t price_nano, std::int64_t quantity, std::string time_in_force, bool is_post_only,
                std::int64_t display_quantity) {
                 return self.enter(seat, {is_buy, std::move(instrument), has_limit, price_nano, quantity,
                                          std::move(time_in_force), is_post_only, display_quantity});
             })
        .def("cancel", &market::cancel)
        .def("amend", &market::amend)
        .def("cancel_all", &market::cancel_all)
        .def("seat_orders", &market::seat_orders)
        .def("seat_holdings", &market::seat_holdings)
        .def("take_fills", &market::take_fills)
        .def("seat_position", &market::seat_position)
        .def("seat_cash", &market::seat_cash)
        .def("seat_quote", [](market& self, std::size_t seat, const std::string& instrument) {
            const quote_facts q = self.seat_quote(seat, instrument);
            return nb::make_tuple(q.time_ns, q.bid, q.ask, q.bid_quantity, q.ask_quantity, q.last, q.volume);
        });
    bind_agents(markets);
    m.def(
        "compare_metrics",
        [](const std::vector<std::tuple<std::string, std::vector<double>, std::vector<double>>>& series) {
            std::vector<paired_metric> all;
            {
                const nb::gil_scoped_release others_run;
                all = compare_metrics(series);
            }
            nb::list made;
            for (const paired_metric& each : all) {
                made.append(nb::make_tuple(each.name, each.mean_a, each.mean_b, each.difference, each.low, each.high,
                                           each.p_value, each.p_corrected));
            }
            return made;
        },
        nb::arg("series"));
}

}  // namespace corro::python
