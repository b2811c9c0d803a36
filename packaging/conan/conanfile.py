# SPDX-License-Identifier: Apache-2.0
"""The library by Conan 2: `conan create packaging/conan --version 0.1.0`. It builds the tree that it is in."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Corro(ConanFile):
    name = "corro"
    license = "Apache-2.0"
    description = "Coroutine-native network I/O for C++23, on epoll and io_uring"
    settings = "os", "compiler", "build_type", "arch"
    options = {name: [True, False] for name in ("fix", "tls", "zlib", "uring")}
    default_options = {"fix": True, "tls": True, "zlib": True, "uring": True}
    package_type = "static-library"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "src/*"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Corro runs on Linux only")
        if self.options.fix and not self.options.tls:
            raise ConanInvalidConfiguration("corro::fix needs TLS: -o corro/*:fix=False")

    def requirements(self):
        if self.options.tls:
            self.requires("openssl/[>=3 <4]")
        if self.options.zlib:
            self.requires("zlib/[>=1.2 <2]")
        if self.options.uring:
            self.requires("liburing/[>=2.2]")
        if self.options.fix:
            self.requires("pugixml/[>=1.12]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CORRO_LIBRARY_ONLY"] = True
        toolchain.cache_variables["CORRO_ARCH"] = ""
        for name in ("tls", "zlib", "uring"):
            toolchain.cache_variables[f"CORRO_{name.upper()}"] = bool(self.options.get_safe(name))
        if not self.options.fix:
            toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_pugixml"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package's own corroConfig.cmake
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "corro"))
