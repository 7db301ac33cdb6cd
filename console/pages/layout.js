// Where rows of a long list and points of a small line are. No elements.

/** The height of a small line, in the units of its drawing. */
export const HEIGHT = 30;

/** Rows above and below the screen that exist, so that scrolling and arrow keys find them. */
const SPARE = 6;

/**
 * The rows from `first` to before `end` of `total` rows, each `height` high, whose first is at `top` of the screen, in
 * pixels; `shownFirst` and `shownEnd` are those without spare ones.
 */
export function windowOf({ total, height, top, screen }) {
  const at = (pixels) => Math.min(total, Math.max(0, pixels));
  const shownFirst = at(Math.floor(-top / height));
  const shownEnd = at(Math.ceil((screen - top) / height));
  return { first: at(shownFirst - SPARE), end: at(shownEnd + SPARE), shownFirst, shownEnd };
}

/** The points of a line: `values` from left to right, or at `times` if given, below `top`. */
export function points(values, top, width, times) {
  const first = times?.[0] ?? 0;
  const span = (times ? times.at(-1) - first : values.length - 1) || 1;
  return values
    .map((value, i) => `${(width * ((times ? times[i] : i) - first) / span).toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 5) * value / top).toFixed(1)}`)
    .join(" ");
}
