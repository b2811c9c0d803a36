// SPDX-License-Identifier: Apache-2.0
#include "facility/facility.hpp"

#include <vector>

#include "facility/state_machine.hpp"

namespace corro::facility {

facility::facility(const facility_options& options, std::span<const domain::instrument> instruments,
                   event_consumer& consumer)
    : options_(options),
      consumer_(&consumer),
      machine_(std::make_unique<state_machine>(options, instruments, consumer)) {}

facility::~facility() = default;

void facility::expect(std::span<domain::prefetch_hint> coming) const noexcept {
    machine_->expect(coming);
}

bool facility::opens_beyond(const domain::command& command, std::uint32_t orders_max) const noexcept {
    return machine_->opens_beyond(command, orders_max);
}

void facility::apply(const domain::command& command) noexcept {
    machine_->apply(command);
}

std::uint64_t facility::state_hash() const {
    return machine_->state_hash();
}

bool facility::save(base::byte_sink& sink) const noexcept {
    return machine_->save(sink);
}

void facility::clear() {
    if (!machine_->was_used()) return;
    const std::span<const domain::instrument> configured = machine_->instruments().configured();
    const std::vector<domain::instrument> instruments(configured.begin(), configured.end());
    machine_.reset();  // frees its memory first
    machine_ = std::make_unique<state_machine>(options_, instruments, *consumer_);
}

std::error_code facility::load(base::byte_source& source) {
    clear();
    const std::error_code error = machine_->load(source);
    if (error) clear();
    return error;
}

std::span<const domain::instrument> facility::instruments() const noexcept {
    return machine_->instruments().definitions();
}

std::span<const domain::instrument> facility::defined() const noexcept {
    return machine_->instruments().added();
}

void facility::apply(std::span<const domain::command> commands) noexcept {
    machine_->apply(commands);
}

void facility::look_ahead(std::span<const domain::command> waiting) const noexcept {
    machine_->look_ahead(waiting);
}

std::span<const domain::defined_account> facility::defined_accounts() const noexcept {
    return machine_->accounts_defined();
}

domain::account_limits facility::limits_of(domain::account_id account) const noexcept {
    return account.value < options_.accounts_max ? machine_->account_rules().limits(account) : domain::account_limits();
}

bool facility::was_given_limits(domain::account_id account) const noexcept {
    if (account.value >= options_.accounts_max) return false;
    return (machine_->account_rules().flags(account) & risk::account_flag::configured) != 0 ||
           limits_of(account) != domain::account_limits();
}

void facility::set_hash_key(std::uint64_t key) noexcept {
    if (machine_->was_used()) return;
    options_.hash_key = key;
    machine_->set_hash_key(key);
}

snapshot_position facility::position() const noexcept {
    return machine_->position();
}

domain::top facility::top_of(domain::instrument_id instrument) const noexcept {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    if (book == instrument_table::none) return {domain::no_price, {}, domain::no_price, {}, {}};
    return machine_->writer().top_of(book);
}

domain::top facility::implied_top_of(domain::instrument_id instrument) const noexcept {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    if (book == instrument_table::none) return {domain::no_price, {}, domain::no_price, {}, {}};
    return machine_->implied().said(book);
}

void facility::visit_book(domain::instrument_id instrument, book_visitor& visitor) const {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    if (book == instrument_table::none) return;
    const matching::engine& engine = machine_->engine();
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        domain::price_ticks current = domain::no_price;
        engine.for_each_order(book, side, [&](const matching::level_state& level, const matching::order_view& order) {
            if (level.price != current) {
                current = level.price;
                visitor.visit_level(side, {level.price, domain::volume_lots{level.volume}, level.orders_count, {}});
            }
            const order_record& r = machine_->orders()[order.slot];
            visitor.visit_order(side,
                                {order.order, r.client_order, r.account, r.session, level.price,
                                 domain::quantity_lots{order.open}, domain::quantity_lots{r.total - order.total()}});
        });
    }
}

domain::price_summary facility::prices_of(domain::instrument_id instrument) const noexcept {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    return book == instrument_table::none ? tape_summary{}.prices : machine_->writer().trades()[book].prices;
}

domain::volume_summary facility::volumes_of(domain::instrument_id instrument) const noexcept {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    return book == instrument_table::none ? domain::volume_summary{} : machine_->writer().volumes_of(book);
}

domain::trading_phase facility::phase_of(domain::instrument_id instrument) const noexcept {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    return book == instrument_table::none ? domain::trading_phase::closed : machine_->phases()[book].phase;
}

std::int64_t facility::position_of(domain::account_id account, domain::instrument_id instrument) const noexcept {
    const std::uint32_t book = machine_->instruments().book_of(instrument);
    const std::uint32_t slot =
        book == instrument_table::none ? risk::positions::none : machine_->positions().find(account.value, book);
    return slot == risk::positions::none ? 0 : machine_->positions()[slot].lots;
}

std::uint32_t facility::open_orders_count() const noexcept {
    return machine_->engine().open_orders_count();
}

query_cost facility::last_query() const noexcept {
    return machine_->last_query();
}

std::uint64_t facility::steps_count() const noexcept {
    return machine_->steps_count();
}

domain::order_id facility::next_order_id(std::uint32_t ahead) const noexcept {
    return machine_->engine().next_id(ahead);
}

}  // namespace corro::facility
