// The list of all tenants: search, chips, order, and changes of several.

import { html } from "./lit-html.js";
import { live as liveValue } from "./directives/live.js";
import { repeat } from "./directives/repeat.js";
import { byId, handling } from "./dom.js";
import { CHIPS, SORTS, chipCounts, rowsOf, select, sentence, stateOf, why } from "./fleet.js";
import { format } from "./router.js";
import { spark } from "./spark.js";
import { windowOf } from "./layout.js";
import { number } from "./words.js";

/** The most rows whose activity is asked for, and the most refused tenants that always are. */
const ASKED_ROWS = 40;
const ASKED_REFUSED = 10;
const RANKED = 100;
/** Rows that stay on the screen for so long get their activity at once. */
const REST_MS = 250;
const COLUMNS = [["tenant", "Tenant"], [undefined, "State"], ["refused", "Refused", "number"], [undefined, "Why"], ["open", "Open", "number"], ["admitted", "Admitted /s", "number"], [undefined, "In line", "number"], [undefined, "Tokens", "tokens"], [undefined, "Last 2 min", "trend"]];
const TREND = [["admittedRate", "admitted"], ["refusedRate", "refused"]];
const TREND_MS = 120_000;

/** The ids of the selected rows, also of those that a filter hides. */
const selected = new Set();
/** The rows of the fleet, and those that the query leaves, until an answer or the query changes. */
let memo = {};
let height = 44;
let shown = [];
let resting;

function rowsFor({ query }, { store, sources }) {
  if (memo.version !== store.version || memo.store !== store) {
    memo = { store, version: store.version, all: rowsOf({
      tenants: store.value("tenants", { tenants: [] }).tenants,
      refused: store.value("refused")?.tenants,
      connections: store.value("connections")?.tenants,
      pending: store.value("pending")?.tenants,
      histories: sources.histories,
    }) };
  }
  const wanted = JSON.stringify(query);
  if (memo.wanted !== wanted) {
    memo.wanted = wanted;
    memo.rows = select(memo.all, query);
    memo.counts = chipCounts(memo.all);
  }
  return memo;
}

/** Whether there may be tenants near a limit that no ranking has. */
const isNearPartial = (store) => store.value("connections")?.tenants.length === RANKED;

function chips({ query }, counts, { router, store }) {
  const more = (name) => (name === "throttled" && store.value("refused")?.tenants.length === RANKED
    || name === "near" && isNearPartial(store) ? "+" : "");
  return html`
    <div class="chips" role="group" aria-label="Show only">
      ${Object.entries(CHIPS).map(([name, [text, title]]) => html`
        <button type="button" class="chip ${counts[name] === 0 ? "empty-chip" : name === "throttled" ? "hot" : ""}" data-chip=${name} title=${title} aria-pressed=${query.chip === name} @click=${() => router.change({ chip: query.chip === name ? "" : name }, { replace: false })}>
          ${text} <b>${number(counts[name])}${more(name)}</b></button>`)}
    </div>`;
}

function tools(route, counts, app) {
  const { query } = route;
  const tiers = app.store.value("tiers", { tiers: [] }).tiers.map(({ tier }) => tier);
  return html`
    <form class="tools" role="search" @submit=${(event) => { event.preventDefault(); focusRow(0); }}>
      <div class="find">
        <label for="find">Search by any part of the id</label>
        <input id="find" type="search" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="36" placeholder="acme" aria-keyshortcuts="/"
          .value=${liveValue(query.find ?? "")} @input=${({ target }) => app.router.change({ find: target.value })}>
      </div>
      <div class="narrow">
        <label for="tier-filter">Tier</label>
        <select id="tier-filter" @change=${({ target }) => app.router.change({ tier: target.value }, { replace: false })}>
          <option value="">All</option>
          ${tiers.map((tier) => html`<option value=${tier} ?selected=${tier === query.tier}>${tier}</option>`)}
        </select>
      </div>
      ${chips(route, counts, app)}
    </form>`;
}

const heading = ({ query }, { router }) => ([sort, text, kind = ""]) => sort === undefined
  ? html`<th scope="col" class=${kind}>${text}</th>`
  : html`<th scope="col" class=${kind} aria-sort=${(query.sort ?? "refused") === sort ? (sort === "tenant" ? "ascending" : "descending") : "none"}>
      <button type="button" class="sort" @click=${() => router.change({ sort: sort === "refused" ? "" : sort }, { replace: false })}>${text}</button></th>`;

