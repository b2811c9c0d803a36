// SPDX-License-Identifier: Apache-2.0
// What most tests include (cmake/corro_precompiled.cmake). No test depends on it: each includes what it needs.
#pragma once

#include <gtest/gtest.h>

#include "edge.hpp"
