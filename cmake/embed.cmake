# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=<name> -DDIRECTORY=<folder> -DFILES="device/a.cu;problem/b.hpp" -DOUTPUT=<header> -P embed.cmake
# Writes device code into a header as constants, so that a binary carries what it compiles at run time. A constant bears
# the file's last name (a_cu), its Source the path that other device code includes it by.

set(constants "")
foreach(file IN LISTS FILES)
  file(READ ${DIRECTORY}/${file} text)
  cmake_path(GET file FILENAME last)
  string(MAKE_C_IDENTIFIER ${last} identifier)
  string(APPEND constants "inline constexpr Source ${identifier}{\"${FOLDER}/${file}\",
                                        R\"holdfast(${text})holdfast\"};\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made from ${FOLDER}'s device code by cmake/embed.cmake.
#pragma once

#include \"runtime/compile/compiler.hpp\"

namespace holdfast::${FOLDER}::sources {

${constants}
}  // namespace holdfast::${FOLDER}::sources
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
