#!/bin/bash
cp "$(dirname "$0")/server.pl" /app/server.pl
setsid perl /app/server.pl > /app/server.log 2>&1 < /dev/null &
for _ in $(seq 50); do
  (exec 3<>/dev/tcp/127.0.0.1/8080) 2> /dev/null && exit 0
  sleep 0.1
done
echo "the server did not come up"; exit 1
