// Who else may read or write a file that holds keys.
//
// Threads: any. Cost: one system call.
#pragma once

#include <string>

namespace corro::node {

/// What is wrong with the rights of a file that holds secrets, as a sentence with a remedy; empty when nothing is, or
/// when there is no such file. Others are those who are neither the owner nor of the file's group; those of the group
/// may read and not write.
/// @param is_public  Everybody may know the keys: only who may write is looked at.
[[nodiscard]] std::string open_to_others(const std::string& path, bool is_public);

}  // namespace corro::node
