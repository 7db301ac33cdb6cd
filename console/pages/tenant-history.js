// What happened to a tenant over time, with the changes that were made meanwhile.

import { html } from "./lit-html.js";
import { byId } from "./dom.js";
import { entryList, rangeButtons } from "./templates.js";
import { LONG_RANGES, RANGE } from "./sources.js";
import { changesOf, connectionSeries, rankedOf, series } from "./history-steps.js";
import { whatOf } from "./changes.js";
import { count, number } from "./words.js";

const rangeOf = ({ query }) => (LONG_RANGES[query.range] ? query.range : RANGE);
let charts;
let loading;

/** The changes of the tenant and of its tier in the span. */
const changesFor = (tenant, route, { store }) => changesOf(
  store.value(`changes/${tenant.tenantId}/${rangeOf(route)}`),
  store.value(`changes/${tenant.tenantId}/tier/${rangeOf(route)}`));

const summary = ({ admitted, refused, wouldRefuse }) =>
  `${count(admitted, "connection")} admitted, ${number(refused)} refused${wouldRefuse > 0 ? `, ${number(wouldRefuse)} would be refused` : ""}`;

export const history = {
  text: "History",
  tasks: (route, { sources, store }) => {
    const { id } = route;
    const range = rangeOf(route);
    return [
      sources.history(id, range),
      sources.changesOfTenant(id, range),
      sources.changesOfItsTier(id, range, () => store.value(`tenant/${id}`)?.tier),
    ];
  },
  show(tenant, route, app) {
    const range = rangeOf(route);
    const answer = app.store.value(`history/${tenant.tenantId}/${range}`);
    const changes = changesFor(tenant, route, app);
    const total = answer && rankedOf(tenant.tenantId, answer);
    return html`
      <section class="card" aria-label="History">
        ${rangeButtons(LONG_RANGES, range, (key) => app.router.change({ range: key }, { replace: false }))}
        <p class="history-summary" id="history-summary">${total ? `The last ${LONG_RANGES[range].words}: ${summary(total)}; at most ${count(total.peakConnections, "connection")} open.` : "Loading …"}</p>
        <figure class="chart tall" id="history-chart"></figure>
        <figure class="chart" id="connections-chart"></figure>
        <p class="muted small">Minutes are complete after about two minutes.</p>
      </section>
      <section class="card" aria-labelledby="marks-title">
        <h2 id="marks-title">Changes in this time</h2>
        ${changes.length === 0 ? html`<p class="muted">Nothing was changed.</p>` : entryList(changes.slice(0, 100))}
      </section>`;
  },
  drawn(tenant, route, app) {
    loading ??= import("./range-chart.js").then((module) => {
      loading = module;
      app.draw();
    });
    const range = rangeOf(route);
    const answer = app.store.value(`history/${tenant.tenantId}/${range}`);
    const { RangeChart } = loading;
    if (!RangeChart || !answer) {
      return;
    }
    const figure = byId("history-chart");
    if (charts?.figure !== figure) {
      charts = {
        figure,
        connections: new RangeChart(figure, { title: "Connections", unit: "a minute" }),
        open: new RangeChart(byId("connections-chart"), { title: "Open connections", unit: "the most at once" }),
      };
    }
    const marks = changesFor(tenant, route, app).map((entry) => ({ at: Date.parse(entry.at) / 1000, text: whatOf(entry) }));
    const total = rankedOf(tenant.tenantId, answer);
    const words = LONG_RANGES[range].words;
    charts.connections.show({ ...series(answer), marks }, `The last ${words}: ${summary(total)}. ${count(marks.length, "change")}.`);
    charts.open.show({ ...connectionSeries(answer, tenant.limits.tenantConnections), marks }, `The last ${words}: at most ${number(total.peakConnections)}.`);
  },
};
