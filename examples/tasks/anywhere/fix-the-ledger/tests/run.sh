#!/bin/sh
# Runs the repaired program on hidden ledgers and compares its output byte for byte.
app=${PROCTOR_WORKDIR:-/app}
tests=${PROCTOR_TESTS:-/tests}
logs=${PROCTOR_LOGS:-/logs}

failed=0
for ledger in "$tests"/ledgers/*.csv; do
  name=$(basename "$ledger" .csv)
  if sh "$app/ledger.sh" "$ledger" 2>&1 | cmp -s - "$tests/ledgers/$name.expected"; then
    echo "passed $name"
  else
    echo "failed $name"
    failed=$((failed + 1))
  fi
done
if [ "$failed" -eq 0 ]; then echo 1; else echo 0; fi > "$logs/verifier/reward.txt"
