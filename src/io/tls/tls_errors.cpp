// SPDX-License-Identifier: Apache-2.0
#include "io/tls/tls_errors.hpp"

#include <openssl/ssl.h>

#include <string>

namespace corro::io {
namespace {

class tls_codes final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io.tls"; }
    [[nodiscard]] std::string message(int value) const override {
        if (value >= static_cast<int>(tls_errc::peer_alert)) {
            const int alert = value - static_cast<int>(tls_errc::peer_alert);
            return std::string("the peer sent the alert: ") + ::SSL_alert_desc_string_long(alert);
        }
        switch (static_cast<tls_errc>(value)) {
            case tls_errc::truncated: return "the connection was cut without a close_notify";
            case tls_errc::host_name_mismatch: return "the certificate was issued for another host";
            case tls_errc::certificate_expired: return "the certificate has expired";
            case tls_errc::certificate_not_yet_valid: return "the certificate is not valid yet";
            case tls_errc::certificate_self_signed: return "the certificate is self-signed and not trusted";
            case tls_errc::certificate_untrusted: return "the certificate's issuer is not trusted";
            case tls_errc::certificate_revoked: return "the certificate has been revoked";
            case tls_errc::certificate_rejected: return "the certificate was rejected";
            case tls_errc::certificate_missing: return "the peer sent no certificate";
            case tls_errc::no_common_protocol: return "no application protocol in common";
            case tls_errc::no_common_parameters: return "no TLS version or cipher suite in common";
            case tls_errc::not_tls: return "the peer does not speak TLS";
            case tls_errc::protocol_violation: return "the peer broke the TLS protocol";
            case tls_errc::renegotiation_refused: return "the peer asked for a renegotiation, which is refused";
            case tls_errc::bad_certificate: return "the configured certificate cannot be read";
            case tls_errc::bad_private_key:
                return "the configured private key cannot be read or does not match the certificate";
            case tls_errc::bad_setting: return "a TLS setting is invalid";
            case tls_errc::out_of_memory: return "out of memory for TLS";
            case tls_errc::peer_alert: break;
        }
        return "unknown TLS error " + std::to_string(value);
    }
};

const tls_codes the_tls_codes;

}  // namespace

const std::error_category& tls_category() noexcept {
    return the_tls_codes;
}
std::error_code make_error_code(tls_errc code) noexcept {
    return {static_cast<int>(code), the_tls_codes};
}

}  // namespace corro::io
