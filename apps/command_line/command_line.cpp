#include "apps/command_line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/nearest_name.hpp"

namespace corro::app {
namespace {

// The exit code for an invalid command line. Exit code 1 means that the work itself failed.
constexpr int usage_error = 2;

// Advice on an error of the system whose own text gives none.
std::string_view advice_for(std::error_code why) {
    if (why == std::errc::address_in_use) {
        return "Another process uses the address, perhaps an exchange that still runs. End it, or choose another "
               "address; port 0 chooses a free port.\n";
    }
    if (why == std::errc::address_not_available) return "The address does not belong to this machine.\n";
    return "";
}

/// The subcommand that the arguments have reached.
const CLI::App& deepest(const CLI::App& app) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
    return *at;
}

/// "corro journal verify"
std::string words_to(const CLI::App& root, const CLI::App& app, const std::string& program) {
    std::string words;
    for (const CLI::App* at = &app; at != &root; at = at->get_parent()) words = " " + at->get_name() + words;
    return program + words;
}

std::vector<std::string> visible_subcommands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* each : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
        names.push_back(each->get_name());
    }
    return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* each : app.get_options()) {
        for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::string joined(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

/// "; did you mean "serve"?", or nothing.
std::string suggestion(std::string_view misspelt, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view nearest = base::nearest_name(misspelt, views);
    return nearest.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", nearest);
}

/// What is wrong with the first argument that nothing takes; empty if all are taken.
std::string unexpected_argument(const CLI::App& app) {
    const std::vector<std::string> rest = app.remaining();
    if (rest.empty()) return {};
    const std::string& first = rest.front();
    if (first.starts_with('-')) {
        return fmt::format("unknown option \"{}\"{}", first, suggestion(first, options_of(app)));
    }
    const std::vector<std::string> names = visible_subcommands(app);
    if (names.empty()) return fmt::format("unexpected argument \"{}\"", first);
    const std::string nearest = suggestion(first, names);
    return fmt::format("unknown subcommand \"{}\"{}", first,
                       nearest.empty() ? "; subcommands: " + joined(names) : nearest);
}

std::string sentence_of(const CLI::App& app, const CLI::ParseError& why) {
    const std::string unexpected = unexpected_argument(app);
    if (!unexpected.empty()) return unexpected;
    if (why.get_name() == "RequiredError" && app.get_subcommands().empty() && !visible_subcommands(app).empty()) {
        return "a subcommand is missing; subcommands: " + joined(visible_subcommands(app));
    }
    const std::string text = why.what();
    // "--seed: 1 required UINT missing"
    const std::size_t colon = text.find(": ");
    if (why.get_name() == "ArgumentMismatch" && text.ends_with("missing") && colon != std::string::npos) {
        return text.substr(0, colon) + " needs a value";
    }
    return text;
}

int refuse(const std::string& name, const CLI::App& app, const CLI::ParseError& why) {
    if (why.get_exit_code() == 0) return app.exit(why);  // --help, --version
    const CLI::App& at = deepest(app);
    const std::string words = words_to(app, at, name);
    fmt::print(stderr, "{}: {}\nRun {} --help for help.\n", words, sentence_of(at, why), words);
    return usage_error;
}

/// What is wrong with the text of a number; empty if it is one of this type.
template <class Number>
std::string number_problem(const std::string& text) {
    if constexpr (std::is_floating_point_v<Number>) {
        Number number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(number)) return {};
        return fmt::format("expected a number, found \"{}\"", text);
    } else {
        Number number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && end == text.data() + text.size()) return {};
        return fmt::format("expected a whole number from {} to {}, found \"{}\"", std::numeric_limits<Number>::min(),
                           std::numeric_limits<Number>::max(), text);
    }
}

template <class Value>
struct element_of {
    using type = Value;
};
template <class Value>
struct element_of<std::vector<Value>> {
    using type = Value;
};
template <class Value>
struct element_of<std::optional<Value>> {
    using type = Value;
};

std::string file_problem(const std::string& path, bool is_directory_wanted) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) {
        return fmt::format("there is no {} \"{}\"", is_directory_wanted ? "directory" : "file", path);
    }
    if (error) return fmt::format("\"{}\": {}", path, error.message());
    const bool is_directory = std::filesystem::is_directory(status);
    if (is_directory == is_directory_wanted) return {};
    return fmt::format("\"{}\" is {}", path, is_directory ? "a directory, not a file" : "a file, not a directory");
}

}  // namespace

const option& option::required() const {
    is_->required();
    return *this;
}

const option& option::shows_default() const {
    is_->capture_default_str();
    return *this;
}

const option& option::one_of(const std::vector<std::string>& values) const {
    const auto problem = [values](const std::string& text) {
        if (std::ranges::find(values, text) != values.end()) return std::string();
        const std::string nearest = suggestion(text, values);
        return fmt::format("expected one of: {}, found \"{}\"{}", joined(values), text, nearest);
    };
    is_->check(CLI::Validator(problem, fmt::format("{{{}}}", fmt::join(values, ","))));
    return *this;
}

