// SPDX-License-Identifier: Apache-2.0
// Suite `fix`, by QuickFIX: with its data dictionary and validation, and without.

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "lab/suites/fix_shapes.hpp"
#include "lab/suites/quickfix_peer.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

constexpr std::uint64_t batch = 200;

/// The dictionary as a file, for as long as this lives.
class dictionary_file {
 public:
    dictionary_file() {
        std::string name = (std::filesystem::temp_directory_path() / "corro-fix44-XXXXXX").string();
        const int descriptor = ::mkstemp(name.data());
        verify(descriptor >= 0, "a file for the dictionary");
        ::close(descriptor);
        path_ = name;
        std::ofstream(path_) << fix_dictionary_text();
    }
    dictionary_file(const dictionary_file&) = delete;
    dictionary_file& operator=(const dictionary_file&) = delete;
    ~dictionary_file() { std::filesystem::remove(path_); }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    std::string path_;
};

measurement parse(const run_parameters& how, const std::string& message, const std::string& dictionary) {
    const quickfix::parser parser(dictionary);
    return fastest_of(how, batch,
                      [&](std::uint64_t count) { verify_equal(parser.parse(message, count), count, "messages"); });
}

void implement_session(registry& into, const std::string& subject, const std::string& dictionary) {
    for (const char* const prefix : {"", "venue_"}) {
        into.implement("fix", std::string(prefix) + "order_to_report_p50", subject,
                       [dictionary](const run_parameters& how) {
                           const std::uint16_t port = free_port();
                           const quickfix::server server(port, dictionary);
                           return order_to_report(send_orders(how, port, 1));
                       });
        into.implement("fix", std::string(prefix) + "outstanding_200", subject,
                       [dictionary](const run_parameters& how) {
                           const std::uint16_t port = free_port();
                           const quickfix::server server(port, dictionary);
                           return rate_of(send_orders(how, port, 200).run);
                       });
    }
    into.implement("fix", "venue_order_to_report_polling_p50", subject, [dictionary](const run_parameters& how) {
        const std::uint16_t port = free_port();
        const quickfix::server server(port, dictionary);
        return order_to_report(send_orders(how, port, 1, {}, idle_thread::polls));
    });
}

void implement_messages(registry& into, const std::string& action, const std::string& dictionary) {
    into.implement("fix", action + "_new_order", "quickfix",
                   [dictionary](const run_parameters& how) { return parse(how, new_order_message(), dictionary); });
    into.implement("fix", action + "_execution_report", "quickfix", [dictionary](const run_parameters& how) {
        return parse(how, execution_report_message(), dictionary);
    });
}

}  // namespace

void implement_fix_quickfix(registry& into) {
    static const dictionary_file dictionary;
    implement_session(into, "quickfix", dictionary.path());
    implement_session(into, "quickfix_without_dictionary", "");
    implement_messages(into, "parse", "");
    implement_messages(into, "validate", dictionary.path());
    into.implement("fix", "four_fields", "quickfix", [](const run_parameters& how) {
        const std::string order = new_order_message();
        return fastest_of(how, batch, [&](std::uint64_t count) {
            verify_equal(quickfix::four_fields(order, count), count * 29, "characters");
        });
    });
    into.implement("fix", "write_execution_report", "quickfix", [](const run_parameters& how) {
        return fastest_of(how, batch, [&](std::uint64_t count) {
            verify(quickfix::write_reports(count) > count * 200, "the bytes of reports");
        });
    });
}

}  // namespace corro::lab
