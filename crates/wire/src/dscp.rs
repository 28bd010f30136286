//! Differentiated services code points, and the access categories that they map to.

use crate::TrafficClass;
use settings::{
    Defined, Definitions, Fault, Json, Node, Setting, Unit, Value, json, nearest, said,
};

/// A differentiated services code point (RFC 2474 section 3), from 0 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dscp(u8);

/// The code points with a name (IANA registry of DSCPs; LE is RFC 8622).
const NAMES: [(&str, u8); 24] = [
    ("CS0", 0),
    ("DF", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VOICE-ADMIT", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];
const MOST: u8 = 63;

impl Dscp {
    /// That of an octet with DSCP and ECN field (RFC 3168 section 22).
    pub fn of_services(services: u8) -> Self {
        Self(services >> 2)
    }

    /// The number in the field.
    pub fn value(self) -> u8 {
        self.0
    }

    /// The access category of a packet with this code point (RFC 8325 figure 1, and section 7 of
    /// RFC 8622 for LE). Code points that are not named there are best effort (section 4.3). Figure
    /// 1 leaves a choice for CS6 and CS7: voice, as here and in section 4.1.1, or best effort, as
    /// section 8.2 recommends for an access point at the edge of the network, and section 5.1 for
    /// packets of its clients.
    pub fn class(self) -> TrafficClass {
        match self.0 {
            // Lower effort, and low-priority data.
            1 | 8 => TrafficClass::Background,
            // Multimedia streaming and conferencing, real-time interactive, broadcast video,
            // signaling.
            24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 | 40 => TrafficClass::Video,
            // Telephony, and network control.
            44 | 46 | 48 | 56 => TrafficClass::Voice,
            _ => TrafficClass::BestEffort,
        }
    }
}

impl Setting for Dscp {
    fn read(node: &Node, _: Unit) -> Result<Self, Fault> {
        if let Value::Text(text) = &node.value {
            let found = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            return found.map(|&(_, value)| Self(value)).ok_or_else(|| {
                let names = NAMES.map(|(name, _)| name);
                let lower = NAMES.map(|(name, _)| name.to_lowercase());
                let near = nearest(text, lower.iter().map(String::as_str));
                let meant = near.first().map(|name| name.to_uppercase());
                let remedy = match &meant {
                    Some(name) => format!("did you mean \"{name}\"?"),
                    None => format!("the names are {}", names.join(", ")),
                };
                Fault::here(said!("there is no DSCP \"{text}\"", "{remedy}").with_text(meant))
            });
        }
        match node.whole() {
            Ok(value) if value <= u64::from(MOST) => Ok(Self(value as u8)),
            _ => Err(Fault::here(format!(
                "must be the name of a DSCP, as \"EF\", or a whole number from 0 to {MOST}, is {}",
                node.described()
            ))),
        }
    }

    fn write(&self, _: Unit) -> Json {
        let named = NAMES.iter().find(|&&(_, value)| value == self.0);
        named.map_or_else(|| Json::from(self.0), |&(name, _)| Json::from(name))
    }

    settings::refers_to_definition!();
}

impl Defined for Dscp {
    fn schema_name() -> &'static str {
        "Dscp"
    }

    fn definition(_: &mut Definitions) -> Json {
        json!({
            "description": "A differentiated services code point: its name, or its number.",
            "anyOf": [
                { "type": "string", "enum": NAMES.map(|(name, _)| name) },
                { "type": "integer", "minimum": 0, "maximum": MOST },
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line of RFC 8325 figure 1, and LE of RFC 8622.
    #[test]
    fn each_service_class_has_its_access_category() {
        use TrafficClass::{Background, BestEffort, Video, Voice};
        let class = |name: &str| {
            let (_, value) = NAMES.iter().find(|(known, _)| *known == name).unwrap();
            Dscp(*value).class()
        };
        for (names, expected) in [
            ("EF VOICE-ADMIT CS6 CS7", Voice),
            ("CS5 CS4 CS3 AF41 AF42 AF43 AF31 AF32 AF33", Video),
            ("AF21 AF22 AF23 AF11 AF12 AF13 CS2 CS0 DF", BestEffort),
            ("CS1 LE", Background),
        ] {
            for name in names.split(' ') {
                assert_eq!(class(name), expected, "{name}");
            }
        }
        assert_eq!(Dscp(63).class(), BestEffort, "a code point that nobody has assigned");
    }
}
