#!/bin/bash
# Four checks; all must hold.
queue=/app/queue.sh
scratch=$(mktemp -d)
failed=0
check() { if [ "$2" = "$3" ]; then echo "passed $1"; else echo "failed $1"; failed=$((failed + 1)); fi; }

# Order and exact text, one process.
box=$scratch/one
$queue "$box" push $'two\nlines\n' > /dev/null
$queue "$box" push '' > /dev/null
$queue "$box" push '-n  two   spaces * ' > /dev/null
got=$(for _ in 1 2 3; do $queue "$box" pop | od -An -v -tx1 | tr -d ' \n'; echo; done)
want=$(for text in $'two\nlines\n' '' '-n  two   spaces * '; do printf '%s' "$text" | od -An -v -tx1 | tr -d ' \n'; echo; done)
check 'text is kept exactly, in order' "$got" "$want"
$queue "$box" pop > "$scratch/empty"
check 'an empty queue prints nothing and exits 1' "$? $(wc -c < "$scratch/empty")" '1 0'
check 'numbers go on after the queue was empty' "$($queue "$box" push x)" 4

# Eight processes push at once, then eight pop at once.
box=$scratch/many
for worker in $(seq 8); do
  for item in $(seq 12); do $queue "$box" push "$worker-$item"; done > "$scratch/numbers.$worker" &
done
wait
check 'numbers are dense and never repeat' "$(sort -n "$scratch"/numbers.* | tr '\n' ' ')" "$(seq 96 | tr '\n' ' ')"
for worker in $(seq 8); do
  (while text=$($queue "$box" pop); do echo "$text"; done > "$scratch/popped.$worker") &
done
wait
check 'every job is handed out exactly once' "$(sort "$scratch"/popped.*)" "$(for worker in $(seq 8); do for item in $(seq 12); do echo "$worker-$item"; done; done | sort)"

# Processes killed at any moment; the others go on.
box=$scratch/killed
for round in $(seq 30); do
  timeout -s KILL 0.0$((round % 10)) $queue "$box" push "round $round" > /dev/null 2>&1
  timeout -s KILL 0.0$((round % 7)) $queue "$box" pop > /dev/null 2>&1
done
number=$(timeout 5 $queue "$box" push last)
while text=$(timeout 5 $queue "$box" pop); do final=$text; done
check 'the queue works after processes were killed' "$final $((number > 0))" 'last 1'

if [ "$failed" -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
