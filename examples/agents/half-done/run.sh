#!/bin/sh
# A scripted agent that knows a few tricks and no more: it solves first-file, gets three of the four answers of log-report, and
# corrects calibrate by its feedback. On every other task it gives up.
instruction=$(cat "$PROCTOR_INSTRUCTION_FILE")
cd "$PROCTOR_WORKDIR" || exit 1

case $instruction in
  *greeting.txt*)
    echo "$instruction" | sed -n 's/^    \(Hello.*\)/\1/p' > greeting.txt
    ;;
  *access.log*)
    {
      awk 'END { print "requests", NR }' access.log
      awk '$5 >= 500 { n += 1 } END { print "errors", n + 0 }' access.log
      cut -d' ' -f2 access.log | LC_ALL=C sort | uniq -c | LC_ALL=C sort -k1,1nr -k2,2 | awk 'NR == 1 { print "busiest", $2, $1 }'
      echo "slowest unknown 0"
    } > report.txt
    ;;
  *readings.txt*)
    off=0
    if [ "$PROCTOR_ITERATION" -gt 1 ]; then
      off=$(sed -n 's/.*off by \(-\{0,1\}[0-9]\{1,\}\) degrees.*/\1/p' "$PROCTOR_FEEDBACK_FILE" | head -n 1)
    fi
    awk -v off="${off:-0}" '{ print $1 - off }' readings.txt > calibrated.txt
    ;;
  *)
    echo "no trick for this task" >&2
    exit 1
    ;;
esac
