#!/usr/bin/env bash
# Moves main to the current branch, if and only if the gate (.ci/run) passes on it in a fresh clone.
#
#   hack/land.sh            the branch that is checked out
#   hack/land.sh BRANCH     another one
#   hack/land.sh --check    says whether main is a commit that has passed the gate
#
# main is what everybody else gets, at any moment: work on a branch, and land it here. The log of the last run is in
# .git/gate.log; the commits that have passed are listed in .git/gate-passed.
set -uo pipefail
top=$(git rev-parse --show-toplevel) || exit 2
cd "$top" || exit 2
git_dir=$(git rev-parse --path-format=absolute --git-common-dir)
passed="$git_dir/gate-passed"
touch "$passed"

if [ "${1:-}" = --check ]; then
  head=$(git rev-parse main)
  # What main was when this checkout was made had landed already.
  first=$(git reflog show --format=%H main 2>/dev/null | tail -n 1)
  if grep -qx "$head" "$passed" || [ "$head" = "$first" ]; then
    echo "main ($(git log -1 --format='%h %s' main)) has passed the gate"
    exit 0
  fi
  last=$(git rev-list main | grep -Fxf "$passed" -m1 || echo none)
  echo "main ($(git log -1 --format='%h %s' main)) has NOT passed the gate; the last commit of it that has: $last"
  exit 1
fi

branch=${1:-$(git symbolic-ref --short -q HEAD)}
[ -n "$branch" ] || { echo "land: no branch is checked out" >&2; exit 2; }
[ "$branch" != main ] || { echo "land: work on a branch (git switch -c NAME), and land that" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "land: there are uncommitted changes" >&2; exit 2; }
git merge-base --is-ancestor main "$branch" || {
  echo "land: main is not an ancestor of $branch: git rebase main $branch" >&2
  exit 2
}
commit=$(git rev-parse "$branch")
[ "$commit" != "$(git rev-parse main)" ] || { echo "land: main is there already"; exit 0; }

exec 8>"$git_dir/gate.lock"
flock -n 8 || { echo "land: another landing is running" >&2; exit 2; }

# Not in /tmp: some tests need a folder that a mount namespace of theirs still shows.
work=$(mktemp -d "${TMPDIR:-/var/tmp}/gate.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
git clone -q "file://$top" "$work/main" && git -C "$work/main" checkout -q --detach "$commit" || exit 2
echo "land: the gate on $(git log -1 --format='%h %s' "$commit"), in a fresh clone; log: $git_dir/gate.log"
start=$SECONDS
(cd "$work/main" && CI=true exec setpriv --pdeathsig TERM bash .ci/run </dev/null 8>&-) >"$git_dir/gate.log" 2>&1 &
wait $!
code=$?
grep -aE '^(FLAKY|FAILED)' "$work/main/dist/test-summary.txt" 2>/dev/null
tail -n 25 "$git_dir/gate.log"
echo "land: $((SECONDS - start)) s, exit $code"
[ "$code" = 0 ] || { echo "land: RED. main stays at $(git rev-parse --short main)." >&2; exit 1; }
echo "$commit" >>"$passed"
# Neither moves main to what does not come after it.
if [ "$(git symbolic-ref --short -q HEAD)" = main ]; then git merge -q --ff-only "$commit"; else git fetch -q . "$commit:refs/heads/main"; fi || {
  echo "land: the gate is green, but main did not move: rebase onto main and land again" >&2
  exit 1
}
echo "land: GREEN. main is $(git log -1 --format='%h %s' main)."
