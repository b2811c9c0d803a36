# SPDX-License-Identifier: Apache-2.0
# Compiler settings shared by every target of the project. They are attached to targets through the interface
# library `corro_settings`, never to the directory, so that users of the installed library do not get them.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# With precompiled headers CMake must not choose, so that libraries and programs share them: corro_settings does.
if(NOT CORRO_PRECOMPILE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# With precompiled headers ccache finds nothing, and costs time.
find_program(CORRO_CCACHE ccache)
if(CORRO_CCACHE AND NOT CORRO_PRECOMPILE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CORRO_CCACHE}")
endif()

find_package(Threads REQUIRED)

add_library(corro_settings INTERFACE)
target_compile_features(corro_settings INTERFACE cxx_std_23)
target_link_libraries(corro_settings INTERFACE Threads::Threads)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CORRO_ARCH)
  set(corro_march "${CORRO_ARCH}")
  if(corro_march STREQUAL "auto")
    # The build runs where it was made. A virtual machine may lack what every processor of the last ten years has.
    set(corro_march x86-64-v3)
    file(STRINGS /proc/cpuinfo corro_cpu_flags REGEX "^flags" LIMIT_COUNT 1)
    foreach(flag IN ITEMS avx2 bmi1 bmi2 f16c fma abm movbe)
      if(NOT "${corro_cpu_flags} " MATCHES " ${flag} ")
        set(corro_march x86-64)
      endif()
    endforeach()
  endif()
  message(STATUS "Instruction set: ${corro_march}")
  target_compile_options(corro_settings INTERFACE "-march=${corro_march}")
endif()

target_compile_options(corro_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wcast-align -Wimplicit-fallthrough -fno-strict-aliasing
  # Of sources that are compiled together, a local name of one may be a constant's name in another.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
if(CORRO_WERROR)
  target_compile_options(corro_settings INTERFACE -Werror)
endif()

# The Python module is a shared library. Programs by themselves need no such code.
if(CORRO_PRECOMPILE AND NOT CORRO_PROGRAM_ONLY)
  target_compile_options(corro_settings INTERFACE -fPIC)
endif()

# Tests of the edge are many and wait for most of their time: they are compiled in half the time without optimisation.
target_compile_options(corro_settings INTERFACE
  $<$<CONFIG:Debug>:$<IF:$<BOOL:$<TARGET_PROPERTY:CORRO_UNOPTIMIZED>>,-O0,-O1>>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  find_program(CORRO_LLD NAMES ld.lld-19 ld.lld)
  if(CORRO_LLD)
    target_link_options(corro_settings INTERFACE "-fuse-ld=lld")
  endif()
else()
  # Below -O2, g++ 12 turns symmetric transfer into a tail call only when asked; otherwise a loop of immediately complete
  # awaits grows the stack. Its coroutine code also warns about its own generated variables.
  target_compile_options(corro_settings INTERFACE -foptimize-sibling-calls -fcoroutines
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-dangling-pointer
    -Wno-mismatched-new-delete
    # It takes a source that is compiled together with others for a header.
    $<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-subobject-linkage>)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "${CORRO_RELEASE_FLAGS}")
set(CMAKE_CXX_FLAGS_DEBUG "${CORRO_DEBUG_FLAGS}")

if(CORRO_SANITIZE)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CORRO_SANITIZE needs Clang: g++ 12 does not make symmetric transfer a tail call under its "
                        "sanitizers. Configure with CXX=clang++-19.")
  endif()
  # No vptr check: it reads type information, and the core's classes have none (an error category, seen from the edge).
  target_compile_options(corro_settings INTERFACE "-fsanitize=${CORRO_SANITIZE}" -fno-sanitize-recover=all
    -fno-sanitize=vptr -fno-omit-frame-pointer)
  target_link_options(corro_settings INTERFACE "-fsanitize=${CORRO_SANITIZE}")
  target_compile_definitions(corro_settings INTERFACE CORRO_SANITIZED=1)
endif()

if(CORRO_DEFECTS)
  target_compile_definitions(corro_settings INTERFACE CORRO_DEFECTS=1)
endif()

if(CORRO_COVERAGE)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CORRO_COVERAGE needs Clang: tools/coverage reads its counts. Configure with CXX=clang++-19.")
  endif()
  # One file per program, into which each of its processes adds its counts when it ends.
  set(corro_counts "-fprofile-instr-generate=${PROJECT_BINARY_DIR}/coverage/raw/%m.profraw")
  target_compile_options(corro_settings INTERFACE "${corro_counts}" -fcoverage-mapping)
  target_link_options(corro_settings INTERFACE "${corro_counts}")
endif()

if(CORRO_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "CORRO_FUZZ needs Clang's libFuzzer. Configure with CXX=clang++-19.")
endif()
if(CORRO_FUZZ)
  target_compile_options(corro_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
