// Text for the pages: numbers, times, and the reasons of refusals.

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const time = (date = new Date()) => clock.format(date);
/** An instant of the API as a day and a time in the browser's time zone. */
export const dateTime = (instant) => day.format(new Date(instant));
export const number = (value) => short.format(value);
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** "3 dead letters", or "At least 3 dead letters" if not all messages were looked at. */
export const deadLetterCount = ({ count: n, complete }) => `${complete ? "" : "At least "}${count(n, "dead letter")}`;

/** What became of a redrive. */
export const redriveResult = ({ moved, complete }) => `${count(moved, "message")} moved back.${complete ? "" : " There may be more: move again."}`;

/** 75 → "1 min 15 s". */
export function duration(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const minutes = Math.floor(whole / 60);
  return (minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`).replaceAll(" ", "\u00a0");
}

/** A place in line: 12, 24 → "12 ahead of you, about 24 s". */
export function placeInLine(ahead, seconds) {
  const left = `about\u00a0${duration(seconds)}`;
  return ahead === 0 ? `You are next, in ${left}` : `${number(ahead)} ahead of you, ${left}`;
}

/** Explains a refused connection: the session API's `reason` and the limits in force. */
export function refusal(admission, limits) {
  switch (admission.reason) {
    case "TENANT_RATE":
      return `The tenant has no tokens left: its limit is ${count(limits.tenantPerMinute, "new connection")} per minute.`;
    case "SESSION_RATE":
      return `This session has no tokens left: its limit is ${count(limits.sessionPerMinute, "new connection")} per minute.`;
    case "TENANT_CONNECTIONS":
      return `The tenant has reached its limit of ${count(limits.tenantConnections, "open connection")}. One must close first.`;
    case "SESSION_CONNECTIONS":
      return `This session has reached its limit of ${count(limits.connectionsPerSession, "open connection")}. One must close first.`;
    case "SUSPENDED":
      return "The tenant is suspended. New connections are refused until an operator resumes it.";
    default:
      return admission.detail ?? "Refused.";
  }
}

/** Explains a message that was not processed: the `code` of an error frame. */
export function messageError(frame) {
  switch (frame.code) {
    case "THROTTLED":
      return `Throttled: the tenant has exceeded its limit of messages per minute. Retry in ${duration(frame.retryAfterSeconds ?? 60)}.`;
    case "NOT_SILO":
      return "Not processed: this tenant has no queue of its own. Send pooled, or choose a tenant in tier gold.";
    case "UNAVAILABLE":
      return "Not processed: the queue is temporarily unavailable. Send the message again.";
    case "UNANSWERED":
      return "No answer came in time. The message may have been processed.";
    default:
      return frame.detail ?? frame.message ?? "Not processed.";
  }
}

/** Short descriptions of bucket states. */
export const BUCKET_STATES = {
  PROVISIONING: "being set up",
  ACTIVE: "filling",
  CHANGING: "changing its fill mode",
  HIBERNATING: "hibernating",
  SUSPENDED: "suspended",
  REMOVING: "being removed",
};

/** The values of a tenant's override of the line. */
export const LINE_OVERRIDES = { "": "Tier’s value", true: "On", false: "Off" };

export const LIMITS = {
  tenantPerMinute: "New connections per minute, tenant",
  sessionPerMinute: "New connections per minute, each session",
  connectionsPerSession: "Open connections, each session",
  tenantConnections: "Open connections, tenant",
  sessionTTL: "Seconds until an idle session expires",
  messagesPerMinute: "Messages per minute",
  sessionLifetime: "Seconds until any session expires",
  sessionsPerSubject: "Open sessions, each token subject",
};
