// SPDX-License-Identifier: Apache-2.0
// A process of the simulated venue, on its host: started, killed, left without power, and started again.
//
// What was killed goes on as a ghost (sim/process.hpp): it is closed, and destroyed when it has come to its end.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/loop/context.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "sim/host.hpp"
#include "sim/process.hpp"

namespace corro::simulation {

/// What a process runs: a whole venue, or one of its roles.
class program {
 public:
    virtual ~program() = default;
    /// Fails with an exception when it cannot start.
    virtual io::task<void> start() = 0;
    /// Serves until `close`, or until it cannot go on. @pre Started.
    virtual io::task<void> run() = 0;
    /// @pre Started.
    virtual void close() noexcept = 0;
    /// Why it cannot go on; empty if it can.
    [[nodiscard]] virtual std::string failure() const = 0;
};

/// Makes a program. Fails with an exception when that is impossible now.
using program_maker = std::function<std::unique_ptr<program>(io::context&)>;

/// The end of a process that nobody has killed.
struct process_end {
    bool had_started = false;  ///< it had recovered, and served
    bool was_closed = false;
    std::string failure;  ///< empty for none
    std::string left;     ///< what its context still had when its program was destroyed; empty for nothing
};

class served_process {
 public:
    served_process(sim::host& on, std::string name, program_maker make)
        : host_(on), name_(std::move(name)), make_(std::move(make)) {}
    served_process(const served_process&) = delete;
    served_process& operator=(const served_process&) = delete;
    /// @pre `has_ghosts` is false and no life runs (asserted by the contexts).
    ~served_process() = default;

    /// Starts it. @pre It does not run (asserted).
    void start();
    /// Ends it as by kill -9. Does nothing if it does not run.
    void kill();
    /// Its host has lost its power.
    void lose_power();
    /// Closes it in order; `is_running` is false when it has ended.
    void close();
    /// Destroys what has come to its end. To be called often, outside of the world's turns.
    /// @return How it has ended, if it has and was not killed.
    std::optional<process_end> tend();
    /// While true, it can open no further socket.
    void set_without_descriptors(bool without) noexcept;

    [[nodiscard]] bool is_running() const noexcept { return current_ != nullptr; }
    [[nodiscard]] bool is_serving() const noexcept { return current_ != nullptr && current_->is_started; }
    [[nodiscard]] bool has_ghosts() const noexcept { return !ghosts_.empty(); }
    /// Whether it serves, and reports that it cannot go on.
    [[nodiscard]] bool has_failed() const { return is_serving() && !current_->runs->failure().empty(); }
    /// @pre It is running.
    [[nodiscard]] const program& now() const noexcept { return *current_->runs; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint64_t starts_count() const noexcept { return starts_count_; }

 private:
    struct life {
        explicit life(sim::process& of) : process(of) {}
        sim::process& process;
        io::context context{io::context_options(process)};
        std::unique_ptr<program> runs;
        bool is_started = false;
        bool is_closing = false;
        bool has_ended = false;
        std::string failure;
        io::task_scope tasks{context};
    };
    static io::task<void> live(life* own);
    static void close(life& which);
    void make_ghost();
    [[nodiscard]] std::string destroy_program();

    sim::host& host_;
    std::string name_;
    program_maker make_;
    std::unique_ptr<life> current_;
    std::list<std::unique_ptr<life>> ghosts_;
    std::uint64_t starts_count_ = 0;
};

}  // namespace corro::simulation
