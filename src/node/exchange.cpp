#include "node/exchange.hpp"

#include "io/block_on.hpp"
#include "io/scope.hpp"
#include "io/yield.hpp"
#include "node/limits.hpp"

namespace corro::node {
namespace {

std::unique_ptr<facility_thread> thread_of(io::context& context, const configuration& c, order_entry_side& orders) {
    if (c.threading == threading_mode::inline_) return nullptr;
    return std::make_unique<facility_thread>(context, orders.commands(), c.busy_poll);
}

}  // namespace

exchange::exchange(io::context& context, const configuration& c)
    : context_(context),
      orders_(context, c, clock_),
      feed_(context, c),
      edges_(&orders_, &feed_),
      thread_(thread_of(context, c, orders_)),
      host_(facility_options_of(c), c.instruments, clock_, edges_) {
    if (!c.journal_directory.empty()) {
        io::context& own = thread_ != nullptr ? thread_->context() : context_;
        journal_ = std::make_unique<host_journal>(own, c);
        io::block_on(own, journal_->recover(host_, [this](const domain::command& each) { orders_.note(each); }));
    }
    if (thread_ != nullptr) host_.set_outlet(*thread_);
}

exchange::~exchange() {
    if (thread_ != nullptr) thread_->stop();
}

io::task<void> exchange::run() {
    io::task_scope journaling(context_);
    io::task_scope pumping(context_);
    if (thread_ != nullptr) {
        thread_->start(host_, journal_.get());
        pumping.spawn(pump_split());
    } else {
        if (journal_ != nullptr) {
            journaling.spawn(journal_->run());
            journaling.spawn(follow_journal());
        }
        pumping.spawn(pump_inline());
    }
    io::task_scope publishing(context_);
    publishing.spawn(feed_.run());
    co_await orders_.run();
    feed_.close();
    co_await publishing.join();
    pumping.request_stop();
    co_await pumping.join();
    if (thread_ != nullptr) {
        thread_->stop();
    } else if (journal_ != nullptr) {
        journal_->close();
    }
    co_await journaling.join();
}

// Everything on this thread: commands out of the queue, through the host, and the events where they belong.
io::task<void> exchange::pump_inline() {
    gateway::command_queue& commands = orders_.commands();
    domain::command command;
    while (true) {
        for (std::size_t i = 0; i < commands_batch_max && host_.has_room() && commands.try_pop(command); ++i) {
            ++taken_count_;
            if (!host_.execute(command)) [[unlikely]] {
                orders_.turn_away(command);
                continue;
            }
            orders_.note(command);
            if (host_.released_count() == host_.emitted_count()) orders_.answered(taken_count_);
        }
        if (journal_ != nullptr) marks_.note(taken_count_, host_.emitted_count());
        publish_progress();
        if (!commands.empty() && host_.has_room()) {
            co_await io::yield();
        } else if (co_await commands.filled().wait()) {
            co_return;  // stopped
        }
    }
}

// Lets leave what may leave, and says how far the commands are answered.
void exchange::publish_progress() noexcept {
    if (journal_ != nullptr) {
        host_.release();
        // What waits for a journal that has failed is never answered; nobody shall wait for it.
        orders_.answered(host_.failed() ? taken_count_ : marks_.answered(host_.released_count()));
    }
    edges_.flush();
}

// Inline: what the journal has made durable may leave, and commands that found no room may come.
io::task<void> exchange::follow_journal() {
    while (!journal_->ended()) {
        const std::error_code stopped = co_await journal_->writer().progressed().wait();
        if (stopped) co_return;
        publish_progress();
        orders_.commands().filled().set();
    }
}

// The host runs on its own thread; here its events arrive.
io::task<void> exchange::pump_split() {
    while (true) {
        if (thread_->drain(edges_, orders_)) {
            edges_.flush();
            co_await io::yield();
            continue;
        }
        const std::error_code stopped = co_await thread_->bell().wait();
        if (stopped) co_return;
    }
}

}  // namespace corro::node
