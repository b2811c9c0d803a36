// SPDX-License-Identifier: Apache-2.0
// Compiles test.hpp once; the layers use the result.
