# SPDX-License-Identifier: Apache-2.0
"""Reads what suites measured and the gate decided, and draws it: one page, and one plot per
trend."""


class Problem(Exception):
    """A sentence that says what is wrong, where, and what to do; only the command prints it."""
