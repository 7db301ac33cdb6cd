// The dead letters of a tenant: what failed, and how to process it again.

import { html } from "./lit-html.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { runbookLink } from "./templates.js";
import { dateTime, deadLetterCount, number, redriveResult } from "./words.js";

async function redrive({ tenantId, isolation }, { control, sources, store }) {
  if (!await confirmed(
    `Move dead letters of ${tenantId} back?`,
    `At most 100 messages go to the end of ${isolation === "SILO" ? "its own queue" : "the shared queue"}, in order, and are processed again. Fix the cause first: a message that fails five times more returns here.`,
    "Move back")) {
    return;
  }
  const { body } = await control(`tenants/${tenantId}/dead-letters/redrive`, { method: "POST" });
  notice(body.moved > 0 || body.complete ? "good" : "info", redriveResult(body));
  store.refresh(sources.deadLetters(tenantId).key);
}

const letter = ({ id, session, at, receives, body, truncated, queue }) => html`
  <tr data-letter=${id}>
    <td><time datetime=${at} title=${at}>${dateTime(at)}</time></td>
    <td>${session ? html`<code>${session}…</code>` : "–"}</td>
    <td class="number">${number(receives)}</td>
    <td>${queue === "SILO" ? "own" : "shared"}</td>
    <td class="body"><code>${body}</code>${truncated ? html` <span class="muted">… truncated</span>` : ""}</td>
  </tr>`;

const table = (letters) => html`
  <div class="scroll" role="region" aria-labelledby="dead-title" tabindex="0">
    <table id="dead-letters">
      <thead><tr><th scope="col">Since</th><th scope="col">Session</th><th scope="col" class="number">Received</th><th scope="col">Queue</th><th scope="col">Message</th></tr></thead>
      <tbody>${letters.map(letter)}</tbody>
    </table>
  </div>`;

const state = (answer) => answer.count > answer.deadLetters.length
  ? `${deadLetterCount(answer)}, the first ${number(answer.deadLetters.length)} shown.` : `${deadLetterCount(answer)}.`;

/** What the page says instead of an empty table. */
const empty = ({ complete }) => complete
  ? "No dead letters. A message becomes one after it failed five times."
  : "None found yet. Messages of other tenants are in the way, or another request looks at them: look again.";

export const dead = {
  text: "Dead letters",
  tasks: ({ id }, { sources }) => [sources.deadLetters(id)],
  show(tenant, route, app) {
    const { key } = app.sources.deadLetters(tenant.tenantId);
    const answer = app.store.value(key);
    return html`
      <section class="card" aria-labelledby="dead-title">
        <h2 id="dead-title">Dead letters</h2>
        ${answer === undefined ? html`<p class="empty">Loading …</p>`
          : answer.count === 0 ? html`<p class="empty" id="no-dead-letters" role="status">${empty(answer)}</p>`
            : html`<p id="dead-state" role="status">${state(answer)}</p>${table(answer.deadLetters)}`}
        <div class="row pages">
          <button type="button" id="redrive" class="primary" ?disabled=${!answer || answer.complete && answer.count === 0} @click=${handling(() => redrive(tenant, app))}>Move back …</button>
          <button type="button" id="look-again" @click=${() => app.store.refresh(key)}>Look again</button>
          ${runbookLink("docs/runbooks/dead-letters.md")}
        </div>
      </section>`;
  },
};
