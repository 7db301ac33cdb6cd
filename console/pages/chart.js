// Charts of the last minutes, drawn by uPlot with colours from the style sheet.

import { el, setText } from "./dom.js";
import { WINDOW_MS } from "./history.js";
import { uPlot } from "./plot.js";
import { duration, number } from "./words.js";

const MINUTE = 60_000;
const TIMES = [-4 * MINUTE, -2 * MINUTE, 0];
const DASHES = { capacity: [6, 4], rate: [2, 3] };
/** Half a "now" is right of the plot, half a value above it. */
const PADDING = [8, 14, 0, 0];

const ago = (ms) => (ms === 0 ? "now" : `${-ms / MINUTE} min ago`);
const property = (element, name) => getComputedStyle(element).getPropertyValue(name);

/** A chart in a `<figure>`: `series` are `{key, label, kind, area}`, where `kind` is its class. */
export class LiveChart {
  #samples = [];

  constructor(figure, { title, unit, series }) {
    this.title = title;
    this.unit = unit;
    this.series = series;
    this.values = series.map(({ kind }) => el("span", { class: kind }));
    this.heading = el("span", { class: "title" }, title);
    this.time = el("span", { class: "time muted" });
    this.plot = el("div", { class: "plot", role: "img" });
    figure.replaceChildren(
      el("figcaption", {}, el("span", {}, this.heading, " ", this.time), el("span", { class: "legend" }, ...this.values)),
      this.plot);
    const axis = {
      stroke: () => property(this.plot, "--muted"),
      font: `11px ${property(this.plot, "--font")}`,
      ticks: { show: false },
    };
    this.chart = new uPlot({
      ...this.#size(),
      padding: PADDING,
      legend: { show: false },
      cursor: { y: false, drag: { x: false } },
      hooks: { setCursor: [() => this.#tell()] },
      scales: {
        x: { time: false, range: [-WINDOW_MS, 0] },
        y: { range: (_, least, most) => [0, Math.max(1, most * 1.05)] },
      },
      axes: [
        { ...axis, size: 22, gap: 6, grid: { show: false }, splits: () => TIMES, values: (_, times) => times.map(ago) },
        { ...axis, size: 44, gap: 6, space: 40, grid: { stroke: () => property(this.plot, "--line"), width: 1 }, values: (_, marks) => marks.map(number) },
      ],
      series: [{}, ...series.map(({ kind, area }, i) => {
        const colour = () => property(this.values[i], "--key");
        return {
          stroke: colour,
          fill: area && (() => `color-mix(in srgb, ${colour()} 13%, transparent)`),
          width: 2,
          dash: DASHES[kind],
          points: { show: false },
        };
      })],
    }, [[]], this.plot);
    new ResizeObserver(() => this.chart.setSize(this.#size())).observe(this.plot);
    new MutationObserver(() => this.chart.redraw(false)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** Draws samples `{t, …}`, oldest first. */
  show(samples, title = this.title) {
    this.#samples = samples;
    setText(this.heading, title);
    const last = samples.at(-1);
    this.chart.setData([samples.map(({ t }) => t - last.t), ...this.series.map(({ key }) => samples.map((sample) => sample[key]))]);
    this.#tell();
    this.plot.setAttribute("aria-label", `${title}, the last five minutes, in ${this.unit}. Now: ${this.#shown(last).join(", ")}.`);
  }

  #size() {
    return { width: this.plot.clientWidth, height: this.plot.clientHeight };
  }

  #shown(sample) {
    return this.series.map(({ key, label }) => `${label} ${sample?.[key] === undefined ? "–" : number(sample[key])}`);
  }

  /** Shows the values of the sample at the cursor, or else of the last sample. */
  #tell() {
    const last = this.#samples.at(-1);
    const sample = this.#samples[this.chart.cursor.idx] ?? last;
    setText(this.time, sample === last ? "" : `${duration((last.t - sample.t) / 1000)} ago`);
    this.#shown(sample).forEach((text, i) => setText(this.values[i], text));
  }
}
