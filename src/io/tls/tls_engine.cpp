// SPDX-License-Identifier: Apache-2.0
#include "io/tls/tls_engine.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "io/tls/detail/tls_shared.hpp"

namespace corro::io::detail {
namespace {

/// Buffers that a thread's connections need only while they send. The last one returned goes out first, because it is
/// still in the processor's cache.
struct spare_buffers {
    std::array<std::unique_ptr<std::byte[]>, 4> buffers;  // NOLINT: their size is `buffer_bytes`
    std::size_t count = 0;
};

thread_local spare_buffers this_thread_spares;

/// A buffer of `buffer_bytes`; null without memory.
std::unique_ptr<std::byte[]> take_buffer() noexcept {  // NOLINT
    spare_buffers& spares = this_thread_spares;
    if (spares.count != 0) return std::move(spares.buffers[--spares.count]);
    return std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[tls_engine::buffer_bytes]);  // NOLINT
}

void give_back(std::unique_ptr<std::byte[]> buffer) noexcept {  // NOLINT
    spare_buffers& spares = this_thread_spares;
    if (spares.count != spares.buffers.size()) spares.buffers[spares.count++] = std::move(buffer);
}

}  // namespace

/// The functions that OpenSSL calls.
struct tls_engine::callbacks {
    static tls_engine& of(BIO* from) noexcept { return *static_cast<tls_engine*>(::BIO_get_data(from)); }
    static tls_engine& of(const SSL* from) noexcept { return *static_cast<tls_engine*>(SSL_get_app_data(from)); }

    static int read(BIO* from, char* into, int size) noexcept {
        buffer& mine = of(from).incoming_;
        BIO_clear_retry_flags(from);
        const std::size_t count = std::min(static_cast<std::size_t>(size), mine.end - mine.begin);
        if (count == 0) {
            BIO_set_retry_read(from);
            return -1;
        }
        std::memcpy(into, mine.data.get() + mine.begin, count);
        mine.begin += count;
        return static_cast<int>(count);
    }

    static int write(BIO* to, const char* from, int size) noexcept {
        buffer& mine = of(to).outgoing_;
        BIO_clear_retry_flags(to);
        if (mine.data == nullptr) mine.data = take_buffer();
        if (mine.data == nullptr) return -1;
        const std::size_t count = std::min(static_cast<std::size_t>(size), buffer_bytes - mine.end);
        if (count == 0) {
            BIO_set_retry_write(to);
            return -1;
        }
        std::memcpy(mine.data.get() + mine.end, from, count);
        mine.end += count;
        return static_cast<int>(count);
    }

    static long control(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

    static BIO_METHOD* method() noexcept {
        static BIO_METHOD* const made = [] {
            BIO_METHOD* const fresh = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "corro buffers");
            if (fresh == nullptr) return fresh;
            ::BIO_meth_set_read(fresh, &read);
            ::BIO_meth_set_write(fresh, &write);
            ::BIO_meth_set_ctrl(fresh, &control);
            ::BIO_meth_set_create(fresh, [](BIO* one) {
                ::BIO_set_init(one, 1);
                return 1;
            });
            return fresh;
        }();
        return made;
    }

    static void info(const SSL* about, int where, int value) noexcept {
        if ((where & SSL_CB_ALERT) == 0) return;
        constexpr int alert_mask = 0xFF;
        constexpr int level_shift = 8;
        const int alert = value & alert_mask;
        if ((where & SSL_CB_READ) != 0 && value >> level_shift == SSL3_AL_FATAL) of(about).alert_received_ = alert;
        // Only this alert shows that a renegotiation was refused.
        if ((where & SSL_CB_WRITE) != 0 && alert == SSL_AD_NO_RENEGOTIATION) of(about).renegotiation_seen_ = true;
    }
};

namespace {

/// Without the brackets that an IPv6 address has in a URL.
std::string bare(std::string host) {
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') return host.substr(1, host.size() - 2);
    return host;
}

bool is_address(const std::string& host) noexcept {
    ASN1_OCTET_STRING* const read = ::a2i_IPADDRESS(host.c_str());
    ::ASN1_OCTET_STRING_free(read);
    ::ERR_clear_error();
    return read != nullptr;
}

/// Sets the host that the certificate must name.
bool expect_host(SSL* connection, const std::string& host) noexcept {
    if (is_address(host)) {
        return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(connection), host.c_str()) == 1;
    }
    // RFC 6125, 6.4.4 and RFC 9525, 2: a name in the subject never counts as the host's name.
    ::SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    // As SSL_set_tlsext_host_name, whose cast g++ complains of. OpenSSL copies the name.
    auto* const name = const_cast<char*>(host.c_str());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    return ::SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name) == 1 &&
           ::SSL_set1_host(connection, host.c_str()) == 1;
}

