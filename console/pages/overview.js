// The first view: who is refused now, and why.

import { html } from "./lit-html.js";
import { repeat } from "./directives/repeat.js";
import { authorOf, briefFieldsOf, whatOf } from "./changes.js";
import { byId } from "./dom.js";
import { arrived, recent, rowOf, why } from "./fleet.js";
import { format } from "./router.js";
import { RANGE, RANGES } from "./sources.js";
import { spark } from "./spark.js";
import { rangeButtons, runbookLink, subjectLink } from "./templates.js";
import { count, number, time } from "./words.js";

const SHOWN = 10;
/** The tenants whose activity is asked for: one request. */
const ASKED = 25;
const DAY_MS = 24 * 3_600_000;
const HOUR = "1h";
/** An alarm of this name sends the messages of another one. */
const SENDER = "-message";
/** This alarm is raised by others. */
const SUMMARY = "services-failing";
const RETREAT = "tier-retreated";
const UNENFORCED = "admitted-without-token";
/** While only these are raised, no client gets a wrong answer. They come last. */
const RISKS = new Set(["functions-slow", "over-admitted", "quotas-near", "streams-late", "sweep-behind", RETREAT]);
/** Where the page says more about an alarm. */
const EVIDENCE = {
  "counts-drift": ["Check for drift", { view: "health" }],
  "over-admitted": ["Find the tenant: check for drift", { view: "health" }],
  refusals: ["Throttled tenants", { view: "tenants", query: { chip: "throttled" } }],
  "sweep-behind": ["Pending tenants", { view: "tenants", query: { chip: "pending" } }],
  "tier-retreated": ["Tiers", { view: "tiers" }],
};

const rangeOf = ({ query }) => (RANGES[query.range] ? query.range : RANGE);
const ranking = (store) => store.value("refused", { tenants: [] }).tenants;

/** The most refused tenants. The list may not have reached them yet: then the activity has their rate. */
function topRows({ store, sources }) {
  const known = new Map(store.value("tenants", { tenants: [] }).tenants.map((tenant) => [tenant.tenantId, tenant]));
  return ranking(store).slice(0, ASKED).map((ranked) => {
    const history = sources.histories.get(ranked.tenantId);
    const rate = history?.last?.buckets.find(({ action }) => action === "connect")?.ratePerMinute;
    const tenant = known.get(ranked.tenantId)
      ?? { tenantId: ranked.tenantId, tier: "", status: "ACTIVE", overrides: {}, limits: { tenantPerMinute: rate } };
    return rowOf(tenant, ranked, history);
  });
}

/** The tiers that stopped enforcing their limits by themselves in the last day. */
const retreated = ({ store, sources }) => store.value("tiers", { tiers: [] }).tiers
  .filter(({ retreatedAt }) => retreatedAt && Date.parse(retreatedAt) > sources.now - DAY_MS);

/** The raised alarms, each cause once: without those that only repeat another one. */
function raised({ store, sources }) {
  const all = store.value("alarms", { alarms: [] }).alarms.filter(({ state }) => state === "ALARM");
  const isKnown = retreated({ store, sources }).length > 0;
  return all.filter(({ name }) => !(name.endsWith(SENDER) || name === SUMMARY && all.length > 1 || name === RETREAT && isKnown));
}

/** What an operator must look at: raised alarms, and tiers that stopped enforcing their limits. */
function alertsOf(app) {
  const { store } = app;
  const alarms = raised(app)
    .sort((a, b) => RISKS.has(a.name) - RISKS.has(b.name) || (a.since < b.since ? -1 : 1))
    .map(({ name, since, meaning, reason, runbook }) => ({ name, since, text: meaning || reason, runbook, evidence: EVIDENCE[name] }));
  const retreats = retreated(app)
    .map(({ tier, retreatedAt }) => ({
      name: `Tier ${tier} stopped enforcing its limits`,
      since: retreatedAt,
      text: "They refused too many connections. It enforces them again when a person says so.",
      runbook: "docs/runbooks/tier-retreated.md",
      evidence: ["Its limits", { view: "tier", id: tier }],
      isRisk: true,
    }));
  return [...alarms, ...retreats];
}

const alerts = (app) => alertsOf(app).map(({ name, since, text, runbook, evidence, isRisk = RISKS.has(name) }) => html`
  <li class="notice ${isRisk ? "warn" : "bad"}"><span><strong>${name}</strong> since ${time(new Date(since))}. ${text}${evidence ? html` <a href=${format(evidence[1])}>${evidence[0]}</a>` : ""}</span> <span class="runbook">${runbookLink(runbook)}</span></li>`);

