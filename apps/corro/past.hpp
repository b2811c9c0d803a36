// SPDX-License-Identifier: Apache-2.0
// Shared by the subcommands that read a journal's past: options, opening the journal, showing progress.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line/command_line.hpp"
#include "history/timeline.hpp"
#include "io/loop/context.hpp"
#include "journal/storage.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::app {

struct past_options {
    std::string config;
    std::string journal;
    std::string partition;
    bool ignores_index = false;
};

void add_past_options(const subcommand& to, past_options& options);

/// One journal, with the configuration of the venue or partition that wrote it.
struct journal_source {
    std::string partition;  ///< empty in a venue without partitions
    node::configuration configuration;
    std::string directory;
    bool ignores_index = false;
};

/// Returns the journals that the options select, in the order of the partitions: the venue's, one partition's, or those
/// of all partitions if the options name none. The last are reduced to one if `instrument` is configured.
/// @throws node::configuration_error, std::runtime_error with a sentence for the operator.
[[nodiscard]] std::vector<journal_source> journals_of(const past_options& options, const std::string& instrument = {});

/// Throws if there are several journals: `option` has a meaning in one only. @throws std::runtime_error
void require_one(const std::vector<journal_source>& journals, const std::string& option);

/// A journal with its venue's configuration, and the venue at one moment.
class past {
 public:
    /// @throws std::runtime_error with a sentence for the operator.
    explicit past(const journal_source& source);

    [[nodiscard]] history::timeline& timeline() noexcept { return *timeline_; }
    [[nodiscard]] const history::timeline& timeline() const noexcept { return *timeline_; }
    [[nodiscard]] io::context& context() noexcept { return context_; }
    /// Returns the instrument `name` at this moment; nullptr if there is none.
    [[nodiscard]] const domain::instrument* find(const std::string& name) const;

    /// Moves to a moment. @throws std::runtime_error
    void go_to(history::moment at);
    /// Executes commands up to a moment. @throws std::runtime_error
    void advance(history::moment until, facility::event_consumer& heard, history::command_listener* commands = nullptr);

 private:
    io::context context_;
    journal::disk_storage disk_;
    std::unique_ptr<history::timeline> timeline_;
};

/// Collects the instruments of the journals in which one was not found.
class unknown_instrument {
 public:
    unknown_instrument(std::string name, const std::vector<journal_source>& journals);
    void add_known(const past& journal);
    /// @throws std::runtime_error with the names of the instruments.
    [[noreturn]] void report() const;

 private:
    std::string name_;
    std::string place_;
    std::string known_;
};

/// Reads the moment in an option's value. @throws std::runtime_error
[[nodiscard]] history::moment moment_of(const std::string& option, const std::string& text);

}  // namespace corro::app
