# Layers, tests, fuzzers. A folder below src/ is a layer, a target, a namespace and an include prefix.

# The layering, lowest first. A layer may depend only on layers that stand before it.
set(CORRO_LAYERS base domain wire matching risk facility io journal gateway market_data client node sim)
# Layers compiled without exceptions and without RTTI: the core is a function.
set(CORRO_CORE_LAYERS base domain wire matching risk facility)

if(NOT CORRO_LIBRARY_ONLY)
  include(GoogleTest)
  find_package(GTest REQUIRED)
endif()

# corro_layer(NAME HEADERS... [INNER_HEADERS...] [SOURCES...] [DEPENDS layers...] [LIBRARIES packages...])
# HEADERS are what the layer offers, and what is installed if it is (cmake/corro_install.cmake). INNER_HEADERS stay in
# this project; each is proved to compile alone as well.
function(corro_layer name)
  cmake_parse_arguments(arg "" "" "HEADERS;INNER_HEADERS;SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(FIND CORRO_LAYERS ${name} own_rank)
  if(own_rank EQUAL -1)
    message(FATAL_ERROR "corro_layer(${name}): no such layer. Add it to CORRO_LAYERS in cmake/corro_layers.cmake, in its place.")
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    list(FIND CORRO_LAYERS ${dependency} rank)
    if(rank EQUAL -1 OR NOT rank LESS own_rank)
      message(FATAL_ERROR "corro_layer(${name}): may not depend on '${dependency}', which does not stand below it. "
                          "The order is: ${CORRO_LAYERS}.")
    endif()
  endforeach()

  set(target corro_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    # An installed library does not name the settings that it was built with.
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:corro_settings>)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(corro::${name} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${arg_HEADERS})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_23)
  if(arg_INNER_HEADERS)
    add_library(${target}_inner INTERFACE)
    target_sources(${target}_inner INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src"
      FILES ${arg_INNER_HEADERS})
    target_link_libraries(${target}_inner INTERFACE ${target})
    set_target_properties(${target}_inner PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(${target} ${scope} corro::${dependency})
  endforeach()
  target_link_libraries(${target} ${scope} ${arg_LIBRARIES})
  if(name IN_LIST CORRO_CORE_LAYERS AND arg_SOURCES)
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  endif()
endfunction()

# corro_tests(LAYER SOURCES... [LIBRARIES ...] [NAME name]): one GoogleTest program per layer; each test is a ctest test.
function(corro_tests layer)
  if(CORRO_LIBRARY_ONLY)
    return()
  endif()
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_NAME)
    set(arg_NAME corro_${layer}_tests)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  target_link_libraries(${arg_NAME} PRIVATE corro::${layer} ${arg_LIBRARIES} corro_settings GTest::gtest GTest::gtest_main)
  target_compile_definitions(${arg_NAME} PRIVATE CORRO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${arg_NAME} TEST_PREFIX "${layer}/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()

# corro_fuzz(LAYER NAME SOURCE CORPUS [LIBRARIES ...]): a libFuzzer program under CORRO_FUZZ; otherwise a program that
# replays the committed corpus, as an ordinary test.
function(corro_fuzz layer name source corpus)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  if(CORRO_FUZZ)
    add_executable(${name} ${source})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${source} "${PROJECT_SOURCE_DIR}/tools/fuzz_replay_main.cpp")
    add_test(NAME ${layer}/${name}_corpus COMMAND ${name} "${corpus}")
    set_tests_properties(${layer}/${name}_corpus PROPERTIES TIMEOUT 300)
  endif()
  target_link_libraries(${name} PRIVATE corro::${layer} ${arg_LIBRARIES} corro_settings)
  set_property(GLOBAL APPEND PROPERTY CORRO_FUZZERS "${name}=${corpus}")
endfunction()
