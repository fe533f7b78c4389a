# SPDX-License-Identifier: Apache-2.0
# cmake -DWORKLOAD=<name> -DDIRECTORY=<folder> -DFILES="a.cu;b.hpp" -DOUTPUT=<header> -P embed.cmake
# Writes device code into a header as constants, so that a binary carries what it compiles at run time.

set(constants "")
foreach(file IN LISTS FILES)
  file(READ ${DIRECTORY}/${file} text)
  string(MAKE_C_IDENTIFIER ${file} identifier)
  string(APPEND constants "inline constexpr Source ${identifier}{\"${WORKLOAD}/${file}\",
                                        R\"holdfast(${text})holdfast\"};\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made from ${WORKLOAD}'s device code by cmake/embed.cmake.
#pragma once

#include \"runtime/compiler.hpp\"

namespace holdfast::${WORKLOAD}::sources {

${constants}
}  // namespace holdfast::${WORKLOAD}::sources
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
