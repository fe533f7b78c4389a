# SPDX-License-Identifier: Apache-2.0
"""The history as a folder of static pages."""
