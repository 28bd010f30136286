#!/bin/bash
# Collision probability in ns-2: the share of RTS frames that get no CTS.
#
#   collisions.sh [KEY VALUE ...]      keys of ns2.tcl
#
# Frames of whole microseconds: collisions.sh packet 1004 header 43. An MPDU is packet + header +
# 34 bytes, and a multiple of 11 bytes lasts whole microseconds at 11 Mb/s; so do 43 + 34.
set -euo pipefail
here=$(dirname "$0")
command -v ns > /dev/null || { echo "ns-2 is not installed" >&2; exit 3; }
pipe=$(mktemp -u)
mkfifo "$pipe"
trap 'rm -f "$pipe"' EXIT
awk '$4 == "MAC" && $1 == "s" && $7 == "RTS" { rts[$3 == "_0_"]++ }
     $4 == "MAC" && $1 == "r" && $7 == "CTS" { cts[$3 == "_0_"]++ }
     END { print "collision_probability", 1 - (cts[0] + cts[1]) / (rts[0] + rts[1])
           print "of_access_point", 1 - cts[1] / rts[1]
           print "of_stations", 1 - cts[0] / rts[0] }' "$pipe" &
ns "$here/ns2.tcl" duration 60 warmup 10 trace "$pipe" "$@" 2> /dev/null |
    grep -E "^(goodput|jain|retransmissions)"
wait
