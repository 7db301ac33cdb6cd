// Which rows of a long list are on the screen. Only these are elements.

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
