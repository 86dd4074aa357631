#!/bin/sh
export LC_ALL=C
cd "${PROCTOR_WORKDIR:-/app}" || exit 1
{
  awk 'END { print "requests", NR }' access.log
  awk '$5 >= 500 { n += 1 } END { print "errors", n + 0 }' access.log
  cut -d' ' -f2 access.log | sort | uniq -c | sort -k1,1nr -k2,2 | awk 'NR == 1 { print "busiest", $2, $1 }'
  sort -k4,4 -k7,7n access.log | awk '
    function settle() { if (n >= 3 && times[int((n + 1) / 2)] > most) { most = times[int((n + 1) / 2)]; slowest = path } }
    $4 != path { settle(); path = $4; n = 0 }
    { times[++n] = $7 }
    END { settle(); print "slowest", slowest, most }
  '
} > report.txt
