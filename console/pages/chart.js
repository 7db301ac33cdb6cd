// Charts of the last minutes, drawn by Chart.js; their colours are the style sheet's.

import "./chart.umd.min.js";
import { el, say, svg } from "./dom.js";
import { WINDOW_MS } from "./history.js";
import { duration, number } from "./words.js";

const { Chart } = globalThis;
const MINUTE = 60_000;
const TICKS = [-4 * MINUTE, -2 * MINUTE, 0];
const DASHES = { capacity: [6, 4], rate: [2, 3] };

const ago = (ms) => (ms === 0 ? "now" : `${-ms / MINUTE} min ago`);

/** A chart in a `<figure>`: `series` are `{key, label, kind, area}`, where `kind` is its class. */
export class LiveChart {
  #samples = [];

  constructor(figure, { title, unit, series }) {
    this.title = title;
    this.unit = unit;
    this.series = series;
    this.values = series.map(({ kind }) => el("span", { class: kind }));
    this.heading = el("span", { class: "title" }, title);
    this.canvas = el("canvas", { role: "img" });
    figure.replaceChildren(
      el("figcaption", {}, this.heading, el("span", { class: "legend" }, ...this.values)),
      el("div", { class: "plot" }, this.canvas));
    this.chart = new Chart(this.canvas, {
      type: "line",
      data: { datasets: series.map(({ key, label, kind, area }) => ({
        label, fill: Boolean(area), borderDash: DASHES[kind] ?? [], parsing: { xAxisKey: "ago", yAxisKey: key },
      })) },
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", axis: "x", intersect: false },
        elements: { point: { radius: 0, hoverRadius: 3 }, line: { borderWidth: 2 } },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { title: ([{ parsed }]) => (parsed.x === 0 ? "now" : `${duration(-parsed.x / 1000)} ago`) } },
        },
        scales: {
          x: {
            type: "linear",
            min: -WINDOW_MS,
            max: 0,
            grid: { display: false },
            afterBuildTicks: (axis) => { axis.ticks = TICKS.map((value) => ({ value })); },
            ticks: { align: "inner", autoSkip: false, maxRotation: 0, callback: ago },
          },
          y: { beginAtZero: true, suggestedMax: 1, border: { display: false }, ticks: { maxTicksLimit: 4, callback: number } },
        },
      },
    });
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** Draws samples `{t, …}`, oldest first. */
  show(samples, title = this.title) {
    this.#samples = samples;
    say(this.heading, title);
    this.draw();
  }

  draw() {
    const last = this.#samples.at(-1);
    const data = this.#samples.map((sample) => ({ ...sample, ago: sample.t - last.t }));
    const told = this.series.map(({ key, label }) => `${label} ${last?.[key] === undefined ? "–" : number(last[key])}`);
    told.forEach((text, i) => say(this.values[i], text));
    this.canvas.setAttribute("aria-label", `${this.heading.textContent}, the last five minutes, in ${this.unit}. Now: ${told.join(", ")}.`);

    const { color, fontFamily, borderTopColor } = getComputedStyle(this.canvas);
    this.chart.data.datasets.forEach((dataset, i) => {
      dataset.data = data;
      dataset.borderColor = getComputedStyle(this.values[i], "::before").borderTopColor;
      dataset.backgroundColor = dataset.borderColor.replace("rgb(", "rgba(").replace(")", ", 0.13)");
    });
    const { x, y } = this.chart.options.scales;
    x.ticks.color = y.ticks.color = color;
    x.ticks.font = y.ticks.font = { family: fontFamily, size: 11 };
    y.grid.color = borderTopColor;
    this.chart.update();
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
