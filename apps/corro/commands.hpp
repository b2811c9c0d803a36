// The subcommands of the program `corro`, one file each. Each registers itself with the argument parser; when it was
// chosen, its callback does the work and puts the exit code into `exit_code`.
#pragma once

#include <CLI/CLI.hpp>

namespace corro::app {

void add_serve_command(CLI::App& app, int& exit_code);
void add_load_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_watch_command(CLI::App& app, int& exit_code);
void add_client_command(CLI::App& app, int& exit_code);
void add_demo_command(CLI::App& app, int& exit_code);
void add_journal_command(CLI::App& app, int& exit_code);
void add_rules_command(CLI::App& app, int& exit_code);
void add_book_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app, int& exit_code);
/// After whatever else adds to the command `journal`.
void add_journal_index_command(CLI::App& app, int& exit_code);
/// Likewise.
void add_journal_backup_command(CLI::App& app, int& exit_code);
void add_definitions_command(CLI::App& app, int& exit_code);
void add_lab_command(CLI::App& app, int& exit_code);

}  // namespace corro::app
