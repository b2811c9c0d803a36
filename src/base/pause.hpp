// SPDX-License-Identifier: Apache-2.0
// A pause within a loop that looks at memory until another thread changes it.
//
// Threads: any. Cost: 32 ns on an AMD EPYC; other processors differ. Meanwhile the processor's other thread runs
// faster.
#pragma once

namespace corro::base {

inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

}  // namespace corro::base
