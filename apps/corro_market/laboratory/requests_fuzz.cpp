// SPDX-License-Identifier: Apache-2.0
// Any bytes are bodies of requests to a laboratory: each gets an object or a refusal with its status and words. What is
// left is a market that runs: from the scenario with all changes and the seed it comes to the same digest.
//
// The input: bodies between line feeds, the first 12 of them. The first byte of each chooses the request: `c` control,
// `i` inject, `f` fork and compare, `s` stop the comparison.
//
// The committed corpus: apps/corro_market/laboratory/fuzz_corpus

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "laboratory.hpp"

using namespace corro;
using namespace corro::app;

namespace {

constexpr std::size_t requests_max = 12;
/// A run of more commands is not repeated.
constexpr std::uint64_t commands_repeated_max = 20'000;

constexpr std::string_view small_market = R"([market]
name = "small"
duration = "3s"

[[instrument]]
id = 1
symbol = "ONE"
tick_size = "0.25"
price_low = "1000"
price_high = "4000"

[[fundamental]]
name = "value"
start_ticks = 10_000
reversion_per_second = 0.01
volatility_ticks = 0.8

[[link]]
name = "near"
delay = { kind = "uniform", least = "1ms", most = "2ms" }

[[agents]]
group = "noise"
kind = "noise"
count = 5
link = "near"
interval = "50ms"
anchor_ticks = 10_000

[[agents]]
group = "makers"
kind = "ladder"
count = 1
link = "near"
half_spread_ticks = 2
levels = 3
lots = 10
)";

void check(const std::expected<json, refusal>& answer) {
    if (answer) {
        CORRO_ASSERT(answer->is_object() || answer->is_null());
        return;
    }
    const unsigned status = answer.error().status;
    CORRO_ASSERT(status == 400 || status == 409 || status == 500, "a refusal has a status");
    CORRO_ASSERT(answer.error().message.size() > 8, "a refusal has words");
}

io::task<> ask(laboratory* of, std::string_view body) {
    const char what = body.empty() ? '\0' : body.front();
    if (what == 's') co_return of->stop_comparison();
    if (what != 'c' && what != 'i' && what != 'f') co_return;
    auto read = read_object(body.substr(1));
    if (!read) co_return check(read);
    if (what == 'f') co_return check(of->compare(*read));
    auto working = what == 'c' ? of->control(std::move(*read)) : of->inject(std::move(*read));
    const auto answer = co_await std::move(working);
    check(answer);
}

void check_state(laboratory& of) {
    const json now = of.now_json();
    CORRO_ASSERT(now["time_ns"] >= 0 && now["time_ns"] <= of.run().what().duration_ns);
    static_cast<void>(of.terms().dump(-1, ' ', false, json::error_handler_t::replace));
    static_cast<void>(book_json(of.run(), 0));
    static_cast<void>(agents_json(of.run(), 0));
    if (now["state"] == "failed" || now["commands"] > commands_repeated_max) return;
    scenario_source from;
    from.text = of.text();
    from.file = "small.toml";
    const market::scenario again = from.parse();
    observed_run run(again, of.terms()["seed"].get<std::uint64_t>(), false);
    run.advance(0);
    while (run.now_ns() < of.run().now_ns()) run.advance(of.run().now_ns());
    CORRO_ASSERT(run.world().digest() == of.run().world().digest(), "scenario and seed are the run");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static io::context on;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    scenario_source from;
    from.text = small_market;
    from.file = "small.toml";
    laboratory lab(on, std::move(from), 1);
    for (std::size_t k = 0; k < requests_max && !text.empty(); ++k) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        io::block_on(on, ask(&lab, text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    lab.stop_comparison();
    check_state(lab);
    return 0;
}
