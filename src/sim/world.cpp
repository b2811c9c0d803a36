#include "sim/world.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"
#include "sim/memory_backend.hpp"

namespace corro::sim {
namespace {

/// A context that is stepped with the others.
class memory_worker final : public io::worker {
 public:
    memory_worker(world& in, io::context_options options) : world_(in), context_(options) {}
    ~memory_worker() override { CORRO_ASSERT(!is_started(), "a worker goes after its work was joined"); }

    [[nodiscard]] io::context& where() noexcept override { return context_; }

    void start(io::task<void> work) override {
        CORRO_ASSERT(!is_started(), "a worker has one work at a time");
        done_ = false;
        keeps_running_.emplace(context_);
        context_.deliver(begin_);
        work_ = noting_the_end(std::move(work));
    }

    void join() override {
        if (!is_started()) return;
        world_.run_others_until(&done_);
        keeps_running_.reset();
        work_ = {};
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    [[nodiscard]] bool is_started() const noexcept override { return keeps_running_.has_value(); }

 private:
    struct begin_message : io::remote_item {
        explicit begin_message(memory_worker* of) noexcept : remote_item(nullptr, &arrived), self(of) {}
        static void arrived(io::remote_item& message, io::context& on) noexcept {
            memory_worker& self = *static_cast<begin_message&>(message).self;
            self.work_.promise().started_by(std::noop_coroutine(), io::environment(&on, io::stop_token()));
            self.work_.coroutine().resume();
        }
        memory_worker* self;
    };

    io::task<void> noting_the_end(io::task<void> work) {
        try {
            co_await std::move(work);
        } catch (...) {
            failure_ = std::current_exception();
        }
        done_ = true;
    }

    world& world_;
    io::context context_;
    begin_message begin_{this};
    io::task<void> work_;
    std::exception_ptr failure_;
    bool done_ = true;
    std::optional<io::work_guard> keeps_running_;
};

class memory_machine final : public io::platform {
 public:
    explicit memory_machine(world& in) noexcept : world_(in) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "memory"; }
    [[nodiscard]] made_backend make_backend() override { return {std::make_unique<memory_backend>(world_), {}}; }
    [[nodiscard]] io::steady_time now() noexcept override { return world_.now(); }
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() noexcept override { return world_.wall_now(); }
    [[nodiscard]] const io::tick_clock& ticks() override { return world_.ticks(); }

    void fill_random(std::span<std::byte> into) noexcept override {
        for (std::byte& each : into) each = static_cast<std::byte>(world_.random()() >> 56U);
    }

    [[nodiscard]] io::task<io::resolved> look_up(std::string host, std::uint16_t port) override {
        const auto found = world_.names().find(host);
        if (found == world_.names().end()) co_return std::unexpected(make_error_code(io::errc::host_not_found));
        std::vector<io::endpoint> addresses;
        for (const io::endpoint& each : found->second) addresses.push_back(each.with_port(port));
        co_return addresses;
    }

    /// Faults are those of another disk (asserted): this one does what it is told.
    [[nodiscard]] std::unique_ptr<io::storage> make_storage(io::context& /*on*/, io::file_faults* faults) override {
        CORRO_ASSERT(faults == nullptr, "a disk in memory has no faults");
        return world_.disk().make_storage();
    }

    [[nodiscard]] std::unique_ptr<io::worker> make_worker(io::context_options options) override {
        options.on = this;
        return std::make_unique<memory_worker>(world_, options);
    }

 private:
    world& world_;
};

}  // namespace

world::world(std::uint64_t seed) : ticks_(&now_ns_), random_(seed), machine_(std::make_unique<memory_machine>(*this)) {}

world::~world() {
    CORRO_ASSERT(members_.empty(), "the contexts of a world go before it");
}

std::chrono::system_clock::time_point world::wall_now() const noexcept {
    return std::chrono::system_clock::time_point(beginning) + std::chrono::nanoseconds(now_ns_) + wall_offset_;
}

void world::leave(memory_backend& member) noexcept {
    std::erase(members_, &member);
}

/// One turn of every context that is not being run. @return Whether any of them did something.
bool world::step_others() {
    bool any = false;
    // By index: a step may make contexts and destroy them.
    for (std::size_t i = 0; i < members_.size(); ++i) {
        io::context& each = members_[i]->where();
        if (each.running()) continue;
        const bool had_news = members_[i]->take_news();
        any = each.step() || had_news || any;
    }
    return any;
}

io::steady_time world::next_due_of_others() const noexcept {
    io::steady_time due = io::steady_time::max();
    for (const memory_backend* each : members_) {
        if (!each->where().running()) due = std::min(due, each->where().next_due());
    }
    return due;
}

void world::wait(memory_backend& waiting, std::chrono::nanoseconds timeout) {
    if (waiting.take_news() || timeout.count() == 0) return;
    if (waiting.where().is_stepping()) return;  // its turn is over; the others have theirs
    const io::steady_time end = timeout.count() < 0 ? io::steady_time::max() : now() + timeout;
    while (now() < end) {
        const bool any = step_others();
        if (waiting.take_news()) return;
        if (any) continue;
        const io::steady_time due = std::min(end, next_due_of_others());
        CORRO_ASSERT(due != io::steady_time::max(), "every task of this world waits for something that does not come");
        now_ns_ = static_cast<std::uint64_t>(due.time_since_epoch().count());
    }
}

void world::run_others_until(const bool* done) {
    while (!*done) {
        if (step_others()) continue;
        const io::steady_time due = next_due_of_others();
        CORRO_ASSERT(due != io::steady_time::max(), "every task of this world waits for something that does not come");
        now_ns_ = std::max(now_ns_, static_cast<std::uint64_t>(due.time_since_epoch().count()));
    }
}

}  // namespace corro::sim
