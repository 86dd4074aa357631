#!/bin/sh
cp "$(dirname "$0")/ledger.sh" "${PROCTOR_WORKDIR:-/app}/ledger.sh"
