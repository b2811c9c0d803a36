// SPDX-License-Identifier: Apache-2.0
// The access rights of a file that holds keys.
//
// Threads: any. Cost: one system call.
#pragma once

#include <string>

namespace corro::node {

/// The problem with the access rights of a file that holds secrets, as a sentence with a remedy; empty without a
/// problem or without such a file. The file's group may read but not write; other users may do neither.
/// @param is_public  The keys are public: only write access is checked.
[[nodiscard]] std::string open_to_others(const std::string& path, bool is_public);

}  // namespace corro::node
