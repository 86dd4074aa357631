#!/bin/sh
# A command agent: one file, uploaded to /opt/agent and run. It does what first-file asks, whatever the task asks.
echo "Hello from the sandbox" > "$PROCTOR_WORKDIR/greeting.txt"
