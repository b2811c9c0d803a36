# SPDX-License-Identifier: Apache-2.0
# corro_embedded_site(NAME ROOT): the files of ROOT/files.txt become the source NAME_files.cpp in the present binary
# folder, for a target of the same folder. NAME_files.hpp declares what it defines: NAME_files().
function(corro_embedded_site name root)
  # The list may appear after the build was configured.
  file(GLOB list CONFIGURE_DEPENDS "${root}/files.txt")
  set(files "")
  if(list)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    file(STRINGS "${list}" files)
    list(FILTER files EXCLUDE REGEX "^(#|$)")
    list(TRANSFORM files PREPEND "${root}/")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}_files.cpp")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CORRO_PYTHON}" "${PROJECT_SOURCE_DIR}/tools/embed_site.py" "${root}/files.txt" "${source}" ${name}
    DEPENDS "${PROJECT_SOURCE_DIR}/tools/embed_site.py" ${list} ${files}
    COMMENT "Embedding the ${name}"
    VERBATIM)
  # Clang warns of long literals, though none but compilers of other languages have limits.
  set_source_files_properties("${source}" PROPERTIES
    COMPILE_OPTIONS "-Wno-overlength-strings" SKIP_PRECOMPILE_HEADERS ON)
endfunction()
