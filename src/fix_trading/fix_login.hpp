// SPDX-License-Identifier: Apache-2.0
// The session of an account that speaks FIX, for a fix::initiator.
//
//     fix_trading::fix_login who;
//     who.name = "ALICE";
//     who.key = key;
//     fix::initiator session(context, fix_trading::initiator_of(who, *io::endpoint::parse("192.0.2.1:7010")), store,
//     app);
//
// Threads: a value.
// Source:  docs/spec/fix.md, "Sessions".
#pragma once

#include <chrono>
#include <string>

#include "fix/net/initiator.hpp"
#include "io/net/endpoint.hpp"
#include "wire/authentication.hpp"

namespace corro::fix_trading {

struct fix_login {
    fix_login() noexcept {}

    std::string name;                  ///< SenderCompID (49), the name of a [[fix_session]]
    std::string venue_name = "CORRO";  ///< TargetCompID (56)
    wire::api_key key{};               ///< of the account, for Password (554)
    std::chrono::seconds heartbeat{30};
    bool cancel_on_disconnect = false;
    /// The first Logon has both ends count from 1: for a store that does not outlive the process.
    bool resets_numbers = true;
};

/// Options of an initiator of FIX.4.4.
[[nodiscard]] fix::initiator_options initiator_of(const fix_login& who, io::endpoint venue);

}  // namespace corro::fix_trading
