// SPDX-License-Identifier: Apache-2.0
// Finds the handler for a method and a path.
//
// A pattern is a path; a segment `{name}` matches any one segment, a last segment `*` all that follow. Patterns are
// tried in the order in which they were added. HEAD uses the route of GET; the router itself answers OPTIONS, unknown
// paths (404) and methods that a path does not have (405, with Allow).
//
// Threads: one context.
// Cost:    linear in the number of routes; no allocation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/server.hpp"

namespace corro::http {

/// Handlers by method and path.
class router {
 public:
    /// @pre `pattern` begins with a slash (asserted).
    router& add(method which, std::string_view pattern, handler answer);
    /// Adds a route for GET and HEAD.
    router& get(std::string_view pattern, handler answer) { return add(method::get, pattern, std::move(answer)); }
    /// Adds a route for POST.
    router& post(std::string_view pattern, handler answer) { return add(method::post, pattern, std::move(answer)); }
    /// Adds a route for PUT.
    router& put(std::string_view pattern, handler answer) { return add(method::put, pattern, std::move(answer)); }
    /// Adds a route for DELETE.
    router& del(std::string_view pattern, handler answer) { return add(method::del, pattern, std::move(answer)); }

    /// Answers a request. The routes must not change during the call. An unused body is read first, so that a
    /// malformed one is refused whatever the path.
    /// @suspend As the handler. @cancel As the handler.
    [[nodiscard]] io::task<> answer(exchange* on) const;

    /// The router as a server's handler; it stays valid as long as the server.
    [[nodiscard]] handler as_handler() const {
        return [this](exchange* on) { return answer(on); };
    }

 private:
    struct route {
        route(http::method called, std::string_view path, handler with)
            : which(called), pattern(path), answer(std::move(with)) {}
        http::method which;
        std::string pattern;
        handler answer;
    };

    [[nodiscard]] io::task<> answer_otherwise(exchange* on) const;

    std::vector<route> routes_;
};

/// Whether `path` matches `pattern`.
[[nodiscard]] bool path_matches(std::string_view pattern, std::string_view path) noexcept;

/// The part of `path` that matches `{name}` or `*` of `pattern`; empty if the pattern has no such segment.
[[nodiscard]] std::string_view path_part(std::string_view pattern, std::string_view path,
                                         std::string_view name) noexcept;

/// The value of `name` in a query such as "side=buy&size=3", still encoded; empty if it is missing.
[[nodiscard]] std::string_view query_part(std::string_view query, std::string_view name) noexcept;

/// Decodes percent encoding. @return false if an escape is malformed or is NUL; `into` is then undefined.
[[nodiscard]] bool percent_decode(std::string_view text, std::string& into);

}  // namespace corro::http
