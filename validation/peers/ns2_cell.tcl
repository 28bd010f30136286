# The 802.11b cell of ns2.tcl and ns2_web.tcl: node 0 is the access point, the others are stations.
#
# Reads from the array `opt`: stations, radius, packet, header, window, initial, cw_min, cw_max,
# control, long_limit, rts, limit, seed, trace.

Mac/802_11 set SlotTime_ 0.000020
Mac/802_11 set SIFS_ 0.000010
Mac/802_11 set PreambleLength_ 144
Mac/802_11 set PLCPHeaderLength_ 48
Mac/802_11 set PLCPDataRate_ 1.0e6
Mac/802_11 set dataRate_ 11e6
Mac/802_11 set basicRate_ $opt(control)
Mac/802_11 set RTSThreshold_ $opt(rts)
Mac/802_11 set CWMin_ $opt(cw_min)
Mac/802_11 set CWMax_ $opt(cw_max)
Mac/802_11 set ShortRetryLimit_ 7
Mac/802_11 set LongRetryLimit_ $opt(long_limit)
# No capture: both of two colliding frames are lost.
Phy/WirelessPhy set CPThresh_ 1e6
Agent/TCP set packetSize_ $opt(packet)
Agent/TCP set tcpip_base_hdr_size_ $opt(header)
Agent/TCP set window_ $opt(window)
Agent/TCP set windowInit_ $opt(initial)
Agent/TCPSink set packetSize_ $opt(header)

ns-random $opt(seed)
set ns [new Simulator]
set traced [expr {$opt(trace) ne ""}]
$ns trace-all [open [expr {$traced ? $opt(trace) : "/dev/null"}] w]
set topology [new Topography]
$topology load_flatgrid 1000 1000
create-god [expr {$opt(stations) + 1}]
$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen $opt(limit) -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topology \
    -agentTrace OFF -routerTrace OFF -movementTrace OFF -macTrace [expr {$traced ? "ON" : "OFF"}]

# The access point is node 0, at the centre.
for {set i 0} {$i <= $opt(stations)} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    set angle [expr {2 * acos(-1) * $i / $opt(stations)}]
    set r [expr {$i == 0 ? 0 : $opt(radius)}]
    $node($i) set X_ [expr {500 + $r * cos($angle)}]
    $node($i) set Y_ [expr {500 + $r * sin($angle)}]
    $node($i) set Z_ 0
}
