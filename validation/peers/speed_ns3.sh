#!/bin/bash
# What the speed bench runs in ns-3: a cell whose stations all download from a server.
#
#   speed_ns3.sh build                         compiles it; fails where ns-3 is not installed
#   speed_ns3.sh STANDARD STATIONS SECONDS
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$here/speed_ns3.cc
program=$here/../../target/peers/speed_ns3
if [ "$1" = build ]; then
    [ "$program" -nt "$source" ] && exit 0
    mkdir -p "$(dirname "$program")"
    modules=(core network internet applications point-to-point mobility propagation wifi)
    exec g++ -O2 -std=c++17 -o "$program" "$source" "${modules[@]/#/-lns3-}"
fi
"$program" --standard="$1" --stations="$2" --seconds="$3"
