// SPDX-License-Identifier: Apache-2.0
// Drives the matching engine by itself: operations from a text file, events to standard output.
//
//     engine FILE        operations from FILE; `-` is standard input
//
// It includes the engine's public header and nothing else of Corro. Outside the project it is built, in one line, with
//
//     c++ -std=c++23 -O2 -I src -o engine examples/engine.cpp
//         src/base/assert.cpp src/base/raw_array.cpp src/domain/reject_reason.cpp
//
// The operations, one per line, and what is written are described in docs/howto/drive_the_engine.md. A line that is
// not understood ends the program with its number and what is wrong with it; nothing of that line is done.

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "matching/engine.hpp"

namespace {

using namespace corro;

/// What is wrong with a line.
struct line_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The words of a line, taken from left to right.
class words {
 public:
    explicit words(const std::string& line) {
        std::istringstream in(line.substr(0, line.find('#')));
        for (std::string word; in >> word;) words_.push_back(word);
    }
    [[nodiscard]] bool empty() const { return at_ == words_.size(); }
    std::string next(const char* what) {
        if (empty()) throw line_error(std::string("expected ") + what + ", the line ends");
        return words_[at_++];
    }
    /// Takes the next word if it is this one.
    bool take(const char* word) {
        if (empty() || words_[at_] != word) return false;
        ++at_;
        return true;
    }
    void expect(const char* word) {
        if (!take(word)) throw line_error(std::string("expected '") + word + "'" + found());
    }
    std::int64_t number(const char* what, std::int64_t low, std::int64_t high) {
        const std::string text = next(what);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
            throw line_error(std::string(what) + " must be a number from " + std::to_string(low) + " to " +
                             std::to_string(high) + ", not '" + text + "'");
        }
        return value;
    }
    void end() const {
        if (!empty()) throw line_error("'" + words_[at_] + "' is too much or not known here");
    }

 private:
    [[nodiscard]] std::string found() const { return empty() ? ", the line ends" : ", not '" + words_[at_] + "'"; }

    std::vector<std::string> words_;
    std::size_t at_ = 0;
};

[[nodiscard]] const char* name_of(domain::side side) {
    return side == domain::side::buy ? "buy" : "sell";
}

/// Runs operations on one engine; also the engine's sink.
class driver {
 public:
    explicit driver(std::ostream& out) : out_(out) {}

    void run(const std::string& line) {
        words w(line);
        if (w.empty()) return;
        const std::string operation = w.next("an operation");
        if (operation == "engine") return configure(w);
        if (engine_ == nullptr) make_engine();
        traded_ = false;
        if (operation == "enter") return enter(w);
        if (operation == "wait") return wait(w);
        if (operation == "cancel") return cancel(w);
        if (operation == "reduce") return reduce(w);
        if (operation == "resize") return resize(w);
        if (operation == "replace") return replace(w);
        if (operation == "replace-both") return replace_both(w);
        if (operation == "cancel-account") return cancel_account(w);
        if (operation == "book") return print_book(w);
        throw line_error("'" + operation + "' is not an operation");
    }

    // --- The engine's sink: called in the middle of an operation, in the order in which the book changes -------------

    void filled(const matching::fill& f) {
        out_ << "trade " << f.quantity << " at " << f.level.price.value << " book " << f.level.book << " "
             << names_[f.aggressor_slot] << " takes " << names_[f.resting_slot] << " left " << f.aggressor_open
             << " and " << f.resting_open + f.resting_hidden << level_text(f.level) << '\n';
        const std::int64_t price = f.level.price.value;
        low_ = traded_ && low_ < price ? low_ : price;
        high_ = traded_ && high_ > price ? high_ : price;
        traded_ = true;
        last_[f.level.book] = price;
    }
    void rested(const matching::order_change& c) { say("rested", c); }
    void removed(const matching::order_change& c, matching::removal cause) {
        if (c.level.is_waiting) {
            out_ << "removed " << names_[c.slot] << " waiting " << c.taken << '\n';
            return;
        }
        say(cause == matching::removal::replaced               ? "lifted"
            : cause == matching::removal::self_match_prevented ? "prevented"
                                                               : "removed",
            c);
    }
    void reduced(const matching::order_change& c, matching::reduction) { say("reduced", c); }
    void refreshed(const matching::order_change& c) { say("refreshed", c); }
    void aggressor_decremented(const matching::decrement& d) {
        out_ << "decremented " << names_[d.slot] << " left " << d.open << '\n';
    }

