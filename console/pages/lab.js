// The lab: a storm of connections of one tenant, to see that others are not affected.

import { html } from "./lit-html.js";
import { hasLab } from "./api.js";
import { handling } from "./dom.js";
import { format } from "./router.js";
import { Sessions } from "./sessions.js";
import { Storm } from "./storm.js";
import { number } from "./words.js";

const OFFERED = 200;
/** The storm that runs, or the last one. */
let storm;
let isRunning = false;

/** The choice of tenants, and of none as a neighbour. */
function choiceOf({ query }, { store }) {
  const ids = store.value("tenants", { tenants: [] }).tenants.filter(({ status }) => status === "ACTIVE").slice(0, OFFERED).map(({ tenantId }) => tenantId);
  const offered = [...new Set([...[query.tenant, query.neighbour].filter((id) => id && id !== "none"), ...ids])];
  const tenant = query.tenant ?? ids[0];
  const others = offered.filter((id) => id !== tenant);
  const neighbour = query.neighbour === "none" ? "" : query.neighbour ?? others[0] ?? "";
  return { offered, others, tenant, neighbour: neighbour === tenant ? others[0] ?? "" : neighbour };
}

async function start(event, choice, app) {
  if (isRunning) {
    storm.stop();
    return;
  }
  storm = new Storm({
    sessions: new Sessions(app.settings.sessionUrl),
    webSocketUrl: app.settings.webSocketUrl,
    tenantId: choice.tenant,
    neighbourId: choice.neighbour || undefined,
    attempts: event.target.elements.attempts.valueAsNumber,
    onchange: app.draw,
  });
  isRunning = true;
  try {
    await storm.run();
  } finally {
    isRunning = false;
    app.draw();
  }
}

const probesOf = ({ neighbour }) => neighbour.admitted + neighbour.refused + neighbour.other;

function sentence() {
  if (!storm) {
    return "No storm is running.";
  }
  const { tenantId, neighbourId, neighbour, counts, phase } = storm;
  const probes = probesOf(storm);
  const result = !neighbourId || probes === 0
    ? ""
    : neighbour.admitted === probes
      ? ` ${neighbourId} was admitted each time.`
      : ` ${neighbourId} was admitted ${neighbour.admitted} of ${probes} times.`;
  switch (phase) {
    case "opening":
      return `Opening sockets of ${tenantId} …${result}`;
    case "holding":
      return `All sockets were attempted. The admitted ones stay open for a moment.${result}`;
    default:
      return `The storm on ${tenantId} ${phase === "stopped" ? "was stopped" : "has ended"}: ${number(counts.admitted)} admitted, ${number(counts.refused)} refused, all closed.${result}`;
  }
}

const counter = (id, name, value) => html`<div><span id=${`${id}-name`}>${name}</span><output id=${id} aria-labelledby=${`${id}-name`}>${value}</output></div>`;

const select = (id, label, options, current, onpick) => html`
  <div class="grow">
    <label for=${id}>${label}</label>
    <select id=${id} ?disabled=${isRunning} @change=${({ target }) => onpick(target.value)}>
      ${options.map(([value, text]) => html`<option value=${value} .selected=${value === current}>${text}</option>`)}
    </select>
  </div>`;

export const lab = {
  title: () => "Lab",
  tasks: (route, { sources }) => [sources.tenants()],
  show(route, app) {
    if (!hasLab(app.settings)) {
      return html`<p class="empty">${app.settings.sessionUrl ? "This deployment has no lab." : "Loading …"}</p>`;
    }
    const choice = choiceOf(route, app);
    const { counts, neighbourId, attempted, attempts } = storm ?? { counts: { admitted: 0, refused: 0, other: 0 }, attempted: 0, attempts: 1 };
    const pick = (change) => app.router.change(change);
    return html`
      <div class="intro"><h1>Lab</h1><p>Try out how limits work, on a deployment without customers.</p></div>
      <div class="columns tenant-columns">
        <form class="card storm" id="storm-form" @submit=${handling((event) => start(event, choice, app))}>
          <h2>Storm</h2>
          <p class="muted small">Opens many sockets of a tenant, one after another, and a few of a neighbour, to show that the neighbour is not affected.</p>
          <div class="row">
            ${select("storm-tenant", "Tenant", choice.offered.map((id) => [id, id]), choice.tenant ?? "", (tenant) => pick({ tenant }))}
            ${select("neighbour", "Neighbour", [...choice.others.map((id) => [id, id]), ["", "none"]], choice.neighbour, (id) => pick({ neighbour: id || "none" }))}
            <div class="sockets"><label for="attempts">Sockets</label><input id="attempts" name="attempts" type="number" min="1" max="1000" value="300" required></div>
            <button id="storm" class=${isRunning ? "danger" : "primary"} ?disabled=${!choice.tenant}>${isRunning ? "Stop storm" : "Start storm"}</button>
          </div>
          <div class="counts">
            ${counter("storm-admitted", "Admitted", number(counts.admitted))}
            ${counter("storm-refused", "Refused", number(counts.refused))}
            ${counter("storm-other", "Other", number(counts.other))}
            ${counter("storm-neighbour", "Neighbour", neighbourId ? `${storm.neighbour.admitted} of ${probesOf(storm)}` : "–")}
          </div>
          <progress id="storm-bar" max="1" .value=${attempted / attempts} aria-label="Attempted sockets"></progress>
          <p class="sentence small" id="storm-sentence" role="status">${sentence()}</p>
          ${choice.tenant ? html`<p class="links"><a href=${format({ view: "tenant", id: choice.tenant })}>Watch ${choice.tenant}</a></p>` : ""}
        </form>
        <section class="card" aria-labelledby="sample-title">
          <h2 id="sample-title">Sample client</h2>
          <p class="muted">Opens sockets, sends messages, and shows how a client waits when it is refused.</p>
          <p class="links"><a class="button" href=${choice.tenant ? `./#${new URLSearchParams({ tenant: choice.tenant })}` : "./"}>Open the sample client</a></p>
        </section>
      </div>`;
  },
};
