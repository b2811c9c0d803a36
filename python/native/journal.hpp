// SPDX-License-Identifier: Apache-2.0
// A venue's journal for Python: what happened as frames, and the book at any moment.
//
// Threads: one call at a time; others wait.
// Cost: a facility in memory once the past is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/errors.hpp"
#include "native/frame.hpp"

namespace corro::python {

/// Called now and then during long work; what it throws ends the work.
using interruption = std::function<void()>;

/// A moment of a journal: after a command, at a time, or the end.
struct when {
    enum class kind : std::uint8_t { sequence, time, end };
    kind what = kind::end;
    std::int64_t value = 0;
};

struct instrument_facts {
    std::string name;
    std::uint32_t id = 0;
    std::string kind;
    double tick_size = 0;
    std::uint32_t lot_size = 1;
    std::int64_t expiry_ns = 0;  ///< 0: does not expire
    int decimals = 0;            ///< that its prices need at most
};

struct journal_place {
    std::string config;
    std::string directory;  ///< empty: the configuration's
    std::string partition;  ///< empty: the only one
    bool ignores_index = false;
};

/// Which tables, of which instrument, between which moments. Both moments are included.
struct journal_choice {
    bool orders = false;
    bool trades = false;
    bool levels = false;
    bool quotes = false;
    std::string instrument;  ///< empty: all
    when from{when::kind::sequence, 0};
    when to;
};

struct journal_frames {
    frame_pointer orders;
    frame_pointer trades;
    frame_pointer levels;
    frame_pointer quotes;
};

/// A book after a command. Prices that do not exist are NaN.
struct book_facts {
    std::string instrument;
    std::uint64_t sequence = 0;
    std::int64_t time_ns = 0;
    frame_pointer levels;  ///< both sides, best first
    frame_pointer orders;  ///< by priority; null unless asked for
    double last = 0;
    double high = 0;
    double low = 0;
    double open = 0;
    std::uint64_t volume = 0;
    std::uint64_t open_interest = 0;
};

struct index_facts {
    std::uint64_t snapshots_written = 0;
    std::uint64_t snapshots = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t commands = 0;  ///< of the journal
};

class journal {
 public:
    /// @throws setup_error, data_error, argument_error
    explicit journal(journal_place place);
    ~journal();
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;

    [[nodiscard]] const std::string& directory() const noexcept;
    /// Those of the configuration; operators may have defined others later.
    [[nodiscard]] const std::vector<instrument_facts>& instruments() const noexcept;

    /// @throws data_error, argument_error, what `interrupted` throws
    [[nodiscard]] journal_frames read(const journal_choice& what, const interruption& interrupted);
    /// @param instrument  Empty: the only one.
    /// @param depth       Of each side; 0 for all.
    /// @throws as above
    [[nodiscard]] book_facts book_at(when at, const std::string& instrument, std::uint32_t depth, bool with_orders,
                                     const interruption& interrupted);
    /// Writes LOBSTER's two files for each instrument and day into a directory, which is made. @return Lines. @throws as above
    std::uint64_t to_lobster(const std::string& directory, const std::string& instrument, std::uint32_t depth, when from, when to,
                             const interruption& interrupted);
    /// Adds the missing snapshots, so that books are near one. @throws as above
    index_facts make_index(std::uint64_t interval, const interruption& interrupted);

 private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace corro::python
