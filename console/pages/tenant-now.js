// What happens to a tenant now: its buckets, and charts of the last minutes.

import { html } from "./lit-html.js";
import { hasLab } from "./api.js";
import { byId } from "./dom.js";
import { History } from "./history.js";
import { MODES, refillOf } from "./limits.js";
import { format } from "./router.js";
import { BUCKET_STATES, duration, number } from "./words.js";

/** The levels of the opened tenants' buckets, by tenant and action, and the reports that they are of. */
const levels = new Map();
const noted = new WeakSet();
let charts;
let loading;

/** Adds a tenant's report to the history of its buckets. */
export function note(report) {
  if (noted.has(report)) {
    return;
  }
  noted.add(report);
  for (const { action, level, capacity, ratePerMinute } of report.buckets) {
    const key = `${report.tenantId}/${action}`;
    if (!levels.has(key)) {
      levels.set(key, new History());
    }
    levels.get(key).add(Date.now(), { level, capacity, rate: ratePerMinute });
  }
}

const chosenOf = ({ buckets }, { query }) => buckets.find(({ action }) => action === query.bucket) ?? buckets[0];

const fact = (id, name, value) => html`<div><dt>${name}</dt><dd id=${id}>${value}</dd></div>`;

/** The open window of scheduled limits, its own before its tier's, or the next one. */
function windowOf({ schedules = {}, tierSchedules = {} }) {
  const all = [...Object.entries(schedules), ...Object.entries(tierSchedules)];
  const open = all.find(([, each]) => each.open)?.[1];
  const next = all.sort(([a], [b]) => (a < b ? -1 : 1))[0]?.[1];
  return open ? `× ${open.factor} until ${open.to} (${open.zone})` : next && `× ${next.factor} from ${next.from} (${next.zone})`;
}

function facts(tenant, route) {
  const { connections, limits, isolation, modes = {}, line: isOn, buckets } = tenant;
  const chosen = chosenOf(tenant, route);
  const scheduled = windowOf(tenant);
  const line = buckets.find(({ action }) => action === "connect")?.line;
  return html`
    <dl class="facts">
      ${fact("open", "Open sockets", `${number(connections)} of ${number(limits.tenantConnections)}`)}
      ${fact("fill-rate", "Fill rate", chosen ? refillOf(chosen) : "–")}
      ${fact("in-line", "In line", isOn ? number(line?.length ?? 0) : "off")}
      ${fact("line-wait", "Wait in line", isOn ? duration(line?.waitSeconds ?? 0) : "–")}
      ${fact("isolation", "Queue", isolation === "SILO" ? "own" : "shared")}
      ${fact("modes", "Limits", Object.entries(modes).map(([limit, mode]) => `${limit}: ${MODES[mode].toLowerCase()}`).join(", ") || "all enforced")}
      ${scheduled ? fact("window", "Scheduled limits", scheduled) : ""}
    </dl>`;
}

function bucketRow(bucket, isChosen, at, router) {
  const { action, level, levelEstimated, capacity, state, nextTokenAt } = bucket;
  const wait = (Date.parse(nextTokenAt) - at) / 1000;
  return html`
    <label class="bucket" data-action=${action}>
      <input type="radio" name="bucket" value=${action} .checked=${isChosen} @change=${() => router.change({ bucket: action })}>
      <b>${action}</b>
      <meter aria-label="Tokens in bucket ${action}" max=${Math.max(capacity, 1)} .value=${Math.min(level, capacity)}></meter>
      <span class="count">${levelEstimated ? "about " : ""}${number(level)} of ${number(capacity)}</span>
      <span class="more">${BUCKET_STATES[state] ?? state}, ${refillOf(bucket)}${level === 0 && wait > 0 ? `, next token within ${duration(wait)}` : ""}</span>
    </label>`;
}

/** Where failed messages are. */
const deadLetters = ({ tenantId, isolation }) => html`
  <section class="card" aria-labelledby="dead-title">
    <h2 id="dead-title">Dead letters</h2>
    <p>Messages that failed five times are in ${isolation === "SILO" ? html`the queue <code>silo_${tenantId}_dead.fifo</code>, which no alarm watches.` : "the dead-letter queue of all pooled tenants, which the alarm dead-letters watches."} <a id="to-dead" href=${format({ view: "tenant", id: tenantId, tab: "dead" })}>Show those of ${tenantId}</a></p>
  </section>`;

export const now = {
  text: "Now",
  show(tenant, route, { router, sources, settings }) {
    const chosen = chosenOf(tenant, route);
    return html`
      <section class="card" aria-label="Now">
        ${facts(tenant, route)}
        <p class="links"><a id="as-client" href="./#${new URLSearchParams({ tenant: tenant.tenantId })}">Open in the sample client</a>${hasLab(settings) ? html` <a id="to-lab" href=${format({ view: "lab", query: { tenant: tenant.tenantId } })}>Start a storm</a>` : ""}</p>
      </section>
      <div class="columns tenant-columns">
        <section class="card" aria-labelledby="buckets-title">
          <h2 id="buckets-title">Buckets</h2>
          <div class="buckets" id="buckets" role="radiogroup" aria-labelledby="buckets-title">
            ${tenant.buckets.map((bucket) => bucketRow(bucket, bucket === chosen, sources.now, router))}
          </div>
          <figure class="chart" id="level-chart"></figure>
        </section>
        <div class="stack">
          <section class="card" aria-label="Connections"><figure class="chart" id="rate-chart"></figure></section>
          ${deadLetters(tenant)}
        </div>
      </div>`;
  },
  drawn(tenant, route, { sources, draw }) {
    loading ??= import("./chart.js").then((module) => {
      loading = module;
      draw();
    });
    const { LiveChart } = loading;
    if (!LiveChart) {
      return;
    }
    const figure = byId("level-chart");
    if (charts?.figure !== figure) {
      charts = {
        figure,
        level: new LiveChart(figure, {
          title: "Tokens",
          unit: "tokens",
          series: [
            { key: "level", label: "Level", kind: "level", area: true },
            { key: "capacity", label: "Capacity", kind: "capacity" },
            { key: "rate", label: "Fill rate/min", kind: "rate" },
          ],
        }),
        rates: new LiveChart(byId("rate-chart"), {
          title: "Connections per second",
          unit: "connections per second",
          series: [
            { key: "admittedRate", label: "Admitted", kind: "admitted", area: true },
            { key: "refusedRate", label: "Refused", kind: "refused", area: true },
          ],
        }),
      };
    }
    const action = chosenOf(tenant, route)?.action;
    charts.level.show(levels.get(`${tenant.tenantId}/${action}`)?.samples() ?? [], `Tokens in bucket “${action}”`);
    charts.rates.show(sources.histories.get(tenant.tenantId)?.samples() ?? []);
  },
};
