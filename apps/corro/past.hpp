// Shared by the subcommands that read a journal's past: options, opening the journal, showing progress.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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

/// A journal with its venue's configuration, and the venue at one moment.
class past {
 public:
    /// @throws node::configuration_error, std::runtime_error with a sentence for the operator.
    explicit past(const past_options& options);

    [[nodiscard]] const node::configuration& configuration() const noexcept { return configuration_; }
    [[nodiscard]] history::timeline& timeline() noexcept { return *timeline_; }
    [[nodiscard]] io::context& context() noexcept { return context_; }
    /// Returns the instrument `name` at this moment; nullptr if there is none.
    [[nodiscard]] const domain::instrument* find(const std::string& name) const;
    /// The same. @throws std::runtime_error with the list of names.
    [[nodiscard]] const domain::instrument& instrument(const std::string& name) const;

    /// Moves to a moment. @throws std::runtime_error
    void go_to(history::moment at);
    /// Executes commands up to a moment. @throws std::runtime_error
    void advance(history::moment until, facility::event_consumer& heard, history::command_listener* commands = nullptr);

 private:
    node::configuration configuration_;
    io::context context_;
    journal::disk_storage disk_;
    std::unique_ptr<history::timeline> timeline_;
};

/// Reads the moment in an option's value. @throws std::runtime_error
[[nodiscard]] history::moment moment_of(const std::string& option, const std::string& text);

}  // namespace corro::app
