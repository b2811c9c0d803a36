// SPDX-License-Identifier: Apache-2.0
#include "api/history_service.hpp"

#include <algorithm>
#include <utility>

namespace corro::api {

history_service::history_service(io::context& on, std::vector<history_source> sources)
    : context_(&on), sources_(std::move(sources)) {}

/// Counts a question of a client for as long as it lives.
class history_service::counted_question {
 public:
    counted_question(history_service& in, io::endpoint client) : in_(&in), client_(client.with_port(0)) {
        ++in_->by_client_[client_];
        ++in_->waiting_count_;
    }
    counted_question(const counted_question&) = delete;
    counted_question& operator=(const counted_question&) = delete;
    ~counted_question() {
        const auto found = in_->by_client_.find(client_);
        if (--found->second == 0) in_->by_client_.erase(found);
        --in_->waiting_count_;
    }

 private:
    history_service* in_;
    io::endpoint client_;
};

io::task<history_result> history_service::ask(history_query query, io::endpoint client) {
    if (sources_.empty()) {
        co_return std::unexpected(api_error(error_code::system_maintenance, {}, "this API has no journal"));
    }
    if (worker_ == nullptr) {
        worker_ = context_->runs_on().make_worker(io::context_options());
        news_ = std::make_unique<io::remote_event>(worker_->where());
        worker_->start(work());
    }
    const auto same = by_client_.find(client.with_port(0));
    if (same != by_client_.end() && same->second >= history_questions_per_client_max) {
        co_return std::unexpected(api_error(error_code::too_many_requests, {}, "the client's questions are waiting"));
    }
    auto mine = std::make_shared<question>(*context_, std::move(query));
    {
        const std::lock_guard lock(guard_);
        if (closing_ || questions_.size() >= history_questions_max) {
            co_return std::unexpected(api_error(error_code::too_many_requests, {}, "many questions are waiting"));
        }
        questions_.push_back(mine);
    }
    ++questions_count_;
    const counted_question here(*this, client);
    news_->set();
    const std::error_code stopped = co_await mine->done.wait();
    if (stopped) {
        ++given_up_count_;
        mine->given_up = true;
        const std::lock_guard lock(guard_);
        std::erase(questions_, mine);
        co_return std::unexpected(api_error(error_code::system_maintenance));
    }
    co_return std::move(mine->result);
}

void history_service::close() noexcept {
    if (worker_ == nullptr || !worker_->is_started()) return;
    {
        const std::lock_guard lock(guard_);
        closing_ = true;
    }
    news_->set();
    worker_->join();
}

std::shared_ptr<history_service::question> history_service::next() {
    const std::lock_guard lock(guard_);
    if (closing_ || questions_.empty()) return nullptr;
    std::shared_ptr<question> one = std::move(questions_.front());
    questions_.pop_front();
    return one;
}

io::task<void> history_service::work() {
    const std::unique_ptr<journal::storage> files = context_->runs_on().make_storage(worker_->where(), nullptr);
    std::vector<std::unique_ptr<history_reader>> readers;
    for (const history_source& each : sources_) {
        readers.push_back(std::make_unique<history_reader>(files.get(), each));
    }
    while (true) {
        const std::shared_ptr<question> one = next();
        if (one != nullptr) {
            if (one->given_up) continue;
            co_await answer(one.get(), &readers);
            one->done.set();
            continue;
        }
        {
            const std::lock_guard lock(guard_);
            if (closing_) co_return;
        }
        const std::error_code stopped = co_await news_->wait();
        if (stopped) co_return;
    }
}

// An instrument that no configuration has may have been defined while the venue ran, in any partition.
io::task<void> history_service::answer(question* one, std::vector<std::unique_ptr<history_reader>>* readers) {
    const auto is_its = [&](const auto& each) { return each->is_configured(one->asked.instrument); };
    const bool is_configured = std::ranges::any_of(*readers, is_its);
    for (const auto& each : *readers) {
        if (is_configured && !is_its(each)) continue;
        const std::uint64_t before = each->commands_count();
        one->result = co_await each->answer(&one->asked, &one->given_up);
        commands_count_ += each->commands_count() - before;
        if (is_configured || one->given_up) co_return;
        if (one->result || one->result.error().code != error_code::invalid_instrument) co_return;
    }
}

}  // namespace corro::api
