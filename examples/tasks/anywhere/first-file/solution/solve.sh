#!/bin/sh
echo "Hello from the sandbox" > "${PROCTOR_WORKDIR:-/app}/greeting.txt"
