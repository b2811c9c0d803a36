// SPDX-License-Identifier: Apache-2.0
// `corro definitions`: prints recorded instrument definitions as a venue's configuration.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "domain/decimal.hpp"
#include "recorded/recorded_definitions.hpp"
#include "recorded/recorded_reader.hpp"

namespace corro::app {
namespace {

namespace dbn = recorded::dbn;

struct definitions_options {
    std::vector<std::filesystem::path> files;
    std::string tick_size;
};

void read_file(const std::filesystem::path& path, recorded::recorded_definitions& into) {
    auto reader = recorded::recorded_reader<dbn::decoder>::open(path);
    if (!reader) throw std::runtime_error(fmt::format("{}: {}", path.string(), reader.error().message()));
    for (;;) {
        const auto record = reader->next();
        if (!record) throw std::runtime_error(reader->explain(record.error()));
        if (!*record) return;
        if ((*record)->type == dbn::record_type::instrument_definition) {
            into.add((*record)->as_instrument_definition());
        }
    }
}

int run(const definitions_options& options) {
    domain::price_nano tick_size;
    if (!options.tick_size.empty()) {
        const domain::parsed_decimal read = domain::parse_decimal(options.tick_size);
        if (!read.problem.empty() || read.nano <= 0)
            throw std::runtime_error("--tick-size: expected a positive decimal");
        tick_size = domain::price_nano{read.nano};
    }
    recorded::recorded_definitions all(tick_size);
    for (const std::filesystem::path& path : options.files) read_file(path, all);
    const recorded::recorded_instruments made = all.finish();
    for (const domain::instrument& i : made.instruments) fmt::print("{}\n", recorded::to_configuration(i));
    for (const std::string& line : made.left_out) fmt::print(stderr, "left out {}\n", line);
    return 0;
}

}  // namespace

void add_definitions_command(command_line& line) {
    const auto options = std::make_shared<definitions_options>();
    const subcommand command = line.add_subcommand(
        "definitions", "Print the instruments of recorded definition files as tables for a venue's configuration");
    command
        .add_option("files", options->files,
                    "DBN files, plain or compressed; the legs of a spread may be in another file")
        .required();
    command.add_option("--tick-size", options->tick_size, "Tick size of instruments whose definition has none");
    command.footer(
        "The command leaves out what cannot be an instrument of the venue, and prints the reason on standard error.");
    command.runs([options] { return run(*options); });
}

}  // namespace corro::app
