// The program `corro`: an exchange, and the tools around it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>

#include "commands.hpp"

namespace {

// The exit code for a command line that is not understood; 1 says that the work itself failed.
constexpr int usage_error = 2;

int refuse_command_line(CLI::App& app, const CLI::ParseError& why, int argc, char** argv) {
    if (why.get_exit_code() == 0) return app.exit(why);  // --help, --version
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty()) {
        std::string names;
        for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
            names += (names.empty() ? "" : ", ") + each->get_name();
        }
        fmt::print(stderr, "corro: \"{}\" is no subcommand; there are: {}\n", argv[1], names);
        return usage_error;
    }
    app.exit(why);
    return usage_error;
}

// What to do about what the system refused, where its own words do not say it.
std::string_view advice_for(std::error_code why) {
    if (why == std::errc::address_in_use) {
        return "Another process has the address, perhaps an exchange that still runs. End that one, or take another "
               "address; port 0 takes any that is free.\n";
    }
    if (why == std::errc::address_not_available) return "The address is none of this machine's.\n";
    return "";
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Corro: a derivatives exchange and the tools around it.", "corro"};
    app.set_version_flag("--version", CORRO_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(38);
    app.footer(
        "`corro SUBCOMMAND --help` says more. Begin with `corro demo`; docs/howto/ has a page for each task.\n"
        "Exit code: 0 when all went well, 1 when something failed, 2 when the command line is not understood.");
    int exit_code = 0;
    corro::app::add_serve_command(app, exit_code);
    corro::app::add_load_command(app, exit_code);
    corro::app::add_replay_command(app, exit_code);
    corro::app::add_watch_command(app, exit_code);
    corro::app::add_client_command(app, exit_code);
    corro::app::add_demo_command(app, exit_code);
    corro::app::add_journal_command(app, exit_code);
    corro::app::add_rules_command(app, exit_code);
    corro::app::add_book_command(app, exit_code);
    corro::app::add_export_command(app, exit_code);
    corro::app::add_journal_index_command(app, exit_code);
    corro::app::add_journal_backup_command(app, exit_code);
    corro::app::add_definitions_command(app, exit_code);
    corro::app::add_lab_command(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return refuse_command_line(app, e, argc, argv);
    } catch (const std::system_error& e) {
        fmt::print(stderr, "corro: {}\n{}", e.what(), advice_for(e.code()));
        return 1;
    } catch (const std::exception& e) {
        fmt::print(stderr, "corro: {}\n", e.what());
        return 1;
    }
    return exit_code;
}