/** Whether limits are enforced; undefined until the first answer. */
function enforcement(app) {
  const lifted = app.store.value("admit-all");
  if (lifted?.on) {
    return html`<span class="badge bad">All limits lifted until ${time(new Date(lifted.until))}</span>`;
  }
  const except = retreated(app).map(({ tier }) => tier);
  if (lifted && raised(app).some(({ name }) => name === UNENFORCED)) {
    return html`<span class="badge warn">Rates are not enforced: SQS does not answer</span>`;
  }
  return lifted && (except.length > 0
    ? html`<span class="badge warn">Limits enforced, except those of tier ${except.join(", ")}</span>`
    : html`<span class="badge good">Limits enforced</span>`);
}

function headline(app, rows) {
  const { store } = app;
  const refused = ranking(store);
  const alarms = raised(app).length;
  const problems = alarms > 0 ? `${count(alarms, "alarm is raised", "alarms are raised")}. ` : "";
  if (store.value("refused") === undefined) {
    return "Loading …";
  }
  if (refused.length === 0) {
    return `${problems}Limits refused nobody in the last 5 minutes.`;
  }
  const now = rows.filter(({ live }) => live?.throttled);
  const rate = now.reduce((sum, { live }) => sum + live.refused, 0);
  const many = `${refused.length === 100 ? "At least 100 tenants were" : count(refused.length, "tenant was", "tenants were")} refused in the last 5 minutes`;
  return problems + (now.length > 0 ? `Refusing ${number(rate)} connections a second now, of ${count(now.length, "tenant")}. ${many}.` : `${many}, none of them now.`);
}

const tile = (name, value, more, lines, kind = "") => html`
  <div class="tile ${kind}"><dt>${name}</dt><dd>${value}${more ? html` <small>${more}</small>` : ""}</dd>${lines ? html`<dd class="line-of">${spark(lines)}</dd>` : ""}</div>`;

function tiles({ store }) {
  const hour = store.value(`fleet/${HOUR}`);
  const { admitted, refused, wouldRefuse, open } = recent(hour);
  const shown = (value) => (hour ? number(value) : "–");
  const steps = hour ? arrived(hour).steps : [];
  const line = (key, kind) => hour && [{ kind, values: steps.map((step) => step[key]) }];
  const { tenants, complete } = store.value("tenants", { tenants: [], complete: false });
  const suspended = tenants.filter(({ status }) => status === "SUSPENDED").length;
  return html`
    <dl class="tiles" aria-label="The whole fleet, last 5 minutes">
      ${tile("Refused", shown(refused), "in 5 min", line("refused", "refused"), refused > 0 ? "bad" : "")}
      ${tile("Would be refused", shown(wouldRefuse), "in 5 min", line("wouldRefuse", "would"))}
      ${tile("Admitted", shown(admitted), "in 5 min", line("admitted", "admitted"))}
      ${tile("Open connections", shown(open), "peak", line("peakConnections", "level"))}
      ${tile("Tenants", tenants.length === 0 && !complete ? "–" : `${number(tenants.length)}${complete ? "" : " …"}`,
        `${store.value("refused") ? `${number(store.value("refused").activeTenants)} active, ` : ""}${number(suspended)} suspended`)}
    </dl>`;
}

const refusedRow = (row, hasLine) => html`
    <tr>
      <th scope="row"><a href=${format({ view: "tenant", id: row.id })}>${row.id}</a></th>
      <td class="why">${why(row)}</td>
      <td class="number ${row.live?.throttled ? "refusing" : ""}" data-label="Now /s">${row.live ? number(row.live.refused) : "–"}</td>
      <td class="number" data-label="5 min">${number(row.refused)}</td>
      ${hasLine ? html`<td class="number" data-label="In line">${row.live?.waiting ? number(row.live.waiting) : html`<span class="none">–</span>`}</td>` : ""}
    </tr>`;

