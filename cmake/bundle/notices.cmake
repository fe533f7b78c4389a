# SPDX-License-Identifier: Apache-2.0
# The licences of packed code, as the distribution records them, and the location of its source.

# Built into the programs without a shared library: header-only, or linked statically.
set(built_in nlohmann-json3-dev libprotozero-dev googletest libbenchmark-dev libboost-context-dev)

# package_of(<out> <file>): the package that a file of this system belongs to; empty if none.
function(package_of out file)
  string(REGEX REPLACE "^/usr" "" unmerged ${file})  # the path that some packages still record
  execute_process(COMMAND dpkg-query --search ${file} ${unmerged} OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX MATCH "^[^:,\n]+" package "${owner}")
  set(${out} "${package}" PARENT_SCOPE)
endfunction()

# install_notice(<root> <package>): its licence into licences/<package>, its source's name and version into
# licences/SOURCES.
function(install_notice root package)
  set(notice /usr/share/doc/${package}/copyright)
  execute_process(COMMAND dpkg-query --show "--showformat=\${source:Package}=\${source:Version}" ${package}
                  OUTPUT_VARIABLE source RESULT_VARIABLE unknown ERROR_QUIET)
  if(NOT package OR NOT EXISTS ${notice} OR unknown)
    message(FATAL_ERROR "The bundle holds code of '${package}', and no package of this system says under which terms: "
                        "build it on Debian 12")
  endif()
  if(EXISTS ${root}/licences/${package})
    return()
  endif()
  file(MAKE_DIRECTORY ${root}/licences)
  file(COPY_FILE ${notice} ${root}/licences/${package})
  if(NOT EXISTS ${root}/licences/SOURCES)
    file(WRITE ${root}/licences/SOURCES
         "# Of each package its source, as Debian publishes it, for whatever its terms ask (FFTW's are the GPL's):\n"
         "#   apt-get source SOURCE, or https://snapshot.debian.org/package/NAME/VERSION/\n")
  endif()
  file(APPEND ${root}/licences/SOURCES "${package}: ${source}\n")
endfunction()

function(install_built_in_notices root)
  foreach(package IN LISTS built_in)
    install_notice(${root} ${package})
  endforeach()
endfunction()
