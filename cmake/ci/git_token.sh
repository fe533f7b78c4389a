#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# To be sourced: lets git push with GITHUB_TOKEN, without putting it into a file or on a command
# line.
if [ -n "${GITHUB_TOKEN:-}" ]; then
  GIT_CONFIG_COUNT=1
  GIT_CONFIG_KEY_0="http.${GITHUB_SERVER_URL:-https://github.com}/.extraheader"
  GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$GITHUB_TOKEN" | base64 --wrap=0)"
  export GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
fi
