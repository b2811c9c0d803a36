// SPDX-License-Identifier: Apache-2.0
// A desk's session of Corro Binary.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "trading_link.hpp"

namespace corro::app {

class binary_link final : public trading_link {
 public:
    /// @param patience_seconds  How long to retry a lost connection.
    /// @param wait_seconds      How long to wait for a venue that is starting.
    binary_link(client::venue_endpoint venue, const client::credentials& who, double patience_seconds,
                double wait_seconds);

    [[nodiscard]] io::task<std::string> run(link_listener* to) override;
    void leave() noexcept override;
    [[nodiscard]] bool connected() const noexcept override { return connected_; }
    [[nodiscard]] const wire::instrument_table& instruments() const noexcept override;
    void learn(const domain::instrument&) override {}  // the session has the definitions
    [[nodiscard]] domain::client_order_id next_order() const noexcept override;
    [[nodiscard]] domain::client_order_id long_number(std::uint64_t short_one) const noexcept override;
    [[nodiscard]] std::string_view send(const domain::command& request) override;
    [[nodiscard]] std::uint32_t requests_per_second_max() const noexcept override {
        return session_ == nullptr ? 0 : session_->requests_per_second_max();
    }
    [[nodiscard]] std::string_view ask_status(domain::instrument_id instrument) override;
    [[nodiscard]] std::string_view ask_snapshot() override;

 private:
    io::task<std::error_code> connect();
    io::task<void> converse();
    io::task<void> read_answers();
    io::task<void> write_requests();
    void take(const client::answer& answer);
    [[nodiscard]] std::string_view queue(bool queued);

    client::venue_endpoint venue_;
    client::credentials who_;
    double patience_seconds_;
    double wait_seconds_;
    link_listener* to_ = nullptr;
    std::unique_ptr<client::order_session> session_;
    io::auto_event has_output_;
    std::uint64_t questions_count_ = 0;  ///< admin requests
    io::task_scope* conversation_ = nullptr;
    std::error_code broken_;  ///< why the last connection ended
    bool connected_ = false;
    bool leaving_ = false;
};

}  // namespace corro::app
