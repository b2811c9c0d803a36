// SPDX-License-Identifier: Apache-2.0
// Something to be done later: a function object without arguments that is called at most once.
//
// Threads: a value.
// Cost:    no allocation for objects of at most `inline_bytes` that move without throwing.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace corro::sim {

class action {
 public:
    /// As much as a packet under way needs.
    static constexpr std::size_t inline_bytes = 48;

    template <class Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, action>)
    action(Function what) {  // NOLINT(google-explicit-constructor): as std::function
        if constexpr (sizeof(Function) <= inline_bytes && alignof(Function) <= alignof(std::max_align_t) &&
                      std::is_nothrow_move_constructible_v<Function>) {
            ::new (static_cast<void*>(room_)) Function(std::move(what));
            kind_ = &kind_of<Function>;
        } else {
            *this = action([own = std::make_unique<Function>(std::move(what))] { (*own)(); });
        }
    }
    action(action&& from) noexcept : kind_(std::exchange(from.kind_, nullptr)) {
        if (kind_ != nullptr) kind_->move(from.room_, room_);
    }
    action& operator=(action&& from) noexcept {
        if (this == &from) return *this;
        clear();
        kind_ = std::exchange(from.kind_, nullptr);
        if (kind_ != nullptr) kind_->move(from.room_, room_);
        return *this;
    }
    ~action() { clear(); }

    /// @pre It was not moved from.
    void operator()() { kind_->call(room_); }

 private:
    struct operations {
        void (*call)(void* what);
        void (*move)(void* from, void* to) noexcept;  // and destroys what it moved from
        void (*destroy)(void* what) noexcept;
    };
    template <class Function>
    static constexpr operations kind_of{[](void* what) { (*static_cast<Function*>(what))(); },
                                        [](void* from, void* to) noexcept {
                                            ::new (to) Function(std::move(*static_cast<Function*>(from)));
                                            static_cast<Function*>(from)->~Function();
                                        },
                                        [](void* what) noexcept { static_cast<Function*>(what)->~Function(); }};

    void clear() noexcept {
        if (kind_ != nullptr) kind_->destroy(room_);
        kind_ = nullptr;
    }

    alignas(std::max_align_t) std::byte room_[inline_bytes];
    const operations* kind_ = nullptr;
};

}  // namespace corro::sim
