// The journal of a host: starting is recovering, running is writing.
//
// `recover` takes the journal's directory for this process, loads the newest snapshot that is sound, replays the
// commands behind it through the host, and opens the journal for what comes. Sessions and feed learn the replayed
// events as they would have learnt them live, so that their numbers go on where they ended.
//
// Threads: the host's context; snapshots are saved on that of sessions and feed. Limits: the configuration's.
// Cost: recovery reads a snapshot, and reads and executes the journal behind it.
// Source: docs/spec/journal.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "io/context.hpp"
#include "io/task.hpp"
#include "journal/reader.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/storage.hpp"
#include "journal/writer.hpp"
#include "node/configuration.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {

/// Why a host cannot start: its journal is damaged, another venue's, in use, or out of the system's reach. `what()` is
/// a whole sentence for the operator.
class recovery_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class host_journal {
 public:
    /// @param context        The host's.
    /// @param edge           The context of sessions and feed; the same one unless the host has its own.
    /// @param configuration  Has a journal directory.
    host_journal(io::context& context, io::context& edge, const configuration& configuration);

    /// Brings the venue to where the journal ends, and lets the host journal from then on. Fails with recovery_error.
    [[nodiscard]] io::task<void> recover(venue_parts parts);

    // --- Recovering step by step, where the commands of several journals go between each other: segment_recovery.hpp
    // --

    /// Takes the directory for this process.
    [[nodiscard]] io::task<void> take_directory();
    /// The newest sound snapshot of a command not after `sequence`, if the journal has what comes behind it; that is
    /// then what `fetch` gives.
    [[nodiscard]] io::task<std::optional<journal::stored_snapshot>> find_snapshot(std::uint64_t sequence);
    /// Lets `fetch` begin with the journal's first command.
    [[nodiscard]] io::task<void> begin_at_first();
    /// Takes note that a snapshot was loaded, and of a sentence about one that was not.
    void loaded(std::uint64_t sequence) noexcept { snapshot_sequence_ = sequence; }
    void passed_over(std::uint64_t sequence, const std::string& why);
    /// The file of a snapshot.
    [[nodiscard]] std::string path_of_snapshot(std::uint64_t sequence) const;
    /// The next command is `next()`; false: the journal has no more.
    [[nodiscard]] bool has_next() const noexcept { return !behind_.commands.empty(); }
    [[nodiscard]] io::task<void> fetch();
    [[nodiscard]] const domain::command& next() const noexcept { return behind_.commands.front(); }
    void replay_next(matching_host& host) noexcept;
    /// Opens the journal for what comes, and lets the host journal from then on.
    [[nodiscard]] io::task<void> finish(matching_host* host, gateway::answer_log* answers);

    /// Writes what `save_venue` made, removes snapshots beyond those that are kept, and lets the journal's oldest
    /// segments go as configured. What goes wrong is a notice: without a snapshot the next start takes longer.
    /// @pre  Nothing waits for the journal that the state has in it. Not while another one is being saved.
    [[nodiscard]] io::task<void> save_snapshot(std::vector<std::byte> bytes);

    /// Writes until `close`, or until the journal fails; `writer().progressed()` is set a last time then. @pre
    /// Recovered.
    [[nodiscard]] io::task<void> run();
    /// Whether `run` has come to its end.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Lets `run` write what it has, seal the journal and end.
    void close() noexcept { writer_->close(); }

    [[nodiscard]] journal::writer& writer() noexcept { return *writer_; }
    [[nodiscard]] const journal::writer& writer() const noexcept { return *writer_; }
    /// Commands that `recover` replayed, behind the snapshot.
    [[nodiscard]] std::uint64_t replayed_count() const noexcept { return replayed_count_; }
    /// The last command in the newest snapshot that was loaded or saved; 0 if none was.
    [[nodiscard]] std::uint64_t snapshot_sequence() const noexcept { return snapshot_sequence_; }
    /// What the operator should know although it does not hinder the venue, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
    /// Where the commands behind a snapshot come from.
    struct tail {
        std::unique_ptr<journal::reader> reader;
        std::span<const domain::command> commands;  ///< the first of them
    };

    io::task<tail> open_tail(std::uint64_t from);
    io::task<tail> find_tail(const journal::stored_snapshot* snapshot);
    io::task<void> load_newest(venue_parts parts);

    journal::disk_storage files_;
    journal::disk_storage snapshot_files_;  ///< on the edge's context
    io::context& edge_;
    std::string directory_;
    std::size_t snapshots_kept_;
    journal::writer_options options_;
    std::vector<std::string> notices_;
    std::uint64_t snapshot_sequence_ = 0;
    std::unique_ptr<journal::writer> writer_;
    std::optional<journal::directory_lock> lock_;  ///< until the writer has it
    tail behind_;                                  ///< until recovered
    std::uint64_t replayed_count_ = 0;
    bool ended_ = false;
};

}  // namespace corro::node
