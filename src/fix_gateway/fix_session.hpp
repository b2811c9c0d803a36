// SPDX-License-Identifier: Apache-2.0
// A FIX session of order entry: one connection, from accept to the end.
//
// The rules of the session layer are those of fix::session, which does no I/O. This is the coroutine around it: it
// proves who logs on, hands requests to the facility, writes answers out of the answer log, and lets no message leave
// whose number is not in the journal.
//
// The sources: fix_session.cpp (the course), fix_logon.cpp (the beginning), fix_requests.cpp (from bytes to commands),
// fix_answers.cpp (from answers to bytes), fix_reference.cpp (questions about instruments).
//
// Threads: one context. Limits: gateway/limits.hpp, fix/limits.hpp.
// Cost:    no allocation per message in steady state; one read and one write system call per batch of messages. A batch
//          with messages of the session itself waits for the journal first.
// Source:  docs/spec/fix.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fix/session/session.hpp"
#include "fix_gateway/answer_store.hpp"
#include "fix_gateway/reference_answers.hpp"
#include "fix_gateway/reference_progress.hpp"
#include "fix_gateway/reference_requests.hpp"
#include "fix_gateway/requests.hpp"
#include "fix_gateway/shared.hpp"
#include "gateway/binary/session_course.hpp"
#include "gateway/session/logon_request.hpp"
#include "gateway/session/session.hpp"
#include "gateway/transport/protocol.hpp"
#include "io/net/transport_stream.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::fix_gateway {

class fix_session final : public gateway::session, public gateway::conversation {
 public:
    /// @param shared  Outlives the session. @param place  Outlives `run`.
    fix_session(fix_shared& shared, io::transport_stream stream, gateway::connection_place& place)
        : shared_(shared), stream_(std::move(stream)), place_(place) {}

    /// Serves the connection until it has ended.
    [[nodiscard]] static io::task<void> run(std::unique_ptr<fix_session> s);

    // --- For the registry -------------------------------------------------------------------------------------------

    void take_answers() noexcept override;
    void flush() noexcept override;
    void send_definition(const domain::instrument&) noexcept override {}  // clients ask for definitions
    void refuse_request(std::uint32_t request, gateway::request_refusal why) noexcept override;
    void send_admin_reply(const gateway::admin_reply& reply, const gateway::order_entry_report& report) override;
    bool end(gateway::end_reason why) noexcept override;
    [[nodiscard]] bool is_ending() const noexcept override { return course_.is_ending(); }

    // --- For the acceptor -------------------------------------------------------------------------------------------

    void evict() noexcept override;

 private:
    enum class counted : std::uint8_t { yes, stopped, failed };

    // The course.
    [[nodiscard]] io::task<void> give_up(bool was_active);
    [[nodiscard]] io::task<void> keep_time();
    [[nodiscard]] io::task<void> settle();
    [[nodiscard]] io::task<void> log_out();
    [[nodiscard]] io::task<void> leave();
    void end_with_session() noexcept;
    [[nodiscard]] bool is_over() const noexcept { return session_->phase() == fix::session_phase::over; }

    // The beginning.
    [[nodiscard]] io::task<void> log_on();
    [[nodiscard]] io::task<bool> wait_for_logon();
    [[nodiscard]] io::task<bool> verify(const fix::field_index* logon, gateway::logon_request* request);
    [[nodiscard]] std::optional<std::uint64_t> key_of(const fix::field_index& logon, const gateway::account* a);
    [[nodiscard]] bool is_unused(const gateway::logon_request& request) const noexcept;
    void start(const fix::field_index& logon);

