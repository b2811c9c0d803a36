// SPDX-License-Identifier: Apache-2.0
// The program `corro`: an exchange, and the tools around it.

#include "commands.hpp"

int main(int argc, char** argv) {
    corro::app::command_line line("corro", "Corro: a derivatives exchange and the tools around it.", CORRO_VERSION);
    line.footer(
        "`corro SUBCOMMAND --help` shows details. Start with `corro demo`; docs/howto/ has a page for each task.\n"
        "Exit code: 0 on success, 1 on failure, 2 if the command line is invalid.");
    corro::app::add_serve_command(line);
    corro::app::add_load_command(line);
    corro::app::add_replay_command(line);
    corro::app::add_watch_command(line);
    corro::app::add_client_command(line);
    corro::app::add_demo_command(line);
    corro::app::add_proxy_command(line);
    corro::app::add_journal_command(line);
    corro::app::add_rules_command(line);
    corro::app::add_book_command(line);
    corro::app::add_export_command(line);
    corro::app::add_journal_index_command(line);
    corro::app::add_journal_backup_command(line);
    corro::app::add_definitions_command(line);
    corro::app::add_generate_command(line);
    corro::app::add_lab_command(line);
    corro::app::add_simulate_command(line);
    corro::app::add_market_command(line);
    line.add_descriptions();
    return line.run(argc, argv);
}
