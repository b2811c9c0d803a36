// SPDX-License-Identifier: Apache-2.0
// Test support: certificates that are made during the test, so that none can expire in the repository.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace corro::io {

/// A certificate and its key, as PEM text.
struct test_identity {
    std::string certificate;
    std::string private_key;
};

struct test_certificate_options {
    std::string names = "DNS:localhost,IP:127.0.0.1";  // as OpenSSL writes subjectAltName
    long valid_from_s = -3600;                         // from now
    long valid_until_s = 3600;
    bool issuer = false;      // may sign others
    std::string common_name;  // of its subject; empty: one of its own
};

namespace detail {

template <class T, void (*Free)(T*)>
struct test_owner {
    struct deleter {
        void operator()(T* owned) const noexcept { Free(owned); }
    };
    using type = std::unique_ptr<T, deleter>;
};
using test_key = test_owner<EVP_PKEY, &::EVP_PKEY_free>::type;
using test_x509 = test_owner<X509, &::X509_free>::type;

template <class Write>
std::string pem_text(Write write) {
    BIO* const memory = ::BIO_new(::BIO_s_mem());
    write(memory);
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory, &data);
    std::string text(data, static_cast<std::size_t>(size));
    ::BIO_free(memory);
    return text;
}

}  // namespace detail

/// Makes a certificate for `options`, signed by `by`, or by itself if that is null.
inline test_identity make_test_certificate(const test_certificate_options& options, const test_identity* by = nullptr) {
    static long serial = 1;
    const detail::test_key own(::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    const detail::test_x509 made(::X509_new());
    X509* const x = made.get();
    ::X509_set_version(x, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(x), serial);
    ::X509_gmtime_adj(::X509_getm_notBefore(x), options.valid_from_s);
    ::X509_gmtime_adj(::X509_getm_notAfter(x), options.valid_until_s);
    ::X509_set_pubkey(x, own.get());
    const std::string number = std::to_string(serial++);
    const std::string subject = options.common_name.empty() ? "test certificate " + number : options.common_name;
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
    const auto add = [x](int which, const std::string& value) {
        X509_EXTENSION* const extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, which, value.c_str());
        EXPECT_NE(extension, nullptr) << value;
        ::X509_add_ext(x, extension, -1);
        ::X509_EXTENSION_free(extension);
    };
    add(NID_basic_constraints, options.issuer ? "critical,CA:TRUE" : "critical,CA:FALSE");
    add(NID_key_usage, options.issuer ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature");
    if (!options.names.empty()) add(NID_subject_alt_name, options.names);
    if (by == nullptr) {
        ::X509_set_issuer_name(x, ::X509_get_subject_name(x));
        EXPECT_NE(::X509_sign(x, own.get(), ::EVP_sha256()), 0);
    } else {
        BIO* const certificate_text =
            ::BIO_new_mem_buf(by->certificate.data(), static_cast<int>(by->certificate.size()));
        BIO* const key_text = ::BIO_new_mem_buf(by->private_key.data(), static_cast<int>(by->private_key.size()));
        const detail::test_x509 issuer(::PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr));
        const detail::test_key issuer_key(::PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr));
        ::BIO_free(certificate_text);
        ::BIO_free(key_text);
        ::X509_set_issuer_name(x, ::X509_get_subject_name(issuer.get()));
        EXPECT_NE(::X509_sign(x, issuer_key.get(), ::EVP_sha256()), 0);
    }
    test_identity written;
    written.certificate = detail::pem_text([x](BIO* to) { ::PEM_write_bio_X509(to, x); });
    written.private_key = detail::pem_text(
        [&own](BIO* to) { ::PEM_write_bio_PrivateKey(to, own.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    return written;
}

/// An authority, made once for the whole program.
inline const test_identity& test_authority() {
    static const test_identity made = [] {
        test_certificate_options options;
        options.names.clear();
        options.issuer = true;
        return make_test_certificate(options);
    }();
    return made;
}

/// "localhost" and 127.0.0.1, signed by `test_authority`; made once.
inline const test_identity& test_server_identity() {
    static const test_identity made = make_test_certificate(test_certificate_options(), &test_authority());
    return made;
}

}  // namespace corro::io
