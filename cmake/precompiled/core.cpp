// SPDX-License-Identifier: Apache-2.0
// Compiles core.hpp once; the layers use the result.
