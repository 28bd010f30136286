// Saturated uplinks of 802.11ax in ns-3.37 with Basic Trigger frames beside EDCA, for the table of
// agreement: what `ns3_uplink_runs.py` beside it asks for.
//
// Stations stand on a circle of 2 m around their access point, and offer twice what the channel
// carries: 20 MHz, MCS 7. The access point has TXOPs of 8.16 ms, which it announces to the
// stations, and asks for the medium 100 us after its last access. Prints the goodput in Mb/s, and
// the TXOPs that the access point and the stations have had. With --down it has as much for them,
// and with --muted they send by triggers only (MU EDCA): for benches/README.md.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/propagation-module.h>
#include <ns3/spectrum-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

#include <cmath>
#include <iostream>

using namespace ns3;

namespace {

constexpr double WARMUP_S = 2.0, START_S = 1.2;
constexpr uint32_t PAYLOAD = 1472;
const Time LIMIT = MicroSeconds(8160);
/// A station's last BlockAck of a TXOP, or the access point's Multi-STA BlockAck, announces less.
const Time REST = MicroSeconds(1000);

uint64_t triggered = 0, contended = 0;
bool isTriggered = false;

/// Counts TXOPs by the acknowledgements that end the first exchange of each.
void Sent(WifiConstPsduMap psdus, WifiTxVector, double) {
  const auto &header = psdus.begin()->second->GetHeader(0);
  if (Simulator::Now().GetSeconds() < WARMUP_S) {
    return;
  }
  if (header.IsTrigger()) {
    isTriggered = header.GetDuration() > LIMIT - REST;
  } else if (header.IsBlockAck()) {
    CtrlBAckResponseHeader ack;
    psdus.begin()->second->GetPayload(0)->PeekHeader(ack);
    if (!ack.IsMultiSta()) {
      contended += header.GetDuration() > REST;
    } else if (isTriggered) {
      ++triggered;
      isTriggered = false;
    }
  }
}

Ptr<WifiNetDevice> Device(Ptr<Node> node) {
  return DynamicCast<WifiNetDevice>(node->GetDevice(0));
}

void Mute(WifiHelper &wifi) {
  for (const std::string category : {"Be", "Bk", "Vi", "Vo"}) {
    wifi.ConfigHeOptions("Mu" + category + "Aifsn", UintegerValue(0));
    wifi.ConfigHeOptions("Mu" + category + "CwMin", UintegerValue(15));
    wifi.ConfigHeOptions("Mu" + category + "CwMax", UintegerValue(1023));
    wifi.ConfigHeOptions(category + "MuEdcaTimer", TimeValue(MicroSeconds(2088960)));
  }
}

void Install(const NodeContainer &stations, const NodeContainer &point, bool muted) {
  auto channel = CreateObject<MultiModelSpectrumChannel>();
  channel->AddPropagationLossModel(CreateObject<LogDistancePropagationLossModel>());
  channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
  SpectrumWifiPhyHelper phy;
  phy.SetChannel(channel);
  phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
  WifiHelper wifi;
  wifi.SetStandard(WIFI_STANDARD_80211ax);
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("HeMcs7"),
                               "ControlMode", StringValue("OfdmRate24Mbps"));
  wifi.ConfigHeOptions("MpduBufferSize", UintegerValue(256));
  wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(800)));
  if (muted) {
    Mute(wifi);
  }
  const Ssid ssid("cell");
  const UintegerValue longest(6500631);
  WifiMacHelper mac;
  mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", longest,
              "MaxMissedBeacons", UintegerValue(1000000));
  wifi.Install(phy, mac, stations);
  mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", longest);
  mac.SetMultiUserScheduler(
      "ns3::RrMultiUserScheduler", "EnableUlOfdma", BooleanValue(true), "EnableBsrp",
      BooleanValue(false), "NStations", UintegerValue(stations.GetN()), "UlPsduSize",
      UintegerValue(1538), "AccessReqInterval", TimeValue(MicroSeconds(100)));
  wifi.Install(phy, mac, point);
  Device(point.Get(0))->GetMac()->GetQosTxop(AC_BE)->SetTxopLimit(LIMIT);
}

void Place(const NodeContainer &stations, const NodeContainer &point) {
  auto places = CreateObject<ListPositionAllocator>();
  places->Add(Vector(0.0, 0.0, 0.0));
  for (uint32_t i = 0; i < stations.GetN(); ++i) {
    const double angle = 2 * M_PI * i / stations.GetN();
    places->Add(Vector(2 * std::cos(angle), 2 * std::sin(angle), 0.0));
  }
  MobilityHelper mobility;
  mobility.SetPositionAllocator(places);
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(NodeContainer(point, stations));
}

void Send(Ptr<Node> from, Ptr<Node> to, uint16_t port, uint32_t count) {
  // The first interface but loopback.
  const auto address = to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
  OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(address, port));
  source.SetConstantRate(DataRate(uint64_t(2 * 86e6 / count)), PAYLOAD);
  source.SetAttribute("StartTime", TimeValue(Seconds(START_S + 0.003 * (port % 1000))));
  source.Install(from);
}

ApplicationContainer Traffic(const NodeContainer &stations, Ptr<Node> point, bool down) {
  ApplicationContainer sinks;
  for (uint32_t i = 0; i < stations.GetN(); ++i) {
    const uint16_t port = 5000 + i;
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.Add(sink.Install(point));
    Send(stations.Get(i), point, port, stations.GetN());
    if (down) {
      sinks.Add(sink.Install(stations.Get(i)));
      Send(point, stations.Get(i), port, stations.GetN());
    }
  }
  return sinks;
}

uint64_t Received(const ApplicationContainer &sinks) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sinks.GetN(); ++i) {
    bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
  }
  return bytes;
}

} // namespace

int main(int argc, char *argv[]) {
  uint32_t count = 4;
  bool down = false, muted = false;
  double seconds = 10.0;
  CommandLine command(__FILE__);
  command.AddValue("stations", "how many", count);
  command.AddValue("seconds", "time measured", seconds);
  command.AddValue("down", "datagrams for the stations, too", down);
  command.AddValue("muted", "MU EDCA with AIFSN 0", muted);
  command.Parse(argc, argv);
  Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
  Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("5000p")));
  Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10)));

  NodeContainer stations(count), point(1);
  Install(stations, point, muted);
  Place(stations, point);
  const NodeContainer all(point, stations);
  InternetStackHelper().Install(all);
  NetDeviceContainer devices;
  for (uint32_t i = 0; i < all.GetN(); ++i) {
    devices.Add(all.Get(i)->GetDevice(0));
  }
  Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
  TrafficControlHelper().Uninstall(devices);
  NeighborCacheHelper().PopulateNeighborCache();
  const auto sinks = Traffic(stations, point.Get(0), down);

  const auto device = Device(point.Get(0));
  device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Sent));
  Simulator::Schedule(Seconds(START_S - 0.1), [&]() {
    device->GetMac()->SetAttribute("BeaconGeneration", BooleanValue(false));
  });
  uint64_t before = 0;
  Simulator::Schedule(Seconds(WARMUP_S), [&]() { before = Received(sinks); });
  Simulator::Stop(Seconds(WARMUP_S + seconds));
  Simulator::Run();
  const double goodput = (Received(sinks) - before) * 8e-6 / seconds;
  std::cout << goodput << " " << triggered << " " << contended << std::endl;
  Simulator::Destroy();
}
