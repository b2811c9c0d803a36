# SPDX-License-Identifier: Apache-2.0
# corro::io, corro::sim, corro::fix and corro::client as libraries of their own: `cmake --install BUILD` and the Debian
# packages. Nothing else of the project is installed, which tools/check_install.py proves.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(corro_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/corro")

# Headers below a folder of their own: include/corro/io/task.hpp is still `#include "io/task/task.hpp"`.
foreach(layer IN ITEMS base io http websocket)
  install(TARGETS corro_${layer} EXPORT corro_targets COMPONENT io
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT io
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro" COMPONENT io)
endforeach()
# What the headers of more than one package below include.
foreach(header IN ITEMS hash int128)
  install(FILES "${PROJECT_SOURCE_DIR}/src/base/${header}.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro/base"
    COMPONENT io)
endforeach()
install(EXPORT corro_targets NAMESPACE corro:: FILE corroTargets.cmake DESTINATION "${corro_package_dir}" COMPONENT io)
# The bridge to Boost.Asio, where Boost was there: find_package looks for Boost only if it is asked for this component.
if(TARGET corro_io_asio)
  install(TARGETS corro_io_asio EXPORT corro_asio_targets COMPONENT io
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT io
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro" COMPONENT io)
  install(EXPORT corro_asio_targets NAMESPACE corro:: FILE corroAsioTargets.cmake DESTINATION "${corro_package_dir}"
    COMPONENT io)
endif()
# FIX sessions, where pugixml was there: find_package looks for pugixml only if it is asked for this component.
if(TARGET corro_fix)
  install(TARGETS corro_fix EXPORT corro_fix_targets COMPONENT fix
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT fix
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro" COMPONENT fix)
  install(EXPORT corro_fix_targets NAMESPACE corro:: FILE corroFixTargets.cmake DESTINATION "${corro_package_dir}"
    COMPONENT fix)
  # A package of its own has a licence of its own.
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/corro-fix" COMPONENT fix)
endif()

# The simulated network, clock and disk, for tests of programs on corro::io.
if(TARGET corro_sim)
  install(TARGETS corro_sim EXPORT corro_sim_targets COMPONENT sim
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT sim
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro" COMPONENT sim)
  install(FILES "${PROJECT_SOURCE_DIR}/src/base/random.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro/base"
    COMPONENT sim)
  install(EXPORT corro_sim_targets NAMESPACE corro:: FILE corroSimTargets.cmake DESTINATION "${corro_package_dir}"
    COMPONENT sim)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/corro-sim" COMPONENT sim)
endif()

# The client of the exchange, and what its headers include: orders, events, messages. Of base the few headers that they need.
if(TARGET corro_client)
  foreach(layer IN ITEMS domain wire feed client)
    install(TARGETS corro_${layer} EXPORT corro_client_targets COMPONENT client
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT client
      FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro" COMPONENT client)
  endforeach()
  foreach(header IN ITEMS archive byte_order byte_queue byte_stream flat_map strong)
    install(FILES "${PROJECT_SOURCE_DIR}/src/base/${header}.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/corro/base"
      COMPONENT client)
  endforeach()
  install(EXPORT corro_client_targets NAMESPACE corro:: FILE corroClientTargets.cmake DESTINATION "${corro_package_dir}"
    COMPONENT client)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/corro-client" COMPONENT client)
endif()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/corroConfig.cmake.in" "${PROJECT_BINARY_DIR}/corroConfig.cmake"
  INSTALL_DESTINATION "${corro_package_dir}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what was.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/corroConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/corroConfig.cmake"
  "${PROJECT_BINARY_DIR}/corroConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/Findliburing.cmake"
  DESTINATION "${corro_package_dir}" COMPONENT io)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT io)

# For builds without CMake: `pkg-config --cflags --libs corro-io`. The compiler needs -std=c++23 besides.
file(RELATIVE_PATH corro_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
function(corro_pkg_config component description requires libraries)
  set(corro_pc_component "${component}")
  set(corro_pc_description "${description}")
  set(corro_pc_requires "${requires}")
  set(corro_pc_libraries "${libraries}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/corro.pc.in" "${PROJECT_BINARY_DIR}/corro-${component}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/corro-${component}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT ${component})
endfunction()
# What the library was built with: names for pkg-config, and of Debian packages.
set(corro_pc_packages "")
set(corro_debian_packages "")
foreach(needed IN ITEMS "URING liburing liburing-dev" "TLS openssl libssl-dev" "ZLIB zlib zlib1g-dev")
  separate_arguments(needed UNIX_COMMAND "${needed}")
  list(GET needed 0 option)
  if(CORRO_${option})
    list(GET needed 1 package)
    string(APPEND corro_pc_packages "${package} ")
    list(GET needed 2 package)
    list(APPEND corro_debian_packages "${package}")
  endif()
endforeach()
corro_pkg_config(io "coroutine-native network I/O for C++23" "${corro_pc_packages}"
  "-lcorro_websocket -lcorro_http -lcorro_io -lcorro_base -pthread")
if(TARGET corro_sim)
  corro_pkg_config(sim "simulated network, clock and disk for programs on corro-io" "corro-io" "-lcorro_sim")
endif()
if(TARGET corro_client)
  corro_pkg_config(client "client of the Corro exchange for C++23" "corro-io"
    "-lcorro_client -lcorro_feed -lcorro_wire -lcorro_domain")
endif()
if(TARGET corro_fix)
  corro_pkg_config(fix "FIX sessions for C++23" "corro-io pugixml" "-lcorro_fix")
endif()

# The same as Debian packages, libcorro-io-dev, -sim-dev, -client-dev and -fix-dev: tools/package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME corro)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "the Corro developers <corro@localhost>")
# The first line of each component's description is its summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL io)
foreach(component IN ITEMS sim client)
  if(TARGET corro_${component})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endif()
endforeach()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_IO_PACKAGE_NAME libcorro-io-dev)
set(CPACK_DEBIAN_IO_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_IO_DESCRIPTION "coroutine-native network I/O for C++23, on epoll and io_uring
Tasks, structured concurrency, stop tokens, timers, sockets and what stands on
them. Headers and static libraries; find_package(corro COMPONENTS io) gives the target corro::io, and
COMPONENTS io_asio, with Boost, corro::io_asio: contexts on an io_context of Boost.Asio.")
# A program that links the static library links these too, and needs the standard library of a compiler.
set(CPACK_DEBIAN_IO_PACKAGE_DEPENDS "libc6-dev, libstdc++-12-dev")
foreach(package IN LISTS corro_debian_packages)
  string(APPEND CPACK_DEBIAN_IO_PACKAGE_DEPENDS ", ${package}")
endforeach()
set(CPACK_DEBIAN_IO_PACKAGE_RECOMMENDS "cmake")
set(CPACK_DEBIAN_IO_PACKAGE_SUGGESTS "libboost-dev (>= 1.81) | libboost1.81-dev")
set(CPACK_DEBIAN_SIM_PACKAGE_NAME libcorro-sim-dev)
set(CPACK_DEBIAN_SIM_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_SIM_DESCRIPTION "simulated network, clock and disk for tests of C++23 network programs
Hosts, links with latency and faults, disks that lose power, all in virtual time: the same seed gives the same run.
Headers and a static library on corro::io; find_package(corro COMPONENTS sim) gives the target corro::sim.")
set(CPACK_DEBIAN_SIM_PACKAGE_DEPENDS "libcorro-io-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_CLIENT_PACKAGE_NAME libcorro-client-dev)
set(CPACK_DEBIAN_CLIENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_CLIENT_DESCRIPTION "client of the Corro exchange for C++23: order entry, market data
Headers and static libraries on corro::io; find_package(corro COMPONENTS client) gives the target corro::client.")
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS "libcorro-io-dev (= ${PROJECT_VERSION})")
if(TARGET corro_fix)
  list(APPEND CPACK_COMPONENTS_ALL fix)
  set(CPACK_DEBIAN_FIX_PACKAGE_NAME libcorro-fix-dev)
  set(CPACK_DEBIAN_FIX_PACKAGE_SECTION libdevel)
  set(CPACK_COMPONENT_FIX_DESCRIPTION "FIX sessions for C++23: codec, data dictionaries, acceptor and initiator
Headers and a static library on corro::io; find_package(corro COMPONENTS fix) gives the target corro::fix.")
  set(CPACK_DEBIAN_FIX_PACKAGE_DEPENDS "libcorro-io-dev (= ${PROJECT_VERSION}), libpugixml-dev")
endif()
include(CPack)
