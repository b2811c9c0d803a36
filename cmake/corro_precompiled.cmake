# SPDX-License-Identifier: Apache-2.0
# Precompiled headers (CORRO_PRECOMPILE), for whole builds from nothing: ./run, and ./test in a new folder. Elsewhere
# they would hide a missing #include and defeat ccache.
set(CORRO_SOURCES_AT_A_TIME 12 CACHE STRING "With CORRO_PRECOMPILE, how many sources of a target are compiled together; 0: all")
mark_as_advanced(CORRO_SOURCES_AT_A_TIME)

# corro_precompiled(TARGET [CORE|TEST|QUICK_TEST|QUICK_EDGE]): TARGET's sources begin with the headers that most sources
# include. The core is compiled without exceptions, tests include GoogleTest, and the quick kinds are not optimised, so
# each of them has a precompiled header of its own.
function(corro_precompiled target)
  if(NOT CORRO_PRECOMPILE)
    return()
  endif()
  string(TOLOWER "${ARGN}" kind)
  if(NOT kind)
    set(kind edge)
  endif()
  set(owner corro_precompiled_${kind})
  if(NOT TARGET ${owner})
    string(REPLACE quick_ "" header ${kind})
    add_library(${owner} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}.cpp")
    target_precompile_headers(${owner} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}.hpp")
    target_include_directories(${owner} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${owner} PRIVATE corro_settings)
    if(kind STREQUAL core)
      target_compile_options(${owner} PRIVATE -fno-exceptions -fno-rtti)
    endif()
    if(kind MATCHES "^quick_")
      set_target_properties(${owner} PROPERTIES CORRO_UNOPTIMIZED ON)
    endif()
    if(header STREQUAL test)
      target_link_libraries(${owner} PRIVATE GTest::gtest)
    endif()
  endif()
  if(NOT kind STREQUAL core)
    # Its definitions must be the same in all: GCC refuses a precompiled header that was made with others.
    find_package(fmt REQUIRED QUIET)
    set(definitions $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_definitions(${owner} PRIVATE ${definitions})
    target_compile_definitions(${target} PRIVATE ${definitions})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# corro_together(TARGET): with CORRO_PRECOMPILE, a dozen sources of TARGET are compiled as one. Most of the time goes into
# headers, and into templates that many sources instantiate: this takes it once. So two sources of a target must not give
# two things one name, not even in unnamed namespaces; what both need goes into a header.
function(corro_together target)
  if(CORRO_PRECOMPILE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${CORRO_SOURCES_AT_A_TIME})
  endif()
endfunction()
