# SPDX-License-Identifier: Apache-2.0
# The native part by itself, and the package in an environment of its own.
add_executable(corro_python_tests
  "${CMAKE_CURRENT_LIST_DIR}/native/arrow_stream_test.cpp"
  "${CMAKE_CURRENT_LIST_DIR}/native/frame_test.cpp")
target_link_libraries(corro_python_tests PRIVATE corro_python corro_settings GTest::gtest GTest::gtest_main)
set_target_properties(corro_python_tests PROPERTIES CORRO_UNOPTIMIZED ON)
corro_precompiled(corro_python_tests QUICK_TEST)
gtest_discover_tests(corro_python_tests TEST_PREFIX "python/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
  PROPERTIES TIMEOUT 300)

add_test(NAME python/the_reference_names_what_is_not_described COMMAND "${CORRO_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/python_reference" --self-test)
add_test(NAME python/everything_public_is_described
  COMMAND "${CORRO_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/python_reference" "${PROJECT_BINARY_DIR}/python/reference")

# A module that is built with the address sanitizer needs its runtime in each Python; the other sanitizers have none.
set(corro_package_sanitizer "")
if(CORRO_SANITIZE MATCHES "address" AND NOT CORRO_FUZZ)
  set(corro_package_sanitizer --sanitize "${CORRO_SANITIZE}")
endif()
if(NOT CORRO_COVERAGE AND (NOT CORRO_SANITIZE OR corro_package_sanitizer))
  add_test(NAME python/the_package_passes_its_tests
    COMMAND "${CORRO_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/run_package_tests.py"
      --build "${PROJECT_BINARY_DIR}/python" --library $<TARGET_FILE:corro_python> --compiler "${CMAKE_CXX_COMPILER}"
      --generator "${CMAKE_GENERATOR}" --version "${PROJECT_VERSION}" ${corro_package_sanitizer}
      --program $<TARGET_FILE:corro> --market-program $<TARGET_FILE:corro-market>)
  set_tests_properties(python/the_package_passes_its_tests PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 COST 300)
endif()
