// SPDX-License-Identifier: Apache-2.0
#include "facility/state_machine.hpp"

#include <algorithm>

namespace corro::facility {

using domain::command;
using domain::command_kind;
using domain::reject_reason;

namespace {

[[nodiscard]] std::uint32_t books_max(std::span<const domain::instrument> instruments,
                                      const facility_options& options) noexcept {
    return static_cast<std::uint32_t>(instruments.size()) + options.instruments_reserved;
}

/// The most positions there can be. Rejects the same commands as the limit itself, because no account or instrument is
/// beyond its own limit.
[[nodiscard]] std::uint32_t pairs_max(std::span<const domain::instrument> instruments,
                                      const facility_options& options) noexcept {
    const std::uint64_t all = std::uint64_t{options.accounts_max} * books_max(instruments, options);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.positions_max, all));
}

}  // namespace

facility::state_machine::state_machine(const facility_options& options, std::span<const domain::instrument> instruments,
                                       event_consumer& consumer)
    : options_(options),
      instruments_(instruments, options.instruments_reserved),
      engine_({.orders_max = options.orders_max,
               .accounts_max = options.accounts_max,
               .books_count = books_max(instruments, options),
               .window_bits = options.window_bits,
               .touch = options.touch}),
      orders_(engine_.records(), options.orders_max, options.accounts_max, options.touch, options.hash_key),
      positions_(pairs_max(instruments, options), books_max(instruments, options), options.hash_key),
      quotes_(options.positions_max, options.accounts_max, options.touch),
      exposures_(options.positions_max, options.accounts_max, options.touch),
      account_rules_(options.accounts_max, sessions_killed_max),
      phases_(instruments, books_max(instruments, options)),
      strategies_(instruments, books_max(instruments, options)),
      implied_(instruments, strategies_, books_max(instruments, options)),
      account_definitions_(options.accounts_max),
      writer_(engine_, orders_, positions_, quotes_, exposures_, strategies_, implied_, instruments,
              books_max(instruments, options), consumer),
      rejections_(positions_, writer_),
      lookup_(engine_, orders_),
      limits_(account_rules_, positions_, exposures_, strategies_),
      matcher_(engine_, implied_, writer_),
      protection_(engine_, orders_, quotes_, writer_, rejections_),
      phase_changes_(instruments_, books_max(instruments, options), phases_, engine_, orders_, implied_, protection_,
                     writer_),
      stops_(instruments_, phases_, phase_changes_, engine_, orders_, exposures_, implied_, matcher_, protection_,
             writer_),
      schedule_(instruments_, phases_, phase_changes_, engine_, orders_, implied_, matcher_, stops_, protection_,
                writer_, rejections_),
      settlement_(instruments_, phases_, phase_changes_, engine_, positions_, writer_, rejections_),
      entry_(instruments_, phases_, phase_changes_, account_rules_, limits_, strategies_, positions_, engine_, orders_,
             matcher_, stops_, writer_, rejections_),
      amending_(instruments_, phases_, account_rules_, limits_, strategies_, positions_, exposures_, lookup_, engine_,
                orders_, matcher_, stops_, writer_, rejections_),
      cancels_(instruments_, lookup_, engine_, orders_, writer_, rejections_),
      quoting_(instruments_, phases_, account_rules_, limits_, strategies_, positions_, quotes_, engine_, orders_,
               matcher_, stops_, writer_, rejections_),
      requests_(instruments_, positions_, lookup_, engine_, orders_, writer_, rejections_),
      controls_(account_rules_, positions_, exposures_, engine_, orders_, writer_, rejections_),
      definitions_(options.instruments_reserved, instruments_, phases_, engine_, strategies_, writer_, rejections_) {
    for (std::uint32_t book = 0; book < instruments_.count(); ++book) {
        const domain::allocation_policy& policy = instruments_[book].allocation;
        if (policy.algorithm != domain::match_algorithm::fifo) engine_.set_policy(book, policy);
    }
}