template <class Number>
const option& option::in_range(Number least, Number greatest) const {
    const auto problem = [least, greatest](const std::string& text) {
        Number number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && number >= least && number <= greatest) return std::string();
        return fmt::format("expected a number from {} to {}, found {}", least, greatest, text);
    };
    is_->check(CLI::Validator(problem, fmt::format("{} to {}", least, greatest)));
    return *this;
}
template const option& option::in_range(int, int) const;
template const option& option::in_range(std::uint32_t, std::uint32_t) const;
template const option& option::in_range(std::uint64_t, std::uint64_t) const;
template const option& option::in_range(double, double) const;

const option& option::not_negative() const {
    is_->check([](const std::string& text) {
        return text.starts_with('-') ? fmt::format("expected 0 or more, found {}", text) : std::string();
    });
    return *this;
}

const option& option::positive() const {
    is_->check([](const std::string& text) {
        double number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number > 0 ? std::string() : fmt::format("expected more than 0, found {}", text);
    });
    return *this;
}

const option& option::existing_file() const {
    is_->check([](const std::string& path) { return file_problem(path, false); });
    return *this;
}

const option& option::existing_directory() const {
    is_->check([](const std::string& path) { return file_problem(path, true); });
    return *this;
}

const option& option::needs(const std::string& name) const {
    is_->needs(name);
    return *this;
}

const option& option::separated_by(char character) const {
    is_->delimiter(character);
    return *this;
}

const option& option::checked_by(std::function<std::string(const std::string&)> error_in) const {
    is_->check(std::move(error_in));
    return *this;
}

bool option::given() const {
    return is_->count() != 0;
}

subcommand subcommand::add_subcommand(const std::string& name, const std::string& help) const {
    return {is_->add_subcommand(name, help), exit_code_};
}

const subcommand& subcommand::requires_subcommand() const {
    is_->require_subcommand(1);
    return *this;
}

const subcommand& subcommand::hidden() const {
    is_->group("");
    return *this;
}

const subcommand& subcommand::takes_the_rest() const {
    is_->set_help_flag();
    is_->prefix_command();
    return *this;
}

std::vector<std::string> subcommand::rest() const {
    return is_->remaining();
}

template <class Value>
option subcommand::add_option(const std::string& names, Value& into, const std::string& help) const {
    CLI::Option* const added = is_->add_option(names, into, help);
    using element = typename element_of<Value>::type;
    if constexpr (std::is_arithmetic_v<element>) {
        added->check([](const std::string& text) { return number_problem<element>(text); });
    }
    return option(added);
}
template option subcommand::add_option(const std::string&, std::string&, const std::string&) const;
template option subcommand::add_option(const std::string&, std::filesystem::path&, const std::string&) const;
template option subcommand::add_option(const std::string&, int&, const std::string&) const;
template option subcommand::add_option(const std::string&, std::uint32_t&, const std::string&) const;
template option subcommand::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template option subcommand::add_option(const std::string&, double&, const std::string&) const;
template option subcommand::add_option(const std::string&, std::optional<std::uint32_t>&, const std::string&) const;
template option subcommand::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template option subcommand::add_option(const std::string&, std::vector<std::filesystem::path>&,
                                       const std::string&) const;
template option subcommand::add_option(const std::string&, std::vector<int>&, const std::string&) const;

option subcommand::add_flag(const std::string& names, bool& into, const std::string& help) const {
    return option(is_->add_flag(names, into, help));
}

const subcommand& subcommand::footer(const std::string& text) const {
    is_->footer(text);
    return *this;
}

const subcommand& subcommand::runs(std::function<int()> work) const {
    is_->callback([work = std::move(work), exit_code = exit_code_] { *exit_code = work(); });
    return *this;
}

command_line::command_line(const std::string& program, const std::string& help, const std::string& version)
    : program_(program), is_(std::make_unique<CLI::App>(help, program)) {
    is_->set_version_flag("--version", version);
    is_->require_subcommand(1);
    is_->get_formatter()->column_width(38);
}

command_line::~command_line() = default;

subcommand command_line::add_subcommand(const std::string& name, const std::string& help) {
    return {is_->add_subcommand(name, help), &exit_code_};
}

subcommand command_line::subcommand_named(const std::string& name, const std::string& help) {
    const auto known = is_->get_subcommands([&name](const CLI::App* each) { return each->get_name() == name; });
    return known.empty() ? add_subcommand(name, help) : subcommand(known.front(), &exit_code_);
}

void command_line::footer(const std::string& text) {
    is_->footer(text);
}

int command_line::run(int argc, char** argv) {
    try {
        is_->parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return refuse(program_, *is_, e);
    } catch (const std::system_error& e) {
        fmt::print(stderr, "{}: {}\n{}", program_, e.what(), advice_for(e.code()));
        return 1;
    } catch (const std::exception& e) {
        fmt::print(stderr, "{}: {}\n", program_, e.what());
        return 1;
    }
    return exit_code_;
}

}  // namespace corro::app
