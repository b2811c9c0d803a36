#include "apps/command_line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

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

int refuse(const std::string& name, const CLI::App& app, const CLI::ParseError& why, int argc, char** argv) {
    if (why.get_exit_code() == 0) return app.exit(why);  // --help, --version
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
        std::string names;
        for (const CLI::App* each : app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
            names += (names.empty() ? "" : ", ") + each->get_name();
        }
        fmt::print(stderr, "{}: unknown subcommand \"{}\"; subcommands: {}\n", name, argv[1], names);
        return usage_error;
    }
    app.exit(why);
    return usage_error;
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
    is_->check(CLI::IsMember(values));
    return *this;
}

template <class Number>
const option& option::in_range(Number least, Number greatest) const {
    is_->check(CLI::Range(least, greatest));
    return *this;
}
template const option& option::in_range(int, int) const;
template const option& option::in_range(std::uint32_t, std::uint32_t) const;
template const option& option::in_range(std::uint64_t, std::uint64_t) const;
template const option& option::in_range(double, double) const;

const option& option::not_negative() const {
    is_->check(CLI::NonNegativeNumber);
    return *this;
}

const option& option::positive() const {
    is_->check(CLI::PositiveNumber);
    return *this;
}

const option& option::existing_file() const {
    is_->check(CLI::ExistingFile);
    return *this;
}

const option& option::existing_directory() const {
    is_->check(CLI::ExistingDirectory);
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
    return option(is_->add_option(names, into, help));
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
        return refuse(program_, *is_, e, argc, argv);
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
