// SPDX-License-Identifier: Apache-2.0
// 128-bit integers under one name that both compilers accept without a pedantic warning.
#pragma once

namespace corro::base {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

}  // namespace corro::base
