//! Movement files of `BonnMotion`.

use super::file::{Rules, lines, parse_number};
use super::{FileFault, Movement, MovementFile, Source, Tracks};
use settings::Settings;

/// A movement file of `BonnMotion` in its native format: a line for each node, with the time and
/// the two coordinates of each waypoint (N. Aschenbruck, R. Ernst, E. Gerhards-Padilla, M.
/// Schwamborn, `SIMUTools` 2010).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct BonnmotionConfig {
    /// The file, not compressed, relative to the folder of the scenario. Its first line is the
    /// first station of the group.
    #[setting(required = "as \"scenario.movements\"")]
    pub file: String,
    /// Width and height of the area in metres; no node leaves it. Default: no such limit.
    #[setting(range = 1e-3..=1e6)]
    pub area_m: Option<[f64; 2]>,
}

impl Movement for BonnmotionConfig {
    fn source(&self) -> Source<'_> {
        Source::File(self)
    }
}

impl MovementFile for BonnmotionConfig {
    fn file(&self) -> &str {
        &self.file
    }

    fn read(&self, text: &str, nodes: usize) -> Result<Tracks, FileFault> {
        let rules = Rules { nodes, area_m: self.area_m };
        let mut tracks = Tracks::new();
        for (line, written) in lines(text) {
            let node = rules.node(line, &tracks.len().to_string())?;
            let numbers: Result<Vec<f64>, FileFault> =
                written.split_whitespace().map(|word| parse_number(line, word)).collect();
            let numbers = numbers?;
            let (waypoints, rest) = numbers.as_chunks::<3>();
            if !rest.is_empty() {
                let message = format!(
                    "node {node}: {} numbers; each waypoint has three, time, x and y (a file with \
                     heights has four: convert it to two dimensions)",
                    numbers.len()
                );
                return Err(FileFault::at(line, message));
            }
            let mut track = Vec::new();
            for &[at_s, x, y] in waypoints {
                rules.append(line, node, &mut track, (at_s, [x, y]))?;
            }
            tracks.push(track);
        }
        tracks.resize(nodes, Vec::new());
        rules.check_starts(&tracks)?;
        Ok(tracks)
    }
}
