failed=0
declare -A ended pid over
[ ! -e "$DONE" ] || while read -r k; do over[$k]=1; done < "$DONE"
# Waits for tasks by their numbers; counts those that failed.
wait_for() {
  local k
  for k in "$@"; do
    [ -z "${ended[$k]}" ] && [ -n "${pid[$k]}" ] || continue
    ended[$k]=1
    wait "${pid[$k]}" || { echo "task $k failed ($?)" >&2; failed=$((failed + 1)); }
  done
}
wait_all() { wait_for "${!pid[@]}"; }
# Remembers that a task has completed, and ends as it did.
and_done() { local code=$?; [ $code != 0 ] || echo "$1" >> "$DONE"; exit $code; }
# Whether those that a task comes after have completed; else it is left out.
may_start() {
  local k task=$1
  for k in "${@:2}"; do
    [ -z "${over[$k]}" ] || continue
    echo "task $task is left out: task $k has not completed" >&2
    return 1
  done
}
