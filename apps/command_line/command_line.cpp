// SPDX-License-Identifier: Apache-2.0
#include "apps/command_line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
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

namespace {

using each_app = std::function<void(const CLI::App&, const std::string&)>;

/// Calls `visit` for a program and each of its visible subcommands, with their words: "", "journal", "journal verify".
void visit_apps(const CLI::App& app, const std::string& words, const each_app& visit) {
    visit(app, words);
    for (const CLI::App* each : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
        visit_apps(*each, words.empty() ? each->get_name() : words + " " + each->get_name(), visit);
    }
}

std::vector<const CLI::Option*> options_in(const CLI::App& app) {
    std::vector<const CLI::Option*> all;
    for (const CLI::Option* each : app.get_options()) {
        if (!each->get_lnames().empty()) all.push_back(each);
    }
    return all;
}

/// The values of an option that has a list of them: its type is written as "TEXT:{inline,split}".
std::string values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find('{');
    const std::size_t end = type.find('}', begin);
    if (begin == std::string::npos || end == std::string::npos) return {};
    std::string values = type.substr(begin + 1, end - begin - 1);
    std::ranges::replace(values, ',', ' ');
    return values;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() != 0;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

std::string bash_completion(const CLI::App& root, const std::string& program) {
    std::string known;
    std::string offers;
    std::string values;
    visit_apps(root, "", [&](const CLI::App& app, const std::string& words) {
        if (!words.empty()) known += fmt::format("{}\"{}\"", known.empty() ? "" : " | ", words);
        std::vector<std::string> offered = visible_subcommands(app);
        for (const CLI::Option* each : options_in(app)) {
            offered.push_back("--" + each->get_lnames().front());
            if (const std::string list = values_of(*each); !list.empty()) {
                values += fmt::format("        \"{} {}\") offered=\"{}\" ;;\n", words, offered.back(), list);
            } else if (takes_value(*each)) {
                values += fmt::format("        \"{} {}\") return ;;\n", words, offered.back());
            }
        }
        offers += fmt::format("        \"{}\") offered=\"{}\" ;;\n", words, fmt::join(offered, " "));
    });
    return fmt::format(
        "# Completion of {0} for bash: source <({0} completion bash)\n"
        "_{0}() {{\n"
        "    local command=\"\" candidate offered=\"\" i\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        candidate=\"${{command:+$command }}${{COMP_WORDS[i]}}\"\n"
        "        case \"$candidate\" in {1}) command=$candidate ;; esac\n"
        "    done\n"
        "    COMPREPLY=()\n"
        "    case \"$command\" in\n{2}    esac\n"
        "    # A value that is not one of a list is completed as a file name.\n"
        "    case \"$command ${{COMP_WORDS[COMP_CWORD - 1]}}\" in\n{3}    esac\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$offered\" -- \"${{COMP_WORDS[COMP_CWORD]}}\")\n"
        "}}\n"
        "complete -o default -F _{0} {0}\n",
        program, known, offers, values);
}

std::string quoted_for_fish(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + "'";
}

std::string fish_completion(const CLI::App& root, const std::string& program) {
    std::string text = fmt::format("# Completion of {0} for fish: {0} completion fish | source\n", program);
    visit_apps(root, "", [&](const CLI::App& app, const std::string& words) {
        std::string condition = "__fish_use_subcommand";
        if (!words.empty()) {
            condition.clear();
            for (std::size_t at = 0; at < words.size();) {
                const std::size_t end = std::min(words.find(' ', at), words.size());
                condition +=
                    (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + words.substr(at, end - at));
                at = end + 1;
            }
        }
        const std::string begin = fmt::format("complete -c {} -n {} ", program, quoted_for_fish(condition));
        for (const std::string& name : visible_subcommands(app)) {
            text += fmt::format("{}-f -a {} -d {}\n", begin, name,
                                quoted_for_fish(first_line(app.get_subcommand(name)->get_description())));
        }
        for (const CLI::Option* each : options_in(app)) {
            text += begin + "-l " + each->get_lnames().front();
            if (!each->get_snames().empty()) text += " -s " + each->get_snames().front();
            if (takes_value(*each)) text += " -r";
            if (const std::string list = values_of(*each); !list.empty()) text += " -f -a " + quoted_for_fish(list);
            text += " -d " + quoted_for_fish(first_line(each->get_description())) + "\n";
        }
    });
    return text;
}

/// Text for `man`: no line of it is a request, and hyphens can be copied.
std::string quoted_for_man(const std::string& text) {
    std::string quoted;
    bool is_at_begin = true;
    for (const char c : text) {
        if (is_at_begin && (c == '.' || c == '\'')) quoted += "\\&";
        is_at_begin = c == '\n';
        if (c == '\\') {
            quoted += "\\e";
        } else if (c == '-') {
            quoted += "\\-";
        } else {
            quoted += c;
        }
    }
    return quoted;
}

std::string names_for_man(const CLI::Option& option) {
    std::string names;
    for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + ("-" + name);
    for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + ("--" + name);
    if (names.empty()) names = option.get_name(true);
    return quoted_for_man(names);
}

std::string manual_of(const CLI::App& root, const std::string& program, const std::string& version) {
    std::string heading = program;
    std::ranges::transform(heading, heading.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    std::string text = fmt::format(
        ".TH {0} 1 \"\" \"{1} {2}\"\n.SH NAME\n{1} \\- {3}\n.SH SYNOPSIS\n.B {1}\n.I SUBCOMMAND\n[OPTIONS]\n"
        ".SH SUBCOMMANDS\n",
        heading, program, version, quoted_for_man(root.get_description()));
    visit_apps(root, "", [&](const CLI::App& app, const std::string& words) {
        if (words.empty()) return;
        text += fmt::format(".SS {} {}\n{}\n", program, words, quoted_for_man(app.get_description()));
        for (const CLI::Option* each : app.get_options()) {
            text += fmt::format(".TP\n.B {}", names_for_man(*each));
            const std::string type = each->get_type_name();
            if (takes_value(*each) && !type.empty()) text += " " + quoted_for_man(type);
            text += "\n" + quoted_for_man(each->get_description());
            if (!each->get_default_str().empty())
                text += fmt::format(" (default: {})", quoted_for_man(each->get_default_str()));
            text += "\n";
        }
        if (!app.get_footer().empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", quoted_for_man(app.get_footer()));
    });
    text += ".SH EXIT STATUS\n0 on success, 1 on failure, 2 if the command line is invalid.\n";
    return text;
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
    : program_(program), version_(version), is_(std::make_unique<CLI::App>(help, program)) {
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

void command_line::add_descriptions() {
    const subcommand completion =
        add_subcommand("completion", "Print a script that completes the command line in a shell");
    completion.add_option("shell", shell_, "The shell").required().one_of({"bash", "fish", "zsh"});
    completion.footer("For example, in ~/.bashrc: source <(" + program_ + " completion bash)");
    completion.runs([this] {
        if (shell_ == "fish") {
            fmt::print("{}", fish_completion(*is_, program_));
        } else {
            if (shell_ == "zsh")
                fmt::print("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n");
            fmt::print("{}", bash_completion(*is_, program_));
        }
        return 0;
    });
    const subcommand manual = add_subcommand("manual", "Print the manual page, for man");
    manual.footer("To read it: " + program_ + " manual | man -l -");
    manual.runs([this] {
        fmt::print("{}", manual_of(*is_, program_, version_));
        return 0;
    });
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
