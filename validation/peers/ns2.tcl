# An 802.11b cell in ns-2.35: TCP senders at the access point, receivers at the stations.
#
#   ns ns2.tcl KEY VALUE ...      keys and defaults below; prints goodput, fairness, resends
#
# With `trace FILE` the MAC's frames go there; collisions.sh counts collisions in them.

array set opt {
    stations 10 window 1 segments 1 agent one initial 1 timer 0.1 warmup 10 duration 110 seed 1
    radius 20 packet 1000 header 40 cw_min 31 cw_max 1023 control 2e6 long_limit 7 rts 0
    limit 100000 trace ""
}
foreach {key value} $argv {
    if {![info exists opt($key)]} { puts stderr "no key $key: [lsort [array names opt]]"; exit 2 }
    set opt($key) $value
}

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
Agent/TCP/FullTcp set segsize_ $opt(packet)
Agent/TCP/FullTcp set segsperack_ $opt(segments)
Agent/TCP/FullTcp set interval_ $opt(timer)
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
for {set i 1} {$i <= $opt(stations)} {incr i} {
    switch $opt(agent) {
        one {
            set sender($i) [new Agent/TCP/Newreno]
            set receiver [new Agent/TCPSink[expr {$opt(segments) == 2 ? "/DelAck" : ""}]]
        }
        full {
            set sender($i) [new Agent/TCP/FullTcp/Newreno]
            set receiver [new Agent/TCP/FullTcp/Newreno]
            $receiver listen
        }
    }
    $ns attach-agent $node(0) $sender($i)
    $ns attach-agent $node($i) $receiver
    $ns connect $sender($i) $receiver
    set application [new Application/FTP]
    $application attach-agent $sender($i)
    $ns at [expr {0.1 + 0.01 * $i}] "$application start"
}

proc acknowledged {i} {
    global sender opt
    # One-way agents count packets, FullTcp counts bytes.
    set unit [expr {$opt(agent) eq "one" ? $opt(packet) : 1}]
    expr {[$sender($i) set ack_] * $unit}
}
proc begin {} {
    global opt before resent sender
    for {set i 1} {$i <= $opt(stations)} {incr i} {
        set before($i) [acknowledged $i]
        set resent($i) [$sender($i) set nrexmitpack_]
    }
}
proc finish {} {
    global opt before resent sender
    set sum 0.0
    set squares 0.0
    set retransmissions 0
    for {set i 1} {$i <= $opt(stations)} {incr i} {
        set bits [expr {8.0 * ([acknowledged $i] - $before($i))}]
        set rate [expr {$bits / ($opt(duration) - $opt(warmup)) / 1e6}]
        set sum [expr {$sum + $rate}]
        set squares [expr {$squares + $rate * $rate}]
        incr retransmissions [expr {int([$sender($i) set nrexmitpack_] - $resent($i))}]
    }
    puts "goodput_mbps $sum"
    puts "jain_index [expr {$sum * $sum / ($opt(stations) * $squares)}]"
    puts "retransmissions $retransmissions"
    exit 0
}
$ns at $opt(warmup) begin
$ns at $opt(duration) finish
$ns run
