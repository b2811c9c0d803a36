# SPDX-License-Identifier: Apache-2.0
# Tests of the sources themselves: includes, format, what must not compile, what must not configure. Included last.

# corro_check(NAME COMMAND...): a script as a test; exit code 77 skips it.
function(corro_check name)
  add_test(NAME checks/${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # ctest begins with the highest cost: long tests first, so that none of them runs alone at the end.
  set_tests_properties(checks/${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 COST 10)
endfunction()

# corro_compile_fail(NAME SOURCE EXPECTED_REGEX): SOURCE must not compile, for the expected reason; with CORRO_CONTROL
# defined it must. The expression is matched against the compiler's messages with white space joined, for both compilers.
function(corro_compile_fail name source expected_regex)
  get_filename_component(file "${source}" ABSOLUTE)
  corro_check(compile_fail/${name} "${CORRO_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/expect_failure.py"
    --expect "${expected_regex}" --control=-DCORRO_CONTROL
    -- "${CMAKE_CXX_COMPILER}" -std=c++23 -fsyntax-only "-I${PROJECT_SOURCE_DIR}/src" "${file}")
endfunction()

corro_check(includes_respect_the_layers "${CORRO_PYTHON}" tools/check_includes.py)
corro_check(include_check_catches_each_violation "${CORRO_PYTHON}" tools/check_includes.py --self-test)
corro_check(no_condition_awaits_where_gcc_forgets_it "${CORRO_PYTHON}" tools/check_coroutines.py)
corro_check(coroutine_check_catches_each_violation "${CORRO_PYTHON}" tools/check_coroutines.py --self-test)
corro_check(sources_are_formatted tools/check_format)
corro_check(what_pages_refer_to_is_there "${CORRO_PYTHON}" tools/check_texts.py)
corro_check(text_check_catches_each_violation "${CORRO_PYTHON}" tools/check_texts.py --self-test)
corro_check(promises_name_tests_that_exist "${CORRO_PYTHON}" tools/check_promises.py docs/spec/promises.md "${PROJECT_BINARY_DIR}")
corro_check(embedding_of_pages_works "${CORRO_PYTHON}" tools/embed_site.py --self-test)
corro_check(promises_check_catches_each_violation "${CORRO_PYTHON}" tools/check_promises.py --self-test)
corro_check(defects_are_listed_used_and_measured "${CORRO_PYTHON}" tools/simulation_defects --check docs/benchmarks/simulation.md)
corro_check(defect_check_catches_each_violation "${CORRO_PYTHON}" tools/simulation_defects --self-test)
corro_check(scripts_install_packages_and_remove_none "${CORRO_PYTHON}" tools/setup_test.py)
corro_check(run_builds_the_program_alone "${CORRO_PYTHON}" tools/run_build_test.py "${PROJECT_BINARY_DIR}" "${CMAKE_CXX_COMPILER}")
corro_check(library_needs_nothing_that_it_is_built_without "${CORRO_PYTHON}" tools/optional_test.py "${CMAKE_CXX_COMPILER}")
corro_check(coverage_counts_what_runs tools/coverage --self-test)
corro_check(summary_counts_every_outcome "${CORRO_PYTHON}" tools/test_summary_test.py)
corro_check(times_count_each_step_once "${CORRO_PYTHON}" tools/timing_test.py)
corro_check(naming_a_later_layer_does_not_configure "${CORRO_PYTHON}" tools/expect_failure.py
  --expect "may not depend on 'matching', which does not stand below it" --control=-DCORRO_CONTROL=ON
  -- "${CMAKE_COMMAND}" --fresh -S "${PROJECT_SOURCE_DIR}/tests/compile_fail/layer_order"
     -B "${PROJECT_BINARY_DIR}/tests/layer_order" -G "${CMAKE_GENERATOR}" -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})

# The fuzzers' names, programs and corpora, for tools/fuzz.
get_property(corro_fuzzers GLOBAL PROPERTY CORRO_FUZZERS)
set(corro_fuzzer_lines "")
foreach(entry IN LISTS corro_fuzzers)
  string(REPLACE "=" ";" entry "${entry}")
  list(GET entry 0 corro_fuzzer_name)
  list(GET entry 1 corro_fuzzer_corpus)
  string(APPEND corro_fuzzer_lines "${corro_fuzzer_name}\t$<TARGET_FILE:${corro_fuzzer_name}>\t${corro_fuzzer_corpus}\n")
endforeach()
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/fuzzers.txt" CONTENT "${corro_fuzzer_lines}")
