// SPDX-License-Identifier: Apache-2.0
// Compiles edge.hpp once; the layers use the result.
