#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `./dev setup`: makes a fresh Debian bookworm machine able to build. Two steps, each skipped when its list has not changed
# since it last succeeded: Debian packages (packages.txt), and the Python environment .venv (requirements.txt). The
# environment is made from the system's own Python, because that is the one whose headers python3-dev installs; another
# interpreter that comes first on PATH is not used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

force=no
for argument in "$@"; do
  case "$argument" in
    --force) force=yes ;;
    *) echo "setup: unknown argument '$argument' (there is only --force)" >&2; exit 1 ;;
  esac
done
say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }

# --- Debian packages ----------------------------------------------------------------------------------------------------
installMissing() {
  local wanted missing=() asRoot=()
  wanted=$(grep -v '^#' scripts/packages.txt)
  for package in $wanted; do
    # The question is put to dpkg, not to a stamp: a tree may move to a machine where nothing is installed.
    case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)" in
      'install ok installed') ;;
      *) missing+=("$package") ;;
    esac
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: these packages are missing and need root: ${missing[*]}" >&2; exit 1; }
    asRoot=(sudo)
  fi
  say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${asRoot[@]}" apt-get update -q
  "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

command -v dpkg-query >/dev/null || { echo "setup: needs a Debian system (bookworm): dpkg is missing" >&2; exit 1; }
installMissing

# --- Python -------------------------------------------------------------------------------------------------------------
interpreter=/usr/bin/python3
"$interpreter" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "setup: $interpreter is older than Python 3.11" >&2
  exit 1
}
stamp=.venv/.latewood-requirements
if [ "$force" = yes ] || ! cmp -s requirements.txt "$stamp"; then
  say "Installing the Python environment .venv"
  [ -x .venv/bin/python ] && .venv/bin/python -c '' 2>/dev/null || "$interpreter" -m venv --clear .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check -r requirements.txt
  cp requirements.txt "$stamp"
fi
