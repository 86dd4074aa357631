#!/bin/bash
# Talks to the server with nothing but bash.
request() {
  exec 3<>/dev/tcp/127.0.0.1/8080 || return 1
  printf '%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1" "$2" >&3
  timeout 5 tr -d '\r' <&3
  exec 3>&-
}
body() { request "$1" "$2" | sed '1,/^$/d'; }
status() { request "$1" "$2" | awk 'NR == 1 { print $2 }'; }

reward=0
start=$(body GET /hits)
for _ in $(seq 20); do body POST /hits > /dev/null & done
wait
end=$(body GET /hits)
if [ -n "$start" ] && [ "$end" = "$((start + 20))" ] && [ "$(body GET /hits)" = "$end" ] && [ "$(status GET /other)" = 404 ] && [ "$(status GET /hits)" = 200 ]; then
  reward=1
fi
echo "before: ${start:-no answer}, after 20 hits: ${end:-no answer}"
echo "$reward" > /logs/verifier/reward.txt
