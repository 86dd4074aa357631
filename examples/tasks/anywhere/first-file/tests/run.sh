#!/bin/sh
# Publishes 1 when the file holds exactly the line that was asked for, else 0.
app=${PROCTOR_WORKDIR:-/app}
logs=${PROCTOR_LOGS:-/logs}

reward=0
if [ "$(cat "$app/greeting.txt" 2>/dev/null)" = "Hello from the sandbox" ]; then
  reward=1
else
  echo "greeting.txt is missing, or holds something else"
fi
echo "$reward" > "$logs/verifier/reward.txt"
