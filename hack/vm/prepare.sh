#!/bin/sh
# Lane vm-tools: what the lane vm needs, in the cache. That it cannot be had fails nothing: the tests are skipped then, and the skip says why.
set -eu
cd "$(dirname "$0")"
if [ -n "${VM:-}" ]; then
  echo "VM=$VM is taken as it is"
else
  timeout 600 ./vm.sh setup --storage || echo "there will be no VM: setup ended with $?"
fi
