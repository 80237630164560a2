#!/bin/sh
# Lane vm-tools: in CI, what the lane vm needs. On a machine of somebody's nothing is installed unasked. That it cannot be had fails
# nothing: the tests are skipped then, and the skip says why.
set -eu
cd "$(dirname "$0")"
if [ -n "${VM:-}" ]; then
  echo "VM=$VM is taken as it is"
elif [ "${CI:-0}" = 0 ] || [ "${CI:-}" = false ]; then
  echo "left as it is: hack/vm/vm.sh setup --storage gets what is missing"
else
  timeout 600 ./vm.sh setup --storage || echo "there will be no VM: setup ended with $?"
fi
