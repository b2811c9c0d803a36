#include "node/exchange.hpp"

#include <algorithm>

#include "io/scope.hpp"
#include "io/yield.hpp"
#include "node/limits.hpp"

namespace corro::node {
namespace {

std::unique_ptr<facility_thread> thread_of(io::context& context, const configuration& c, order_entry_side& orders) {
    if (c.threading == threading_mode::inline_) return nullptr;
    return std::make_unique<facility_thread>(context, orders.commands(), c.busy_poll);
}

event_outlet& outlet_of(edges& direct, facility_thread* thread) {
    if (thread != nullptr) return *thread;
    return direct;
}

}  // namespace

exchange::exchange(io::context& context, const configuration& c)
    : context_(context),
      orders_(context, c, clock_),
      feed_(context, c),
      edges_(&orders_, &feed_),
      thread_(thread_of(context, c, orders_)),
      host_(facility_options_of(c), c.instruments, clock_, outlet_of(edges_, thread_.get())) {}

exchange::~exchange() {
    if (thread_ != nullptr) thread_->stop();
}

io::task<void> exchange::run() {
    io::task_scope pumping(context_);
    if (thread_ != nullptr) thread_->start(host_);
    pumping.spawn(thread_ != nullptr ? pump_split() : pump_inline());
    io::task_scope publishing(context_);
    publishing.spawn(feed_.run());
    co_await orders_.run();
    feed_.close();
    co_await publishing.join();
    pumping.request_stop();
    co_await pumping.join();
    if (thread_ != nullptr) thread_->stop();
}

// Everything on this thread: commands out of the queue, through the host, and the events where they belong.
io::task<void> exchange::pump_inline() {
    gateway::command_queue& commands = orders_.commands();
    domain::command command;
    std::uint64_t taken_count = 0;
    while (true) {
        for (std::size_t i = 0; i < commands_batch_max && commands.try_pop(command); ++i) {
            host_.execute(command);
            orders_.note(command);
            orders_.answered(++taken_count);
        }
        edges_.flush();
        if (!commands.empty()) {
            co_await io::yield();
        } else if (co_await commands.filled().wait()) {
            co_return;  // stopped
        }
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
