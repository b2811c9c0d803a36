// SPDX-License-Identifier: Apache-2.0
// Random commands that favour edge cases: equal prices, tiny quantities, empty sides, ids that are closed or belong to
// another account, orders that meet their own account or group, prices at the edges of the engine's window, times at
// which something expires, limits that are nearly reached, halts in the middle of a cascade. For tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/long_name.hpp"
#include "facility/facility.hpp"

namespace corro::facility::testing {

/// The parameters of one run, drawn from its seed.
struct run_profile {
    facility_options options{};
    std::vector<domain::instrument> instruments{};
    std::uint32_t accounts = 3;
    std::int64_t price_spread = 5;  ///< prices lie within this many ticks of the middle
    std::uint32_t quantity_max = 10;
    std::uint32_t entries_percent = 50;
    bool walks = false;                ///< the middle moves
    std::uint32_t quotes_percent = 0;  ///< of the commands
    std::int64_t step_ns_max = 1'000;  ///< between commands
    bool operates = false;             ///< operators' commands occur
    bool auctions = false;             ///< phases change often
    bool defines = false;              ///< new instruments are defined
    bool implied = false;              ///< calendar spreads and their legs imply prices in each other
};

class command_generator {
 public:
    explicit command_generator(std::uint64_t seed)
        : random_(seed),
          definitions_(seed ^ 0xdef1'7e5eULL),
          days_(seed ^ 0xda75ULL),
          accounts_(seed ^ 0xacc0'0175ULL),
          resets_(seed ^ 0x5e55'da75ULL),
          names_(seed ^ 0xc10'0d1dULL),
          texts_(seed ^ 0x7e'5755ULL),
          questions_(seed ^ 0x9057'10e5ULL) {
        constexpr std::array<std::int64_t, 8> spreads{1, 3, 10, 100, 300, 5'000, 200'000, 500'000'000};
        constexpr std::array<std::uint32_t, 5> capacities{3, 20, 100, 300, 600};
        constexpr std::array<std::uint32_t, 4> windows{6, 7, 8, 10};
        profile_.accounts = static_cast<std::uint32_t>(1 + random_.below(5));
        profile_.price_spread = spreads[random_.below(spreads.size())];
        profile_.quantity_max = random_.below(2) == 0 ? 3 : 1000;
        profile_.walks = random_.below(3) == 0;
        profile_.entries_percent = static_cast<std::uint32_t>(45 + random_.below(25));
        profile_.quotes_percent = random_.below(3) == 0 ? 0 : static_cast<std::uint32_t>(random_.below(40));
        profile_.step_ns_max = random_.below(2) == 0 ? 1'000 : 1'000'000;
        profile_.options.orders_max = capacities[random_.below(capacities.size())];
        profile_.options.accounts_max = profile_.accounts + 1;
        profile_.options.positions_max = random_.below(4) == 0 ? 3 : 64;
        profile_.options.window_bits = windows[random_.below(windows.size())];
        profile_.operates = random_.below(2) == 0;
        profile_.auctions = random_.below(3) == 0;
        // Drawn from a generator of its own, so that the runs of all other seeds stay as they were.
        const bool has_calendars = base::prng{~seed}.below(3) == 0;
        if (has_calendars) {
            // Small books that often change, near each other, so that combinations lock and cross.
            profile_.implied = !one_in(3);
            if (one_in(2)) profile_.price_spread = 1 + static_cast<std::int64_t>(random_.below(6));
            // A trade of a spread needs a position in it and in both legs.
            profile_.options.positions_max = one_in(6) ? 12 : 64;
            profile_.options.orders_max = std::max<std::uint32_t>(profile_.options.orders_max, 20);
        }
        const std::uint64_t count = has_calendars ? 3 + random_.below(2) : 1 + random_.below(3);
        for (std::uint32_t i = 0; i < count; ++i) profile_.instruments.push_back(some_instrument(2 * i + 1));
        if (has_calendars) {
            add_calendars();
        } else if (count > 1 && one_in(2)) {
            add_strategy();
        }
        // Definitions have a random generator of their own, here and in every command.
        profile_.defines = definitions_.below(3) == 0;
        if (profile_.defines) {
            profile_.options.instruments_reserved = static_cast<std::uint32_t>(1 + definitions_.below(5));
        }
        ids_.reserve(profile_.instruments.size() + profile_.options.instruments_reserved);
        for (const domain::instrument& i : profile_.instruments) ids_.push_back(i.id);
    }

    [[nodiscard]] const run_profile& profile() const noexcept { return profile_; }

    [[nodiscard]] domain::command next() {
        domain::command c;
        c.sequence = domain::sequence_number{++sequence_};
        const auto step = static_cast<std::uint64_t>(profile_.step_ns_max);
        time_ += one_in(8) ? 0 : static_cast<std::int64_t>((one_in(20) ? 30 : 1) * (1 + random_.below(step)));
        // Often exactly when something expires or a halt ends.
        const std::int64_t unit = 5 * profile_.step_ns_max;
        if (one_in(8)) time_ = (time_ / unit + 1) * unit;
        c.time = domain::time_ns{time_};
        c.set_operator(!one_in(8));
        c.account = domain::account_id{static_cast<std::uint32_t>(random_.below(profile_.accounts))};
        c.session = domain::session_id{c.account.value * 10 + (one_in(6) ? 1U : 0U)};
        c.instrument = ids_[random_.below(ids_.size())];
        c.set_request(static_cast<std::uint32_t>(one_in(8) ? random_.below(4) : sequence_));
        if (profile_.walks && one_in(20))
            middle_ += one_in(2) ? 1 + profile_.price_spread / 3 : -1 - profile_.price_spread / 3;
        middle_ = middle_ > 3'000'000'000 || middle_ < -3'000'000'000 ? 0 : middle_;
        centre_ = centre_of(c.instrument);

        if (profile_.defines && definitions_.below(50) == 0) return definition_for(c);
        if (profile_.operates && days_.below(200) == 0) return new_day(c);
        if (profile_.operates && accounts_.below(200) == 0) return of_configuration(c);
        if (resets_.below(100) == 0) return new_numbers(c);
        if (profile_.auctions && one_in(40)) {
            c.set_operator(true);
            change_phase(c);
            return c;
        }
        const std::uint64_t dice = random_.below(100);
        if (random_.below(100) < profile_.quotes_percent) {
            quote(c);
        } else if (dice < profile_.entries_percent) {
            enter(c);
        } else if (dice < profile_.entries_percent + 14U) {
            c.kind = domain::command_kind::amend_order;
            choose_existing_order(c);
            const domain::event& known = some_order();
            centre_ = centre_of(known.instrument);
            c.amend_order().price = one_in(2) ? known.order.price : price();
            c.amend_order().quantity = one_in(3) ? known.order.quantity : quantity();
            if (one_in(2)) amend_more(c);
            if (one_in(4)) {
                // Changes only the displayed quantity, or only the account.
                c.amend_order().price = known.order.price;
                c.amend_order().quantity = known.order.quantity;
                c.amend_order().flags = one_in(8) ? domain::amend_flag::account : domain::amend_flag::display_quantity;
                c.amend_order().flags |= one_in(2) ? domain::amend_flag::open_quantity : std::uint8_t{0};
            }
        } else if (dice < 97) {
            c.kind = domain::command_kind::cancel_order;
            choose_existing_order(c);
            if (one_in(12)) {
                c.kind = domain::command_kind::query_order;
                c.query_order().flags = static_cast<std::uint8_t>(one_in(3) ? random_.below(4) : 0);
            }
        } else if (one_in(3)) {
            c.kind = domain::command_kind::cancel_orders;
            if (one_in(2)) c.instrument = {};
            if (one_in(3))
                c.cancel_orders().product = domain::product_id{static_cast<std::uint32_t>(1 + random_.below(3))};
            if (one_in(3)) c.cancel_orders().sides = static_cast<domain::cancel_sides>(random_.below(4));
            c.cancel_orders().scope = one_in(2) ? domain::cancel_scope::session : domain::cancel_scope::account;
            if (one_in(2)) c.cancel_orders().flags = static_cast<std::uint8_t>(random_.below(one_in(4) ? 16 : 8));
            if (profile_.operates && one_in(4)) c.cancel_orders().other_account = account();
        } else if (profile_.operates && !one_in(3)) {
            operate(c);
        } else {
            enter(c);
            spoil(c);
        }
        if (c.kind == domain::command_kind::query_order && questions_.below(3) == 0) about_positions(c);
        // The random numbers above are drawn in any case, so that other commands stay as they were.
        if (names_.below(100) == 0) return counted(c);
        if (texts_.below(100) == 0) return named(c);
        if (profile_.operates && names_.below(100) == 0) return joined(c);
        if (c.kind == domain::command_kind::set_limits) limits_of(c.set_limits().other_account) = c.set_limits();
        if (c.may_have_name() && names_.below(2) == 0) name_request(c);
        return c;
    }

    /// Records which orders exist.
    void learn(std::span<const domain::event> events) {
        for (const domain::event& e : events) {
            if (e.kind == domain::event_kind::instrument_defined) ids_.push_back(e.instrument);
            if (e.kind != domain::event_kind::order_entered && e.kind != domain::event_kind::order_amended) continue;
            known_[known_count_++ % known_.size()] = e;
        }
    }

 private:
    void about_positions(domain::command& c) {
        using namespace domain::query_flag;
        const auto one_of = [this](std::uint64_t n) { return questions_.below(n) == 0; };
        c.query_order().flags = one_of(2) ? positions : std::uint8_t{positions | behind};
        if (one_of(20)) c.query_order().flags |= static_cast<std::uint8_t>(questions_.below(256));
        if (one_of(3)) c.instrument = {};
    }
    [[nodiscard]] std::int64_t random_up_to_spread() {
        return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(profile_.price_spread)));
    }
    [[nodiscard]] domain::instrument some_instrument(std::uint32_t id) {
        domain::instrument instrument;
        instrument.id = domain::instrument_id{id};
        instrument.name = domain::symbol{"TEST"};
        instrument.tick_size = domain::price_nano{one_in(2) ? 1 : 1'000'000'000};
        instrument.product = domain::product_id{id / 2 % 2 + 1};
        if (one_in(8)) {
            instrument.price_low = domain::price_ticks{-profile_.price_spread / 2};
            instrument.price_high = domain::price_ticks{profile_.price_spread};
        }
        if (one_in(2)) instrument.dynamic_band = random_up_to_spread();
        if (one_in(3)) {
            instrument.breaker_move = random_up_to_spread();
            instrument.breaker_window = profile_.step_ns_max * static_cast<std::int64_t>(random_.below(40));
            instrument.breaker_halt = profile_.step_ns_max * static_cast<std::int64_t>(random_.below(20));
        }
        if (one_in(3)) {
            instrument.volatility_auction = profile_.step_ns_max * static_cast<std::int64_t>(1 + random_.below(30));
        }
        if (one_in(8)) instrument.product = {};
        if (one_in(8)) instrument.order_quantity_max = domain::quantity_lots{profile_.quantity_max / 2 + 1};
        if (one_in(2)) instrument.allocation = some_policy();
        return instrument;
    }
    [[nodiscard]] domain::allocation_policy some_policy() {
        using enum domain::match_algorithm;
        constexpr std::array algorithms{fifo_makers, fifo_top_makers, split,           allocation,
                                        pro_rata,    threshold,       threshold_makers};
        domain::allocation_policy p{.algorithm = algorithms[random_.below(algorithms.size())]};
        const auto up_to = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random_.below(n + 1)); };
        if (p.algorithm == split) {
            p.levels = !one_in(3);
            p.fifo_percent = one_in(3) ? 0 : up_to(100);
        }
        if (p.algorithm != allocation && domain::has_top_order(p.algorithm) && !one_in(3)) {
            p.top_minimum = up_to(profile_.quantity_max / 2);
            p.top_maximum = up_to(profile_.quantity_max);
        }
        if (p.algorithm != allocation && domain::is_pro_rata(p.algorithm)) p.pro_rata_minimum = up_to(4);
        for (std::uint32_t i = 0; domain::has_makers(p.algorithm) && i < 1 + up_to(2) && i < profile_.accounts; ++i) {
            p.makers[i] = {domain::account_id{i}, 1 + up_to(32)};
        }
        return p;
    }
    [[nodiscard]] bool one_in(std::uint64_t n) { return random_.below(n) == 0; }

    /// Adds calendar spreads of all or most pairs of the instruments so far, some before their legs and some after
    /// them.
    void add_calendars() {
        const domain::price_nano tick = profile_.instruments.front().tick_size;
        const std::vector<domain::instrument> legs = profile_.instruments;
        const auto tie = [&](domain::instrument& i) {
            i.tick_size = tick;
            if (!profile_.implied) return;
            i.product = domain::product_id{1};
            i.allocation = {};
        };
        for (domain::instrument& i : profile_.instruments) tie(i);
        std::uint32_t id = 30;
        for (std::size_t near = 0; near < legs.size(); ++near) {
            for (std::size_t far = near + 1; far < legs.size(); ++far, ++id) {
                if (one_in(4)) continue;
                domain::instrument spread = some_instrument(id);
                spread.kind = domain::instrument_kind::spread;
                tie(spread);
                spread.implied = profile_.implied && !one_in(6);
                spread.legs_count = 2;
                spread.legs[0] = {legs[near].id, 1, domain::side::buy};
                spread.legs[1] = {legs[far].id, 1, domain::side::sell};
                if (one_in(8)) std::swap(spread.legs[0].side, spread.legs[1].side);
                const bool is_first = one_in(2);
                profile_.instruments.insert(is_first ? profile_.instruments.begin() : profile_.instruments.end(),
                                            spread);
                calendars_.push_back(spread.id);
            }
        }
    }

    /// Adds a strategy of all the instruments so far, before them or after them.
    void add_strategy() {
        domain::instrument strategy;
        strategy.id = domain::instrument_id{20};
        strategy.name = domain::symbol{"STRATEGY"};
        strategy.kind = domain::instrument_kind::spread;
        strategy.tick_size = domain::price_nano{random_.below(2) == 0 ? 1 : 1'000'000'000};
        strategy.product = domain::product_id{static_cast<std::uint32_t>(random_.below(3))};
        strategy.order_quantity_max = domain::quantity_lots{domain::order_quantity_lots_max / 3};
        const std::size_t single = random_.below(profile_.instruments.size());
        for (std::size_t i = 0; i < profile_.instruments.size(); ++i) {
            strategy.legs[strategy.legs_count++] = {profile_.instruments[i].id,
                                                    i == single ? 1 : static_cast<std::uint32_t>(1 + random_.below(3)),
                                                    random_.below(2) == 0 ? domain::side::buy : domain::side::sell};
        }
        const bool is_first = random_.below(2) == 0;
        profile_.instruments.insert(is_first ? profile_.instruments.begin() : profile_.instruments.end(), strategy);
    }

    /// The centre of an instrument's prices: for a calendar spread, the difference of two prices around the middle.
    [[nodiscard]] std::int64_t centre_of(domain::instrument_id id) const {
        return std::find(calendars_.begin(), calendars_.end(), id) != calendars_.end() ? 0 : middle_;
    }
    [[nodiscard]] domain::price_ticks price() {
        const auto width = static_cast<std::uint64_t>(2 * profile_.price_spread + 1);
        std::int64_t offset = static_cast<std::int64_t>(random_.below(width)) - profile_.price_spread;
        if (one_in(4)) offset = static_cast<std::int64_t>(random_.below(3)) - 1;
        if (one_in(16)) offset = offset / 64 * 64 + static_cast<std::int64_t>(random_.below(3)) - 1;
        if (one_in(64)) offset *= 7;
        return domain::price_ticks{centre_ + offset};
    }
    [[nodiscard]] domain::quantity_lots quantity() {
        return domain::quantity_lots{static_cast<std::uint32_t>(1 + random_.below(profile_.quantity_max))};
    }
    [[nodiscard]] domain::account_id account() {
        return domain::account_id{static_cast<std::uint32_t>(random_.below(profile_.accounts + (one_in(20) ? 3 : 0)))};
    }
    void amend_more(domain::command& c) {
        c.amend_order().flags = static_cast<std::uint8_t>(one_in(40) ? random_.below(256) : random_.below(16));
        if ((c.amend_order().flags & domain::amend_flag::account) != 0 && !one_in(3)) c.amend_order().flags &= 7;
        c.amend_order().trigger_price = price();
        c.amend_order().display_quantity = domain::quantity_lots{static_cast<std::uint32_t>(random_.below(5))};
        c.amend_order().other_account = account();
    }
    /// Mostly starts an auction that ends by itself, or ends one.
    void change_phase(domain::command& c) {
        constexpr std::array phases{domain::trading_phase::pre_open,
                                    domain::trading_phase::opening_auction,
                                    domain::trading_phase::opening_auction,
                                    domain::trading_phase::closing_auction,
                                    domain::trading_phase::volatility_auction,
                                    domain::trading_phase::halted,
                                    domain::trading_phase::closed};
        c.kind = domain::command_kind::change_phase;
        c.change_phase().phase = one_in(2) ? domain::trading_phase::continuous : phases[random_.below(phases.size())];
        c.change_phase().product = {};
        if (one_in(3)) c.instrument = {};
        if (one_in(2)) {
            c.change_phase().resume_time = domain::time_ns{
                time_ + 1 +
                static_cast<std::int64_t>(random_.below(60 * static_cast<std::uint64_t>(profile_.step_ns_max)))};
        }
        if (one_in(400)) {
            c.change_phase().resume_time = {};
            c.kind = domain::command_kind::settle_instrument;
            c.settle_instrument().price = price();
        }
    }
    /// A new trading day of one instrument, of a product, or of all.
    [[nodiscard]] domain::command new_day(domain::command c) {
        c.kind = domain::command_kind::new_trading_day;
        c.new_trading_day().product = {};
        if (days_.below(2) == 0) c.instrument = {};
        if (days_.below(4) == 0) c.new_trading_day().product = domain::product_id{1};
        return c;
    }
    /// A command for an account of a configuration that was read again, most often a valid one.
    [[nodiscard]] domain::command of_configuration(domain::command c) {
        const auto one_of = [this](std::uint64_t n) { return accounts_.below(n) == 0; };
        const auto up_to = [this](std::uint64_t n) { return static_cast<std::uint32_t>(accounts_.below(n + 1)); };
        c.account = {};
        c.session = {};
        c.set_request(0);
        c.instrument = {};
        c.set_operator(!one_of(20));
        const domain::account_id about{up_to(profile_.accounts)};
        if (one_of(2)) {
            c.kind = domain::command_kind::define_account;
            c.define_account().other_account = about;
            c.define_account().sessions_count = one_of(20) ? 2'000'000 : up_to(3);
            c.define_account().first_session = domain::session_id{one_of(20) ? 2'000'000 : up_to(60)};
            return c;
        }
        c.kind = domain::command_kind::set_account_limits;
        c.set_limits().other_account = about;
        c.set_limits().firm = up_to(one_of(20) ? 9 : 2);
        if (one_of(2)) c.set_limits().order_quantity_max = domain::quantity_lots{1 + up_to(2 * profile_.quantity_max)};
        if (one_of(2)) c.set_limits().position_max = domain::quantity_lots{1 + up_to(8 * profile_.quantity_max)};
        if (one_of(2)) c.set_limits().open_orders_max = 1 + up_to(9);
        if (one_of(3))
            c.set_limits().notional_max = one_of(10) ? -1 : 1 + std::int64_t{up_to(1'000)} * profile_.quantity_max;
        limits_of(about) = c.set_limits();
        return c;
    }
    /// Resets the numbers of a session.
    [[nodiscard]] static domain::command new_numbers(domain::command c) {
        c.kind = domain::command_kind::reset_session_numbers;
        c.set_request(0);
        c.instrument = {};
        c.set_operator(false);
        c.reset_session_numbers().day_begin = c.time;
        return c;
    }
    /// Messages of a session that are numbered among its answers.
    [[nodiscard]] domain::command counted(domain::command c) {
        c.kind = domain::command_kind::count_messages;
        c.client_order = {};
        c.terms = {};
        c.payload.count_messages = {};
        c.count_messages().number = names_.below(std::uint64_t{1} << 40);
        c.count_messages().count = static_cast<std::uint32_t>(names_());
        c.count_messages().next_answer = names_.below(std::uint64_t{1} << 40);
        if (names_.below(20) == 0) c.set_verdict(domain::reject_reason::throttled);
        return c;
    }
    /// The text of a client order id, most often one of such a text.
    [[nodiscard]] domain::command named(const domain::command& like) {
        domain::long_name_text text;
        text.size = static_cast<std::uint8_t>(1 + texts_.below(domain::long_name_characters_max));
        for (char& each : text.characters) each = static_cast<char>('!' + texts_.below(94));
        domain::command c = domain::name_order_of(text.view());
        c.sequence = like.sequence;
        c.time = like.time;
        c.session = like.session;
        c.account = like.account;
        c.set_operator(like.is_operator());
        if (texts_.below(10) == 0) c.client_order = domain::client_order_id{texts_()};
        if (texts_.below(10) == 0) c.name_order().length = static_cast<std::uint8_t>(texts_());
        if (texts_.below(20) == 0) c.set_verdict(domain::reject_reason::throttled);
        return c;
    }
    [[nodiscard]] domain::set_limits& limits_of(domain::account_id a) { return limits_[a.value % limits_.size()]; }
    /// An account joins a firm and keeps its limits.
    [[nodiscard]] domain::command joined(domain::command c) {
        const domain::account_id about{static_cast<std::uint32_t>(names_.below(profile_.accounts))};
        domain::set_limits& limits = limits_of(about);
        limits.verdict = domain::reject_reason::none;
        limits.request = c.request();
        limits.is_operator = 1;
        limits.other_account = about;
        limits.firm = 1;
        c.kind = domain::command_kind::set_limits;
        c.client_order = {};
        c.terms = {};
        c.payload.set_limits = limits;
        return c;
    }
    /// Gives a request a name of its own: a new one, that of its order, or that of another one.
    void name_request(domain::command& c) {
        const auto one_of = [this](std::uint64_t n) { return names_.below(n) == 0; };
        const std::size_t held = std::min(known_count_, known_.size());
        if (c.names_order() && held != 0 && one_of(3)) {
            // One of the newest orders, because most of the others are gone.
            const std::uint64_t age = 1 + names_.below(std::min<std::size_t>(held, 8));
            const domain::event& recent = known_[(known_count_ - age) % known_.size()];
            c.account = recent.order.account;
            c.session = recent.order.session;
            c.named_request() = 0;
            const bool by_id = one_of(2);
            c.named_order() = by_id ? recent.order.order : domain::order_id{};
            c.client_order = by_id ? domain::client_order_id{} : recent.order.client_order;
        }
        const auto is_named = [&](const domain::event& e) {
            if (!c.names_order()) return false;
            if (c.named_order().value != 0) return e.order.order == c.named_order();
            return c.client_order.value != 0 && e.order.client_order == c.client_order;
        };
        const auto its = std::find_if(known_.begin(), known_.end(), is_named);
        const bool is_known = its != known_.end();
        domain::client_order_id& name = c.request_name();
        switch (names_.below(4)) {
            case 0: name = domain::client_order_id{names_.below(6)}; break;
            case 1:
                if (is_known) name = its->order.client_order;
                break;
            case 2:
                if (held != 0) name = known_[names_.below(held)].order.client_order;
                break;
            default: name = domain::client_order_id{sequence_}; break;
        }
        if (c.kind == domain::command_kind::amend_order && is_known && one_of(4)) move_order(c, *its);
        if (one_of(20)) c.set_verdict(domain::reject_reason::price_off_tick);
        if (one_of(40)) c.account = domain::account_id{profile_.accounts + 1};
    }
    /// Changes only the account of an order, to another one of its firm, if there is one; often to one that has an
    /// order of the same name.
    void move_order(domain::command& c, const domain::event& known) {
        const std::uint32_t firm = limits_of(known.order.account).firm;
        const auto is_possible = [&](domain::account_id to) {
            return to != known.order.account && firm != 0 && limits_of(to).firm == firm;
        };
        const auto is_rival = [&](const domain::event& e) {
            return e.order.client_order == known.order.client_order && is_possible(e.order.account);
        };
        domain::account_id to{static_cast<std::uint32_t>(names_.below(profile_.accounts))};
        for (std::uint32_t i = 0; i < profile_.accounts && !is_possible(to); ++i) {
            to.value = (to.value + 1) % profile_.accounts;
        }
        if (!is_possible(to)) return;
        const auto rival = std::find_if(known_.begin(), known_.end(), is_rival);
        if (rival != known_.end() && names_.below(2) == 0) to = rival->order.account;
        c.account = known.order.account;
        c.amend_order().price = known.order.price;
        c.amend_order().quantity = known.order.quantity;
        c.amend_order().flags = domain::amend_flag::account | domain::amend_flag::open_quantity;
        c.amend_order().other_account = to;
    }
    /// A definition, most often a sound one, or the opening of a defined instrument, which begins closed.
    [[nodiscard]] domain::command definition_for(domain::command c) {
        const auto one_of = [this](std::uint64_t n) { return definitions_.below(n) == 0; };
        const auto some_id = [&] { return ids_[definitions_.below(ids_.size())]; };
        if (ids_.size() > profile_.instruments.size() && !one_of(3)) {
            c.kind = domain::command_kind::change_phase;
            c.set_operator(true);
            c.change_phase().product = {};
            c.instrument = ids_.back();
            c.change_phase().phase = domain::trading_phase::continuous;
            return c;
        }
        domain::definition d;
        d.id = one_of(8) ? some_id() : domain::instrument_id{static_cast<std::uint32_t>(40 + definitions_.below(30))};
        if (one_of(30)) d.id.value = static_cast<std::uint32_t>(one_of(2) ? 0 : definitions_());
        d.like = one_of(20) ? domain::instrument_id{25} : some_id();
        constexpr std::array names{"NEW-1", "NEW-2", "NEW-3", "NEW-4", "NEW-5", "NEW-6", "TEST", "NOT GOOD"};
        d.name = domain::symbol{names[definitions_.below(names.size())]};
        const auto is_free = [](const domain::instrument& i) { return i.legs_count != 0 && !i.implied; };
        const auto strategy = std::find_if(profile_.instruments.begin(), profile_.instruments.end(), is_free);
        if (strategy != profile_.instruments.end() && one_of(3)) d.like = strategy->id;
        const auto is_it = [&](const domain::instrument& i) { return i.id == d.like; };
        const auto like = std::find_if(profile_.instruments.begin(), profile_.instruments.end(), is_it);
        const std::uint8_t legs_count = like == profile_.instruments.end() ? 0 : like->legs_count;
        if (one_of(2)) d.given |= domain::definition_field::expiry;
        if (one_of(4)) d.given |= domain::definition_field::price_low;
        if (one_of(4)) d.given |= domain::definition_field::price_high;
        if (one_of(20)) d.given |= domain::definition_field::option;
        if (one_of(legs_count == 0 ? 20 : 2)) d.given |= domain::definition_field::legs;
        if (one_of(40)) d.given = static_cast<std::uint8_t>(definitions_());
        const std::int64_t tick =
            one_of(8) || like == profile_.instruments.end() ? 1'000'000'000 : like->tick_size.value;
        const auto far = static_cast<std::int64_t>(definitions_.below(4'000));
        d.expiry = domain::time_ns{one_of(8) ? -1 : 1'000};
        d.price_low = domain::price_nano{-far * tick};
        d.price_high = domain::price_nano{far * tick};
        if (one_of(20)) d.price_high = domain::price_nano{static_cast<std::int64_t>(definitions_())};
        d.right = static_cast<domain::option_right>(definitions_.below(4));
        d.legs_count = one_of(8) ? static_cast<std::uint8_t>(definitions_.below(6)) : legs_count;
        for (domain::instrument_id& leg : d.legs) leg = one_of(6) ? domain::instrument_id{26} : some_id();
        domain::command made = domain::command_of(d);
        made.sequence = c.sequence;
        made.time = c.time;
        made.set_operator(!one_of(10));
        made.account = c.account;
        made.session = c.session;
        made.set_request(c.request());
        return made;
    }
    void operate(domain::command& c) {
        const domain::account_id about = account();
        const auto firm = static_cast<std::uint32_t>(random_.below(one_in(20) ? 9 : 3));
        const auto rarely = [&](std::uint64_t value) { return one_in(2) ? 0 : static_cast<std::uint32_t>(value); };
        switch (random_.below(4)) {
            case 0:
            case 1:
                c.kind = domain::command_kind::set_limits;
                c.set_limits().other_account = about;
                c.set_limits().firm = firm;
                c.set_limits().order_quantity_max =
                    domain::quantity_lots{rarely(1 + random_.below(2 * profile_.quantity_max))};
                c.set_limits().position_max =
                    domain::quantity_lots{rarely(1 + random_.below(8 * profile_.quantity_max))};
                c.set_limits().open_orders_max = rarely(1 + random_.below(10));
                c.set_limits().notional_max =
                    one_in(2) ? 0
                              : 1 + static_cast<std::int64_t>(random_.below(
                                        static_cast<std::uint64_t>(profile_.price_spread) * profile_.quantity_max));
                break;
            case 2:
                // Mostly back to trading, so that most of a run is not spent in halts.
                c.kind = domain::command_kind::change_phase;
                c.change_phase().phase = one_in(3) ? domain::trading_phase::halted : domain::trading_phase::continuous;
                if (one_in(40)) c.change_phase().phase = static_cast<domain::trading_phase>(random_.below(256));
                if (!one_in(4))
                    c.change_phase().resume_time =
                        domain::time_ns{time_ + static_cast<std::int64_t>(random_.below(
                                                    20 * static_cast<std::uint64_t>(profile_.step_ns_max)))};
                if (one_in(2)) c.instrument = {};
                c.change_phase().product = domain::product_id{static_cast<std::uint32_t>(random_.below(4))};
                break;
            default:
                c.kind = domain::command_kind::kill_switch;
                c.kill_switch().other_account = about;
                c.kill_switch().firm = firm;
                c.kill_switch().kill_scope = static_cast<domain::kill_scope>(random_.below(one_in(20) ? 5 : 3));
                c.kill_switch().state = one_in(3) ? domain::switch_state::on : domain::switch_state::off;
                if (c.kill_switch().kill_scope == domain::kill_scope::session) {
                    c.kill_switch().other_session =
                        domain::session_id{c.kill_switch().other_account.value * 10 + (one_in(3) ? 1U : 0U)};
                }
                if (one_in(3)) c.kill_switch().other_account = c.account;
                break;
        }
    }
    void enter(domain::command& c) {
        c.kind = domain::command_kind::enter_order;
        c.order_terms().side = one_in(2) ? domain::side::buy : domain::side::sell;
        c.order_terms().type =
            one_in(4) ? static_cast<domain::order_type>(2 + random_.below(6)) : domain::order_type::limit;
        c.order_terms().time_in_force =
            one_in(4) ? static_cast<domain::time_in_force>(1 + random_.below(7)) : domain::time_in_force::gtc;
        if (c.order_terms().time_in_force == domain::time_in_force::gtd) {
            // Few distinct times, so that several orders expire together and halts end with them.
            const std::int64_t unit = 5 * profile_.step_ns_max;
            c.enter_order().expire_time =
                domain::time_ns{(time_ / unit + static_cast<std::int64_t>(random_.below(8))) * unit};
        }
        if (one_in(3)) c.enter_order().self_match_group = static_cast<std::uint32_t>(1 + random_.below(2));
        c.enter_order().price = price();
        // Most orders stay on their side of the middle, so that books fill up.
        const bool is_aggressive =
            (c.enter_order().price.value > centre_) == (c.order_terms().side == domain::side::buy);
        if (is_aggressive && !one_in(4))
            c.enter_order().price = domain::price_ticks{2 * centre_ - c.enter_order().price.value};
        c.enter_order().quantity = quantity();
        c.client_order = domain::client_order_id{one_in(6) ? random_.below(6) : sequence_};
        c.enter_order().self_match_prevention = static_cast<domain::self_match_prevention>(random_.below(5));
        if (c.order_terms().type == domain::order_type::market_protected && !one_in(8)) {
            c.enter_order().price = domain::price_ticks{static_cast<std::int64_t>(random_.below(4))};
        }
        c.enter_order().trigger_price = price();
        const bool contradicts = one_in(30);
        if (one_in(8) && (is_plain(c) || contradicts))
            c.enter_order().flags = static_cast<std::uint8_t>(1 + 2 * random_.below(2));
        if (one_in(5) && (is_plain(c) || contradicts)) {
            c.enter_order().display_quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random_.below(4))};
        }
        if (one_in(6) && (domain::is_lasting(c.order_terms().time_in_force) || contradicts))
            c.enter_order().flags |= domain::order_flag::stays;
        if (one_in(12) && ((c.enter_order().flags & domain::order_flag::of_price) == 0 || contradicts))
            c.enter_order().minimum_quantity = quantity();
    }
    /// Quotes around the middle, seldom crossed, often only a little different from the last; and their protection.
    void quote(domain::command& c) {
        if (one_in(10)) {
            c.kind = one_in(3) ? domain::command_kind::set_protection : domain::command_kind::reset_protection;
            domain::set_protection& p = c.payload.set_protection;  // a reset has no use for them
            p.fills_max = static_cast<std::uint32_t>(one_in(2) ? 0 : 1 + random_.below(4));
            p.quantity_max = domain::quantity_lots{one_in(2) ? 0 : quantity().value * 3};
            p.window_ms = static_cast<std::uint32_t>(one_in(16) ? 0 : 1 + random_.below(30));
            return;
        }
        c.kind = domain::command_kind::enter_quote;
        c.client_order = domain::client_order_id{one_in(6) ? random_.below(6) : sequence_};
        const std::int64_t width = one_in(8) ? profile_.price_spread : 2;
        c.enter_quote().bid_price = domain::price_ticks{price().value - 1};
        if (c.enter_quote().bid_price.value >= centre_ && !one_in(4))
            c.enter_quote().bid_price = domain::price_ticks{centre_ - 1};
        c.enter_quote().ask_price = domain::price_ticks{
            c.enter_quote().bid_price.value +
            static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(width) + 1)) + (one_in(10) ? 0 : 1)};
        c.enter_quote().bid_quantity = one_in(8) ? domain::quantity_lots{} : quantity();
        c.enter_quote().ask_quantity = one_in(8) ? domain::quantity_lots{} : quantity();
        c.enter_quote().self_match_prevention = static_cast<domain::self_match_prevention>(random_.below(5));
        if (one_in(4)) c.enter_quote().flags = domain::quote_flag::more;
        if (one_in(20)) spoil(c);
    }
    [[nodiscard]] static bool is_plain(const domain::command& c) {
        return c.order_terms().type == domain::order_type::limit && domain::is_lasting(c.order_terms().time_in_force);
    }
    /// Makes one field invalid.
    void spoil(domain::command& c) {
        switch (random_.below(13)) {
            case 0: c.terms.order.side = static_cast<domain::side>(random_.below(256)); break;
            case 1: c.terms.order.type = static_cast<domain::order_type>(random_.below(256)); break;
            case 2: c.terms.order.time_in_force = static_cast<domain::time_in_force>(random_.below(256)); break;
            case 3:
                c.payload.enter_order.self_match_prevention =
                    static_cast<domain::self_match_prevention>(random_.below(256));
                break;
            case 4: c.kind = static_cast<domain::command_kind>(random_.below(256)); break;
            case 5: c.payload.enter_order.flags = static_cast<std::uint8_t>(random_.below(256)); break;
            case 6:
                c.payload.enter_order.quantity = domain::quantity_lots{static_cast<std::uint32_t>(random_())};
                break;
            case 7: c.payload.enter_order.price = domain::price_ticks{static_cast<std::int64_t>(random_())}; break;
            case 8:
                c.account = domain::account_id{
                    static_cast<std::uint32_t>(random_.below(2) == 0 ? random_() : profile_.accounts + 1)};
                break;
            case 9:
                c.instrument =
                    domain::instrument_id{static_cast<std::uint32_t>(one_in(2) ? random_() : random_.below(8))};
                break;
            case 10: c.set_verdict(domain::reject_reason::price_off_tick); break;
            case 11: c.payload.enter_order.expire_time = domain::time_ns{static_cast<std::int64_t>(random_())}; break;
            default: c.payload.cancel_orders.scope = static_cast<domain::cancel_scope>(random_.below(256)); break;
        }
    }
    [[nodiscard]] const domain::event& some_order() {
        const std::size_t held = known_count_ < known_.size() ? known_count_ : known_.size();
        return held == 0 ? known_[0] : known_[random_.below(held)];
    }
    static void name_order(domain::command& c, domain::order_id id) {
        (c.kind == domain::command_kind::amend_order ? c.amend_order().order : c.cancel_order().order) = id;
    }
    /// For an amend or a cancel.
    void choose_existing_order(domain::command& c) {
        const domain::event& known = some_order();
        if (!one_in(10)) {
            c.account = known.order.account;
            c.session = known.order.session;
            if (one_in(10)) c.session = domain::session_id{c.session.value ^ 1U};
        }
        switch (random_.below(5)) {
            case 0:
            case 1: name_order(c, known.order.order); break;
            case 2: c.client_order = known.order.client_order; break;
            case 3:
                (c.kind == domain::command_kind::amend_order ? c.amend_order().target_request
                                                             : c.cancel_order().target_request) =
                    one_in(4) ? static_cast<std::uint32_t>(random_.below(4)) : known.order.request;
                break;
            default:
                // A guess: a slot that exists with a generation that was, is or will be.
                name_order(c,
                           domain::order_id{(random_.below(8) << 32) | random_.below(profile_.options.orders_max + 1)});
                break;
        }
    }

    base::prng random_;
    base::prng definitions_;
    base::prng days_;
    base::prng accounts_;
    base::prng resets_;
    base::prng names_;
    base::prng texts_;
    base::prng questions_;                    ///< for positions
    std::vector<domain::instrument_id> ids_;  ///< of all instruments so far
    run_profile profile_;
    std::uint64_t sequence_ = 0;
    std::int64_t time_ = 0;
    std::array<domain::set_limits, 8> limits_{};  ///< by account, as last asked for
    std::int64_t middle_ = 0;
    std::int64_t centre_ = 0;  ///< of the running command's instrument
    std::vector<domain::instrument_id> calendars_;
    std::array<domain::event, 200> known_{};
    std::size_t known_count_ = 0;
};

}  // namespace corro::facility::testing