    // From bytes to commands.
    [[nodiscard]] io::task<void> read_requests();
    [[nodiscard]] io::task<bool> take_at_hand();
    void look_ahead() noexcept;
    /// What has come and was not taken.
    [[nodiscard]] std::string_view unread() const noexcept {
        return {input_.data() + input_begin_, input_end_ - input_begin_};
    }
    [[nodiscard]] io::task<bool> wait_until_written();
    void act_on(fix::taken what, fix::instant now);
    [[nodiscard]] bool owes_too_much() const noexcept {
        return session_->output().size() > shared_.options.output_buffer_bytes / 2 || session_->is_asking_too_much();
    }
    void submit_request(fix::instant now);
    [[nodiscard]] request_problem take_texts(const domain::command& command);
    [[nodiscard]] io::task<bool> restart();
    [[nodiscard]] io::task<bool> send_all();
    [[nodiscard]] bool has_sent_all() const noexcept {
        return writer_is_idle_ && session_->output().empty() && !session_->is_resending() && !has_answers_left();
    }
    [[nodiscard]] io::task<bool> submit_waiting();
    [[nodiscard]] io::task<bool> drop_repeated();

    // Questions about instruments.
    [[nodiscard]] bool answer_reference(fix::instant now);
    [[nodiscard]] reference_answer answer_to(std::string_view id, std::size_t total) const;
    void answer_list(const reference_request& asked, fix::instant now);
    void answer_definition(const reference_request& asked, fix::instant now);
    void answer_status(const reference_request& asked, fix::instant now);
    void answer_session(const reference_request& asked, fix::instant now);
    void ask_facility(phase_question waiting, fix::instant now);
    void send_message(fix::instant now) noexcept;
    [[nodiscard]] io::task<void> write_lists();
    [[nodiscard]] io::task<bool> write_list_part();
    [[nodiscard]] std::size_t list_room() const noexcept;
    void put_list_part(fix::instant now);

    // From answers to bytes.
    [[nodiscard]] io::task<void> write_pending();
    [[nodiscard]] io::task<bool> drain();
    [[nodiscard]] io::task<counted> count();
    void put_answers() noexcept;
    void put_answer(fix::instant now) noexcept;
    /// Answers that are in the log and not in the output. @pre There is a store.
    [[nodiscard]] bool has_answers_left() const noexcept {
        return store_->next_answer() <= shared_.answers.detailed_count(id());
    }
    [[nodiscard]] bool send_now() noexcept;
    void cut(gateway::end_reason why) noexcept;
    void lose() noexcept;

    fix_shared& shared_;
    io::transport_stream stream_;
    gateway::connection_place& place_;
    gateway::session_course course_;
    io::task_scope* scope_ = nullptr;  ///< of the children that run: logging on, or being active
    std::optional<answer_store> store_;
    std::unique_ptr<fix::session> session_;  ///< once the session is on
    gateway::answer_log::cursor near_;       ///< where the answer before the next one is

    std::vector<char> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    /// Of a message that asks for several, or has names with texts before it; the queue has not taken them yet.
    std::vector<domain::command> waiting_;
    bool may_be_repeated_ = false;  ///< it is an order with PossResend (97)

    std::string writing_;                                ///< what was taken out of the session's output
    std::size_t written_ = 0;                            ///< bytes of it
    std::vector<gateway::message_numbers::note> notes_;  ///< of messages in `writing_`, not in the queue yet
    std::uint64_t noted_until_ = 0;  ///< position in the queue behind the notes of `writing_`; 0: none waits
    std::uint64_t last_noted_ = 0;   ///< number of a message of the last note
    list_progress list_;
    std::vector<phase_question> phase_questions_;
    std::uint64_t phase_questions_count_ = 0;  ///< of this connection
    io::auto_event list_wanted_;
    io::auto_event list_may_go_on_;

    bool is_restarting_ = false;  ///< the numbers begin again: the session sends nothing of its own
    bool writer_is_idle_ = false;
    bool peer_is_behind_ = false;  ///< a write waits until the peer has read
    io::auto_event output_ready_;
    io::auto_event output_written_;
    io::auto_event time_changed_;
    std::int64_t wakes_at_ = 0;  ///< the steady time for which `keep_time` waits
};

}  // namespace corro::fix_gateway
