# SACK flows over a lossy link in ns-2.35: S - R1 - R2 - D, of which R1 - R2 has 10 Mb/s.
#
#   ns ns2_sack.tcl KEY VALUE ...      keys and defaults below; prints goodput and timeouts
#
# `model` is uniform, gilbertpkt or gilberttime; `burst` is the mean length of a bad period in
# packets or seconds. With `switched 1` an ACK with a timestamp ends the back-off of the timer, and
# each partial ACK sends two segments: by default Sack1 does neither.

array set opt {
    model uniform flows 1 rtt 0.010 loss 0.0 burst 4 warmup 20 duration 220 seed 1 switched 0
}
foreach {key value} $argv {
    if {![info exists opt($key)]} { puts stderr "no key $key: [lsort [array names opt]]"; exit 2 }
    set opt($key) $value
}

ns-random $opt(seed)
set ns [new Simulator]
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 2000
Agent/TCP set ecn_ 1
Agent/TCP set timestamps_ true
Agent/TCP set ts_resetRTO_ $opt(switched)
Agent/TCP set partial_ack_ $opt(switched)
foreach {key value} {
    setbit_ true gentle_ true thresh_ 25 maxthresh_ 90 q_weight_ 0.002 linterm_ 10
    bytes_ false queue_in_bytes_ false
} { Queue/RED set $key $value }

foreach name {s r1 r2 d} { set $name [$ns node] }
set middle [expr {$opt(rtt) / 2 - 0.0002}]
$ns duplex-link $s $r1 100Mb 0.1ms DropTail
$ns simplex-link $r1 $r2 10Mb $middle RED
$ns simplex-link $r2 $r1 10Mb $middle DropTail
$ns duplex-link $r2 $d 100Mb 0.1ms DropTail
$ns queue-limit $r1 $r2 100
foreach {from to} [list $r2 $r1 $s $r1 $r2 $d] { $ns queue-limit $from $to 10000 }

if {$opt(loss) > 0} {
    if {$opt(model) eq "uniform"} {
        set errors [new ErrorModel/Uniform $opt(loss) pkt]
    } else {
        set good [expr {$opt(burst) * (1 - $opt(loss)) / $opt(loss)}]
        set unit [expr {$opt(model) eq "gilbertpkt" ? "pkt" : "time"}]
        set errors [new ErrorModel/Expo [list $good $opt(burst)] $unit]
    }
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $r1 $r2
}

for {set i 0} {$i < $opt(flows)} {incr i} {
    set sender($i) [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $s $sender($i)
    $ns attach-agent $d $receiver
    $ns connect $sender($i) $receiver
    set application [new Application/FTP]
    $application attach-agent $sender($i)
    $ns at [expr {$opt(flows) > 1 ? 0.5 * rand() : 0.0}] "$application start"
}

proc acknowledged {} {
    global opt sender
    set sum 0
    for {set i 0} {$i < $opt(flows)} {incr i} { incr sum [expr {int([$sender($i) set ack_])}] }
    return $sum
}
proc finish {} {
    global opt sender before
    set bits [expr {8.0 * 1460 * ([acknowledged] - $before)}]
    puts "goodput_mbps [expr {1e-6 * $bits / ($opt(duration) - $opt(warmup))}]"
    exit 0
}
$ns at $opt(warmup) {set before [acknowledged]}
$ns at $opt(duration) finish
$ns run
