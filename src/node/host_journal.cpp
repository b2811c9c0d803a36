#include "node/host_journal.hpp"

#include <span>
#include <utility>

#include "journal/identity.hpp"
#include "journal/reader.hpp"

namespace corro::node {
namespace {

journal::writer_options options_of(const configuration& c) {
    journal::writer_options options;
    options.venue = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments));
    options.mode = c.durability;
    options.segment_bytes = c.journal_segment_bytes;
    options.reserve_bytes = c.journal_segment_bytes / 4;
    return options;
}

[[noreturn]] void refuse(const journal::problem& problem) {
    throw recovery_error(problem.text);
}

}  // namespace

host_journal::host_journal(io::context& context, const configuration& c)
    : files_(context), directory_(c.journal_directory), options_(options_of(c)) {}

io::task<void> host_journal::recover(matching_host& host, std::function<void(const domain::command&)> note) {
    auto lock = co_await journal::directory_lock::take(&files_, directory_);
    if (!lock) refuse(lock.error());
    journal::reader_options reading;
    reading.venue = options_.venue;
    auto reader = co_await journal::reader::open(&files_, directory_, reading);
    if (!reader) refuse(reader.error());
    while (true) {
        const auto commands = co_await (*reader)->next();
        if (!commands) refuse(commands.error());
        if (commands->empty()) break;
        for (const domain::command& command : *commands) {
            note(command);
            host.replay(command);
        }
        replayed_count_ += commands->size();
    }
    auto writer = co_await journal::writer::open(std::move(*lock), (*reader)->end(), options_);
    if (!writer) refuse(writer.error());
    writer_ = std::move(*writer);
    host.set_journal(*writer_);
}

io::task<void> host_journal::run() {
    co_await writer_->run();
    ended_ = true;
    writer_->progressed().set();
}

}  // namespace corro::node
