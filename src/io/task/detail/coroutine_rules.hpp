// SPDX-License-Identifier: Apache-2.0
// The parameters that a coroutine with a `task` may have, checked at its definition.
//
// A task runs later than its call, when objects that it refers to may be destroyed. As far as the language allows,
// these are refused: a lambda with captures (they live in the lambda, not in the frame), parameters of type `T&&`,
// and of type `const T&`, which bind to temporaries. The first parameter of a member function is its object, which
// looks like any other reference to a class; so `const T&` as the first parameter is refused only for types that have
// no coroutines of their own: numbers, pointers and the strings and vectors of the standard library. A parameter `T&`
// does not bind to a temporary and is allowed.
#pragma once

#include <coroutine>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace corro::io {

template <class T>
class task;

namespace detail {

template <class T>
class task_promise;

/// Whether the type's own name, outside of any template arguments, is that of a lambda. There is no other way to find
/// out.
template <class T>
consteval bool is_lambda() {
    const std::string_view text = __PRETTY_FUNCTION__;
    constexpr std::string_view clang = "(lambda at ";
    constexpr std::string_view gcc = "<lambda(";
    std::size_t at = text.find("T = ");
    if (at == std::string_view::npos) return false;
    at += 4;
    if (text.substr(at).starts_with(clang)) return true;
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (depth == 0 && text.substr(at).starts_with(gcc)) return true;
        if (text[at] == '<' || text[at] == '(') ++depth;
        if (text[at] == '>' || text[at] == ')') --depth;
        if (depth < 0) return false;
    }
    return false;
}

template <class T>
inline constexpr bool has_no_coroutines = std::is_scalar_v<T>;
template <class Char, class Traits, class Allocator>
inline constexpr bool has_no_coroutines<std::basic_string<Char, Traits, Allocator>> = true;
template <class Char, class Traits>
inline constexpr bool has_no_coroutines<std::basic_string_view<Char, Traits>> = true;
template <class T, class Allocator>
inline constexpr bool has_no_coroutines<std::vector<T, Allocator>> = true;
template <class Signature>
inline constexpr bool has_no_coroutines<std::function<Signature>> = true;

template <class Argument>
inline constexpr bool is_const_reference =
    std::is_lvalue_reference_v<Argument> && std::is_const_v<std::remove_reference_t<Argument>>;

/// The object of a member function, or the first parameter of any other.
template <class Argument>
void refuse_captures() noexcept {
    using object = std::remove_cv_t<std::remove_reference_t<Argument>>;
    if constexpr (std::is_class_v<object> && std::is_reference_v<Argument>) {
        static_assert(
            !is_lambda<object>() || std::is_empty_v<object>,
            "a coroutine cannot be a lambda with captures, which end with the lambda: pass them as parameters");
    }
}

template <class... Arguments>
struct coroutine_rules {};

template <class First, class... Others>
struct coroutine_rules<First, Others...> {
    // A lambda's type is not complete within its body. Naming the function is enough: it is instantiated later.
    static_assert(&refuse_captures<First> != nullptr);
    static_assert(!(is_const_reference<First> && has_no_coroutines<std::remove_cvref_t<First>>) &&
                      !(is_const_reference<Others> || ... || false),
                  "a coroutine cannot take a const T&, which may refer to a temporary: take it by value or by pointer");
    static_assert(!(std::is_rvalue_reference_v<First> || ... || std::is_rvalue_reference_v<Others>),
                  "a coroutine cannot take a T&&, which refers to a temporary: take it by value");
};

}  // namespace detail
}  // namespace corro::io

/// @cond
// As the language requires: the promise of a coroutine that returns a task.
template <class T, class... Arguments>
struct std::coroutine_traits<corro::io::task<T>, Arguments...> : corro::io::detail::coroutine_rules<Arguments...> {
    using promise_type = corro::io::detail::task_promise<T>;
};
/// @endcond
