// SPDX-License-Identifier: Apache-2.0
#include "sim/agenda.hpp"

#include <algorithm>
#include <utility>

namespace corro::sim {

void agenda::join(member& one) {
    one.number_ = ++joined_count_;
    one.member_place_ = members_.size();
    members_.push_back(&one);
    list(one);
}

void agenda::leave(member& one) noexcept {
    set_due(one, never);
    if (one.is_listed_) {
        std::erase(later_, &one);
        if (std::erase(now_, &one) != 0) std::make_heap(now_.begin(), now_.end(), comes_later());
    }
    members_[one.member_place_] = members_.back();
    members_[one.member_place_]->member_place_ = one.member_place_;
    members_.pop_back();
}

void agenda::list(member& one) {
    if (std::exchange(one.is_listed_, true)) return;
    if (is_in_turn_ && one.number_ > last_taken_) {
        now_.push_back(&one);
        std::push_heap(now_.begin(), now_.end(), comes_later());
    } else {
        later_.push_back(&one);
    }
}

void agenda::list_all() {
    for (member* each : members_) list(*each);
}

void agenda::list_due(std::uint64_t now_ns) {
    while (!due_.empty() && due_.front()->due_ns_ <= now_ns) {
        member& one = *due_.front();
        set_due(one, never);
        list(one);
    }
}

void agenda::begin_turn() {
    now_.insert(now_.end(), later_.begin(), later_.end());
    later_.clear();
    std::make_heap(now_.begin(), now_.end(), comes_later());
    last_taken_ = 0;
    is_in_turn_ = true;
}

agenda::member* agenda::take_next() noexcept {
    if (now_.empty()) {
        is_in_turn_ = false;
        return nullptr;
    }
    std::pop_heap(now_.begin(), now_.end(), comes_later());
    member* const one = now_.back();
    now_.pop_back();
    one->is_listed_ = false;
    last_taken_ = one->number_;
    return one;
}

void agenda::set_due(member& one, std::uint64_t at_ns) {
    const std::uint64_t before = std::exchange(one.due_ns_, at_ns);
    if (before == at_ns) return;
    if (before == never) {
        due_.push_back(&one);
        put(due_.size() - 1, &one);
        return rise(one.due_place_);
    }
    std::size_t place = one.due_place_;
    if (at_ns != never) return at_ns < before ? rise(place) : sink(place);
    member* const last = due_.back();
    due_.pop_back();
    if (last == &one) return;
    put(place, last);
    rise(place);
    sink(last->due_place_);
}

void agenda::rise(std::size_t place) noexcept {
    member* const one = due_[place];
    while (place != 0) {
        const std::size_t above = (place - 1) / 2;
        if (due_[above]->due_ns_ <= one->due_ns_) break;
        put(place, due_[above]);
        place = above;
    }
    put(place, one);
}

void agenda::sink(std::size_t place) noexcept {
    member* const one = due_[place];
    for (;;) {
        std::size_t below = 2 * place + 1;
        if (below >= due_.size()) break;
        if (below + 1 < due_.size() && due_[below + 1]->due_ns_ < due_[below]->due_ns_) ++below;
        if (due_[below]->due_ns_ >= one->due_ns_) break;
        put(place, due_[below]);
        place = below;
    }
    put(place, one);
}

}  // namespace corro::sim
