# An ad-hoc network of 802.11 with DSR in ns-2.35: a chain, or mobile nodes. Prints the payload that
# each flow has got acknowledged while it was measured; writes the trace of transports and routing if asked.
#
# ns ns2_adhoc.tcl nodes N movement FILE flows "from:to:start ..." alpha A seed S \
#     begin T end T trace FILE
# An empty movement file makes a chain with 200 m between neighbours.

array set opt $argv

Mac/802_11 set dataRate_ 2e6
Mac/802_11 set basicRate_ 1e6
Mac/802_11 set RTSThreshold_ 0
Agent/TCP set packetSize_ 1024
Agent/TCP set window_ 1000
Agent/TCP set windowOption_ 1
Agent/TCP set increase_num_ $opt(alpha)

ns-random $opt(seed)
set ns [new Simulator]
$ns trace-all [open [expr {$opt(trace) ne "" ? $opt(trace) : "/dev/null"}] w]
set topology [new Topography]
$topology load_flatgrid [expr {max(1000, 200 * $opt(nodes))}] 1000
set god [create-god $opt(nodes)]
set tracing [expr {$opt(trace) ne "" ? "ON" : "OFF"}]
$ns node-config -adhocRouting DSR -llType LL -macType Mac/802_11 \
    -ifqType CMUPriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topology \
    -agentTrace $tracing -routerTrace $tracing -movementTrace OFF -macTrace OFF

for {set i 0} {$i < $opt(nodes)} {incr i} {
    set node_($i) [$ns node]
    $node_($i) random-motion 0
    if {$opt(movement) eq ""} {
        $node_($i) set X_ [expr {1 + 200.0 * $i}]
        $node_($i) set Y_ 500.0
        $node_($i) set Z_ 0.0
    }
}
# The movement file of setdest names the simulator `ns_` and the oracle of distances `god_`.
set ns_ $ns
set god_ $god
if {$opt(movement) ne ""} { source $opt(movement) }

set flows {}
foreach flow $opt(flows) {
    lassign [split $flow :] from to start
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node_($from) $tcp
    $ns attach-agent $node_($to) $sink
    $ns connect $tcp $sink
    $tcp set fid_ [llength $flows]
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    lappend flows $tcp
}

proc begin {} {
    global flows acked
    foreach tcp $flows { set acked($tcp) [$tcp set ack_] }
}

proc finish {} {
    global ns flows acked opt
    foreach tcp $flows {
        set bits [expr {8.0 * 1024 * ([$tcp set ack_] - $acked($tcp))}]
        puts "goodput_bps [expr {$bits / ($opt(end) - $opt(begin))}]"
    }
    $ns flush-trace
    exit 0
}

$ns at $opt(begin) "begin"
$ns at $opt(end) "finish"
$ns run
