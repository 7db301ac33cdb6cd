// A chart of a span of time in a `<figure>`, drawn by uPlot with colours from the style sheet.

import { el, setText } from "./dom.js";
import { uPlot } from "./plot.js";
import { number } from "./words.js";

const DASHES = { capacity: [6, 4], would: [2, 3], r1: [7, 3], r2: [2, 2], r3: [8, 3, 2, 3] };
const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const property = (element, name) => getComputedStyle(element).getPropertyValue(name);
/** The width of labels in pixels: those of 11 px have digits of 7. */
const axisWidth = (_, labels) => 13 + 7 * Math.max(5, ...(labels ?? []).map(({ length }) => length));
const dashOf = (kind) => DASHES[kind.split(" ").at(-1)];

/** Draws lines `{name, kind, values}` over times in seconds since 1970. `kind` is the class that gives the colour. */
export class RangeChart {
  #names = "";
  #data = [[]];
  #lines = [];
  #marks = [];

  /** `title` names the chart; `unit` is what its values count, such as "connections a minute". */
  constructor(figure, { title, unit }) {
    this.title = title;
    this.unit = unit;
    this.figure = figure;
    this.time = el("span", { class: "time muted" });
    this.legend = el("span", { class: "legend" });
    this.plot = el("div", { class: "plot", role: "img" });
    figure.replaceChildren(el("figcaption", {}, el("span", {}, el("span", { class: "title" }, title), " ", this.time), this.legend), this.plot);
    new ResizeObserver(() => this.chart?.setSize(this.#size())).observe(this.plot);
    new MutationObserver(() => this.chart?.redraw(false)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /**
   * Draws; `summary` is read to people who do not see the chart. `marks` are `{at, text}`: what happened at a time in
   * seconds since 1970.
   */
  show({ times, lines, marks = [] }, summary) {
    this.#marks = marks;
    this.#data = [times, ...lines.map(({ values }) => values)];
    this.#lines = lines;
    const names = lines.map(({ name, kind }) => `${name}/${kind}`).join();
    if (names !== this.#names) {
      this.#names = names;
      this.#build();
    } else {
      this.chart.setData(this.#data);
    }
    this.#tell();
    this.plot.setAttribute("aria-label", `${this.title}, in ${this.unit}. ${summary}`);
  }

  #build() {
    this.chart?.destroy();
    this.values = this.#lines.map(({ kind }) => el("span", { class: kind }));
    this.legend.replaceChildren(...this.values);
    const axis = { stroke: () => property(this.plot, "--muted"), font: `11px ${property(this.plot, "--font")}`, ticks: { show: false } };
    this.chart = new uPlot({
      ...this.#size(),
      padding: [8, 22, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false } },
      hooks: { setCursor: [() => this.#tell()], draw: [(chart) => this.#drawMarks(chart)] },
      scales: { y: { range: (_, least, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [
        { ...axis, size: 24, gap: 6, space: 70, grid: { show: false }, values: [
          [86400, "{DD} {MMM}", null, null, null, null, null, null, 1],
          [60, "{HH}:{mm}", null, null, null, null, null, null, 1],
        ] },
        { ...axis, size: axisWidth, gap: 6, space: 36, grid: { stroke: () => property(this.plot, "--line"), width: 1 }, values: (_, marks) => marks.map(number) },
      ],
      series: [{}, ...this.#lines.map(({ kind }, i) => ({
        stroke: () => property(this.values[i], "--key"),
        width: 2,
        dash: dashOf(kind),
        points: { show: false },
      }))],
    }, this.#data, this.plot);
  }

  /** A dashed line and a triangle at the time of each mark. */
  #drawMarks({ ctx, bbox, valToPos }) {
    const size = 5 * devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = property(this.plot, "--ink");
    ctx.lineWidth = devicePixelRatio;
    for (const { at } of this.#marks) {
      const x = Math.round(valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) {
        continue;
      }
      ctx.setLineDash([3 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.beginPath();
      ctx.moveTo(x - size, bbox.top - size);
      ctx.lineTo(x + size, bbox.top - size);
      ctx.lineTo(x, bbox.top + size);
      ctx.fill();
    }
    ctx.restore();
  }

  #size() {
    return { width: this.plot.clientWidth, height: this.plot.clientHeight };
  }

  /** Shows the values at the cursor, or else the latest. */
  #tell() {
    const index = this.chart?.cursor.idx;
    const at = index ?? this.#data[0].length - 1;
    setText(this.time, index === null || index === undefined ? `${this.unit}` : clock.format(this.#data[0][at] * 1000));
    this.#lines.forEach(({ name, values }, i) => setText(this.values[i], `${name} ${values[at] === undefined ? "–" : number(values[at])}`));
  }
}
