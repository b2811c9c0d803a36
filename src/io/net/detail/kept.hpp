// SPDX-License-Identifier: Apache-2.0
// `kept<T>`: state that a stream or a client shares with its operations in progress, so that it may be destroyed
// before they have ended.
//
// Threads: one context.
// Cost:    a counter; no atomics.
#pragma once

#include <cstdint>
#include <utility>

namespace corro::io::detail {

/// The base of shared state.
class keepable {
 public:
    keepable() noexcept = default;
    keepable(const keepable&) = delete;
    keepable& operator=(const keepable&) = delete;

 protected:
    ~keepable() = default;

 private:
    template <class>
    friend class kept;
    std::uint32_t keepers_count_ = 0;
};

/// A reference to a T; the last one deletes it. Empty after a move.
template <class T>
class kept {
 public:
    kept() noexcept = default;
    /// Takes a reference to an object made with `new`, which may have others already.
    explicit kept(T* what) noexcept : what_(what) {
        if (what_ != nullptr) ++counter();
    }
    kept(const kept& other) noexcept : kept(other.what_) {}
    kept(kept&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
    kept& operator=(kept other) noexcept {
        std::swap(what_, other.what_);
        return *this;
    }
    ~kept() {
        if (what_ != nullptr && --counter() == 0) delete what_;
    }

    /// Gives the reference to the caller, who returns it by `retake`.
    [[nodiscard]] T* release() noexcept { return std::exchange(what_, nullptr); }
    [[nodiscard]] static kept retake(T* released) noexcept {
        kept taken;
        taken.what_ = released;
        return taken;
    }

    [[nodiscard]] T* get() const noexcept { return what_; }
    T* operator->() const noexcept { return what_; }
    T& operator*() const noexcept { return *what_; }
    [[nodiscard]] explicit operator bool() const noexcept { return what_ != nullptr; }
    /// Whether there are other references: operations in progress, or made and not awaited yet.
    [[nodiscard]] bool shared() const noexcept { return what_ != nullptr && counter() > 1; }

 private:
    [[nodiscard]] std::uint32_t& counter() const noexcept { return static_cast<keepable*>(what_)->keepers_count_; }

    T* what_ = nullptr;
};

}  // namespace corro::io::detail
