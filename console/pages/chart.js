// Charts of the last minutes; their colours are the style sheet's.

import { el, say, svg } from "./dom.js";
import { WINDOW_MS } from "./history.js";
import { duration, number } from "./words.js";

const MINUTE = 60_000;
const TIMES = [-4 * MINUTE, -2 * MINUTE, 0];
/** Room for the axes, in pixels. */
const SPACE = { left: 40, right: 6, top: 10, bottom: 20 };
const LINE_HEIGHT = 14;

const ago = (ms) => (ms === 0 ? "now" : `${-ms / MINUTE} min ago`);

/** Values for an axis from 0 to `top` or a little more, at most five of them, round. */
function marks(top) {
  const least = top / 4;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least);
  return Array.from({ length: Math.ceil(top / step) + 1 }, (_, i) => i * step);
}

/** A chart in a `<figure>`: `series` are `{key, label, kind, area}`, where `kind` is its class. */
export class LiveChart {
  #samples = [];
  #pointed;

  constructor(figure, { title, unit, series }) {
    this.title = title;
    this.unit = unit;
    this.series = series;
    this.values = series.map(({ kind }) => el("span", { class: kind }));
    this.heading = el("span", { class: "title" }, title);
    this.drawing = svg("g");
    this.cursor = svg("g", { class: "cursor" });
    this.plot = svg("svg", {
      class: "plot",
      role: "img",
      onpointermove: (event) => this.#point(event.clientX - this.plot.getBoundingClientRect().left),
      onpointerleave: () => this.#point(undefined),
    }, this.drawing, this.cursor);
    figure.replaceChildren(
      el("figcaption", {}, this.heading, el("span", { class: "legend" }, ...this.values)),
      this.plot);
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  /** Draws samples `{t, …}`, oldest first. */
  show(samples, title = this.title) {
    this.#samples = samples;
    say(this.heading, title);
    this.draw();
  }

  draw() {
    const last = this.#samples.at(-1);
    const told = this.series.map(({ key, label }) => `${label} ${last?.[key] === undefined ? "–" : number(last[key])}`);
    told.forEach((text, i) => say(this.values[i], text));
    this.plot.setAttribute("aria-label", `${this.heading.textContent}, the last five minutes, in ${this.unit}. Now: ${told.join(", ")}.`);

    const { clientWidth: width, clientHeight: height } = this.plot;
    if (width === 0) {
      return;
    }
    this.plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const right = width - SPACE.right;
    const bottom = height - SPACE.bottom;
    const values = marks(Math.max(1, ...this.#samples.flatMap((sample) => this.series.map(({ key }) => sample[key] ?? 0))));
    const top = values.at(-1);
    this.x = (ms) => right + (right - SPACE.left) * ms / WINDOW_MS;
    this.y = (value) => bottom - (bottom - SPACE.top) * value / top;
    this.drawing.replaceChildren(
      ...values.map((value) => svg("line", { class: "grid", x1: SPACE.left, x2: right, y1: this.y(value), y2: this.y(value) })),
      ...values.map((value) => svg("text", { class: "mark", x: SPACE.left - 6, y: this.y(value) }, number(value))),
      ...TIMES.map((ms) => svg("text", { class: ms === 0 ? "time now" : "time", x: this.x(ms), y: height - 4 }, ago(ms))),
      ...this.series.flatMap((series) => this.#line(series)));
    this.#point(this.#pointed);
  }

  #line({ key, kind, area }) {
    const points = this.#samples
      .map((sample) => ({ ms: sample.t - this.#samples.at(-1).t, value: sample[key] }))
      .filter(({ ms, value }) => value !== undefined && ms >= -WINDOW_MS)
      .map(({ ms, value }) => [this.x(ms), this.y(value)]);
    const line = svg("polyline", { class: `line ${kind}`, points: path(points) });
    if (!area || points.length === 0) {
      return [line];
    }
    const base = this.y(0);
    const closed = [[points[0][0], base], ...points, [points.at(-1)[0], base]];
    return [svg("polygon", { class: `area ${kind}`, points: path(closed) }), line];
  }

  /** Tells the values of the sample that is nearest to a place on the plot; of none if there is no place. */
  #point(x) {
    this.#pointed = x;
    const last = this.#samples.at(-1);
    if (x === undefined || !last || !this.x) {
      this.cursor.replaceChildren();
      return;
    }
    const distance = (sample) => Math.abs(this.x(sample.t - last.t) - x);
    const sample = this.#samples.reduce((best, other) => (distance(other) < distance(best) ? other : best));
    const at = this.x(sample.t - last.t);
    const isLeft = at < this.plot.clientWidth / 2;
    const lines = [
      sample === last ? "now" : `${duration((last.t - sample.t) / 1000)} ago`,
      ...this.series.filter(({ key }) => sample[key] !== undefined).map(({ key, label }) => `${label} ${number(sample[key])}`),
    ];
    this.cursor.replaceChildren(
      svg("line", { x1: at, x2: at, y1: SPACE.top, y2: this.y(0) }),
      svg("text", { class: isLeft ? "" : "end", y: SPACE.top },
        ...lines.map((text) => svg("tspan", { x: at + (isLeft ? 8 : -8), dy: LINE_HEIGHT }, text))));
  }
}

const path = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

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
