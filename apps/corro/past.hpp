// What the subcommands that look at a journal's past have in common: which journal, opening it, showing progress.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/command_line/command_line.hpp"
#include "history/timeline.hpp"
#include "io/loop/context.hpp"
#include "journal/storage.hpp"
#include "node/configuration.hpp"

namespace corro::app {

struct past_options {
    std::string config;
    std::string journal;
    std::string segment;
    bool ignores_index = false;
};

void add_past_options(const subcommand& to, past_options& options);

/// A journal whose venue is known, and the venue at some moment of it.
class past {
 public:
    /// @throws node::configuration_error, std::runtime_error with a sentence for the operator.
    explicit past(const past_options& options);

    [[nodiscard]] const node::configuration& configuration() const noexcept { return configuration_; }
    [[nodiscard]] history::timeline& timeline() noexcept { return *timeline_; }
    [[nodiscard]] io::context& context() noexcept { return context_; }
    /// The instrument of that name at this moment; nullptr when there is none.
    [[nodiscard]] const domain::instrument* find(const std::string& name) const;
    /// The same. @throws std::runtime_error that lists the names there are.
    [[nodiscard]] const domain::instrument& instrument(const std::string& name) const;

    /// Goes there. @throws std::runtime_error
    void go_to(history::moment at);
    /// Executes commands up to a moment. @throws std::runtime_error
    void advance(history::moment until, facility::event_consumer& heard, history::command_listener* commands = nullptr);

 private:
    node::configuration configuration_;
    io::context context_;
    journal::disk_storage disk_;
    std::unique_ptr<history::timeline> timeline_;
};

/// Reads a moment for an option of that name. @throws std::runtime_error
[[nodiscard]] history::moment moment_of(const std::string& option, const std::string& text);

}  // namespace corro::app
