// SPDX-License-Identifier: Apache-2.0
// `symbol_table`: the names of a program's functions, from the symbol tables of the program and its shared libraries.
//
// For messages to people. A file that cannot be read, or that is not what it should be, has no names.
//
// Threads: one at a time.
// Cost:    the first name from a file reads the whole file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace corro::io {

/// The name of a coroutine's function, from the name of the compiler's function that resumes it: without parameters.
/// @param symbol  As in the symbol table: mangled, with what Clang or GCC appends.
[[nodiscard]] std::string coroutine_name(const std::string& symbol);

/// The names of functions in the running program.
class symbol_table {
 public:
    /// The symbol at or before `address`, as in the file; where there is none, the file and the offset in it, for
    /// `addr2line`.
    [[nodiscard]] std::string symbol_at(const void* address);

 private:
    struct symbol {
        std::uint64_t from;
        std::uint64_t bytes;
        std::uint32_t name;
    };
    struct file {
        std::string content;
        std::string_view names;
        std::vector<symbol> symbols;  // by address
    };

    const file& file_at(const std::string& path);

    std::map<std::string, file> files_;
};

}  // namespace corro::io
