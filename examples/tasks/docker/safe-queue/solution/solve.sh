#!/bin/bash
install -m 755 "$(dirname "$0")/queue.sh" /app/queue.sh
