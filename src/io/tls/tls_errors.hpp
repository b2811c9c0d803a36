// SPDX-License-Identifier: Apache-2.0
// Error codes of TLS: errors of the peer, its certificate, or the own settings.
//
// Threads: any.
#pragma once

#include <system_error>

namespace corro::io {

/// An error of a peer, its certificate or the own settings.
enum class tls_errc {
    truncated = 1,              // the connection ended without a close_notify: data may be missing
    host_name_mismatch,         // the certificate is for another host
    certificate_expired,        // or its issuer's
    certificate_not_yet_valid,  // or its issuer's
    certificate_self_signed,    // not signed by a trusted issuer
    certificate_untrusted,      // its issuer is unknown
    certificate_revoked,
    certificate_rejected,   // for another reason: wrong purpose, weak key, bad signature, ...
    certificate_missing,    // the peer was asked for one and sent none
    no_common_protocol,     // both sides named application protocols (ALPN), and none is common
    no_common_parameters,   // no version or cipher suite that both allow
    not_tls,                // the peer does not speak TLS
    protocol_violation,     // the peer broke the protocol, or bytes were changed on the way
    renegotiation_refused,  // the peer asked for a new handshake within the connection
    bad_certificate,        // the own certificate cannot be read
    bad_private_key,        // the own key cannot be read, or does not belong to the certificate
    bad_setting,            // an invalid option
    out_of_memory,
    peer_alert = 1000,  // the peer gave up; its alert's number is added
};

/// The category of `tls_errc`, named "corro.io.tls".
[[nodiscard]] const std::error_category& tls_category() noexcept;
/// For comparisons and conversions; found by the standard library.
[[nodiscard]] std::error_code make_error_code(tls_errc code) noexcept;

}  // namespace corro::io

template <>
struct std::is_error_code_enum<corro::io::tls_errc> : std::true_type {};
