// The venue of a simulated run, on its host: started, killed, left without power, and started again.
//
// What was killed goes on as a ghost (sim/process.hpp): it is closed, and destroyed when it has come to its end.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "io/loop/context.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/venue.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

class served_venue {
 public:
    served_venue(sim::host& on, node::configuration c, findings* found)
        : host_(on), configuration_(std::move(c)), found_(found) {}
    served_venue(const served_venue&) = delete;
    served_venue& operator=(const served_venue&) = delete;
    /// @pre `has_ghosts` is false and no life runs (asserted by the contexts).
    ~served_venue() = default;

    /// Starts a process. @pre None runs (asserted).
    void start();
    /// Ends the process as by kill -9. Does nothing if none runs.
    void kill();
    /// Ends it with its host's power. Does nothing if that has none.
    void cut_power();
    /// Closes it in order; `is_running` is false when it has ended.
    void close();
    /// Destroys what has come to its end, and notices a process that ended by itself. To be called often, outside of
    /// the world's turns.
    void tend();

    [[nodiscard]] bool is_running() const noexcept { return current_ != nullptr; }
    [[nodiscard]] bool is_serving() const noexcept { return current_ != nullptr && current_->is_started; }
    [[nodiscard]] bool has_ghosts() const noexcept { return !ghosts_.empty(); }
    /// @pre It is serving.
    [[nodiscard]] const node::venue& now() const noexcept { return *current_->venue; }
    [[nodiscard]] std::uint64_t starts_count() const noexcept { return starts_count_; }

 private:
    struct life {
        life(sim::process& of, const node::configuration& c)
            : process(of), venue(std::make_unique<node::venue>(context, c)) {}
        sim::process& process;
        io::context context{io::context_options(process)};
        std::unique_ptr<node::venue> venue;
        bool is_started = false;
        bool is_closing = false;
        bool has_ended = false;
        std::string failure;
        io::task_scope tasks{context};
    };
    static io::task<void> live(life* own);
    static void close(life& which);
    void make_ghost();

    sim::host& host_;
    node::configuration configuration_;
    findings* found_;
    std::unique_ptr<life> current_;
    std::list<std::unique_ptr<life>> ghosts_;
    std::uint64_t starts_count_ = 0;
};

}  // namespace corro::simulation
