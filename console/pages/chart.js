// Charts of the last minutes, drawn as SVG; their colours are the style sheet's.

import { el, say, svg } from "./dom.js";
import { WINDOW_MS } from "./history.js";
import { number } from "./words.js";

const HEIGHT = 152;
const LEFT = 34;
const BOTTOM = 20;
const TOP = 6;

/** A round number that is at least `value`, with as many equal parts as its grid has lines. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 4, 5, 10].map((step) => step * power).find((step) => step >= value);
}

const path = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

/** A chart in a `<figure>`: `series` are `{key, label, kind, area}`, where `kind` is its class. */
export class Chart {
  #samples = [];
  #cursor;

  constructor(figure, { title, unit, series }) {
    this.title = title;
    this.unit = unit;
    this.series = series;
    this.values = series.map(({ kind }) => el("span", { class: kind }));
    this.heading = el("span", { class: "title" }, title);
    this.plot = svg("svg", { role: "img" });
    figure.replaceChildren(
      el("figcaption", {}, this.heading, el("span", { class: "legend" }, ...this.values)),
      this.plot);
    new ResizeObserver(() => this.draw()).observe(this.plot);
    this.plot.addEventListener("pointermove", (event) => this.#point(event.offsetX));
    this.plot.addEventListener("pointerleave", () => this.#point(undefined));
  }

  /** Draws samples `{t, …}`, oldest first. */
  show(samples, title = this.title) {
    this.#samples = samples;
    say(this.heading, title);
    this.draw();
  }

  draw() {
    const width = this.plot.clientWidth;
    if (width === 0) {
      return;
    }
    const samples = this.#samples;
    const end = samples.at(-1)?.t ?? 0;
    const highest = Math.max(0, ...samples.flatMap((sample) => this.series.map(({ key }) => sample[key] ?? 0)));
    const top = ceiling(highest);
    this.x = (t) => LEFT + (width - LEFT) * (1 - (end - t) / WINDOW_MS);
    const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
    this.plot.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.plot.replaceChildren(
      ...[0, top / 2, top].flatMap((value) => [
        svg("line", { class: "grid", x1: LEFT, x2: width, y1: y(value), y2: y(value) }),
        svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, number(value)),
      ]),
      ...[4, 2, 0].map((minutes) => svg(
        "text",
        { x: this.x(end - minutes * 60_000), y: HEIGHT - 4, "text-anchor": minutes === 0 ? "end" : "middle" },
        minutes === 0 ? "now" : `${minutes} min ago`)),
      ...this.series.flatMap((line) => this.#line(line, y)));
    const pointed = this.#pointed();
    if (this.#cursor !== undefined && pointed) {
      const x = this.x(pointed.t);
      this.plot.append(svg("line", { class: "cursor", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }));
    }
    this.#tell(pointed);
  }

  #line({ key, kind, area }, y) {
    const points = this.#samples
      .filter((sample) => sample[key] !== undefined)
      .map((sample) => [Math.max(LEFT, this.x(sample.t)), y(sample[key])]);
    if (points.length === 0) {
      return [];
    }
    const floor = [[points.at(-1)[0], y(0)], [points[0][0], y(0)]];
    return [
      ...(area ? [svg("polygon", { class: `area ${kind}`, points: path([...points, ...floor]) })] : []),
      svg("polyline", { class: `line ${kind}`, points: path(points) }),
    ];
  }

  /** The sample under the pointer, or the last. */
  #pointed() {
    if (this.#cursor === undefined) {
      return this.#samples.at(-1);
    }
    const distance = (sample) => Math.abs(this.x(sample.t) - this.#cursor);
    return this.#samples.reduce((best, sample) => (distance(sample) < distance(best) ? sample : best), this.#samples[0]);
  }

  #point(x) {
    this.#cursor = x;
    this.draw();
  }

  #tell(sample) {
    const told = this.series.map(({ key, label }) =>
      `${label} ${sample?.[key] === undefined ? "–" : number(sample[key])}`);
    told.forEach((text, i) => say(this.values[i], text));
    this.plot.setAttribute("aria-label", `${this.heading.textContent}, the last five minutes, in ${this.unit}. Now: ${told.join(", ")}.`);
  }
}

/** A small chart for a row of a table: lines without axes. */
export function spark(plot, samples, keys, windowMs = 120_000) {
  const width = 112;
  const height = 30;
  const end = samples.at(-1)?.t ?? 0;
  const recent = samples.filter((sample) => sample.t >= end - windowMs);
  const top = Math.max(1, ...recent.flatMap((sample) => keys.map(({ key }) => sample[key] ?? 0)));
  plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
  plot.replaceChildren(
    svg("line", { class: "grid", x1: 0, x2: width, y1: height - 1, y2: height - 1 }),
    ...keys.map(({ key, kind }) => svg("polyline", {
      class: `line ${kind}`,
      points: path(recent
        .filter((sample) => sample[key] !== undefined)
        .map((sample) => [width * (1 - (end - sample.t) / windowMs), height - 2 - (height - 5) * sample[key] / top])),
    })));
}