tls_errc verdict_on_certificate(long verdict) noexcept {
    switch (verdict) {
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH: return tls_errc::host_name_mismatch;
        case X509_V_ERR_CERT_HAS_EXPIRED: return tls_errc::certificate_expired;
        case X509_V_ERR_CERT_NOT_YET_VALID: return tls_errc::certificate_not_yet_valid;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return tls_errc::certificate_self_signed;
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        case X509_V_ERR_CERT_UNTRUSTED: return tls_errc::certificate_untrusted;
        case X509_V_ERR_CERT_REVOKED: return tls_errc::certificate_revoked;
        default: return tls_errc::certificate_rejected;
    }
}

}  // namespace

void remember_sessions(ssl_ctx_st& native) noexcept {
    ::SSL_CTX_sess_set_new_cb(&native, &tls_engine::remember);
}

int tls_engine::remember(ssl_st* connection, ssl_session_st* session) {
    if (::SSL_SESSION_is_resumable(session) != 1) return 0;
    // Keeps a copy: OpenSSL invalidates the session of a connection that ends without a close_notify.
    tls_engine& mine = callbacks::of(connection);
    if (tls_session kept{::SSL_SESSION_dup(session)}) mine.settings().keep_session(mine.host_, std::move(kept));
    return 0;
}

tls_engine::tls_engine(const tls_context& settings, std::string host) noexcept
    : settings_(settings), host_(bare(std::move(host))) {
    incoming_.data = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);  // NOLINT
    tls_context::shared& mine = settings_.state();
    // Without a name there is nothing to check a certificate against.
    if (!mine.server && mine.verify && host_.empty()) {
        error_ = make_error_code(tls_errc::bad_setting);
        return;
    }
    ssl_ = ::SSL_new(mine.native.get());
    BIO* const buffers = ssl_ != nullptr && callbacks::method() != nullptr ? ::BIO_new(callbacks::method()) : nullptr;
    if (buffers == nullptr) {
        error_ = make_error_code(tls_errc::out_of_memory);
        return;
    }
    ::BIO_set_data(buffers, this);
    ::SSL_set_bio(ssl_, buffers, buffers);
    SSL_set_app_data(ssl_, this);
    ::SSL_set_info_callback(ssl_, &callbacks::info);
    if (mine.server) {
        ::SSL_set_accept_state(ssl_);
        return;
    }
    ::SSL_set_connect_state(ssl_);
    if (!host_.empty() && !expect_host(ssl_, host_)) error_ = make_error_code(tls_errc::bad_setting);
    if (!mine.resume) return;
    if (const tls_session earlier = mine.take_session(host_)) ::SSL_set_session(ssl_, earlier.get());
}

tls_engine::~tls_engine() {
    ::SSL_free(ssl_);
}

tls_engine::step tls_engine::handshake() noexcept {
    if (error_) return step::failed;
    ::ERR_clear_error();
    const step came_to = judge(::SSL_do_handshake(ssl_));
    if (came_to == step::done) {
        settings().handshakes_count.fetch_add(1, std::memory_order_relaxed);
        if (resumed()) settings().resumptions_count.fetch_add(1, std::memory_order_relaxed);
    }
    return came_to;
}

tls_engine::step tls_engine::read(std::span<std::byte> into, std::size_t& bytes) noexcept {
    if (error_) return step::failed;
    std::size_t done = 0;
    step came_to = step::done;
    while (done != into.size()) {
        std::size_t got = 0;
        ::ERR_clear_error();
        came_to = judge(::SSL_read_ex(ssl_, into.data() + done, into.size() - done, &got));
        if (came_to != step::done) break;
        done += got;
        // Decrypts the rest of the input, as far as it has whole records.
        if (incoming_.begin == incoming_.end && ::SSL_pending(ssl_) == 0) break;
    }
    bytes += done;
    if (renegotiation_seen_) {
        error_ = make_error_code(tls_errc::renegotiation_refused);
        return step::failed;
    }
    // The next call finds an end or a failure after the data again.
    return done != 0 && came_to != step::failed ? step::done : came_to;
}

tls_engine::step tls_engine::write(std::span<const std::byte> from, std::size_t& bytes) noexcept {
    if (error_) return step::failed;
    std::size_t done = 0;
    while (done != from.size()) {
        if (buffer_bytes - outgoing_.end < record_room_bytes) break;
        const std::size_t size = std::min(from.size() - done, record_bytes);
        std::size_t taken = 0;
        ::ERR_clear_error();
        const step came_to = judge(::SSL_write_ex(ssl_, from.data() + done, size, &taken));
        if (came_to != step::done) {
            CORRO_ASSERT(came_to != step::wants_output, "the buffer must have room for the record");
            bytes += done;
            return came_to;
        }
        done += taken;
    }
    bytes += done;
    return done != 0 ? step::done : step::wants_output;
}

