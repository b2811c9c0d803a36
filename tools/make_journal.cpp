// Writes a journal of seeded order flow, without an exchange: for tests and measurements of whatever reads journals.
//
//     make_journal CONFIG DIRECTORY COMMANDS [SEED]
//
// The configuration's accounts enter, amend and cancel orders in all its instruments around prices that wander. Most
// orders rest for a while: when ten thousand are out, more are cancelled than entered. The first command is of
// 2026-01-05T09:00:00Z, and a second has some 350 commands. The same seed gives the same commands.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal/writer.hpp"
#include "node/configuration/configuration.hpp"

namespace {

using namespace corro;

constexpr std::int64_t start_ns = 1'767'603'600'000'000'000;
constexpr std::size_t orders_out_max = 10'000;

class flow {
 public:
    flow(const node::configuration& venue, std::uint64_t seed) : venue_(venue), random_(seed) {
        for (const domain::instrument& i : venue.instruments) {
            middles_.push_back((i.price_low.value + i.price_high.value) / 2);
        }
    }

    domain::command next() {
        domain::command c;
        c.sequence = domain::sequence_number{++count_};
        c.time = domain::time_ns{time_ += 1 + static_cast<std::int64_t>(random_.below(5'700'000))};
        c.set_request(static_cast<std::uint32_t>(count_));
        const bool is_crowded = out_.size() >= orders_out_max;
        const std::uint64_t dice = random_.below(100);
        if (out_.empty() || dice < (is_crowded ? 40U : 60U)) {
            enter(c);
        } else {
            change(c, dice >= 95);
        }
        return c;
    }

 private:
    struct order {
        std::uint32_t account_index;
        std::uint32_t instrument_index;
        std::uint64_t name;
    };

    void sign(domain::command& c, const order& o) {
        c.account = venue_.accounts[o.account_index].id;
        c.session = domain::session_id{c.account.value};
        c.instrument = venue_.instruments[o.instrument_index].id;
        c.client_order = domain::client_order_id{o.name};
    }
    domain::price_ticks price(const order& o, domain::side side) {
        std::int64_t& middle = middles_[o.instrument_index];
        if (random_.below(50) == 0) middle += static_cast<std::int64_t>(random_.below(3)) - 1;
        const auto away = static_cast<std::int64_t>(random_.below(60)) - 2;  // some meet the other side
        return domain::price_ticks{side == domain::side::buy ? middle - away : middle + away};
    }
    void enter(domain::command& c) {
        const order o{static_cast<std::uint32_t>(random_.below(venue_.accounts.size())),
                      static_cast<std::uint32_t>(random_.below(venue_.instruments.size())), count_};
        sign(c, o);
        c.kind = domain::command_kind::enter_order;
        c.order_terms().side = random_.below(2) == 0 ? domain::side::buy : domain::side::sell;
        c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random_.below(20))};
        c.order_terms().time_in_force = domain::time_in_force::gtc;
        c.enter_order().price = price(o, c.order_terms().side);
        out_.push_back(o);
    }
    void change(domain::command& c, bool amends) {
        const std::size_t at = random_.below(out_.size());
        sign(c, out_[at]);
        c.kind = amends ? domain::command_kind::amend_order : domain::command_kind::cancel_order;
        if (amends) {
            c.amend_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random_.below(20))};
            c.amend_order().price = price(out_[at], random_.below(2) == 0 ? domain::side::buy : domain::side::sell);
            return;
        }
        out_[at] = out_.back();
        out_.pop_back();
    }

    const node::configuration& venue_;
    base::prng random_;
    std::vector<std::int64_t> middles_;
    std::vector<order> out_;
    std::uint64_t count_ = 0;
    std::int64_t time_ = start_ns;
};

io::task<> append(journal::writer* log, flow* from, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count && !log->failed(); ++i) {
        const domain::command c = from->next();
        while (!log->append(c) && !log->failed()) co_await log->progressed().wait();
    }
    log->close();
}

/// Returns what went wrong; empty when nothing did.
io::task<std::string> write(journal::storage* files, std::string directory, journal::writer_options options, flow* from,
                            std::uint64_t count) {
    auto lock = co_await journal::directory_lock::take(files, directory);
    if (!lock) co_return lock.error().text;
    journal::journal_end end;
    auto opened = co_await journal::writer::open(std::move(*lock), std::move(end), options);
    if (!opened) co_return opened.error().text;
    journal::writer* const log = opened->get();
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn(log->run());
    scope.spawn(append(log, from, count));
    co_await scope.join();
    co_return log->error().text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4 || argc > 5) {
        std::fprintf(stderr, "usage: make_journal CONFIG DIRECTORY COMMANDS [SEED]\n");
        return 2;
    }
    try {
        const node::configuration venue = node::load_configuration(argv[1]);
        flow from(venue, argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 1);
        io::context ctx;
        journal::disk_storage disk(ctx);
        journal::writer_options options;
        options.venue = journal::identity(venue.venue_name, journal::fingerprint_of(venue.instruments));
        options.mode = journal::durability::async;
        const std::string problem =
            io::block_on(ctx, write(&disk, argv[2], options, &from, std::strtoull(argv[3], nullptr, 10)));
        if (problem.empty()) return 0;
        std::fprintf(stderr, "make_journal: %s\n", problem.c_str());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "make_journal: %s\n", e.what());
    }
    return 1;
}
