// SPDX-License-Identifier: Apache-2.0
// What the package raises for files and values from outside. Each text is a sentence for people that says what to do.
#pragma once

#include <stdexcept>

// The bindings are compiled with hidden symbols; they catch these by type.
#define CORRO_PYTHON_VISIBLE __attribute__((visibility("default")))

namespace corro::python {

/// A file that cannot be read, is damaged, or is not what it should be: corro.DataError.
class CORRO_PYTHON_VISIBLE data_error : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A key or value of a configuration or a scenario: corro.ConfigurationError. Begins with FILE:LINE: KEY.
class CORRO_PYTHON_VISIBLE setup_error : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// An argument: ValueError.
class CORRO_PYTHON_VISIBLE argument_error : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

}  // namespace corro::python
