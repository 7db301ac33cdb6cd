// A small line without axes, for rows and tiles.

import { html, svg } from "./lit-html.js";

const HEIGHT = 30;

/** The points of a line: `values` from left to right, or at `times` if given, below `top`. */
export function points(values, top, width, times) {
  const first = times?.[0] ?? 0;
  const span = (times ? times.at(-1) - first : values.length - 1) || 1;
  return values
    .map((value, i) => `${(width * ((times ? times[i] : i) - first) / span).toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 5) * value / top).toFixed(1)}`)
    .join(" ");
}

/** A drawing of lines `{values, kind}` with one scale. `kind` is the class that gives the colour. */
export function spark(lines, { width = 112, times } = {}) {
  const top = Math.max(1e-9, ...lines.flatMap(({ values }) => values));
  return html`<svg class="spark" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    <line class="grid" x1="0" x2=${width} y1=${HEIGHT - 1} y2=${HEIGHT - 1}></line>
    ${lines.map(({ values, kind }) => svg`<polyline class="line ${kind}" points=${points(values, top, width, times)}></polyline>`)}
  </svg>`;
}
