# SPDX-License-Identifier: Apache-2.0
import sys

try:
    from holdfast_report.command import main
except ModuleNotFoundError as absent:
    sentence = f"the Python package {absent.name} is not installed; run ./cmake/bootstrap.sh"
    print(f"holdfast_report: {sentence}", file=sys.stderr)
    sys.exit(2)

sys.exit(main(sys.argv[1:]))