inline void facility::state_machine::dispatch(const command& c) noexcept {
    if (c.verdict() != reject_reason::none) return refuse(c, c.verdict());
    if (c.account.value >= engine_.accounts_count()) return refuse(c, reject_reason::not_authorised);
    switch (c.kind) {
        case command_kind::enter_order: return entry_.enter_order(c);
        case command_kind::amend_order: announce_name(c); return amending_.amend_order(c);
        case command_kind::cancel_order: announce_name(c); return cancels_.cancel_order(c);
        case command_kind::cancel_orders: announce_name(c); return cancels_.cancel_orders(c);
        case command_kind::enter_quote: return quoting_.enter_quote(c);
        case command_kind::set_protection: return protection_.set_protection(c);
        case command_kind::reset_protection: return protection_.reset_protection(c);
        case command_kind::change_phase: return schedule_.change_phase(c);
        case command_kind::set_limits: return controls_.set_limits(c);
        case command_kind::kill_switch: return controls_.kill_switch(c);
        case command_kind::settle_instrument: return settlement_.settle_instrument(c);
        case command_kind::query_order: announce_name(c); return requests_.query_order(c);
        case command_kind::define_instrument: return definitions_.define_instrument(c);
        case command_kind::cancel_on_disconnect: return;  // only the gateway uses it, after a restart
        case command_kind::new_trading_day: return schedule_.begin_day(c);
        case command_kind::define_account: return account_definitions_.define_account(c);
        case command_kind::set_account_limits: return controls_.set_account_limits(c);
        case command_kind::reset_session_numbers: return requests_.reset_session_numbers(c);
        case command_kind::count_messages: return writer_.messages_counted(c.count_messages());
        case command_kind::name_order: return writer_.order_named();
        default: return rejections_.refuse(c, reject_reason::unknown_command);
    }
}

void facility::state_machine::refuse(const command& c, reject_reason reason) noexcept {
    if (c.may_have_name()) announce_name(c);
    rejections_.refuse(c, reason);
}

inline void facility::state_machine::apply_one(const command& c) noexcept {
    writer_.begin(c);
    if (c.time.value >= std::min(orders_.expiries().next_due(), phases_.next_resume())) [[unlikely]]
        schedule_.process_due_times(c.time);
    now_ = c.time;
    sequence_ = c.sequence;
    was_used_ = true;
    positions_.begin_command();
    dispatch(c);
    if (writer_.changes().is_watching()) [[unlikely]] {
        phase_changes_.publish_indicatives();
        matcher_.publish_implied();
    }
    writer_.end([this](domain::instrument_id id) { return instruments_.book_of(id); });
}

void facility::state_machine::apply(const command& c) noexcept {
    apply_one(c);
}

void facility::state_machine::apply(std::span<const command> commands) noexcept {
    const order_lookup::reach reach = lookup_.reach_now();
    for (std::size_t i = 0; i < commands.size(); ++i) {
        lookup_.look_ahead(reach, commands.subspan(i), instruments_);
        apply_one(commands[i]);
    }
}

bool facility::state_machine::opens_beyond(const command& c, std::uint32_t orders_max) const noexcept {
    domain::account_id account = c.account;
    if (c.kind == command_kind::amend_order && (c.amend_order().flags & domain::amend_flag::account) != 0) {
        account = c.amend_order().other_account;
    }
    if (account.value >= engine_.accounts_count()) return false;
    const std::uint32_t before = engine_.orders_count(account.value);
    constexpr std::uint32_t opened_max = 2;  // by a quote
    if (before + opened_max <= orders_max) [[likely]]
        return false;
    std::uint32_t opened = 0;
    switch (c.kind) {
        case command_kind::enter_order:
            opened =
                c.order_terms().type != domain::order_type::market && domain::is_lasting(c.order_terms().time_in_force)
                    ? 1
                    : 0;
            break;
        case command_kind::amend_order: opened = account != c.account ? 1 : 0; break;
        case command_kind::enter_quote: opened = quoting_.opened_by(c); break;
        default: break;
    }
    return opened != 0 && before + opened > orders_max && account_rules_.limits(account).open_orders_max == 0;
}

}  // namespace corro::facility
