// Cells of 802.11 in ns-3.37, for the table of agreement: what `ns3_runs.py` beside it asks for.
//
// Nodes are ap0, sta0, sta1, ..., ap1, ..., and server; every station belongs to a cell. Stations
// associate in the first second; beacons stop and ARP caches are filled just before the traffic,
// and there are no queue discs. Prints a line for each flow: its goodput in Mb/s after the warm-up.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/propagation-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

/// Understands all from a ratio on, and nothing below.
class Strict : public ErrorRateModel {
public:
  static TypeId GetTypeId() {
    static TypeId id = TypeId("Strict").SetParent<ErrorRateModel>().AddConstructor<Strict>();
    return id;
  }

private:
  double DoGetChunkSuccessRate(WifiMode, const WifiTxVector &, double snr, uint64_t, uint8_t,
                               WifiPpduField, uint16_t) const override {
    return snr < 10.0 ? 0.0 : 1.0;
  }
};

/// What the command line says.
struct Options {
  std::string standard = "11a";
  uint32_t width = 20, streams = 1, guard = 800;
  std::string mode = "OfdmRate54Mbps", control = "OfdmRate24Mbps", manager = "constant";
  uint32_t stations = 1, cells = 1;
  std::string belong;               // the cell of each station, "0,0,1"; all 0 if empty
  std::string positions, losses;    // "x,y;x,y" in metres, or a matrix in dB; else all equal
  double exponent = 3.0;
  std::string error = "table";
  bool detect = true, capture = false;
  double energy = -62.0;            // CCA by energy
  double sensitivity = -82.0;       // CCA after a PPDU, decoded or not
  uint32_t rts = 4692480;
  uint32_t ampdu = 65535, amsdu = 0, buffer = 64;
  int64_t txopUs = -1;
  uint32_t queue = 10000;
  std::string flows = "udp,sta0,ap0,1472,BE";
  uint32_t window = 65535, delack = 2;
  std::string cc = "TcpNewReno", limit = "receive";
  double warmup = 2.0, seconds = 2.0, start = 1.0;
  bool trace = false;
};

std::vector<std::string> Split(const std::string &text, char by) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) {
    parts.push_back(part);
  }
  return parts;
}

void Read(Options &o, int argc, char *argv[]) {
  CommandLine command(__FILE__);
  command.AddValue("standard", "11b, 11a, 11g, 11n, 11ac or 11ax", o.standard);
  command.AddValue("width", "MHz", o.width);
  command.AddValue("streams", "spatial streams and antennas", o.streams);
  command.AddValue("guard", "guard interval in ns", o.guard);
  command.AddValue("mode", "mode of data frames", o.mode);
  command.AddValue("control", "mode of RTS frames", o.control);
  command.AddValue("manager", "constant, ideal or minstrel_ht", o.manager);
  command.AddValue("stations", "how many", o.stations);
  command.AddValue("cells", "how many", o.cells);
  command.AddValue("belong", "the cell of each station", o.belong);
  command.AddValue("positions", "x,y;x,y in metres", o.positions);
  command.AddValue("losses", "matrix in dB: row;row", o.losses);
  command.AddValue("exponent", "of the loss by distance", o.exponent);
  command.AddValue("error", "table, nist, yans or strict", o.error);
  command.AddValue("detect", "threshold preamble detection", o.detect);
  command.AddValue("capture", "simple frame capture", o.capture);
  command.AddValue("energy", "energy CCA in dBm", o.energy);
  command.AddValue("sensitivity", "CCA after a PPDU in dBm", o.sensitivity);
  command.AddValue("rts", "RTS threshold", o.rts);
  command.AddValue("ampdu", "MaxAmpduSize of all categories", o.ampdu);
  command.AddValue("amsdu", "MaxAmsduSize of all categories", o.amsdu);
  command.AddValue("buffer", "MpduBufferSize of HE", o.buffer);
  command.AddValue("txop", "TXOP limit of best effort in us", o.txopUs);
  command.AddValue("queue", "packets of a MAC queue", o.queue);
  command.AddValue("flows", "kind,from,to,bytes,category;...", o.flows);
  command.AddValue("window", "TCP buffer that limits", o.window);
  command.AddValue("delack", "segments for an ACK", o.delack);
  command.AddValue("cc", "congestion control", o.cc);
  command.AddValue("limit", "the buffer that limits: send or receive", o.limit);
  command.AddValue("warmup", "end of the warm-up", o.warmup);
  command.AddValue("seconds", "time measured", o.seconds);
  command.AddValue("trace", "print what PHYs and MACs lose", o.trace);
  command.Parse(argc, argv);
}

