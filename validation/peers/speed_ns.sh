#!/bin/bash
# What the speed bench runs in ns-2: an 802.11b cell whose stations all download, no RTS.
#
#   speed_ns.sh build                          whether ns-2 is there
#   speed_ns.sh STANDARD STATIONS SECONDS
set -euo pipefail
here=$(dirname "$0")
command -v ns > /dev/null || { echo "ns-2 is not installed" >&2; exit 3; }
[ "$1" = build ] && exit 0
[ "$1" = 11b ] || { echo "ns-2 is set up for 802.11b only" >&2; exit 3; }
ns "$here/ns2.tcl" stations "$2" duration "$3" warmup 1 window 45 segments 2 packet 1448 header 52 \
    rts 3000 limit 100 2> /dev/null
