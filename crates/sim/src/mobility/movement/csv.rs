//! Waypoints in a table.

use super::file::{Rules, lines, parse_number};
use super::{FileFault, Movement, MovementFile, Source, Tracks};
use settings::{Settings, said};

/// A file of comma-separated values with the columns `time_s`, `node`, `x_m` and `y_m`, in any
/// order, and a row for each waypoint.
#[derive(Clone, Debug, PartialEq, Settings)]
pub struct CsvConfig {
    /// The file, relative to the folder of the scenario. Its node 0 is the first station of the
    /// group.
    #[setting(required = "as \"movement.csv\"")]
    pub file: String,
    /// Width and height of the area in metres; no node leaves it. Default: no such limit.
    #[setting(range = 1e-3..=1e6)]
    pub area_m: Option<[f64; 2]>,
}

/// The columns.
const COLUMNS: [&str; 4] = ["time_s", "node", "x_m", "y_m"];

impl Movement for CsvConfig {
    fn source(&self) -> Source<'_> {
        Source::File(self)
    }
}

impl MovementFile for CsvConfig {
    fn file(&self) -> &str {
        &self.file
    }

    fn read(&self, text: &str, nodes: usize) -> Result<Tracks, FileFault> {
        let rules = Rules { nodes, area_m: self.area_m };
        let mut rows = lines(text.trim_start_matches('\u{feff}'));
        let (line, header) = rows.next().unwrap_or((1, ""));
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let mut places = [0; 4];
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            let Some(found) = names.iter().position(|name| *name == column) else {
                let message =
                    said!("there is no column {column}", "the first line is time_s,node,x_m,y_m");
                return Err(FileFault::at(line, message));
            };
            *place = found;
        }
        let mut tracks = vec![Vec::new(); nodes];
        for (line, row) in rows {
            let fields: Vec<&str> = row.split(',').map(str::trim).collect();
            if fields.len() != names.len() {
                let (has, needs) = (fields.len(), names.len());
                let message = format!("{has} values, but the first line names {needs} columns");
                return Err(FileFault::at(line, message));
            }
            let [at_s, node, x, y] = places.map(|place| fields[place]);
            let node = rules.node(line, node)?;
            let position_m = [parse_number(line, x)?, parse_number(line, y)?];
            let at_s = parse_number(line, at_s)?;
            rules.append(line, node, &mut tracks[node], at_s, position_m)?;
        }
        rules.check_starts(&tracks)?;
        Ok(tracks)
    }
}
