// SPDX-License-Identifier: Apache-2.0
// Linked into a test program: all its typed tests run in a world in memory, except those that need another machine.
#include <array>
#include <string>
#include <string_view>

#include "io/testing/backend_tests.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

constexpr std::string_view threads = "a world in memory has one thread";
constexpr std::string_view files = "io::file_system opens files of the process; io::storage is the disk of the world";
constexpr std::string_view descriptors = "there are no descriptors of a kernel to pass on";
constexpr std::string_view processes = "processes and signals are the kernel's";
constexpr std::string_view memory = "processes of a world in memory share none: a stream by shm: reports not supported";
constexpr std::string_view time = "time stands still while a task polls";
constexpr std::string_view names = "the names are those that the world was given";

struct exception_of {
    std::string_view suite;
    std::string_view test;  ///< empty: all of the suite
    std::string_view why;
};

constexpr auto exceptions = std::to_array<exception_of>({
    {"acceptor_moves", "is_given_away_after_an_accept_that_ran_out_of_time", descriptors},
    {"acceptor_moves", "is_given_away_after_an_accept_that_went_well", descriptors},
    {"across", "", threads},
    {"bridges", "a_task_that_was_started_from_outside_is_stopped_from_outside", threads},
    {"bridges", "callbacks_from_other_threads_and_on_the_spot_are_awaited", threads},
    {"bridges", "the_springboard_brings_results_and_exceptions_to_a_future_and_to_a_blocking_call", threads},
    {"bridges", "the_springboard_calls_back_on_the_contexts_thread", threads},
    {"cancel_midway", "a_context_goes_although_its_operations_have_got_a_part", descriptors},
    {"cancel_midway", "a_read_that_has_got_a_part_ends_when_its_stream_is_closed", descriptors},
    {"cancel_midway", "a_read_that_has_got_a_part_stops", descriptors},
    {"cancel_midway", "a_stop_and_a_close_at_once_end_a_read_once", descriptors},
    {"cancel_midway", "a_write_that_has_found_some_room_stops", descriptors},
    {"cancel_midway", "when_any_ends_although_the_loser_has_got_a_part", descriptors},
    {"cancellation", "of_signals_and_lookups", processes},
    {"children", "", processes},
    {"context_on", "after_events_lets_everybody_go_first_whose_event_was_collected", descriptors},
    {"context_on", "busy_polling_context_still_sleeps_fires_and_wakes", time},
    {"context_on", "stop_from_another_thread_wakes_a_sleeping_loop", threads},
    {"connecting", "by_a_name_of_the_system", names},
    {"faults", "a_context_of_one_thread_looks_up_names", names},
    {"faults", "data_and_timeout_in_one_turn_give_the_data", time},
    {"faults", "timeout_around_a_read_that_had_data_returns_the_data", time},
    {"files", "", files},
    {"group", "", threads},
    {"remote", "", threads},
    {"resolving", "localhost_is_found_and_nonsense_is_not", names},
    {"resolving", "stopped_lookup_ends_at_once_and_the_context_may_go", names},
    {"sending_files", "", files},
    {"shm_liars", "", memory},
    {"shm_processes", "", memory},
    {"shm_streams", "", memory},
    {"signals", "sent_to_another_thread_wakes_a_sleeping_loop", threads},
    {"tcp", "acceptor_survives_descriptor_exhaustion_and_recovers", descriptors},
    {"tcp", "closing_an_acceptor_that_waits_for_a_descriptor_ends_accept", descriptors},
    {"tcp", "connect_without_descriptors_reports_it", descriptors},
});

std::string reason_of(std::string_view suite, std::string_view test) {
    for (const exception_of& each : exceptions) {
        if (each.suite == suite && (each.test.empty() || each.test == test)) return std::string(each.why);
    }
    return {};
}

[[maybe_unused]] const bool is_chosen = [] {
    static world everything(1);
    io::only_tested_platform = &everything.machine();
    io::reason_to_skip = &reason_of;
    return true;
}();

}  // namespace
}  // namespace corro::sim