const mostRefused = ({ store }, rows, hasLine = rows.some(({ live }) => live?.waiting > 0)) => html`
  <section class="card refusals" aria-labelledby="refused-title">
    <div class="between">
      <h2 id="refused-title">Most refused</h2>
      ${ranking(store).length > SHOWN ? html`<a href=${format({ view: "tenants", query: { chip: "throttled" } })}>All ${number(ranking(store).length)}</a>` : ""}
    </div>
    ${rows.length === 0
      ? html`<p class="empty">${store.value("refused") ? "Nobody was refused in the last 5 minutes." : "Loading …"}</p>`
      : html`
        <table class="top" aria-label="The ten most refused tenants">
          <thead><tr><th scope="col">Tenant</th><th scope="col">Why</th><th scope="col" class="number">Now /s</th><th scope="col" class="number">5 min</th>${hasLine ? html`<th scope="col" class="number">In line</th>` : ""}</tr></thead>
          <tbody>${repeat(rows.slice(0, SHOWN), ({ id }) => id, (row) => refusedRow(row, hasLine))}</tbody>
        </table>
        <p class="muted small">“Now” is live. Reasons and the last 5 minutes arrive up to two minutes late.</p>`}
  </section>`;

function changes({ store }) {
  const entries = store.value("changes")?.entries;
  return html`
    <section class="card" aria-labelledby="changes-title">
      <h2 id="changes-title">Changed in the last hour</h2>
      ${!entries?.length ? html`<p class="empty">${entries ? "Nothing was changed." : "Loading …"}</p>` : html`
        <ol class="changes">${entries.slice(0, SHOWN).map((entry) => html`
          <li>
            <time datetime=${entry.at}>${time(new Date(entry.at))}</time>
            <span>${subjectLink(entry)} ${whatOf(entry)}${briefFieldsOf(entry) ? html`: <span>${briefFieldsOf(entry)}</span>` : ""} <span class="muted">by ${authorOf(entry)}</span></span>
          </li>`)}</ol>`}
      ${entries?.length > SHOWN ? html`<p class="muted small">And ${number(entries.length - SHOWN)}${store.value("changes").next ? " or more" : ""} earlier.</p>` : ""}
    </section>`;
}

let charts = [];
let loading;

/** Draws the charts: what is refused on a scale of its own. Their library is not loaded before its data is there, so that it does not delay the first rows. */
function drawChart(route, { store, draw }) {
  const answer = store.value(`fleet/${rangeOf(route)}`);
  if (!answer) {
    return;
  }
  loading ??= Promise.all([import("./range-chart.js"), import("./history-steps.js")]).then(([{ RangeChart }, { series }]) => {
    loading = { RangeChart, series };
    draw();
  });
  const { RangeChart, series } = loading;
  if (!RangeChart) {
    return;
  }
  const figures = [byId("fleet-chart"), byId("fleet-admitted")];
  if (charts[0]?.figure !== figures[0]) {
    charts = figures.map((figure, i) => new RangeChart(figure, { title: ["Refused connections", "Admitted connections"][i], unit: "a minute" }));
  }
  const { refused, admitted, wouldRefuse } = recent(answer, Infinity);
  const { times, lines: [ofAdmitted, ...ofRefused] } = series(arrived(answer));
  const span = `The last ${RANGES[rangeOf(route)].words}:`;
  charts[0].show({ times, lines: ofRefused }, `${span} ${number(wouldRefuse)} would be refused, ${number(refused)} refused.`);
  charts[1].show({ times, lines: [ofAdmitted] }, `${span} ${count(admitted, "connection")} admitted.`);
}

export const overview = {
  title: () => "Overview",
  tasks: (route, { sources, store }) => [
    sources.refused(),
    sources.activity(() => ranking(store).slice(0, ASKED).map(({ tenantId }) => tenantId)),
    sources.fleet(HOUR), sources.fleet(rangeOf(route)),
    sources.alarms(), sources.admitAll(), sources.changes(), sources.tiers(), sources.tenants(),
  ],
  show(route, app) {
    const rows = topRows(app);
    const range = rangeOf(route);
    const { name, release } = app.settings;
    return html`
      <div class="intro">
        <h1>Overview</h1>
        <p class="headline">${headline(app, rows)}</p>
        <p class="facts-line">${enforcement(app)} ${name ? html`<span>${name}</span>` : ""} ${release ? html`<span class="muted">Release ${release}</span>` : ""}</p>
      </div>
      <ul class="alerts" aria-label="Alerts">${alerts(app)}</ul>
      ${tiles(app)}
      <div class="columns">
        ${mostRefused(app, rows)}
        <section class="card" aria-label="The fleet over time">
          ${rangeButtons(RANGES, range, (key) => app.router.change({ range: key }, { replace: false }))}
          <figure class="chart" id="fleet-chart"></figure>
          <figure class="chart" id="fleet-admitted"></figure>
        </section>
        ${changes(app)}
      </div>`;
  },
  drawn: drawChart,
};
