#!/bin/bash
# A queue of jobs in a directory. The kernel drops the lock of a process that dies; a job counts once its file has its number.
directory=$1
mkdir -p "$directory/jobs"
exec 9> "$directory/lock"
flock 9

newest() { ls "$directory/jobs" | grep -x '[0-9]*' | sort -n | tail -n 1; }
oldest() { ls "$directory/jobs" | grep -x '[0-9]*' | sort -n | head -n 1; }

case $2 in
  push)
    taken=$(cat "$directory/taken" 2> /dev/null)
    last=$(newest)
    number=$((${last:-${taken:-0}} + 1))
    printf '%s' "$3" > "$directory/jobs/new"
    mv "$directory/jobs/new" "$directory/jobs/$number"
    echo "$number"
    ;;
  pop)
    number=$(oldest)
    taken=$(cat "$directory/taken" 2> /dev/null)
    # A process that was killed between the two steps below had already handed this one out.
    if [ -n "$number" ] && [ "$number" -le "${taken:-0}" ]; then
      rm "$directory/jobs/$number"
      number=$(oldest)
    fi
    [ -n "$number" ] || exit 1
    echo "$number" > "$directory/taken.new"
    mv "$directory/taken.new" "$directory/taken"
    cat "$directory/jobs/$number"
    rm "$directory/jobs/$number"
    ;;
esac