tls_engine::step tls_engine::shut_down() noexcept {
    if (shut_down_sent()) return step::done;
    if (error_) return step::failed;
    ::ERR_clear_error();
    // 0: sent; the peer's close_notify has not come, and we do not wait for it.
    const int result = ::SSL_shutdown(ssl_);
    return result >= 0 ? step::done : judge(result);
}

bool tls_engine::shut_down_sent() const noexcept {
    return ssl_ != nullptr && (::SSL_get_shutdown(ssl_) & SSL_SENT_SHUTDOWN) != 0;
}

std::span<std::byte> tls_engine::room() noexcept {
    CORRO_ASSERT(incoming_.begin == incoming_.end, "all input must be used before more is read");
    incoming_.begin = 0;
    incoming_.end = 0;
    return {incoming_.data.get(), buffer_bytes};
}

std::span<const std::byte> tls_engine::pending() const noexcept {
    return {outgoing_.data.get() + outgoing_.begin, outgoing_.end - outgoing_.begin};
}

void tls_engine::sent(std::size_t bytes) noexcept {
    outgoing_.begin += bytes;
    if (outgoing_.begin != outgoing_.end) return;
    outgoing_.begin = 0;
    outgoing_.end = 0;
    if (outgoing_.data != nullptr) give_back(std::move(outgoing_.data));
}

tls_engine::step tls_engine::judge(int result) noexcept {
    if (result > 0) return step::done;
    switch (::SSL_get_error(ssl_, result)) {
        case SSL_ERROR_WANT_READ: return step::wants_input;
        case SSL_ERROR_WANT_WRITE: return step::wants_output;
        case SSL_ERROR_ZERO_RETURN: return step::ended;
        default:
            error_ = failure_of();
            ::ERR_clear_error();
            return step::failed;
    }
}

std::error_code tls_engine::failure_of() const noexcept {
    if (alert_received_ == SSL_AD_NO_APPLICATION_PROTOCOL) return make_error_code(tls_errc::no_common_protocol);
    if (alert_received_ == SSL_AD_PROTOCOL_VERSION) return make_error_code(tls_errc::no_common_parameters);
    if (alert_received_ >= 0) {
        return {static_cast<int>(tls_errc::peer_alert) + alert_received_, tls_category()};
    }
    const unsigned long first = ::ERR_peek_error();
    const int reason = ERR_GET_REASON(first);
    if (reason == ERR_R_MALLOC_FAILURE) return make_error_code(tls_errc::out_of_memory);
    if (ERR_GET_LIB(first) != ERR_LIB_SSL) return make_error_code(tls_errc::protocol_violation);
    switch (reason) {
        case SSL_R_CERTIFICATE_VERIFY_FAILED: return verdict_on_certificate(::SSL_get_verify_result(ssl_));
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return tls_errc::certificate_missing;
        case SSL_R_NO_APPLICATION_PROTOCOL: return tls_errc::no_common_protocol;
        case SSL_R_NO_RENEGOTIATION: return tls_errc::renegotiation_refused;
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_NO_SHARED_CIPHER:
        case SSL_R_NO_PROTOCOLS_AVAILABLE:
        case SSL_R_VERSION_TOO_LOW:
        case SSL_R_INAPPROPRIATE_FALLBACK:
        case SSL_R_NO_SUITABLE_KEY_SHARE:
        case SSL_R_NO_SUITABLE_GROUPS:
        case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM: return tls_errc::no_common_parameters;
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_UNKNOWN_PROTOCOL:
        case SSL_R_HTTP_REQUEST:
        case SSL_R_HTTPS_PROXY_REQUEST: return tls_errc::not_tls;
        default: return tls_errc::protocol_violation;
    }
}

std::string_view tls_engine::protocol() const noexcept {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    if (ssl_ != nullptr) ::SSL_get0_alpn_selected(ssl_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}
std::string_view tls_engine::version() const noexcept {
    return ssl_ != nullptr ? ::SSL_get_version(ssl_) : "";
}
std::string_view tls_engine::cipher() const noexcept {
    const SSL_CIPHER* const agreed = ssl_ != nullptr ? ::SSL_get_current_cipher(ssl_) : nullptr;
    return agreed != nullptr ? ::SSL_CIPHER_get_name(agreed) : "";
}
std::string_view tls_engine::server_name() const noexcept {
    const char* const name = ssl_ != nullptr ? ::SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name) : nullptr;
    return name != nullptr ? name : "";
}
bool tls_engine::resumed() const noexcept {
    return ssl_ != nullptr && ::SSL_session_reused(ssl_) == 1;
}

}  // namespace corro::io::detail
