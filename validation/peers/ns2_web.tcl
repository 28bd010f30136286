# Web sessions in the cell of ns-2.35: stations alternate between thinking and downloading a file.
#
#   ns ns2_web.tcl KEY VALUE ...      keys and defaults below
#
# Sizes are Pareto, padded to whole segments; each file has a connection of its own. Prints the delay
# per packet, quantiles of the delay of a file, the mean delays of files of up to 30 packets (mice)
# and of larger ones (elephants), and the packets that were sent again.

array set opt {
    stations 15 window 1000 files 300 think 10.0 mean 30000 shape 1.5 minrto 0.2 seed 1
    radius 20 packet 1000 header 40 initial 1 cw_min 31 cw_max 1023 control 2e6 long_limit 7 rts 0
    limit 100000 trace ""
}
foreach {key value} $argv {
    if {![info exists opt($key)]} { puts stderr "no key $key: [lsort [array names opt]]"; exit 2 }
    set opt($key) $value
}
source [file join [file dirname [info script]] ns2_cell.tcl]
Agent/TCP set minrto_ $opt(minrto)

# Sizes and pauses have streams of their own, so that they are equal for every window and timer.
proc stream {kind seed mean} {
    set numbers [new RNG]
    $numbers seed $seed
    set variable [new RandomVariable/$kind]
    $variable use-rng $numbers
    $variable set avg_ $mean
    return $variable
}
set sizes [stream Pareto [expr {1000 + $opt(seed)}] $opt(mean)]
$sizes set shape_ $opt(shape)
set pauses [stream Exponential [expr {5000 + $opt(seed)}] $opt(think)]

set left [expr {$opt(stations) * $opt(files)}]
set packets 0
set resent 0
array set delays {all {} mice {} elephants {}}

proc think {i} {
    global ns pauses
    $ns at [expr {[$ns now] + [$pauses value]}] "request $i"
}
proc request {i} {
    global ns node sizes sender receiver began count
    set sender($i) [new Agent/TCP/Newreno]
    set receiver($i) [new Agent/TCPSink]
    $ns attach-agent $node(0) $sender($i)
    $ns attach-agent $node($i) $receiver($i)
    $ns connect $sender($i) $receiver($i)
    set count($i) [expr {int(ceil([$sizes value] / 1000.0))}]
    set began($i) [$ns now]
    $sender($i) set station_ $i
    $sender($i) advanceby $count($i)
}
# ns-2 calls it when the last acknowledgement has arrived.
Agent/TCP instproc done {} {
    global ns
    $ns at-now "finished [$self set station_]"
}
proc finished {i} {
    global ns node sender receiver began count todo left packets resent delays
    set delay [expr {[$ns now] - $began($i)}]
    lappend delays(all) $delay
    lappend delays([expr {$count($i) <= 30 ? "mice" : "elephants"}]) $delay
    incr packets $count($i)
    incr resent [expr {int([$sender($i) set nrexmitpack_])}]
    $ns detach-agent $node(0) $sender($i)
    $ns detach-agent $node($i) $receiver($i)
    if {[incr left -1] == 0} { report }
    if {[incr todo($i) -1] > 0} { think $i }
}
proc total {values} {
    set sum 0.0
    foreach value $values { set sum [expr {$sum + $value}] }
    return $sum
}
proc report {} {
    global delays packets resent
    set all [lsort -real $delays(all)]
    set n [llength $all]
    puts "delay_per_packet_ms [expr {1e3 * [total $all] / $packets}]"
    puts "packets_per_file [expr {1.0 * $packets / $n}]"
    foreach percent {50 95 99} { puts "p${percent}_s [lindex $all [expr {$n * $percent / 100}]]" }
    foreach kind {mice elephants} {
        puts "${kind}_s [expr {[total $delays($kind)] / [llength $delays($kind)]}]"
    }
    puts "resent $resent"
    exit 0
}
for {set i 1} {$i <= $opt(stations)} {incr i} {
    set todo($i) $opt(files)
    think $i
}
$ns run
