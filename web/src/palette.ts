// The colours of simoom.plots (Okabe and Ito); black follows the text.

export const CYCLE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"];