void Defaults(const Options &o) {
  Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(o.rts));
  Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, o.queue)));
  Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
  Config::SetDefault("ns3::StaWifiMac::MaxMissedBeacons", UintegerValue(1000000));
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + o.cc));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(o.delack));
  const bool send = o.limit == "send";
  const uint32_t other = 4 * o.window;
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(send ? o.window : other));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(send ? other : o.window));
}

/// The loss between nodes: equal, by a matrix or by distance.
Ptr<YansWifiChannel> Channel(const Options &o, const NodeContainer &nodes) {
  MobilityHelper mobility;
  auto places = CreateObject<ListPositionAllocator>();
  const auto given = Split(o.positions, ';');
  for (uint32_t i = 0; i < nodes.GetN(); ++i) {
    Vector at(i == 0 ? 0.0 : 2.0, 0.0, 0.0);
    if (i < given.size()) {
      const auto xy = Split(given[i], ',');
      at = Vector(std::stod(xy[0]), std::stod(xy[1]), 0.0);
    }
    places->Add(at);
  }
  mobility.SetPositionAllocator(places);
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(nodes);

  auto channel = CreateObject<YansWifiChannel>();
  channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
  if (!o.losses.empty()) {
    auto matrix = CreateObject<MatrixPropagationLossModel>();
    matrix->SetDefaultLoss(300.0);
    const auto rows = Split(o.losses, ';');
    for (uint32_t a = 0; a < rows.size(); ++a) {
      const auto row = Split(rows[a], ',');
      for (uint32_t b = 0; b < row.size(); ++b) {
        if (a != b) {
          auto from = nodes.Get(a)->GetObject<MobilityModel>();
          auto to = nodes.Get(b)->GetObject<MobilityModel>();
          matrix->SetLoss(from, to, std::stod(row[b]), false);
        }
      }
    }
    channel->SetPropagationLossModel(matrix);
  } else if (!o.positions.empty()) {
    auto loss = CreateObject<LogDistancePropagationLossModel>();
    loss->SetPathLossExponent(o.exponent);
    channel->SetPropagationLossModel(loss);
  } else {
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-40.0);
    channel->SetPropagationLossModel(loss);
  }
  return channel;
}

YansWifiPhyHelper Phy(const Options &o, Ptr<YansWifiChannel> channel) {
  YansWifiPhyHelper phy;
  phy.SetChannel(channel);
  const bool low = o.standard == "11b" || o.standard == "11g";
  const std::map<uint32_t, int> centre{{20, 36}, {40, 38}, {80, 42}, {160, 50}};
  const int number = low ? 1 : centre.at(o.width);
  std::ostringstream settings;
  const uint32_t width = o.standard == "11b" ? 22 : o.width;
  settings << "{" << number << ", " << width << (low ? ", BAND_2_4GHZ, 0}" : ", BAND_5GHZ, 0}");
  phy.Set("ChannelSettings", StringValue(settings.str()));
  phy.Set("Antennas", UintegerValue(o.streams));
  phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(o.streams));
  phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(o.streams));
  phy.Set("CcaEdThreshold", DoubleValue(o.energy));
  phy.Set("CcaSensitivity", DoubleValue(o.sensitivity));
  if (o.error == "nist") {
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
  } else if (o.error == "yans") {
    phy.SetErrorRateModel("ns3::YansErrorRateModel");
  }
  if (o.error == "strict") {
    phy.SetErrorRateModel("Strict");
  }
  if (!o.detect) {
    phy.DisablePreambleDetectionModel();
  }
  if (o.capture) {
    phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel");
  }
  return phy;
}

/// Keeps the queue of an access category of a node filled by its flows in turn.
class Saturator {
public:
  Saturator(Ptr<WifiNetDevice> device, AcIndex category)
      : m_queue(device->GetMac()->GetTxopQueue(category)) {}

  void Add(Ptr<Socket> socket, uint32_t bytes) { m_sources.emplace_back(socket, bytes); }

  void Fill() {
    // What cannot be sent, before an association say, does not stay in the queue.
    for (int i = 0; i < 400 && m_queue->GetNPackets() < 400; ++i) {
      for (auto &[socket, bytes] : m_sources) {
        socket->Send(Create<Packet>(bytes));
      }
    }
    Simulator::Schedule(MilliSeconds(2), &Saturator::Fill, this);
  }

private:
  Ptr<WifiMacQueue> m_queue;
  std::vector<std::pair<Ptr<Socket>, uint32_t>> m_sources;
};

/// The whole network.
class World {
public:
  explicit World(const Options &options) : o(options) {}

  void Build();
  void Traffic();
  void Run();

private:
  Ptr<Node> Find(const std::string &name) const;
  Ipv4Address Address(const std::string &name) const;
  void Quiet();
  void Mark();
  void SetTxop(Ptr<WifiNetDevice> device) const;
  void Trace();