 private:
    /// What a waiting order becomes.
    struct terms {
        matching::entry entry;
        bool waits = false;
    };

    static std::string level_text(const matching::level_state& level) {
        return " level " + std::to_string(level.volume) + " in " + std::to_string(level.orders_count) +
               (level.top_changed ? " top" : "");
    }
    void say(const char* what, const matching::order_change& c) {
        out_ << what << ' ' << names_[c.slot] << ' ' << name_of(c.level.side) << " shown " << c.open << " hidden "
             << c.hidden << " change " << c.change << " at " << c.level.price.value << " book " << c.level.book
             << level_text(c.level) << '\n';
    }
    void answer(const std::string& name, const matching::entry_result& result) {
        constexpr const char* outcomes[]{"rested", "filled", "cancelled", "refused"};
        out_ << "answer " << name << ' ' << outcomes[static_cast<std::size_t>(result.what)];
        if (result.quantity != 0) out_ << ' ' << result.quantity;
        if (result.reason != domain::reject_reason::none) out_ << ' ' << domain::to_string(result.reason);
        out_ << '\n';
    }

    void configure(words& w) {
        if (engine_ != nullptr) throw line_error("'engine' must come before every operation");
        while (!w.empty()) {
            if (w.take("orders")) {
                options_.orders_max = static_cast<std::uint32_t>(w.number("orders", 1, 1 << 24));
            } else if (w.take("accounts")) {
                options_.accounts_max = static_cast<std::uint32_t>(w.number("accounts", 1, 1 << 20));
            } else if (w.take("books")) {
                options_.books_count = static_cast<std::uint32_t>(w.number("books", 1, domain::instruments_max));
            } else if (w.take("window")) {
                options_.window_bits = static_cast<std::uint32_t>(
                    w.number("window", matching::window_bits_min, matching::window_bits_max));
            } else {
                w.end();
            }
        }
        make_engine();
    }
    void make_engine() {
        engine_ = std::make_unique<matching::engine>(options_);
        names_.resize(options_.orders_max);
        terms_.resize(options_.orders_max);
        last_.assign(options_.books_count, domain::no_price.value);
    }

    // --- Words that several operations share -------------------------------------------------------------------------

    std::uint32_t book(words& w) { return static_cast<std::uint32_t>(w.number("book", 0, options_.books_count - 1)); }
    std::uint32_t account(words& w) {
        return static_cast<std::uint32_t>(w.number("account", 0, options_.accounts_max - 1));
    }
    static std::uint32_t lots(words& w, const char* what) {
        return static_cast<std::uint32_t>(w.number(what, 1, domain::order_quantity_lots_max));
    }
    static domain::price_ticks price(words& w, const char* what) {
        return domain::price_ticks{w.number(what, -domain::price_ticks_max, domain::price_ticks_max)};
    }
    static void limit(words& w, matching::entry& e) {
        e.is_market = w.take("market");
        if (e.is_market) {
            e.rest = matching::remainder::cancelled;
            return;
        }
        w.expect("at");
        e.price = price(w, "price");
    }
    void instructions(words& w, matching::entry& e, bool is_new) {
        using domain::self_match_prevention;
        while (!w.empty()) {
            if (is_new && w.take("ioc")) {
                e.rest = matching::remainder::cancelled;
            } else if (is_new && w.take("fok")) {
                e.rest = matching::remainder::never_arises;
            } else if (is_new && w.take("post-only")) {
                e.post_only = true;
            } else if (is_new && w.take("minimum")) {
                e.minimum = lots(w, "minimum");
            } else if (w.take("display")) {
                e.display = lots(w, "display");
            } else if (w.take("prevent")) {
                e.self_match = w.take("newest")      ? self_match_prevention::cancel_newest
                               : w.take("resting")   ? self_match_prevention::cancel_resting
                               : w.take("both")      ? self_match_prevention::cancel_both
                               : w.take("decrement") ? self_match_prevention::decrement
                                                     : self_match_prevention::none;
                if (e.self_match == self_match_prevention::none) {
                    throw line_error("prevent what? newest, resting, both or decrement");
                }
            } else {
                w.end();
            }
        }
    }
    matching::entry begin_entry(words& w, std::string& name) {
        name = w.next("a name for the order");
        if (ids_.contains(name)) throw line_error("'" + name + "' is the name of an earlier order");
        matching::entry e;
        e.book = book(w);
        e.account = account(w);
        const bool buys = w.take("buy");
        if (!buys) w.expect("sell");
        e.side = buys ? domain::side::buy : domain::side::sell;
        e.quantity = domain::quantity_lots{lots(w, "quantity")};
        return e;
    }
    /// The slot of the open order with this name; says so and returns `none` when the order is closed by now.
    std::uint32_t find(const std::string& name) {
        const auto at = ids_.find(name);
        if (at == ids_.end()) throw line_error("no order has been named '" + name + "'");
        if (engine_->is_open(at->second)) return matching::engine::slot_of(at->second);
        out_ << "closed " << name << '\n';
        return matching::engine::none;
    }
    /// Gives the next order its name, before anything is said of it. False: there is no room for it.
    bool announce(const std::string& name, const terms& t) {
        if (engine_->full()) {
            out_ << "answer " << name << " refused " << domain::to_string(domain::reject_reason::book_full) << '\n';
            ids_[name] = {};
            return false;
        }
        const domain::order_id id = engine_->next_id();
        ids_[name] = id;
        names_[matching::engine::slot_of(id)] = name;
        terms_[matching::engine::slot_of(id)] = t;
        return true;
    }
    void trigger(std::uint32_t book) {
        while (traded_) {
            const std::uint32_t slot =
                engine_->next_triggered(book, domain::price_ticks{low_}, domain::price_ticks{high_});
            if (slot == matching::engine::none) return;
            const std::string name = names_[slot];
            matching::entry e = terms_[slot].entry;
            e.quantity = domain::quantity_lots{engine_->order_at(slot).open};
            terms_[slot].waits = false;
            out_ << "triggered " << name << '\n';
            answer(name, engine_->activate(slot, e, *this));
        }
    }

