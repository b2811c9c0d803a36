// The journal of a host: starting is recovering, running is writing.
//
// `recover` takes the journal's directory for this process, replays what is there through the host, and opens the
// journal for what comes. Sessions and feed learn the replayed commands and events as they would have learnt them live,
// so that their numbers go on where they ended.
//
// Threads: the host's context. Cost: recovery reads and executes the whole journal.
// Source: docs/spec/journal.md.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "domain/command.hpp"
#include "io/context.hpp"
#include "io/task.hpp"
#include "journal/storage.hpp"
#include "journal/writer.hpp"
#include "node/configuration.hpp"
#include "node/matching_host.hpp"

namespace corro::node {

/// Why a host cannot start: its journal is damaged, another venue's, in use, or out of the system's reach. `what()` is
/// a whole sentence for the operator.
class recovery_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class host_journal {
 public:
    /// @param configuration  Has a journal directory.
    host_journal(io::context& context, const configuration& configuration);

    /// Replays the journal through `host`, tells `note` each command before its events, and lets the host journal from
    /// then on. Fails with recovery_error.
    [[nodiscard]] io::task<void> recover(matching_host& host, std::function<void(const domain::command&)> note);

    /// Writes until `close`, or until the journal fails; `writer().progressed()` is set a last time then. @pre
    /// Recovered.
    [[nodiscard]] io::task<void> run();
    /// Whether `run` has come to its end.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Lets `run` write what it has, seal the journal and end.
    void close() noexcept { writer_->close(); }

    [[nodiscard]] journal::writer& writer() noexcept { return *writer_; }
    [[nodiscard]] const journal::writer& writer() const noexcept { return *writer_; }
    /// Commands that `recover` replayed.
    [[nodiscard]] std::uint64_t replayed_count() const noexcept { return replayed_count_; }

 private:
    journal::disk_storage files_;
    std::string directory_;
    journal::writer_options options_;
    std::unique_ptr<journal::writer> writer_;
    std::uint64_t replayed_count_ = 0;
    bool ended_ = false;
};

}  // namespace corro::node
