// SPDX-License-Identifier: Apache-2.0
#include "gateway/order_texts.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/assert.hpp"
#include "base/byte_order.hpp"

namespace corro::gateway {
namespace {

// The saved form, all numbers little-endian:
//
// | size | meaning |
// |------|---------|
// | 8    | texts: first those in use, by account and id; then the idle ones, oldest first |
// |      | of each: 8 id, 4 account, 4 length, 64 text, with zeros behind it |
// | 8    | open orders whose ids have texts |
// |      | of each, by order: 8 order, 8 id, 4 account, 4 session |
constexpr std::size_t text_bytes = 80;
constexpr std::size_t order_bytes = 24;
constexpr std::size_t characters_bytes = 64;
static_assert(characters_bytes > domain::long_name_characters_max);

}  // namespace

void order_texts::take(const domain::name_part& part) {
    const bool is_sound = part.length != 0 && part.length <= domain::long_name_characters_max &&
                          part.part < domain::name_parts_count(part.length);
    if (!is_sound || !domain::is_long_name(part.name)) return;
    std::uint32_t place = place_of(part.account, part.name);
    if (place == none) {
        place = make(part.account, part.name);
        entry& e = entries_[place];
        e.length = part.length;
        e.parts_missing = static_cast<std::uint8_t>((1U << domain::name_parts_count(part.length)) - 1);
        make_idle(place);
    } else if (entries_[place].uses == 0) {
        leave_idle(place);
        make_idle(place);
    }
    entry& e = entries_[place];
    const auto bit = static_cast<std::uint8_t>(1U << part.part);
    if (e.length != part.length || (e.parts_missing & bit) == 0) return;
    e.parts_missing = static_cast<std::uint8_t>(e.parts_missing & ~bit);
    const std::size_t begin = part.part * domain::name_part_characters;
    std::memcpy(e.text.data() + begin, part.text.data(),
                std::min(domain::name_part_characters, std::size_t{e.length} - begin));
}

// An order has its first name until an amend gives it another one.
void order_texts::follow(const domain::event& e) {
    switch (e.kind) {
        case domain::event_kind::order_entered: return open(e.order);
        case domain::event_kind::order_amended: return amend(e.order);
        case domain::event_kind::order_executed:
            if (e.execution.leaves.value == 0) close(e.execution.order);
            return;
        case domain::event_kind::order_cancelled: return close(e.order.order);
        default: return;
    }
}

std::string_view order_texts::find(domain::account_id account, domain::client_order_id name) const noexcept {
    const std::uint32_t place = place_of(account, name);
    if (place == none || entries_[place].parts_missing != 0) return {};
    return {entries_[place].text.data(), entries_[place].length};
}

bool order_texts::hold(domain::account_id account, domain::client_order_id name) noexcept {
    const std::uint32_t place = place_of(account, name);
    if (place == none || entries_[place].parts_missing != 0) return false;
    if (entries_[place].uses++ == 0) leave_idle(place);
    return true;
}

void order_texts::release(domain::account_id account, domain::client_order_id name) noexcept {
    const std::uint32_t place = place_of(account, name);
    CORRO_ASSERT(place != none && entries_[place].uses != 0);
    if (--entries_[place].uses != 0) return;
    make_idle(place);
    if (idle_count_ > idle_max) forget(oldest_idle_);
}

void order_texts::clear() noexcept {
    *this = order_texts();
}

// --- Orders ----------------------------------------------------------------------------------------------------------

void order_texts::amend(const domain::private_order& order) {
    const open_order* const found = open_.find(order.order.value);
    if (found == nullptr) return open(order);
    const open_order before = *found;
    if (before.name == order.client_order && before.account == order.account) return;
    domain::private_order now = order;
    now.session = before.session;
    // An operator may move it to another account. The text moves with it.
    if (before.account != order.account && before.name == order.client_order) give(before, order.account);
    close(order.order);
    open(now);
}

void order_texts::give(const open_order& order, domain::account_id to) {
    if (place_of(to, order.name) != none) return;
    const std::uint32_t made = make(to, order.name);
    const entry& from = entries_[place_of(order.account, order.name)];
    entries_[made].length = from.length;
    entries_[made].text = from.text;
    make_idle(made);
}

void order_texts::open(const domain::private_order& order) {
    if (!domain::is_long_name(order.client_order) || !hold(order.account, order.client_order)) return;
    const auto [place, is_new] =
        open_.try_insert(order.order.value, {order.client_order, order.account, order.session});
    static_cast<void>(place);
    if (!is_new) release(order.account, order.client_order);
}

void order_texts::close(domain::order_id order) noexcept {
    const open_order* const found = open_.find(order.value);
    if (found == nullptr) return;
    const open_order closed = *found;
    open_.erase(order.value);
    release(closed.account, closed.name);
}

// --- Places ----------------------------------------------------------------------------------------------------------

std::uint32_t order_texts::place_of(domain::account_id account, domain::client_order_id name) const noexcept {
    const auto of_account = places_.find(account.value);
    if (of_account == places_.end()) return none;
    const std::uint32_t* const found = of_account->second.find(name.value);
    return found == nullptr ? none : *found;
}

std::uint32_t order_texts::make(domain::account_id account, domain::client_order_id name) {
    while (idle_count_ >= idle_max) forget(oldest_idle_);
    std::uint32_t place = free_;
    if (place == none) {
        place = static_cast<std::uint32_t>(entries_.size());
        entries_.emplace_back();
    } else {
        free_ = entries_[place].next_idle;
        entries_[place] = entry();
    }
    entries_[place].name = name;
    entries_[place].account = account;
    places_[account.value].try_insert(name.value, place);
    ++count_;
    return place;
}

void order_texts::make_idle(std::uint32_t place) noexcept {
    entry& e = entries_[place];
    e.before_idle = newest_idle_;
    e.next_idle = none;
    (newest_idle_ == none ? oldest_idle_ : entries_[newest_idle_].next_idle) = place;
    newest_idle_ = place;
    ++idle_count_;
}

void order_texts::leave_idle(std::uint32_t place) noexcept {
    const entry& e = entries_[place];
    (e.before_idle == none ? oldest_idle_ : entries_[e.before_idle].next_idle) = e.next_idle;
    (e.next_idle == none ? newest_idle_ : entries_[e.next_idle].before_idle) = e.before_idle;
    --idle_count_;
}

// Of an idle text.
void order_texts::forget(std::uint32_t place) noexcept {
    leave_idle(place);
    entry& e = entries_[place];
    const auto of_account = places_.find(e.account.value);
    of_account->second.erase(e.name.value);
    if (of_account->second.size() == 0) places_.erase(of_account);
    e.next_idle = free_;
    free_ = place;
    --count_;
}

// --- The saved form --------------------------------------------------------------------------------------------------

void order_texts::save(std::vector<std::byte>& into, const filter& only) const {
    std::vector<std::pair<std::uint64_t, open_order>> orders;
    open_.for_each([&](std::uint64_t id, const open_order& o) {
        if (!only.order || only.order(o.session, o.account)) orders.emplace_back(id, o);
    });
    std::ranges::sort(orders, {}, [](const auto& each) { return each.first; });

    // Those that an order holds are needed whatever the answers need.
    base::flat_map<bool> of_orders(orders.size());
    for (const auto& [id, o] : orders) of_orders.try_insert(place_of(o.account, o.name), true);
    std::vector<const entry*> used;
    for (const auto& [account, places] : places_) {
        places.for_each([&](std::uint64_t, std::uint32_t place) {
            const entry& e = entries_[place];
            if (e.uses == 0) return;
            if (only.text && !only.text(e.account, e.name) && of_orders.find(place) == nullptr) return;
            used.push_back(&e);
        });
    }
    std::ranges::sort(used, {}, [](const entry* e) { return std::tuple(e->account.value, e->name.value); });
    for (std::uint32_t i = oldest_idle_; i != none; i = entries_[i].next_idle) {
        if (entries_[i].parts_missing == 0) used.push_back(&entries_[i]);
    }

    base::append_le<std::uint64_t>(into, used.size());
    for (const entry* e : used) {
        base::append_le<std::uint64_t>(into, e->name.value);
        base::append_le<std::uint32_t>(into, e->account.value);
        base::append_le<std::uint32_t>(into, e->length);
        const auto* const text = reinterpret_cast<const std::byte*>(e->text.data());
        into.insert(into.end(), text, text + e->text.size());
        into.resize(into.size() + characters_bytes - e->text.size());
    }
    base::append_le<std::uint64_t>(into, orders.size());
    for (const auto& [id, o] : orders) {
        base::append_le<std::uint64_t>(into, id);
        base::append_le<std::uint64_t>(into, o.name.value);
        base::append_le<std::uint32_t>(into, o.account.value);
        base::append_le<std::uint32_t>(into, o.session.value);
    }
}

std::size_t order_texts::load(std::span<const std::byte> saved) {
    clear();
    std::size_t at = 0;
    const auto count_of = [&](std::size_t record_bytes) -> std::size_t {
        if (saved.size() - at < sizeof(std::uint64_t)) return SIZE_MAX;
        const auto count = base::load_le<std::uint64_t>(saved.data() + at);
        at += sizeof(std::uint64_t);
        return count > (saved.size() - at) / record_bytes ? SIZE_MAX : static_cast<std::size_t>(count);
    };
    const auto fail = [this] {
        clear();
        return std::size_t{0};
    };
    const std::size_t texts = count_of(text_bytes);
    if (texts == SIZE_MAX) return fail();
    // What is in use comes first, and what holds it is known only later: nothing is forgotten meanwhile.
    for (std::size_t i = 0; i < texts; ++i, at += text_bytes) {
        const std::byte* const from = saved.data() + at;
        const domain::client_order_id name{base::load_le<std::uint64_t>(from)};
        const domain::account_id account{base::load_le<std::uint32_t>(from + 8)};
        const auto length = base::load_le<std::uint32_t>(from + 12);
        const bool is_sound = domain::is_long_name(name) && length != 0 && length <= domain::long_name_characters_max &&
                              place_of(account, name) == none;
        if (!is_sound) return fail();
        const std::size_t idle = std::exchange(idle_count_, 0);
        const std::uint32_t place = make(account, name);
        idle_count_ = idle;
        entry& e = entries_[place];
        e.length = static_cast<std::uint8_t>(length);
        std::memcpy(e.text.data(), from + 16, length);
        make_idle(place);
    }
    const std::size_t orders = count_of(order_bytes);
    if (orders == SIZE_MAX) return fail();
    for (std::size_t i = 0; i < orders; ++i, at += order_bytes) {
        const std::byte* const from = saved.data() + at;
        domain::private_order o;
        o.order = domain::order_id{base::load_le<std::uint64_t>(from)};
        o.client_order = domain::client_order_id{base::load_le<std::uint64_t>(from + 8)};
        o.account = domain::account_id{base::load_le<std::uint32_t>(from + 16)};
        o.session = domain::session_id{base::load_le<std::uint32_t>(from + 20)};
        if (open_.find(o.order.value) != nullptr) return fail();
        open(o);
        if (open_.find(o.order.value) == nullptr) return fail();
    }
    return at;
}

}  // namespace corro::gateway
