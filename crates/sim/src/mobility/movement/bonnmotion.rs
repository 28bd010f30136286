//! Movement files of `BonnMotion`.

use super::file::{Rules, lines, parse_number};
use super::{FileFault, Movement, MovementFile, Source, Tracks};
use settings::{Said, Settings, number, said};

/// A movement file of `BonnMotion` in its native format: a line for each node, with the time and
/// the two coordinates of each waypoint (N. Aschenbruck, R. Ernst, E. Gerhards-Padilla, M.
/// Schwamborn, `SIMUTools` 2010).
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct BonnmotionConfig {
    /// The file, not compressed, relative to the folder of the scenario. Its first line is the
    /// first station of the group.
    #[setting(required = "as \"scenario.movements\"")]
    pub file: String,
    /// The coordinates of each waypoint. With 3, the heights must all be equal, because movement is
    /// in a plane here. Default: as many as the file can be read with; one that can be read with
    /// both needs this key.
    #[setting(range = 2..=3)]
    pub dimensions: Option<u32>,
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
        let mut all = Vec::new();
        for (line, written) in lines(text) {
            let numbers: Result<Vec<f64>, FileFault> =
                written.split_whitespace().map(|word| parse_number(line, word)).collect();
            all.push((line, numbers?));
        }
        let size = self.numbers_of_waypoint(&all)?;
        let mut height = None;
        let mut tracks = Tracks::new();
        for (line, numbers) in &all {
            let node = rules.node(*line, &tracks.len().to_string())?;
            let mut track = Vec::new();
            let waypoints = numbers.chunks_exact(size);
            if !waypoints.remainder().is_empty() {
                let message = Said::new(
                    format!("node {node}: {} numbers", numbers.len()),
                    format!("each waypoint has {size} (dimensions = {})", size - 1),
                );
                return Err(FileFault::at(*line, message));
            }
            for waypoint in waypoints {
                if let Some(&z) = waypoint.get(3)
                    && *height.get_or_insert(z) != z
                {
                    let (is, first) = (number(z), number(height.unwrap_or(z)));
                    let message = said!(
                        "node {node}: the height {is} is not that of the first waypoint, {first}",
                        "movement is in a plane"
                    );
                    return Err(FileFault::at(*line, message));
                }
                rules.append(*line, node, &mut track, waypoint[0], [waypoint[1], waypoint[2]])?;
            }
            tracks.push(track);
        }
        tracks.resize(nodes, Vec::new());
        rules.check_starts(&tracks)?;
        Ok(tracks)
    }
}

impl BonnmotionConfig {
    /// The numbers of each waypoint: the time, and the coordinates.
    fn numbers_of_waypoint(&self, all: &[(usize, Vec<f64>)]) -> Result<usize, FileFault> {
        if let Some(dimensions) = self.dimensions {
            return Ok(dimensions as usize + 1);
        }
        let [plane, space] =
            [3, 4].map(|size| all.iter().all(|(_, numbers)| is_track(numbers, size)));
        match (plane, space, all.first()) {
            (true, true, Some((line, _))) => {
                let message = said!(
                    "each line can be read as waypoints with two coordinates and with three",
                    "say dimensions = 2, or dimensions = 3 for a file with heights"
                );
                Err(FileFault::at(*line, message))
            }
            (false, true, _) => Ok(4),
            _ => Ok(3),
        }
    }
}

/// Whether numbers can be waypoints of this many numbers, of which the first is the time.
fn is_track(numbers: &[f64], size: usize) -> bool {
    let waypoints = numbers.chunks_exact(size);
    waypoints.remainder().is_empty() && waypoints.is_sorted_by(|a, b| a[0] < b[0])
}
