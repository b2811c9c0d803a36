# SPDX-License-Identifier: Apache-2.0
# An overlay port: it builds the tree that it is in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(without_fix "")
if(NOT "fix" IN_LIST FEATURES)
  set(without_fix -DCMAKE_DISABLE_FIND_PACKAGE_pugixml=ON)
endif()
vcpkg_check_features(OUT_FEATURE_OPTIONS parts FEATURES tls CORRO_TLS uring CORRO_URING zlib CORRO_ZLIB)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DCORRO_LIBRARY_ONLY=ON -DCORRO_ARCH= ${parts} ${without_fix})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME corro CONFIG_PATH lib/cmake/corro)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
