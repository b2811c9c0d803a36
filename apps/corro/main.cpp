// The program `corro`: an exchange, and the tools around it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "commands.hpp"

int main(int argc, char** argv) {
    CLI::App app{"Corro: a derivatives exchange and the tools around it.", "corro"};
    app.set_version_flag("--version", CORRO_VERSION);
    app.require_subcommand(1);
    app.get_formatter()->column_width(38);
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
    corro::app::add_definitions_command(app, exit_code);
    corro::app::add_lab_command(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e);
    } catch (const std::exception& e) {
        fmt::print(stderr, "corro: {}\n", e.what());
        return 1;
    }
    return exit_code;
}
