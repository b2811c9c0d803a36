// SPDX-License-Identifier: Apache-2.0
// Writes JSON into a string: objects, lists, and decimals from integers, exactly.
//
//     json_writer out(text);
//     out.object([&] {
//         out.member("price").decimal(5'998'750'000'000);   // billionths: 5998.75
//     });
//
// Threads: any. Cost: appends to the string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corro::api {

class json_writer {
 public:
    /// Appends to `into`, which outlives it.
    explicit json_writer(std::string& into) noexcept : into_(&into) {}

    /// An object; `body` writes its members.
    template <class Body>
    void object(Body body) {
        begin('{');
        body();
        end('}');
    }
    /// A list; `body` writes its items.
    template <class Body>
    void list(Body body) {
        begin('[');
        body();
        end(']');
    }
    /// The name of the next value. @param name  Without characters that need an escape.
    json_writer& member(std::string_view name);

    void text(std::string_view value);
    void number(std::int64_t value);
    void number(std::uint64_t value);
    /// A number in billionths.
    void decimal(std::int64_t nano);
    void boolean(bool value) { raw(value ? "true" : "false"); }
    void null() { raw("null"); }
    /// JSON that was written before.
    void raw(std::string_view json);

 private:
    void begin(char bracket);
    void end(char bracket);
    void separate();

    std::string* into_;
    bool first_ = true;  ///< the next value is the first in its object or list, or follows its name
};

}  // namespace corro::api
