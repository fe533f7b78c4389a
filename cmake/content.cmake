# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=<root> -DOUTPUT=<file> [-DCODE=<file>] -P content.cmake
# Which content a build is made of: one hash over what git tracks (or would track) in kernels, suites and cmake and the
# CMake files beside them, the same before and after the commit, so that code and the baseline it earned land together.
# Pages, tests, the tools in Python beside this file and what Python makes of them are no part of what is measured. A name
# that CMake or git reads as something else is refused: the hash would pass over its file, or over all of them. CODE says
# the hash to the linker.

set(parts kernels suites cmake CMakeLists.txt CMakePresets.json)
find_package(Git QUIET)
set(files "")
set(sha "")
set(dirty false)
if(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} ls-files --cached --others --exclude-standard ${parts}
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE files RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --verify --quiet HEAD WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE sha OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain -- ${parts}
                    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(dirty true)
    endif()
  endif()
endif()
set(tracked TRUE)
if(NOT files)  # an unpacked archive
  set(tracked FALSE)
  foreach(part IN LISTS parts)
    if(IS_DIRECTORY ${SOURCE}/${part})
      file(GLOB_RECURSE inside RELATIVE ${SOURCE} ${SOURCE}/${part}/*)
      string(REPLACE ";" "\n" inside "${inside}")
      string(APPEND files "${inside}\n")
    elseif(EXISTS ${SOURCE}/${part})
      string(APPEND files "${part}\n")
    endif()
  endforeach()
endif()

# Checked before it becomes a list, which brackets and semicolons would change.
string(REGEX MATCH "[^\n]*[^A-Za-z0-9_./+\n-][^\n]*" odd "${files}")
if(odd)
  message(FATAL_ERROR "no content can be told: rename or remove ${odd}: "
                      "names in ${parts} are made of letters, digits and _ . / + - alone")
endif()
string(REGEX REPLACE "\n$" "" files "${files}")
string(REPLACE "\n" ";" files "${files}")
list(FILTER files EXCLUDE REGEX "\\.md$|_test\\.(cpp|py|sh)$|^cmake/.*\\.py$|/__pycache__/")
list(SORT files)
set(lines "")
foreach(file IN LISTS files)
  if(IS_DIRECTORY ${SOURCE}/${file})
    message(FATAL_ERROR "no content can be told: ${file} is a repository of its own or a link to a folder, "
                        "whose files git does not list here: copy them, or use them from outside of ${parts}")
  elseif(EXISTS ${SOURCE}/${file})  # a tracked file may have been removed
    file(SHA256 ${SOURCE}/${file} hash)
    string(APPEND lines "${hash} ${file}\n")
  elseif(NOT tracked)
    message(FATAL_ERROR "no content can be told: rename or remove ${file}, which has a semicolon in its name")
  endif()
endforeach()
if(NOT lines)
  message(FATAL_ERROR "no content can be told: ${SOURCE} has none of ${parts}")
endif()
string(SHA256 content "${lines}")
file(WRITE ${OUTPUT}.new
     "{\"content\": \"sha256:${content}\", \"git\": {\"dirty\": ${dirty}, \"sha\": \"${sha}\"}}\n")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
if(CODE)
  file(CONFIGURE OUTPUT ${CODE} CONTENT "extern const char holdfast_linked_content[] = \"sha256:${content}\";\n")
endif()
