# SPDX-License-Identifier: Apache-2.0
import os
import signal
import sys


def run() -> int:
    try:
        from holdfast_report.command import main
    except ModuleNotFoundError as absent:
        sentence = f"the Python package {absent.name} is not installed; run ./cmake/bootstrap.sh"
        print(f"holdfast_report: {sentence}", file=sys.stderr)
        return 2
    return main(sys.argv[1:])


try:
    code = run()
except KeyboardInterrupt:
    print("holdfast_report: interrupted; no file is left half written", file=sys.stderr)
    # Ended by the signal, so that a script that waits for this process ends as well.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
sys.exit(code)
