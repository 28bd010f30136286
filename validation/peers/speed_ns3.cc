// A cell whose stations all download from a server, for the speed bench; ns-3.37.
//
// 802.11b at 11 Mb/s or 802.11g at 54 Mb/s, fixed rates, frames of equal strength and no errors; a
// wire of 1 Gb/s and 2 ms; one NewReno flow for each station; a MAC queue of 100 packets.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/wifi-module.h>

#include <iostream>
#include <string>

using namespace ns3;

int main(int argc, char *argv[]) {
  std::string standard = "11b";
  uint32_t stations = 10;
  double seconds = 2.0;
  CommandLine command(__FILE__);
  command.AddValue("standard", "11b or 11g", standard);
  command.AddValue("stations", "how many", stations);
  command.AddValue("seconds", "simulated time", seconds);
  command.Parse(argc, argv);
  const bool b = standard == "11b";

  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("100p"));

  NodeContainer server(1), accessPoint(1), wifiStations(stations);
  PointToPointHelper wire;
  wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
  wire.SetChannelAttribute("Delay", StringValue("2ms"));
  NetDeviceContainer wired = wire.Install(server.Get(0), accessPoint.Get(0));

  YansWifiChannelHelper channel;
  channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
  channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-30.0));
  YansWifiPhyHelper phy;
  phy.SetChannel(channel.Create());
  WifiHelper wifi;
  wifi.SetStandard(b ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g);
  wifi.SetRemoteStationManager(
      "ns3::ConstantRateWifiManager",
      "DataMode", StringValue(b ? "DsssRate11Mbps" : "ErpOfdmRate54Mbps"),
      "ControlMode", StringValue(b ? "DsssRate2Mbps" : "ErpOfdmRate24Mbps"));
  WifiMacHelper mac;
  mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")));
  NetDeviceContainer air = wifi.Install(phy, mac, accessPoint);
  mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("cell")));
  air.Add(wifi.Install(phy, mac, wifiStations));

  MobilityHelper mobility;
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(accessPoint);
  mobility.Install(wifiStations);

  InternetStackHelper stack;
  stack.InstallAll();
  Ipv4AddressHelper address;
  address.SetBase("10.0.0.0", "255.255.255.0");
  address.Assign(wired);
  address.SetBase("10.0.1.0", "255.255.255.0");
  Ipv4InterfaceContainer interfaces = address.Assign(air);
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  ApplicationContainer sinks;
  for (uint32_t i = 0; i < stations; ++i) {
    const uint16_t port = 5000;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.Add(sink.Install(wifiStations.Get(i)));
    // The access point's own interface is the first.
    InetSocketAddress remote(interfaces.GetAddress(i + 1), port);
    BulkSendHelper source("ns3::TcpSocketFactory", remote);
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.Install(server.Get(0)).Start(Seconds(0.5));
  }
  Simulator::Stop(Seconds(0.5 + seconds));
  Simulator::Run();
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < stations; ++i) {
    bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
  }
  std::cout << "goodput_mbps " << 8e-6 * bytes / seconds << std::endl;
  Simulator::Destroy();
  return 0;
}