  Options o;
  NodeContainer air, server;
  std::vector<uint32_t> points;  // places of the access points in `air`
  std::map<uint32_t, Ptr<WifiNetDevice>> devices;
  std::map<std::pair<uint32_t, AcIndex>, std::unique_ptr<Saturator>> saturators;
  ApplicationContainer sinks;
  std::vector<uint64_t> before;
};

Ptr<Node> World::Find(const std::string &name) const {
  if (name == "server") {
    return server.Get(0);
  }
  const bool point = name.rfind("ap", 0) == 0;
  const uint32_t index = std::stoul(name.substr(point ? 2 : 3));
  return air.Get(point ? points.at(index) : index + 1);
}

Ipv4Address World::Address(const std::string &name) const {
  // The air's interface of an access point is its first.
  return Find(name)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
}

void World::SetTxop(Ptr<WifiNetDevice> device) const {
  if (o.txopUs >= 0 && device->GetMac()->GetQosSupported()) {
    device->GetMac()->GetQosTxop(AC_BE)->SetTxopLimit(MicroSeconds(o.txopUs));
  }
}

void World::Build() {
  air.Create(1 + o.stations + o.cells - 1);
  points.push_back(0);
  for (uint32_t i = 1; i < o.cells; ++i) {
    points.push_back(o.stations + i);
  }
  auto phy = Phy(o, Channel(o, air));
  WifiHelper wifi;
  const std::map<std::string, WifiStandard> standards{
      {"11b", WIFI_STANDARD_80211b}, {"11a", WIFI_STANDARD_80211a},
      {"11g", WIFI_STANDARD_80211g}, {"11n", WIFI_STANDARD_80211n},
      {"11ac", WIFI_STANDARD_80211ac}, {"11ax", WIFI_STANDARD_80211ax}};
  wifi.SetStandard(standards.at(o.standard));
  if (o.manager == "ideal") {
    wifi.SetRemoteStationManager("ns3::IdealWifiManager");
  } else if (o.manager == "minstrel_ht") {
    wifi.SetRemoteStationManager("ns3::MinstrelHtWifiManager");
  } else {
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(o.mode),
                                 "ControlMode", StringValue(o.control));
  }
  const auto belong = Split(o.belong, ',');
  for (uint32_t i = 0; i < air.GetN(); ++i) {
    const bool point = i == 0 || i > o.stations;
    uint32_t cell = i == 0 ? 0 : i - o.stations;
    if (!point) {
      cell = i - 1 < belong.size() ? std::stoul(belong[i - 1]) : 0;
    }
    const Ssid ssid("cell" + std::to_string(cell));
    WifiMacHelper mac;
    if (point) {
      mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid));
    } else {
      mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid));
    }
    auto device = DynamicCast<WifiNetDevice>(wifi.Install(phy, mac, air.Get(i)).Get(0));
    for (const char *category : {"BE", "BK", "VI", "VO"}) {
      const std::string name(category);
      device->GetMac()->SetAttribute(name + "_MaxAmpduSize", UintegerValue(o.ampdu));
      device->GetMac()->SetAttribute(name + "_MaxAmsduSize", UintegerValue(o.amsdu));
    }
    if (auto ht = device->GetHtConfiguration()) {
      ht->SetAttribute("ShortGuardIntervalSupported", BooleanValue(o.guard == 400));
    }
    if (auto he = device->GetHeConfiguration()) {
      he->SetAttribute("GuardInterval", TimeValue(NanoSeconds(o.guard)));
      he->SetAttribute("MpduBufferSize", UintegerValue(o.buffer));
    }
    devices[i] = device;
    // The access point's parameters come to stations with beacons, and from nowhere else.
    SetTxop(device);
  }
  InternetStackHelper stack;
  stack.Install(air);
  TrafficControlHelper control;
  Ipv4AddressHelper address("10.0.1.0", "255.255.255.0");
  NetDeviceContainer all;
  for (auto &[i, device] : devices) {
    all.Add(device);
  }
  address.Assign(all);
  control.Uninstall(all);
  if (o.flows.find("server") != std::string::npos) {
    server.Create(1);
    stack.Install(server);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetDeviceAttribute("Mtu", UintegerValue(2296));
    wire.SetChannelAttribute("Delay", StringValue("2ms"));
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
    const auto wired = wire.Install(air.Get(0), server.Get(0));
    Ipv4AddressHelper("10.0.2.0", "255.255.255.0").Assign(wired);
    control.Uninstall(wired);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  }
}

