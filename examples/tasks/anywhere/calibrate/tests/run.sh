#!/bin/sh
# Two checks, each named for what it found; the names reach the agent as feedback.
app=${PROCTOR_WORKDIR:-/app}
tests=${PROCTOR_TESTS:-/tests}
logs=${PROCTOR_LOGS:-/logs}

wanted=$(wc -l < "$tests/true.txt")
found=$(grep -c . "$app/calibrated.txt" 2>/dev/null)
if [ "${found:-0}" -eq "$wanted" ]; then
  count_name="there is one temperature for every reading"
  count_status=passed
else
  count_name="there are ${found:-0} temperatures for $((wanted)) readings"
  count_status=failed
fi

differences=$(paste "$tests/true.txt" "$app/calibrated.txt" 2>/dev/null | awk '{ print $2 - $1 }' | sort -nu)
if [ "$count_status" = failed ]; then
  value_name="the temperatures cannot be compared"
  value_status=failed
elif [ "$differences" = 0 ]; then
  value_name="every temperature is true"
  value_status=passed
elif [ "$(echo "$differences" | wc -l)" -eq 1 ]; then
  value_name="every temperature is off by $differences degrees"
  value_status=failed
else
  value_name="the temperatures are off by different amounts"
  value_status=failed
fi

cat > "$logs/verifier/ctrf.json" <<END
{"results": {"tool": {"name": "run.sh"},
  "summary": {"tests": 2, "passed": $(echo "$count_status $value_status" | tr ' ' '\n' | grep -c passed), "failed": $(echo "$count_status $value_status" | tr ' ' '\n' | grep -c failed), "skipped": 0, "pending": 0, "other": 0, "start": 0, "stop": 0},
  "tests": [{"name": "$count_name", "status": "$count_status", "duration": 0}, {"name": "$value_name", "status": "$value_status", "duration": 0}]}}
END
echo "$count_status $count_name"
echo "$value_status $value_name"
if [ "$count_status $value_status" = "passed passed" ]; then echo 1; else echo 0; fi > "$logs/verifier/reward.txt"
