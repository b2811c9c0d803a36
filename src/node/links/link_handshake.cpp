// SPDX-License-Identifier: Apache-2.0
#include "node/links/link_handshake.hpp"

#include <algorithm>
#include <vector>

#include "gateway/nonce.hpp"

namespace corro::node {
namespace {

std::string_view label_of(link_claim claim) noexcept {
    switch (claim) {
        case link_claim::gateway_greets: return "corro-link-1 gateway greets";
        case link_claim::facility_greets: return "corro-link-1 facility greets";
        case link_claim::facility_refuses: return "corro-link-1 facility refuses";
    }
    return "";
}

std::span<const std::byte> bytes_of(const link_greeting& greeting) noexcept {
    return std::as_bytes(std::span(&greeting, 1));
}

}  // namespace

link_hello make_link_hello(io::platform& on) noexcept {
    link_hello hello;
    hello.nonce = gateway::make_nonce(on);
    return hello;
}

std::string mismatch(const link_hello& theirs) {
    if (theirs.magic != link_magic) return "the other end of the link is not a facility or gateway of Corro";
    if (theirs.version != link_version) return "the two ends of the link run different versions of Corro";
    return {};
}

wire::proof link_proofs::make(link_claim claim, std::span<const std::byte> what) const {
    const std::span<const std::byte> label = std::as_bytes(std::span(label_of(claim)));
    std::vector<std::byte> input;
    input.reserve(label.size() + gateway_.size() + facility_.size() + what.size());
    for (const std::span<const std::byte> part :
         {label, std::span<const std::byte>(gateway_), std::span<const std::byte>(facility_), what}) {
        input.insert(input.end(), part.begin(), part.end());
    }
    return wire::make_proof(secret_, input);
}

proven_greeting link_proofs::sign(link_claim claim, const link_greeting& greeting) const {
    proven_greeting said;
    said.greeting = greeting;
    said.proof = make(claim, bytes_of(greeting));
    return said;
}

bool link_proofs::check(link_claim claim, const proven_greeting& said) const {
    return holds(claim, bytes_of(said.greeting), said.proof);
}

std::string link_proofs::sign_refusal(std::string_view sentence) const {
    const wire::proof proof = make(link_claim::facility_refuses, std::as_bytes(std::span(sentence)));
    std::string payload(reinterpret_cast<const char*>(proof.data()), proof.size());
    payload += sentence;
    return payload;
}

std::string link_proofs::check_refusal(std::span<const std::byte> payload) const {
    wire::proof proof{};
    if (payload.size() < proof.size()) return {};
    std::copy_n(payload.begin(), proof.size(), proof.begin());
    const std::span<const std::byte> sentence = payload.subspan(proof.size());
    if (!holds(link_claim::facility_refuses, sentence, proof)) return {};
    return {reinterpret_cast<const char*>(sentence.data()), sentence.size()};
}

}  // namespace corro::node
