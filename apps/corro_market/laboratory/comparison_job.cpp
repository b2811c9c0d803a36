// SPDX-License-Identifier: Apache-2.0
#include "comparison_job.hpp"

#include <exception>
#include <utility>

namespace corro::app {
namespace {

/// The samples of all instruments of a whole run; null if it was stopped.
json path_of(const market::scenario& what, std::uint64_t seed, const std::atomic<bool>& stopping) {
    observed_run run(what, seed, false);
    while (run.now_ns() < what.duration_ns) {
        if (stopping) return nullptr;
        run.advance(what.duration_ns);
    }
    json made = json::array();
    for (std::size_t i = 0; i < what.options.instruments.size(); ++i) {
        made.push_back(samples_json(run.samples(i), 0, samples_kept)["rows"]);
    }
    return made;
}

}  // namespace

market::scenario scenario_source::parse() const {
    market::scenario_files from;
    from.data_folder = data_folder;
    return market::parse_scenario(text, file, from);
}

void comparison_job::start(comparison_order what) {
    order_ = std::move(what);
    is_stopping_ = has_ended_ = false;
    done_ = 0;
    paths_ = rows_ = nullptr;
    pairs_count_ = 0;
    failure_.clear();
    version_ += compared_seeds_max;
    worker_ = context_->runs_on().make_worker(io::context_options());
    worker_->start(work());
}

void comparison_job::collect() {
    if (worker_ == nullptr || !has_ended_) return;
    worker_->join();
    worker_.reset();
    ++version_;
}

void comparison_job::end() noexcept {
    if (worker_ == nullptr) return;
    stop();
    worker_->join();
    worker_.reset();
}

json comparison_job::state() const {
    if (!order_) return nullptr;
    json made{{"running", is_running()}, {"at_ns", order_->at_ns},       {"change", order_->change},
              {"seed", order_->seed},    {"seeds", order_->seeds_count}, {"done", done_.load()}};
    if (is_running()) return made;
    if (!failure_.empty()) made["error"] = failure_;
    made["pairs"] = pairs_count_;
    made["paths"] = paths_;
    made["metrics"] = rows_;
    return made;
}

io::task<void> comparison_job::work() {
    try {
        run_pairs();
    } catch (const std::exception& e) {
        failure_ = e.what();
    }
    has_ended_ = true;
    co_return;
}

void comparison_job::run_pairs() {
    // Scenarios of its own: nothing is shared with the laboratory's.
    const market::scenario a = order_->a.parse();
    const market::scenario b = order_->b.parse();
    paths_ = json{{"a", path_of(a, order_->seed, is_stopping_)}, {"b", path_of(b, order_->seed, is_stopping_)}};
    std::vector<run_result> of_a;
    std::vector<run_result> of_b;
    for (std::uint64_t k = 0; k < order_->seeds_count && !is_stopping_; ++k) {
        auto first = run_seed(a, order_->seed + k, &is_stopping_);
        auto second = run_seed(b, order_->seed + k, &is_stopping_);
        if (!first || !second) break;
        of_a.push_back(std::move(*first));
        of_b.push_back(std::move(*second));
        ++done_;
    }
    pairs_count_ = of_a.size();
    if (pairs_count_ >= 2) rows_ = compared_json(compare_runs(of_a, of_b));
}

}  // namespace corro::app
