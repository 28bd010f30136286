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

source [file join [file dirname [info script]] ns2_cell.tcl]
Agent/TCP/FullTcp set segsize_ $opt(packet)
Agent/TCP/FullTcp set segsperack_ $opt(segments)
Agent/TCP/FullTcp set interval_ $opt(timer)

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
