// What is shown in words: numbers, times, and why something was refused.

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const time = (date = new Date()) => clock.format(date);
export const number = (value) => short.format(value);
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** 75 → "1 min 15 s". */
export function duration(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const minutes = Math.floor(whole / 60);
  return (minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`).replaceAll(" ", "\u00a0");
}

/** Why a connection is refused, by the session API's `reason`, with the limits in force. */
export function refusal(admission, limits) {
  switch (admission.reason) {
    case "TENANT_RATE":
      return `The tenant has used its tokens: it may open ${count(limits.tenantPerMinute, "connection")} a minute.`;
    case "SESSION_RATE":
      return `This session opened as many connections as it may: ${number(limits.sessionPerMinute)} a minute.`;
    case "TENANT_CONNECTIONS":
      return `The tenant has all its ${count(limits.tenantConnections, "connection")} open. One must close first.`;
    case "SESSION_CONNECTIONS":
      return `This session has all its ${count(limits.connectionsPerSession, "connection")} open. One must close first.`;
    case "SUSPENDED":
      return "The tenant is suspended: nobody is let in until an operator resumes it.";
    default:
      return admission.detail ?? "Refused.";
  }
}

/** Why a message was not processed, by the `code` of an error frame. */
export function messageError(frame) {
  switch (frame.code) {
    case "THROTTLED":
      return `Not processed: the tenant sends more messages a minute than it may. Try again in ${duration(frame.retryAfterSeconds ?? 60)}.`;
    case "NOT_SILO":
      return "Not processed: this tenant has no queue of its own. Send it pooled, or choose a tenant of tier gold.";
    case "UNAVAILABLE":
      return "Not processed: the queue cannot be reached just now. Send it again.";
    default:
      return frame.detail ?? frame.message ?? "Not processed.";
  }
}

/** What a bucket's state means, in a word or two. */
export const BUCKET_STATES = {
  PROVISIONING: "being set up",
  ACTIVE: "filling",
  CHANGING: "changing its way of filling",
  HIBERNATING: "hibernating",
  SUSPENDED: "suspended",
  REMOVING: "being removed",
};

export const LIMITS = {
  tenantPerMinute: "Connections a minute, tenant",
  sessionPerMinute: "Connections a minute, each session",
  connectionsPerSession: "Open connections, each session",
  tenantConnections: "Open connections, tenant",
  sessionTTL: "Seconds until an idle session ends",
  messagesPerMinute: "Messages a minute",
  sessionLifetime: "Seconds until any session ends",
  sessionsPerSubject: "Sessions at once, each token holder",
};
