#!/bin/sh
# Reads the image byte by byte. Resolution fields (bytes 38 to 45) may hold anything.
app=${PROCTOR_WORKDIR:-/app}
tests=${PROCTOR_TESTS:-/tests}
logs=${PROCTOR_LOGS:-/logs}

problems=$(od -An -v -tu1 -w1 "$app/checker.bmp" 2>/dev/null | awk -f "$tests/bitmap.awk" | head -n 5)

echo "${problems:-every byte is right}"
if [ -z "$problems" ]; then echo 1; else echo 0; fi > "$logs/verifier/reward.txt"
