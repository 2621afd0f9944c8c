# lowtide_compile_together(TARGET [HEADER...]): up to eight files of a folder, in the order of their names, are compiled as one
# (CMake's unity builds), and the named headers are compiled once for the target: a first build takes half the time. Names in
# anonymous namespaces must then differ within a folder, as they should for whoever reads it. Files with options of their own are
# compiled alone, and -DLOWTIDE_TOGETHER=OFF compiles every file alone, which shows whether each includes what it uses
# (scripts/check.sh does). A compiler's cache (ccache) knows files only without compiled headers.
option(LOWTIDE_TOGETHER "compile several files as one" ON)
set(LOWTIDE_COMMON_HEADERS <algorithm> <functional> <map> <memory> <optional> <set> <string> <unordered_map> <unordered_set> <variant>
    <vector> <fmt/format.h>)

function(lowtide_compile_together target)
  if(NOT LOWTIDE_TOGETHER)
    return()
  endif()
  if(ARGN AND NOT CCACHE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  get_target_property(sources ${target} SOURCES)
  set(most 8)
  set(folders "")
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(options OR definitions)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      continue()
    endif()
    # Relative, so that a compiler's cache knows the same files in another clone.
    get_filename_component(folder ${source} DIRECTORY)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" id)
    list(APPEND folders ${id})
    list(APPEND in_${id} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(id IN LISTS folders)
    list(LENGTH in_${id} count)
    math(EXPR groups "(${count} + ${most} - 1) / ${most}")
    set(number 0)
    foreach(source IN LISTS in_${id})
      math(EXPR group "${number} * ${groups} / ${count}")
      math(EXPR number "${number} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${id}_${group}")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # What is in an anonymous namespace of a file that another includes is seen by that other alone, as it should be.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
