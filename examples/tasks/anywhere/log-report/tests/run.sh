#!/bin/sh
# Compares line by line; every right line is worth a quarter.
app=${PROCTOR_WORKDIR:-/app}
tests=${PROCTOR_TESTS:-/tests}
logs=${PROCTOR_LOGS:-/logs}

right=0
for line in 1 2 3 4; do
  wanted=$(sed -n "${line}p" "$tests/expected.txt")
  found=$(sed -n "${line}p" "$app/report.txt" 2>/dev/null)
  if [ "$found" = "$wanted" ]; then
    right=$((right + 1))
    echo "passed line $line"
  else
    echo "failed line $line: found '$found'"
  fi
done
echo "{\"reward\": $(awk "BEGIN { print $right / 4 }")}" > "$logs/verifier/reward.json"
