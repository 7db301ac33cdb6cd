// A chat whose participants share one session. ?tenant=acme starts a chat; &session=… joins one.
import { connect, TollgateError } from "tollgate-client";

/** What the message handler, Chat.java, sends to every socket of the session. */
interface Said {
  readonly at: string;
  readonly text: string;
}

const parameters = new URLSearchParams(location.search);
const sessionId = parameters.get("session") ?? undefined;

const tollgate = connect({
  sessionUrl: parameters.get("sessionUrl") ?? "http://127.0.0.1:8080/session/session",
  tenantId: parameters.get("tenant") ?? "acme",
  // A guest must not silently get a chat of his own when the host's session has ended.
  ...(sessionId === undefined ? {} : { sessionId, newSession: false }),
});

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const status = element("status");
const messages = element("messages");
const text = element<HTMLInputElement>("text");
const invitation = element<HTMLAnchorElement>("invitation");

tollgate.addEventListener("state", ({ detail }) => {
  if (detail.state !== "waiting") {
    status.textContent = detail.state === "closed" ? `closed: ${detail.reason}` : detail.state;
  }
});

// Comes at once and then every second, so it is a countdown.
tollgate.addEventListener("waiting", ({ detail }) => {
  const ahead = detail.ahead === undefined ? "" : `${detail.ahead} ahead of you, `;
  const seconds = detail.retryAfterSeconds;
  const time = seconds === undefined ? "until somebody leaves" : `about ${seconds} s`;
  status.textContent = `waiting in line: ${ahead}${time}`;
});

tollgate.addEventListener("session", ({ detail }) => {
  const link = new URL(location.href);
  link.searchParams.set("session", detail.sessionId);
  invitation.href = link.href;
  invitation.target = "_blank";
  invitation.hidden = false;
});

// The handler's answers to messages of all participants.
tollgate.addEventListener("reply", ({ detail }) => {
  const said = detail.message as Said;
  const item = document.createElement("li");
  item.textContent = `${new Date(said.at).toLocaleTimeString()} ${said.text}`;
  messages.append(item);
});

element<HTMLFormElement>("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const message = text.value;
  text.value = "";
  try {
    // May be called in every state: the client sends the message when it is connected.
    await tollgate.send(message);
  } catch (error) {
    text.value = message;
    status.textContent = error instanceof TollgateError ? `not sent: ${error.code}` : String(error);
  }
});
