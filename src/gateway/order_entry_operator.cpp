// What operators ask about the venue: their rights, the way to the desk, and the answers.
#include "base/assert.hpp"
#include "gateway/order_entry_connection.hpp"

namespace corro::gateway {

// A status_request or a snapshot_request, which is sound.
void order_entry_gateway::submit_admin_request(connection& c, const wire::frame& frame) {
    if (!c.is_operator) return refuse(c, frame, {wire::session_reject_reason::not_an_operator});
    admin_request question;
    question.session = c.session_id;
    question.logon = c.session->logons;
    if (frame.message == wire::template_id::snapshot_request) {
        question.wish = admin_request_kind::snapshot;
        question.question = wire::snapshot_request_view(frame).question();
    } else {
        question.question = wire::status_request_view(frame).question();
        question.instrument = wire::status_request_view(frame).instrument();
    }
    const request_refusal refusal =
        options_.desk == nullptr ? request_refusal::not_known_here : options_.desk->ask(question);
    if (refusal != request_refusal::none) refuse(c, frame, {wire_reason(refusal)});
}

void order_entry_gateway::deliver_admin_reply(const admin_reply& answer) {
    CORRO_ASSERT(answer.to.session.value < sessions_.size());
    const session_state& session = sessions_[answer.to.session.value];
    if (session.active == nullptr || session.active->ended || session.logons != answer.to.logon) return;
    const venue_report& venue = answer.venue;
    if (answer.to.wish == admin_request_kind::snapshot) {
        wire::snapshot_answer said;
        said.question = answer.to.question;
        said.durable_command = domain::sequence_number{venue.durable_command};
        said.snapshot_outcome = wire_outcome(answer.outcome);
        return put(*session.active, said);
    }
    wire::venue_status status;
    status.question = answer.to.question;
    status.time = wall_time(context_);
    status.last_command = domain::sequence_number{venue.last_command};
    status.durable_command = domain::sequence_number{venue.durable_command};
    status.snapshot_command = domain::sequence_number{venue.snapshot_command};
    status.commands_waiting = commands_.pushed_count() - commands_.answered_count();
    status.feed_sequence = domain::sequence_number{venue.feed_sequence};
    status.sessions_count = statistics_.sessions_now;
    status.sessions_max = accounts_.sessions_count();
    status.journal_state = wire_state(venue.journal);
    status.trading_phase = venue.phase;
    status.segment = venue.segment;
    status.segments_count = venue.segments_count;
    status.instrument = venue.instrument;
    put(*session.active, status);
}

}  // namespace corro::gateway
