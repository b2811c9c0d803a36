// SPDX-License-Identifier: Apache-2.0
// The command line of a program: subcommands, options, `--help`.
//
// A thin layer over the command-line library. Its headers add four seconds to the compilation of each source,
// so only command_line.cpp includes them.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace corro::app {

/// An option or a positional argument. A handle: copies refer to the same one. Valid as long as its `command_line`.
class option {
 public:
    explicit option(CLI::Option* is) noexcept : is_(is) {}

    const option& required() const;
    /// Shows the variable's present value in the help.
    const option& shows_default() const;
    const option& one_of(const std::vector<std::string>& values) const;
    /// Limits the value; both ends are allowed. For int, std::uint32_t, std::uint64_t and double.
    template <class Number>
    const option& in_range(Number least, Number greatest) const;
    const option& not_negative() const;
    const option& positive() const;
    const option& existing_file() const;
    const option& existing_directory() const;
    /// Refuses this option without the option `name`.
    const option& needs(const std::string& name) const;
    /// Allows several values in one argument, separated by this character.
    const option& separated_by(char character) const;
    /// @param error_in  Returns the error in the text; empty if there is none.
    const option& checked_by(std::function<std::string(const std::string&)> error_in) const;

    /// After parsing: whether the command line has it.
    [[nodiscard]] bool given() const;

 private:
    CLI::Option* is_;
};

/// A subcommand. A handle, like `option`.
class subcommand {
 public:
    /// @param exit_code  The command line's variable for the result of the chosen subcommand.
    subcommand(CLI::App* is, int* exit_code) noexcept : is_(is), exit_code_(exit_code) {}

    subcommand add_subcommand(const std::string& name, const std::string& help) const;
    /// Refuses a command line without one of the subcommands.
    const subcommand& requires_subcommand() const;
    /// Omits it from the help.
    const subcommand& hidden() const;
    /// Keeps all arguments after its name unparsed, also `--help`: see `rest`.
    const subcommand& takes_the_rest() const;
    /// After parsing: the arguments after its name.
    [[nodiscard]] std::vector<std::string> rest() const;

    /// `names` as in "-c,--config", or "file" for a positional argument. `into` must live as long as the command line;
    /// its value is the default. For std::string, std::filesystem::path, int, std::uint32_t, std::uint64_t, double,
    /// std::optional<std::uint32_t>, and vectors of std::string, std::filesystem::path and int.
    template <class Value>
    option add_option(const std::string& names, Value& into, const std::string& help = {}) const;
    option add_flag(const std::string& names, bool& into, const std::string& help) const;

    /// Sets the text below the options.
    const subcommand& footer(const std::string& text) const;
    /// Calls `work` if the command line has this subcommand. `work` returns the process's exit code and may throw.
    const subcommand& runs(std::function<int()> work) const;

 private:
    CLI::App* is_;
    int* exit_code_;
};

/// The command line of a program with subcommands.
class command_line {
 public:
    command_line(const std::string& program, const std::string& help, const std::string& version);
    ~command_line();
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;

    subcommand add_subcommand(const std::string& name, const std::string& help);
    /// Returns the subcommand `name`. Adds it with this help if there is none.
    subcommand subcommand_named(const std::string& name, const std::string& help);
    /// Sets the text below the subcommands.
    void footer(const std::string& text);

    /// Adds the subcommands `completion`, which prints a script for a shell, and `manual`, which prints a page for
    /// `man`. Both are made of what the other subcommands say about themselves. Call after adding those.
    void add_descriptions();

    /// Parses the command line and runs the chosen subcommand. Prints help, and errors after the program's name.
    /// @return  The process's exit code: the subcommand's, 1 if it threw, 2 if the command line is wrong.
    [[nodiscard]] int run(int argc, char** argv);

 private:
    std::string program_;
    std::string version_;
    std::string shell_;
    int exit_code_ = 0;
    std::unique_ptr<CLI::App> is_;
};

}  // namespace corro::app
