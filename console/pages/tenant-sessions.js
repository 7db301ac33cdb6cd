// The sessions of a tenant. The page never has the id of one, which is a secret: only its first digits.

import { html } from "./lit-html.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { count, dateTime, number } from "./words.js";

/** The task that loads the page of a route. */
const taskOf = (id, { query: { cursor } }, sources) => sources.sessions(id, cursor);

async function end({ tenantId }, { session, connections }, route, { control, sources, store }) {
  if (!await confirmed(
    `End session ${session}… of ${tenantId}?`,
    `This closes ${count(connections, "open socket")}. Its client may create another session.`,
    "End session")) {
    return;
  }
  await control(`tenants/${tenantId}/sessions/${session}`, { method: "DELETE" });
  notice("good", `Session ${session}… has ended.`);
  store.refresh(taskOf(tenantId, route, sources).key);
}

const at = (instant) => instant ? html`<time datetime=${instant} title=${instant}>${dateTime(instant)}</time>` : "–";

const row = (session, tenant, route, app) => html`
  <tr data-session=${session.session}>
    <th scope="row"><code>${session.session}…</code></th>
    <td class="number">${number(session.connections)}</td>
    <td>${at(session.createdAt)}</td>
    <td>${at(session.messageAt)}</td>
    <td>${at(session.endsAt)}</td>
    <td><button type="button" class="quiet danger end-session" aria-label="End session ${session.session}" @click=${handling(() => end(tenant, session, route, app))}>End</button></td>
  </tr>`;

const table = (list, tenant, route, app) => html`
  <div class="scroll">
    <table id="sessions">
      <thead><tr><th scope="col">Session</th><th scope="col" class="number">Open sockets</th><th scope="col">Created</th><th scope="col">Last message</th><th scope="col">Ends unless used</th><th scope="col"><span class="sr-only">End</span></th></tr></thead>
      <tbody>${list.map((session) => row(session, tenant, route, app))}</tbody>
    </table>
  </div>`;

/** What the page says instead of an empty table. */
const empty = ({ next }, { query }) => next
  ? "All sessions of this page have ended. See the next page."
  : query.cursor ? "No more sessions." : "No sessions. A client creates one with PUT /session before it connects.";

export const sessions = {
  text: "Sessions",
  tasks: (route, { sources }) => [taskOf(route.id, route, sources)],
  show(tenant, route, app) {
    const answer = app.store.value(taskOf(tenant.tenantId, route, app.sources).key);
    const go = (cursor) => app.router.change({ cursor }, { replace: false });
    return html`
      <section class="card" aria-labelledby="sessions-title">
        <h2 id="sessions-title">Sessions</h2>
        ${answer === undefined ? html`<p class="empty">Loading …</p>`
          : answer.sessions.length === 0 ? html`<p class="empty" id="no-sessions">${empty(answer, route)}</p>`
            : table(answer.sessions, tenant, route, app)}
        <div class="row pages">
          ${route.query.cursor ? html`<button type="button" id="first-sessions" @click=${() => go("")}>First page</button>` : ""}
          ${answer?.next ? html`<button type="button" id="more-sessions" @click=${() => go(answer.next)}>Next page</button>` : ""}
          <span class="muted small">Only the first 12 digits of a session’s id are shown: the whole id lets anyone connect.</span>
        </div>
      </section>`;
  },
};
