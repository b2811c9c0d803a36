// SPDX-License-Identifier: Apache-2.0
#include "io/tls/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/assert.hpp"
#include "io/tls/detail/tls_shared.hpp"

namespace corro::io {

namespace detail {
void tls_free::operator()(ssl_ctx_st* owned) const noexcept {
    ::SSL_CTX_free(owned);
}
void tls_free::operator()(ssl_session_st* owned) const noexcept {
    ::SSL_SESSION_free(owned);
}
}  // namespace detail

namespace {

struct bio_free {
    void operator()(BIO* owned) const noexcept { ::BIO_free(owned); }
};
struct certificate_free {
    void operator()(X509* owned) const noexcept { ::X509_free(owned); }
};
struct key_free {
    void operator()(EVP_PKEY* owned) const noexcept { ::EVP_PKEY_free(owned); }
};
using bio = std::unique_ptr<BIO, bio_free>;
using certificate = std::unique_ptr<X509, certificate_free>;
using key = std::unique_ptr<EVP_PKEY, key_free>;

/// Suites for TLS 1.2: authenticated encryption and a fresh key for every connection. TLS 1.3 has no others.
constexpr const char* cipher_suites = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* key_exchange_groups = "X25519:P-256:P-384";
constexpr std::string_view session_scope = "corro";
constexpr std::size_t protocol_name_bytes_max = 255;
constexpr std::streamsize pem_file_bytes_max = 1 << 20;

/// Refuses a key with a pass phrase, because nobody can enter it.
int no_pass_phrase(char*, int, int, void*) {
    return -1;
}

bio reader_of(const std::string& text) noexcept {
    return bio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Returns the certificates of a PEM text in order. Returns none if the text contains anything else.
std::vector<certificate> read_certificates(const std::string& text) {
    std::vector<certificate> found;
    const bio from = reader_of(text);
    if (!from) return {};
    while (X509* one = ::PEM_read_bio_X509(from.get(), nullptr, &no_pass_phrase, nullptr)) found.emplace_back(one);
    const bool at_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ::ERR_clear_error();
    if (!at_end) return {};
    return found;
}

std::error_code use_certificate(SSL_CTX* native, const std::string& chain, const std::string& private_key) {
    const std::vector<certificate> certificates = read_certificates(chain);
    if (certificates.empty()) return make_error_code(tls_errc::bad_certificate);
    if (::SSL_CTX_use_certificate(native, certificates.front().get()) != 1) {
        return make_error_code(tls_errc::bad_certificate);
    }
    for (std::size_t i = 1; i < certificates.size(); ++i) {
        if (SSL_CTX_add1_chain_cert(native, certificates[i].get()) != 1) {
            return make_error_code(tls_errc::bad_certificate);
        }
    }
    const bio from = reader_of(private_key);
    const key read(from ? ::PEM_read_bio_PrivateKey(from.get(), nullptr, &no_pass_phrase, nullptr) : nullptr);
    if (!read || ::SSL_CTX_use_PrivateKey(native, read.get()) != 1 || ::SSL_CTX_check_private_key(native) != 1) {
        return make_error_code(tls_errc::bad_private_key);
    }
    return {};
}

std::error_code trust(SSL_CTX* native, const std::string& issuers, bool announce) {
    const std::vector<certificate> certificates = read_certificates(issuers);
    if (certificates.empty()) return make_error_code(tls_errc::bad_certificate);
    X509_STORE* const store = ::SSL_CTX_get_cert_store(native);
    for (const certificate& each : certificates) {
        if (::X509_STORE_add_cert(store, each.get()) != 1) return make_error_code(tls_errc::bad_certificate);
        if (announce && ::SSL_CTX_add_client_CA(native, each.get()) != 1) {
            return make_error_code(tls_errc::out_of_memory);
        }
    }
    return {};
}

std::optional<std::string> protocols_as_sent(const std::vector<std::string>& names) {
    std::string sent;
    for (const std::string& name : names) {
        if (name.empty() || name.size() > protocol_name_bytes_max) return std::nullopt;
        sent += static_cast<char>(name.size());
        sent += name;
    }
    return sent;
}

int number_of(tls_version version) noexcept {
    return version == tls_version::tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

/// The settings that clients and servers share.
std::error_code make_native(tls_context::shared& made, const SSL_METHOD* method, tls_version lowest,
                            tls_version highest, const std::vector<std::string>& protocols) {
    if (lowest > highest) return make_error_code(tls_errc::bad_setting);
    auto sent = protocols_as_sent(protocols);
    if (!sent) return make_error_code(tls_errc::bad_setting);
    made.protocols = std::move(*sent);
    made.native.reset(::SSL_CTX_new(method));
    SSL_CTX* const native = made.native.get();
    if (native == nullptr) return make_error_code(tls_errc::out_of_memory);
    ::SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                      SSL_OP_PRIORITIZE_CHACHA);
    // OpenSSL's own buffers are freed between records: a connection that waits holds less memory, and one that is
    // served gets memory that is still in the processor's cache.
    SSL_CTX_set_mode(native,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    const bool configured = SSL_CTX_set_min_proto_version(native, number_of(lowest)) == 1 &&
                            SSL_CTX_set_max_proto_version(native, number_of(highest)) == 1 &&
                            ::SSL_CTX_set_cipher_list(native, cipher_suites) == 1 &&
                            SSL_CTX_set1_groups_list(native, key_exchange_groups) == 1;
    return configured ? std::error_code() : make_error_code(tls_errc::bad_setting);
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                    unsigned offered_bytes, void* argument) {
    const auto& mine = static_cast<const tls_context::shared*>(argument)->protocols;
    unsigned char* found = nullptr;
    const int outcome =
        ::SSL_select_next_proto(&found, chosen_bytes, reinterpret_cast<const unsigned char*>(mine.data()),
                                static_cast<unsigned>(mine.size()), offered, offered_bytes);
    if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

int choose_host(SSL* connection, int*, void* argument) {
    const char* name = ::SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
    const auto* const mine = static_cast<const tls_context::shared*>(argument);
    if (const tls_context* host = mine->find_host(name)) {
        ::SSL_set_SSL_CTX(connection, host->state().native.get());
    }
    return SSL_TLSEXT_ERR_OK;
}

bool same_letters(std::string_view a, std::string_view b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [lower](char x, char y) { return lower(x) == lower(y); });
}

std::error_code configure_client(tls_context::shared& made, const tls_client_options& options) {
    made.verify = options.verify;
    made.resume = options.resume;
    std::error_code error =
        make_native(made, ::TLS_client_method(), options.version_min, options.version_max, options.protocols);
    if (error) return error;
    SSL_CTX* const native = made.native.get();
    ::SSL_CTX_set_verify(native, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (options.system_trust && ::SSL_CTX_set_default_verify_paths(native) != 1) {
        return make_error_code(tls_errc::bad_setting);
    }
    if (!options.trusted_certificates.empty()) error = trust(native, options.trusted_certificates, false);
    if (!error && !options.certificate_chain.empty()) {
        error = use_certificate(native, options.certificate_chain, options.private_key);
    }
    if (error) return error;
    if (!made.protocols.empty() &&
        ::SSL_CTX_set_alpn_protos(native, reinterpret_cast<const unsigned char*>(made.protocols.data()),
                                  static_cast<unsigned>(made.protocols.size())) != 0) {
        return make_error_code(tls_errc::bad_setting);
    }
    // We keep sessions ourselves, by host.
    SSL_CTX_set_session_cache_mode(
        native, options.resume ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (options.resume) detail::remember_sessions(*native);
    return {};
}

std::error_code configure_server(tls_context::shared& made, const tls_server_options& options) {
    made.server = true;
    made.resume = options.resume;
    std::error_code error =
        make_native(made, ::TLS_server_method(), options.version_min, options.version_max, options.protocols);
    if (error) return error;
    SSL_CTX* const native = made.native.get();
    error = use_certificate(native, options.certificate_chain, options.private_key);
    if (error) return error;
    if (!options.client_issuers.empty()) {
        error = trust(native, options.client_issuers, true);
        if (error) return error;
        ::SSL_CTX_set_verify(native, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    if (!made.protocols.empty()) ::SSL_CTX_set_alpn_select_cb(native, &choose_protocol, &made);
    // As SSL_CTX_set_tlsext_servername_callback, whose cast g++ complains of.
    ::SSL_CTX_callback_ctrl(native, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, reinterpret_cast<void (*)()>(&choose_host));
    SSL_CTX_set_tlsext_servername_arg(native, &made);
    // The client's ticket holds the whole session; the server stores nothing.
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    ::SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>(session_scope.data()),
                                     session_scope.size());
    if (!options.resume) {
        ::SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
        ::SSL_CTX_set_num_tickets(native, 0);
    }
    return {};
}

template <class Configure>
std::expected<std::shared_ptr<tls_context::shared>, std::error_code> make_shared_state(Configure configure) noexcept {
    try {
        auto made = std::make_shared<tls_context::shared>();
        const std::error_code error = configure(*made);
        ::ERR_clear_error();
        if (error) return std::unexpected(error);
        return made;
    } catch (const std::bad_alloc&) {
        return std::unexpected(make_error_code(tls_errc::out_of_memory));
    }
}

}  // namespace

std::expected<tls_context, std::error_code> tls_context::client(const tls_client_options& options) noexcept {
    auto made = make_shared_state([&options](shared& state) { return configure_client(state, options); });
    if (!made) return std::unexpected(made.error());
    return tls_context(std::move(*made));
}

std::expected<tls_context, std::error_code> tls_context::server(const tls_server_options& options) noexcept {
    auto made = make_shared_state([&options](shared& state) { return configure_server(state, options); });
    if (!made) return std::unexpected(made.error());
    return tls_context(std::move(*made));
}

std::error_code tls_context::add_host(std::string_view name, const tls_context& other) noexcept {
    if (name.empty() || !is_server() || !other.is_server() || other.shared_ == shared_) {
        return make_error_code(tls_errc::bad_setting);
    }
    shared_->hosts.emplace_back(name, other);
    return {};
}

std::uint64_t tls_context::handshakes_count() const noexcept {
    return shared_->handshakes_count.load(std::memory_order_relaxed);
}
std::uint64_t tls_context::resumptions_count() const noexcept {
    return shared_->resumptions_count.load(std::memory_order_relaxed);
}
bool tls_context::is_server() const noexcept {
    return shared_->server;
}

const tls_context* tls_context::shared::find_host(std::string_view name) const noexcept {
    const std::size_t dot = name.find('.');
    for (const auto& [pattern, settings] : hosts) {
        if (same_letters(pattern, name)) return &settings;
        if (dot == std::string_view::npos || !pattern.starts_with("*.")) continue;
        if (same_letters(std::string_view(pattern).substr(1), name.substr(dot))) return &settings;
    }
    return nullptr;
}

void tls_context::shared::keep_session(const std::string& host, detail::tls_session session) {
    const std::scoped_lock lock(guard_);
    const auto of_host = [&host](const kept_session& each) { return each.host == host; };
    const auto count = static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), of_host));
    if (count >= sessions_per_host_max) {
        sessions_.erase(std::find_if(sessions_.begin(), sessions_.end(), of_host));
    } else if (sessions_.size() >= sessions_max) {
        sessions_.erase(sessions_.begin());
    }
    sessions_.push_back(kept_session{host, std::move(session)});
}

detail::tls_session tls_context::shared::take_session(const std::string& host) noexcept {
    const std::scoped_lock lock(guard_);
    for (std::size_t i = sessions_.size(); i-- != 0;) {
        if (sessions_[i].host != host) continue;
        // TLS 1.2 gives no new ticket when a session is resumed: its ticket stays.
        SSL_SESSION* const kept = sessions_[i].session.get();
        if (::SSL_SESSION_get_protocol_version(kept) < TLS1_3_VERSION) {
            return detail::tls_session(::SSL_SESSION_dup(kept));
        }
        detail::tls_session found = std::move(sessions_[i].session);
        sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(i));
        return found;
    }
    return nullptr;
}

std::expected<std::string, std::error_code> read_pem_file(const std::string& path) noexcept {
    try {
        std::ifstream file(path, std::ios::binary);
        if (!file) return std::unexpected(std::make_error_code(std::errc::no_such_file_or_directory));
        std::string text(static_cast<std::size_t>(pem_file_bytes_max), '\0');
        file.read(text.data(), pem_file_bytes_max);
        if (file.gcount() == pem_file_bytes_max)
            return std::unexpected(std::make_error_code(std::errc::file_too_large));
        text.resize(static_cast<std::size_t>(file.gcount()));
        return text;
    } catch (const std::bad_alloc&) {
        return std::unexpected(make_error_code(tls_errc::out_of_memory));
    }
}

}  // namespace corro::io
