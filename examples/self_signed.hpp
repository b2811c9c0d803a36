// SPDX-License-Identifier: Apache-2.0
// A certificate that a program makes for itself: good for trying TLS out, and trusted by nobody.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "io/tls/tls_context.hpp"

namespace example {

template <class T, void (*Free)(T*)>
struct freed {
    void operator()(T* gone) const noexcept { Free(gone); }
};

template <class Write>
std::string pem_of(Write write) {
    const std::unique_ptr<BIO, freed<BIO, &::BIO_free_all>> memory(::BIO_new(::BIO_s_mem()));
    write(memory.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

/// A certificate for localhost, valid for thirty days, with its key.
inline corro::io::tls_server_options self_signed() {
    const std::unique_ptr<EVP_PKEY, freed<EVP_PKEY, &::EVP_PKEY_free>> key(
        ::EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    const std::unique_ptr<X509, freed<X509, &::X509_free>> made(::X509_new());
    X509* const certificate = made.get();
    ::X509_set_version(certificate, 2);
    // RFC 5280, 4.1.2.2: positive, and another one for each certificate of an issuer. 64 bits of a random generator.
    std::array<unsigned char, 8> serial{};
    if (::RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) throw std::runtime_error("no random bytes");
    serial[0] = static_cast<unsigned char>((serial[0] & 0x7fU) | 0x40U);
    const std::unique_ptr<BIGNUM, freed<BIGNUM, &::BN_free>> number(
        ::BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr));
    ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(certificate));
    ::X509_gmtime_adj(::X509_getm_notBefore(certificate), -3600);
    ::X509_gmtime_adj(::X509_getm_notAfter(certificate), 30L * 24 * 3600);
    ::X509_set_pubkey(certificate, key.get());
    ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    ::X509_set_issuer_name(certificate, ::X509_get_subject_name(certificate));
    const auto add = [certificate](int which, const char* value) {
        X509_EXTENSION* const extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, which, value);
        ::X509_add_ext(certificate, extension, -1);
        ::X509_EXTENSION_free(extension);
    };
    add(NID_basic_constraints, "critical,CA:FALSE");
    add(NID_key_usage, "critical,digitalSignature");
    add(NID_ext_key_usage, "serverAuth");
    add(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1");
    ::X509_sign(certificate, key.get(), ::EVP_sha256());

    corro::io::tls_server_options options;
    options.certificate_chain = pem_of([&](BIO* to) { ::PEM_write_bio_X509(to, certificate); });
    options.private_key =
        pem_of([&](BIO* to) { ::PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    return options;
}

}  // namespace example
