#!/bin/bash
# A queue of jobs in a directory.
directory=$1
mkdir -p "$directory/jobs"

case $2 in
  push)
    last=$(cat "$directory/last" 2> /dev/null || echo 0)
    number=$((last + 1))
    echo "$number" > "$directory/last"
    echo $3 > "$directory/jobs/$number"
    echo "$number"
    ;;
  pop)
    oldest=$(ls "$directory/jobs" | sort -n | head -n 1)
    [ -n "$oldest" ] || exit 1
    cat "$directory/jobs/$oldest"
    rm "$directory/jobs/$oldest"
    ;;
esac
