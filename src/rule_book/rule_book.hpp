// SPDX-License-Identifier: Apache-2.0
// Reads and plays the scenarios of the rule book: text that a person can read.
//
// A file has a title, then three parts. `given` and `when` have one command per line, `then` has the events of `when`
// and the book after them:
//
//     title: An order that trades in part keeps its place
//     given
//       A sells 5 at 100 as a
//       B sells 5 at 100 as b
//     when
//       C buys 2 at 100 as c
//       C buys 4 at 100 as d
//     then
//       trade 2 at 100: c with a
//       trade 3 at 100: d with a
//       trade 1 at 100: d with b
//       bids: none
//       asks: b 4 at 100
//
// Accounts are capital letters, orders have names. `buys N` or `sells N` may be followed by, in any order: `at P`, `as
// NAME`, `market`, `to-limit`, `within N` (protected market), `stop T`, `stop-limit T`, `if-touched T`, `ioc`, `fok`,
// `post-only`, `repricing`, `staying`, `showing N`, `minimum N`, `prevent newest|resting|both|decrement`, `group N`,
// `until T` (good till then), `in 2` (the second instrument, of the same product). Further commands are `A amends NAME
// to N at P` (optionally with `open`, `trigger T`, `showing N`, `account B`, `as NAME`: the request's own name), `A
// asks for NAME`, `A asks for all`, `A cancels NAME` (optionally with `as NAME`), `A cancels name NAME` (the order that
// has this name now), `A cancels all`, `A cancels all buys|sells` (the last two optionally with `with quotes` or
// `quotes only`) and `A kills account|session`; `A loses connection` is the venue's cancel on disconnect.
//
// `A quotes 5 at 99 and 5 at 101` (`in 2`) enters a quote; `none` instead of `N at P` is a side without quantity. Its
// sides are called `A's bid` and `A's ask`; `A cancels bid` and `A amends bid to N at P` try to change one as if it
// were an order. `A allows 3 fills in 100 ms`, `A allows 20 lots in 100 ms` or both (`3 fills 20 lots in 100 ms`) sets
// the protection of A's quotes, `A resets` allows A to quote again. `time passes 50 ms` moves the clock, which
// otherwise stands still.
//
// An order may be `day`, `at-the-open` or `at-the-close`. `operator begins pre-open|opening|volatility|closing` starts
// an auction (`until T`), `operator closes` ends the day, `operator settles at P` the instrument. Each of these, and
// `halts` and `resumes`, may be followed by `in 2`. `operator defines 20 as NAME like 1` (`low P`, `high P`, `legs 1
// 2`) defines an instrument; two can be defined.
//
// The operator's commands are also `operator limits A` (with `size N`, `position N`, `orders N`, `notional N`, `firm
// N`), `operator halts` (`until T`), `operator resumes`, `operator kills|releases account A|session A|firm N`. `time T`
// is the time of the commands that follow. Before the first command `band N` and `breaker N window T halt T` add a
// dynamic price band or a circuit breaker to the instruments, `auction N` a volatility auction of that length, and
// `matching X` names their matching algorithm, optionally followed by `fifo N`, `levelling`, `top N to N` (0 for no
// bound), `minimum N` and `maker A N` for each maker.
//
// Likewise before the first command, `strategy 3 buys 1 of 1 and sells 2 of 2` makes instrument 3 a strategy of those
// legs (any number of them, joined by `and`, optionally followed by `implied`). `then` ends in that case with the books
// of all instruments that have orders (`bids of 3: ...`), with their last published implied prices (`implied bids of 3:
// 10 at -5`) and with all positions (`A owns -5 of 2`). An implied fill is `implied trade 3 at 100: d with b at 105 and
// s at -5`.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "facility/facility.hpp"
#include "rule_book/rule_facts.hpp"
#include "rule_book/rule_market.hpp"
#include "rule_book/rule_names.hpp"

namespace corro::rule_book {

struct rule {
    std::string title;
    std::vector<std::string> given, when, then;
};

/// The scenario in a text, or an error.
struct reading {
    rule what;
    std::string problem;
};

[[nodiscard]] reading read_rule(std::istream& in);

/// Plays commands on a venue and records the facts.
class player final : public facility::event_consumer {
 public:
    player() : facts_(names_) {}
    player(const player&) = delete;
    player& operator=(const player&) = delete;

    /// Executes a line. Returns an error, or an empty text.
    [[nodiscard]] std::string play(const std::string& line);
    /// The facts since the last call, then the books.
    [[nodiscard]] std::vector<std::string> facts();

 private:
    [[nodiscard]] bool set_time(std::istringstream& words);
    facility::facility& venue();
    void apply(domain::command& c);
    void consume(std::span<const domain::event> events) noexcept override;
    void list_orders(std::uint32_t instrument, std::vector<std::string>& to);
    void list_implied(std::vector<std::string>& to) const;
    void list_positions(std::vector<std::string>& to);

    rule_names names_;
    rule_market market_;
    fact_writer facts_;
    std::uint64_t sequence_ = 0;
    std::int64_t time_ = 0;
    std::unique_ptr<facility::facility> venue_;  ///< made by the first command
};

/// The result of a rule: its facts, or an error in its lines.
struct ending {
    std::vector<std::string> facts;
    std::string problem;
};

[[nodiscard]] ending play(const rule& r);

}  // namespace corro::rule_book
