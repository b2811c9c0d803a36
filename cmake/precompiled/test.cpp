// Compiles test.hpp once; the layers use the result.
