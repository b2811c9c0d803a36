# Precompiled headers (CORRO_PRECOMPILE), for whole builds from nothing: ./run. Elsewhere they would hide a missing
# #include and defeat ccache.

# corro_precompiled(TARGET [CORE]): TARGET's sources begin with the headers that most sources include. The core is
# compiled without exceptions, so it has a precompiled header of its own.
function(corro_precompiled target)
  if(NOT CORRO_PRECOMPILE)
    return()
  endif()
  set(kind edge)
  if(ARGN STREQUAL "CORE")
    set(kind core)
  endif()
  set(owner corro_precompiled_${kind})
  if(NOT TARGET ${owner})
    add_library(${owner} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled/${kind}.cpp")
    target_precompile_headers(${owner} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/${kind}.hpp")
    target_include_directories(${owner} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${owner} PRIVATE corro_settings)
    if(kind STREQUAL core)
      target_compile_options(${owner} PRIVATE -fno-exceptions -fno-rtti)
    endif()
  endif()
  if(kind STREQUAL edge)
    # Its definitions must be the same in all: GCC refuses a precompiled header that was made with others.
    find_package(fmt REQUIRED QUIET)
    target_link_libraries(${owner} PRIVATE fmt::fmt)
    target_link_libraries(${target} PRIVATE fmt::fmt)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
