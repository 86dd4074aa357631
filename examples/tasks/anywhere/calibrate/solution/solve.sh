#!/bin/sh
# First attempt: the readings as they are. Second: corrected by what the laboratory said.
cd "${PROCTOR_WORKDIR:-/app}" || exit 1
off=0
if [ "${PROCTOR_ITERATION:-1}" -gt 1 ]; then
  off=$(sed -n 's/.*off by \(-\{0,1\}[0-9]\{1,\}\) degrees.*/\1/p' "$PROCTOR_FEEDBACK_FILE" | head -n 1)
fi
awk -v off="${off:-0}" '{ print $1 - off }' readings.txt > calibrated.txt
