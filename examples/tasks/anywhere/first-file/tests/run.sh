#!/bin/sh
# Publishes 1 when the file holds exactly what was asked for, else 0.
app=${PROCTOR_WORKDIR:-/app}
tests=${PROCTOR_TESTS:-/tests}
logs=${PROCTOR_LOGS:-/logs}

reward=0
if cmp "$tests/expected.txt" "$app/greeting.txt"; then reward=1; fi
echo "$reward" > "$logs/verifier/reward.txt"
