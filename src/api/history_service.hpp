// SPDX-License-Identifier: Apache-2.0
// Questions about the past, answered beside the API's loop: on a worker, which has a thread of its own.
//
// Questions wait in a queue and are answered one after the other. A question that takes long delays other questions
// about the past, and nothing else. One whose client has gone is not executed, or not further.
//
// Limits:  history_questions_max, history_questions_per_client_max.
// Threads: the API's context, except what runs on the worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api/history_query.hpp"
#include "api/history_reader.hpp"
#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/net/endpoint.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "journal/storage.hpp"

namespace corro::api {

/// Questions that wait; a further one is refused.
inline constexpr std::size_t history_questions_max = 64;
/// Questions of one client that wait or are being answered. A page of the dashboard has two at a time.
inline constexpr std::size_t history_questions_per_client_max = 8;
static_assert(history_questions_per_client_max < history_questions_max);

class history_service {
 public:
    /// @param on       The API's. @param sources  One per partition; without any there is no past.
    history_service(io::context& on, std::vector<history_source> sources);
    ~history_service() { close(); }
    history_service(const history_service&) = delete;
    history_service& operator=(const history_service&) = delete;

    [[nodiscard]] bool is_there() const noexcept { return !sources_.empty(); }
    /// Answers a question. @param client  Its address; the port does not matter.
    /// @error As history_reader; too_many_requests when the queue or the client's share of it is full;
    /// system_maintenance without a journal. @suspend Until the worker has answered. @cancel Gives the question up.
    [[nodiscard]] io::task<history_result> ask(history_query query, io::endpoint client);
    /// Ends the worker after its current question.
    void close() noexcept;

    [[nodiscard]] std::uint64_t questions_count() const noexcept { return questions_count_; }
    /// Questions that were given up before their answer.
    [[nodiscard]] std::uint64_t given_up_count() const noexcept { return given_up_count_; }
    /// Questions that wait or are being answered.
    [[nodiscard]] std::size_t waiting_count() const noexcept { return waiting_count_; }
    /// Commands that the worker has executed for all answers.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return commands_count_; }

 private:
    class counted_question;
    struct question {
        question(io::context& on, history_query query) : asked(std::move(query)), done(on) {}
        history_query asked;
        history_result result = std::unexpected(api_error(error_code::system_maintenance));
        io::remote_event done;
        std::atomic<bool> given_up = false;  ///< set by the API, read by the worker
    };

    [[nodiscard]] io::task<void> work();
    [[nodiscard]] io::task<void> answer(question* one, std::vector<std::unique_ptr<history_reader>>* readers);
    [[nodiscard]] std::shared_ptr<question> next();

    io::context* context_;
    std::vector<history_source> sources_;
    std::unique_ptr<io::worker> worker_;  ///< made with the first question
    std::unique_ptr<io::remote_event> news_;
    std::mutex guard_;                                 // of the two below
    std::deque<std::shared_ptr<question>> questions_;  ///< that the worker has not taken
    bool closing_ = false;
    std::map<io::endpoint, std::size_t> by_client_;  ///< with port 0
    std::size_t waiting_count_ = 0;
    std::uint64_t questions_count_ = 0;
    std::uint64_t given_up_count_ = 0;
    std::atomic<std::uint64_t> commands_count_ = 0;  ///< written by the worker
};

}  // namespace corro::api