    // --- Operations --------------------------------------------------------------------------------------------------

    void enter(words& w) {
        std::string name;
        matching::entry e = begin_entry(w, name);
        limit(w, e);
        instructions(w, e, true);
        if (e.is_market && (e.post_only || e.display != 0)) throw line_error("a market order never rests");
        if (!announce(name, {e})) return;
        const matching::entry_result result = engine_->enter(e, *this);
        if (result.what == matching::outcome::refused) ids_[name] = {};
        answer(name, result);
        trigger(e.book);
    }
    void wait(words& w) {
        std::string name;
        matching::entry e = begin_entry(w, name);
        const bool is_rising = w.take("rising");
        if (!is_rising) w.expect("falling");
        const domain::price_ticks at = price(w, "trigger price");
        w.expect("then");
        limit(w, e);
        instructions(w, e, false);
        if (e.is_market && e.display != 0) throw line_error("a market order never rests");
        if (!announce(name, {e, true})) return;
        engine_->wait(e.book, e.account, is_rising, at, e.quantity.value);
        out_ << "answer " << name << " waits " << e.quantity.value << '\n';
        traded_ = last_[e.book] != domain::no_price.value;
        low_ = high_ = last_[e.book];
        trigger(e.book);
    }
    void cancel(words& w) {
        const std::string name = w.next("the name of an order");
        w.end();
        const std::uint32_t slot = find(name);
        if (slot != matching::engine::none) engine_->cancel(slot, *this);
    }
    void reduce(words& w) {
        const std::string name = w.next("the name of an order");
        w.expect("to");
        const std::uint32_t open = lots(w, "open quantity");
        w.end();
        const std::uint32_t slot = find(name);
        if (slot == matching::engine::none) return;
        if (terms_[slot].waits) throw line_error("'" + name + "' waits: resize it");
        if (open >= engine_->order_at(slot).total()) throw line_error("that is not less than it has");
        engine_->reduce(slot, open, *this);
    }
    void resize(words& w) {
        const std::string name = w.next("the name of a waiting order");
        w.expect("to");
        const std::uint32_t quantity = lots(w, "quantity");
        w.end();
        const std::uint32_t slot = find(name);
        if (slot == matching::engine::none) return;
        if (!terms_[slot].waits) throw line_error("'" + name + "' does not wait");
        engine_->resize_waiting(slot, quantity);
        out_ << "answer " << name << " waits " << quantity << '\n';
    }
    /// NAME to N at P, and what it is from now on.
    matching::entry successor(words& w, std::string& name) {
        name = w.next("the name of an order");
        const auto at = ids_.find(name);
        if (at == ids_.end()) throw line_error("no order has been named '" + name + "'");
        w.expect("to");
        matching::entry e =
            engine_->is_open(at->second) ? terms_[matching::engine::slot_of(at->second)].entry : matching::entry{};
        e.is_market = e.post_only = false;
        e.rest = matching::remainder::rests;
        e.minimum = 0;
        e.quantity = domain::quantity_lots{lots(w, "quantity")};
        w.expect("at");
        e.price = price(w, "price");
        return e;
    }
    std::uint32_t find_resting(const std::string& name) {
        const std::uint32_t slot = find(name);
        if (slot != matching::engine::none && terms_[slot].waits) throw line_error("'" + name + "' waits");
        return slot;
    }
    void replace(words& w) {
        std::string name;
        matching::entry e = successor(w, name);
        instructions(w, e, false);
        const std::uint32_t slot = find_resting(name);
        if (slot == matching::engine::none) return;
        terms_[slot].entry = e;
        answer(name, engine_->replace(slot, e, *this));
        trigger(e.book);
    }
    /// Two orders leave together before either enters again, as the sides of a quote do.
    void replace_both(words& w) {
        std::string names[2];
        matching::entry entries[2];
        entries[0] = successor(w, names[0]);
        w.expect("and");
        entries[1] = successor(w, names[1]);
        w.end();
        if (names[0] == names[1]) throw line_error("two different orders are replaced together");
        const std::uint32_t slots[2]{find_resting(names[0]), find_resting(names[1])};
        if (slots[0] == matching::engine::none || slots[1] == matching::engine::none) return;
        if (entries[0].book != entries[1].book) throw line_error("both must be in one book");
        for (const std::uint32_t slot : slots) engine_->lift(slot, *this);
        for (int i = 0; i < 2; ++i) {
            terms_[slots[i]].entry = entries[i];
            answer(names[i], engine_->reenter(slots[i], entries[i], *this));
        }
        trigger(entries[0].book);
    }
    void cancel_account(words& w) {
        const std::uint32_t who = account(w);
        const bool one_book = w.take("book");
        const std::uint32_t which = one_book ? book(w) : 0;
        w.end();
        const std::uint32_t count = engine_->cancel_account(
            who, [&](std::uint32_t, std::uint32_t at) { return !one_book || at == which; }, *this);
        out_ << "answer " << count << " cancelled\n";
    }
    void print_book(words& w) {
        const std::uint32_t which = book(w);
        w.end();
        for (const domain::side side : {domain::side::buy, domain::side::sell}) {
            engine_->for_each_order(which, side, [&](const matching::level_state& l, const matching::order_view& o) {
                out_ << "open " << names_[o.slot] << ' ' << name_of(side) << " shown " << o.open << " hidden "
                     << o.hidden << " at " << l.price.value << '\n';
            });
        }
        for (const bool is_rising : {false, true}) {
            engine_->for_each_waiting(which, is_rising, [&](domain::price_ticks trigger, std::uint32_t slot) {
                out_ << "waiting " << names_[slot] << (is_rising ? " rising " : " falling ") << trigger.value << '\n';
            });
        }
        out_ << "end of book " << which << '\n';
    }

    std::ostream& out_;
    matching::engine_options options_;
    std::unique_ptr<matching::engine> engine_;
    std::map<std::string, domain::order_id> ids_;  ///< every name ever used
    std::vector<std::string> names_;               ///< by slot
    std::vector<terms> terms_;                     ///< by slot
    std::vector<std::int64_t> last_;               ///< price of the last trade, by book
    bool traded_ = false;                          ///< since the operation began; then these say at which prices
    std::int64_t low_ = 0;
    std::int64_t high_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: engine FILE   (the operations; - reads standard input)\n";
        return 2;
    }
    const std::string path = argv[1];
    std::ifstream file;
    if (path != "-") {
        file.open(path);
        if (!file) {
            std::cerr << path << ": cannot be read\n";
            return 2;
        }
    }
    std::istream& in = path == "-" ? std::cin : file;
    driver d(std::cout);
    std::uint64_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        try {
            d.run(line);
        } catch (const line_error& e) {
            std::cout.flush();
            std::cerr << path << ':' << number << ": " << e.what() << '\n';
            return 1;
        }
    }
    return 0;
}
