# make install, make package: the command, both libraries, the headers, and how CMake and pkg-config find them.
include(CMakePackageConfigHelpers)
set_target_properties(lowtide_core PROPERTIES ARCHIVE_OUTPUT_NAME lowtide)
install(TARGETS lowtide RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS lowtide_shared lowtide_core EXPORT lowtide LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS lowtide_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lowtide DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/lowtide RENAME copyright)

set(LOWTIDE_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/lowtide)
install(EXPORT lowtide NAMESPACE lowtide:: DESTINATION ${LOWTIDE_CMAKE} FILE lowtide-targets.cmake)
configure_package_config_file(cmake/lowtide-config.cmake.in ${PROJECT_BINARY_DIR}/lowtide-config.cmake INSTALL_DESTINATION ${LOWTIDE_CMAKE})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lowtide-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lowtide-config.cmake ${PROJECT_BINARY_DIR}/lowtide-config-version.cmake DESTINATION ${LOWTIDE_CMAKE})
file(RELATIVE_PATH LOWTIDE_PREFIX_OF_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # wherever it is installed to
configure_file(cmake/lowtide.pc.in ${PROJECT_BINARY_DIR}/lowtide.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lowtide.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lowtide)
set(CPACK_PACKAGE_CONTACT "the Lowtide developers <lowtide@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "what holds memory in an array program, how little it needs, and running it in that")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
# Loaded when a program needs them; without them it runs by its definitions there, or says what it lacks.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libdnnl2, libopenblas0")
include(CPack)
