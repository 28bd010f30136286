//! The transport of flows: packet sizes, TCP.

use super::check::Check;
use crate::plan::TcpPlan;
use crate::scenario::document::Document;
use crate::scenario::flow::Flow;
use crate::scenario::tcp::Tcp;
use crate::traffic::{DatagramSize, Transport};
use kernel::Bytes;
use settings::{Choice, said};

/// The largest MSDU (802.11-2020 clause 9.2.4.8), which carries LLC header and IP packet.
const LARGEST_MSDU: u64 = 2304;
/// The largest IP packet (RFC 791 section 3.1), if there is no cell.
const LARGEST_PACKET: u64 = 65_535;

/// Checks that the datagrams of a flow at `path` fit one MSDU.
pub(super) fn datagrams(path: &str, flow: &Flow, document: &Document, check: &mut Check) {
    if let Transport::Udp(DatagramSize { payload, header, .. }, _) = flow.traffic.get().transport()
    {
        let path = format!("{path}.traffic.{}.payload_bytes", flow.traffic.name());
        fits_an_msdu(&path, "payload", payload.0, header.0, document, check);
    }
}

/// Whether data and headers fit one MSDU, or one IP packet if there is no cell; packets are not
/// fragmented.
fn fits_an_msdu(
    path: &str,
    what: &str,
    data: u64,
    header: u64,
    document: &Document,
    check: &mut Check,
) {
    if !document.has_cell() {
        if data.saturating_add(header) > LARGEST_PACKET {
            let most = LARGEST_PACKET - header;
            check.fault(
                path,
                said!(
                    "{data} bytes of {what} and {header} of headers exceed the largest IP packet, \
                     {LARGEST_PACKET} bytes [RFC 791 section 3.1]",
                    "the most is {most}"
                ),
            );
        }
        return;
    }
    let llc = document.wlan.mac.llc.0;
    if data.saturating_add(header).saturating_add(llc) > LARGEST_MSDU {
        let most = LARGEST_MSDU - header - llc;
        check.fault(
            path,
            said!(
                "{data} bytes of {what}, {header} of headers and {llc} of LLC exceed the largest \
                 MSDU, {LARGEST_MSDU} bytes [802.11-2020 clause 9.2.4.8]",
                "the most is {most}"
            ),
        );
    }
}

/// The TCP settings of a flow at `path`.
pub(super) fn tcp(path: &str, flow: &Flow, document: &Document, check: &mut Check) -> TcpPlan {
    let Tcp { config, link_rate } = flow.tcp;
    let mut config = config.with_endpoint();
    if document.routing.is_some() {
        // Routers keep packets, too, and report none that they have sent.
        config = config.sent_over(tcp::Device::None);
    }
    let (path, mss) = (format!("{path}.tcp.mss_bytes"), config.mss().0);
    let headers = config.header() + config.fec.map_or(Bytes::ZERO, |fec| fec.header);
    fits_an_msdu(&path, "segment", mss, headers.0, document, check);
    let control = flow.control.clone().with_endpoint(&config);
    TcpPlan { control, config, link_rate }
}
