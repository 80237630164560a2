#!/bin/sh
# Installs what package-lock.json pins, once: again only when the lock or .npmrc changes. Silent when there is nothing to do.
# Runs on the machine's own Node (20 or newer); the lock brings the Node 24 that everything else runs on.
set -eu
cd "$(dirname "$0")/.."

wanted=$(cat package-lock.json .npmrc | sha256sum | cut -d ' ' -f 1)
# One at a time: two `npm ci` at once leave no node_modules at all.
exec 9<package-lock.json
if command -v flock >/dev/null; then flock 9; fi
have=$(cat node_modules/.setup 2>/dev/null || true)
if [ "$wanted" != "$have" ]; then
  echo "installing the packages that package-lock.json pins (once)" >&2
  # No install scripts: none is needed. engine-strict: a dependency asks for Node 22, and is only run on the Node 24 installed here.
  npm ci --ignore-scripts --engine-strict=false --loglevel=error >&2
  echo "$wanted" >node_modules/.setup
fi
exec 9<&-

version=$(PATH="$PWD/node_modules/.bin:$PATH" node -p 'process.versions.node')
if [ "${version%%.*}" -lt 24 ]; then
  echo "Node 24 or newer is needed, and this is $version: no package of Node 24 fits this platform ($(uname -sm)); install Node 24 yourself" >&2
  exit 1
fi