void World::Traffic() {
  // Numbers of user priority that the categories have.
  const std::map<std::string, std::pair<uint8_t, AcIndex>> categories{
      {"BK", {1, AC_BK}}, {"BE", {0, AC_BE}}, {"VI", {5, AC_VI}}, {"VO", {6, AC_VO}}};
  const bool qos = devices[0]->GetMac()->GetQosSupported();
  auto spread = CreateObject<UniformRandomVariable>();
  uint16_t port = 5000;
  for (const auto &text : Split(o.flows, ';')) {
    const auto flow = Split(text, ',');
    const auto from = Find(flow[1]), to = Find(flow[2]);
    const uint32_t bytes = std::stoul(flow[3]);
    const InetSocketAddress remote(Address(flow[2]), ++port);
    const bool udp = flow[0] == "udp";
    const std::string protocol = udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
    PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.Add(sink.Install(to));
    if (udp) {
      auto [priority, category] = categories.at(flow[4]);
      auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
      socket->Connect(remote);
      // The device takes the user priority from the first three bits of the type of service.
      socket->SetIpTos(priority << 5);
      if (!qos) {
        category = AC_BE_NQOS;
      }
      auto &saturator = saturators[{from->GetId(), category}];
      if (!saturator) {
        auto device = DynamicCast<WifiNetDevice>(from->GetDevice(0));
        saturator = std::make_unique<Saturator>(device, category);
      }
      saturator->Add(socket, bytes);
    } else {
      Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(bytes));
      BulkSendHelper source(protocol, remote);
      source.SetAttribute("MaxBytes", UintegerValue(0));
      source.SetAttribute("SendSize", UintegerValue(bytes));
      source.Install(from).Start(Seconds(o.start + spread->GetValue(0.0, 0.1)));
    }
  }
  for (auto &[key, saturator] : saturators) {
    const Time at = Seconds(o.start + spread->GetValue(0.0, 0.01));
    Simulator::Schedule(at, &Saturator::Fill, saturator.get());
  }
}

void World::Quiet() {
  for (auto i : points) {
    devices[i]->GetMac()->SetAttribute("BeaconGeneration", BooleanValue(false));
  }
  for (auto &[i, device] : devices) {
    auto sta = DynamicCast<StaWifiMac>(device->GetMac());
    if (sta && !sta->IsAssociated()) {
      std::cerr << "station " << i - 1 << " is not associated" << std::endl;
    }
    SetTxop(device);
  }
  NeighborCacheHelper().PopulateNeighborCache();
}

void World::Mark() {
  for (uint32_t i = 0; i < sinks.GetN(); ++i) {
    before.push_back(DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx());
  }
}

std::map<std::string, uint64_t> g_counts;

void CountReason(std::string context, Ptr<const Packet>, WifiPhyRxfailureReason reason) {
  std::ostringstream name;
  name << "phy" << context << " " << reason;
  ++g_counts[name.str()];
}

void CountMac(std::string context, WifiMacDropReason reason, Ptr<const WifiMpdu>) {
  ++g_counts["mac" + context + " " + std::to_string(reason)];
}

void CountSent(std::string context, Ptr<const Packet> packet, double) {
  WifiMacHeader header;
  packet->PeekHeader(header);
  ++g_counts["sent" + context + " " + header.GetTypeString()];
}

void World::Trace() {
  for (auto &[i, device] : devices) {
    const std::string name = std::to_string(i);
    device->GetPhy()->TraceConnect("PhyRxDrop", name, MakeCallback(&CountReason));
    device->GetPhy()->TraceConnect("PhyTxBegin", name, MakeCallback(&CountSent));
    device->GetMac()->TraceConnect("DroppedMpdu", name, MakeCallback(&CountMac));
  }
}

void World::Run() {
  Simulator::Schedule(Seconds(o.start - 0.01), &World::Quiet, this);
  Simulator::Schedule(Seconds(o.warmup), &World::Mark, this);
  if (o.trace) {
    Simulator::Schedule(Seconds(o.warmup), &World::Trace, this);
  }
  Simulator::Stop(Seconds(o.warmup + o.seconds));
  Simulator::Run();
  for (uint32_t i = 0; i < sinks.GetN(); ++i) {
    const uint64_t bytes = DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() - before[i];
    std::cout << "goodput_mbps " << 8e-6 * bytes / o.seconds << std::endl;
  }
  for (auto &[name, count] : g_counts) {
    std::cout << "# " << name << " " << count << std::endl;
  }
}

}  // namespace

int main(int argc, char *argv[]) {
  Strict::GetTypeId();
  Options options;
  Read(options, argc, argv);
  Defaults(options);
  World world(options);
  world.Build();
  world.Traffic();
  world.Run();
  Simulator::Destroy();
  return 0;
}