const none = html`<span class="none">–</span>`;
const value = (isKnown, n) => (isKnown ? number(n) : none);

function tokens({ id, live }) {
  return live?.capacity === undefined ? none : html`
    <meter aria-label="Tokens of ${id} at the last fill" min="0" max=${Math.max(live.capacity, 1)} .value=${Math.min(live.level, live.capacity)} title="${number(live.level)} of ${number(live.capacity)} at the last fill"></meter>`;
}

function trend({ id, isActive }, { histories }) {
  const samples = isActive ? histories.get(id)?.samples() : undefined;
  // The first sample has no rate.
  const recent = samples?.slice(1).filter(({ t }) => t >= samples.at(-1).t - TREND_MS);
  return recent?.length > 1
    ? spark(TREND.filter(([key, kind]) => kind === "admitted" || recent.some((sample) => sample[key] > 0)).map(([key, kind]) => ({ kind, values: recent.map((sample) => sample[key] ?? 0) })), { times: recent.map(({ t }) => t) })
    : "";
}

const tenantRow = (row, index, app) => {
  const { id, tenant, live, isActive } = row;
  const [word, kind] = stateOf(row);
  const reason = why(row);
  return html`
    <tr data-id=${id} aria-rowindex=${index + 2} class=${isActive ? "" : "idle"}>
      <td class="pick"><input type="checkbox" aria-label="Select ${id}" .checked=${liveValue(selected.has(id))} @change=${({ target }) => pick([id], target.checked, app)}></td>
      <th scope="row"><a href=${format({ view: "tenant", id })} title=${id}>${id}</a> <span class="tier">${tenant.tier}</span></th>
      <td class="state"><span class="badge ${kind}" title=${sentence(row)}>${word}</span></td>
      <td class="number refused-now ${live?.throttled ? "refusing" : ""}" data-label="Refused">${live?.throttled ? `${number(live.refused)} /s` : row.refused > 0 ? `${number(row.refused)} in 5 min` : none}</td>
      <td class="why" title=${reason}>${reason}</td>
      <td class="number open-now" data-label="Open">${value(isActive || row.open > 0, row.open)}${isActive || row.open > 0 ? html`<span class="of"> of ${number(tenant.limits.tenantConnections)}</span>` : ""}</td>
      <td class="number admitted-now">${value(live && isActive, live?.admitted)}</td>
      <td class="number waiting">${value(live?.waiting > 0, live?.waiting)}</td>
      <td class="tokens">${tokens(row)}</td>
      <td class="trend">${trend(row, app.sources)}</td>
    </tr>`;
};

async function onboard(app) {
  const { openOnboarding } = await import("./onboard.js");
  openOnboarding(app.store.value("tiers", { tiers: [] }).tiers.map(({ tier }) => tier), app);
}

function pick(ids, isPicked, { draw }) {
  ids.forEach((id) => (isPicked ? selected.add(id) : selected.delete(id)));
  draw();
}

function bulkBar(rows, app) {
  const run = (options) => handling(async () => {
    const { changeAll } = await import("./bulk.js");
    const changed = await changeAll(app.control, [...selected], options);
    if (changed.length > 0) {
      changed.forEach((id) => selected.delete(id));
      app.store.refresh("tenants", "pending");
    }
  });
  const tiers = app.store.value("tiers", { tiers: [] }).tiers.map(({ tier }) => tier);
  return html`
    <div class="bulk" role="group" aria-label="Selected tenants" ?hidden=${selected.size === 0}>
      <b role="status">${number(selected.size)} selected</b>
      <button type="button" @click=${run({ title: `Suspend ${number(selected.size)} of the tenants?`, action: "Suspend", body: { status: "SUSPENDED" } })}>Suspend</button>
      <button type="button" @click=${run({ title: `Resume ${number(selected.size)} of the tenants?`, action: "Resume", body: { status: "ACTIVE" } })}>Resume</button>
      <select aria-label="Change the tier of the selected tenants" @change=${(event) => {
        const tier = event.target.value;
        event.target.value = "";
        return run({ title: `Change the tier to ${tier}?`, action: "Change", body: { tier } })(event);
      }}>
        <option value="">Change tier …</option>
        ${tiers.map((tier) => html`<option value=${tier}>${tier}</option>`)}
      </select>
      <button type="button" class="quiet" @click=${() => pick([...selected], false, app)}>Clear selection</button>
    </div>`;
}

