// Compiles core.hpp once; the layers use the result.
