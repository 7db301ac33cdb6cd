// A small line without axes, for rows and tiles.

import { html, svg } from "./lit-html.js";
import { HEIGHT, points } from "./layout.js";

/** A drawing of lines `{values, kind}` with one scale. `kind` is the class that gives the colour. */
export function spark(lines, { width = 112, times } = {}) {
  const top = Math.max(1e-9, ...lines.flatMap(({ values }) => values));
  return html`<svg class="spark" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    <line class="grid" x1="0" x2=${width} y1=${HEIGHT - 1} y2=${HEIGHT - 1}></line>
    ${lines.map(({ values, kind }) => svg`<polyline class="line ${kind}" points=${points(values, top, width, times)}></polyline>`)}
  </svg>`;
}