const emptyText = ({ query }, { store }) => store.value("tenants") === undefined
  ? "Loading …"
  : query.find || query.chip || query.tier ? "No matching tenants. Press Esc to clear the filters." : "No tenants yet. Onboard a tenant to begin.";

/** The row that the arrow keys leave has a neighbour, because spare rows exist around the screen. */
function focusRow(index) {
  const links = [...document.querySelectorAll("#rows th a")];
  links[Math.min(Math.max(index, 0), links.length - 1)]?.focus();
}

export const tenants = {
  title: () => "Tenants",
  tasks: (route, { sources, store }) => [
    sources.tenants(), sources.refused(), sources.connections(), sources.pending(), sources.tiers(),
    sources.activity(() => [
      ...shown.slice(0, ASKED_ROWS),
      ...store.value("refused", { tenants: [] }).tenants.slice(0, ASKED_REFUSED).map(({ tenantId }) => tenantId),
    ]),
  ],
  show(route, app) {
    const { all, rows, counts } = rowsFor(route, app);
    const list = byId("rows");
    const area = windowOf({ total: rows.length, height, top: list?.getBoundingClientRect().top ?? 0, screen: innerHeight });
    shown = rows.slice(area.shownFirst, area.shownEnd).map(({ id }) => id);
    const { complete } = app.store.value("tenants", { complete: false });
    const isAll = rows.length > 0 && rows.every(({ id }) => selected.has(id));
    return html`
      <div class="intro between">
        <div><h1>Tenants</h1><p role="status" id="count">${number(rows.length)} of ${number(all.length)}${complete ? "" : " (loading …)"}</p></div>
        <button type="button" class="primary" id="onboard" @click=${() => onboard(app)}>Onboard a tenant</button>
      </div>
      <section class="card list" aria-label="List of tenants">
        ${tools(route, counts, app)}
        ${bulkBar(rows, app)}
        <table class="fleet" aria-label="Tenants" aria-rowcount=${rows.length + 1}>
          <thead>
            <tr>
              <th scope="col" class="pick"><input type="checkbox" aria-label="Select all ${number(rows.length)} listed tenants" .checked=${liveValue(isAll)} @change=${({ target }) => pick(rows.map(({ id }) => id), target.checked, app)}></th>
              ${COLUMNS.map(heading(route, app))}
            </tr>
          </thead>
          <tbody id="rows">
            <tr class="gap" aria-hidden="true" ?hidden=${area.first === 0}><td height=${area.first * height}></td></tr>
            ${repeat(rows.slice(area.first, area.end), ({ id }) => id, (row, i) => tenantRow(row, area.first + i, app))}
            <tr class="gap" aria-hidden="true" ?hidden=${area.end >= rows.length}><td height=${(rows.length - area.end) * height}></td></tr>
          </tbody>
        </table>
        <p class="empty" id="empty" ?hidden=${rows.length > 0}>${emptyText(route, app)}</p>
        <p class="muted small">Rates a second are live. Reasons and “in 5 min” arrive up to two minutes late.${isNearPartial(app.store) ? html` “Near a limit” is known only for the ${RANKED} tenants with the most connections and the ${RANKED} most refused.` : ""}</p>
      </section>`;
  },
  /** Measures the rows: their height depends on the width of the window and on the size of the text. */
  drawn(route, { draw }) {
    const measured = document.querySelector("#rows tr[data-id]")?.getBoundingClientRect().height;
    if (measured && Math.abs(measured - height) > 0.1) {
      height = measured;
      draw();
    }
  },
  scrolled(route, { draw, store }) {
    draw();
    clearTimeout(resting);
    resting = setTimeout(() => store.refresh("activity"), REST_MS);
  },
  key(event, { query }, { router }) {
    const row = document.activeElement?.closest("#rows tr");
    const links = [...document.querySelectorAll("#rows th a")];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const at = links.findIndex((link) => link.closest("tr") === row);
      focusRow(at === -1 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1));
      event.preventDefault();
    } else if (event.key === "Escape" && (query.find || query.chip || query.tier)) {
      router.change({ find: "", chip: "", tier: "" }, { replace: false });
      event.preventDefault();
    }
  },
};
