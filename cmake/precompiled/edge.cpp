// Compiles edge.hpp once; the layers use the result.
