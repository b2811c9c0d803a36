// SPDX-License-Identifier: Apache-2.0
// The subcommands of the program `corro`, one file each. Each function registers its subcommand with the command line.
#pragma once

#include "apps/command_line/command_line.hpp"

namespace corro::app {

void add_serve_command(command_line& line);
void add_load_command(command_line& line);
void add_replay_command(command_line& line);
void add_watch_command(command_line& line);
void add_client_command(command_line& line);
void add_demo_command(command_line& line);
void add_proxy_command(command_line& line);
void add_journal_command(command_line& line);
void add_rules_command(command_line& line);
void add_book_command(command_line& line);
void add_export_command(command_line& line);
/// Call after `add_journal_command`.
void add_journal_index_command(command_line& line);
/// Call after `add_journal_command`.
void add_journal_backup_command(command_line& line);
void add_definitions_command(command_line& line);
void add_generate_command(command_line& line);
void add_lab_command(command_line& line);
void add_simulate_command(command_line& line);
void add_market_command(command_line& line);

}  // namespace corro::app
