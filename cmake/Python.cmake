# SPDX-License-Identifier: Apache-2.0
# The Python of .venv, which cmake/bootstrap.sh makes from reporting/requirements.txt. Without its wheels only what
# needs them fails, with a message.

set(HOLDFAST_PYTHON ${PROJECT_SOURCE_DIR}/.venv/bin/python3)
if(NOT EXISTS ${HOLDFAST_PYTHON})
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
  set(HOLDFAST_PYTHON ${Python3_EXECUTABLE})
endif()

execute_process(COMMAND "${HOLDFAST_PYTHON}" -I -c "import jinja2, matplotlib, pydantic, jsonschema, pytest"
                RESULT_VARIABLE absent OUTPUT_QUIET ERROR_QUIET)
set(HOLDFAST_PYTEST ${HOLDFAST_PYTHON} -m pytest)
if(NOT absent EQUAL 0)
  set(sentence "The report's Python wheels are absent: run ./cmake/bootstrap.sh and configure again")
  message(STATUS "${sentence}")
  set(HOLDFAST_PYTEST sh -c "echo \"${sentence}\" >&2 && false")
endif()
