// Compiled, never run: the declared types are those of the code, and uses that must and must not compile.

import * as declared from "tollgate-client";
import * as implemented from "../target/types/tollgate.js";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const exports: Same<keyof typeof declared, keyof typeof implemented> = true;
const members: Same<keyof declared.Tollgate, Exclude<keyof implemented.Tollgate, "dispatchEvent">> = true;
const errors: Same<keyof declared.TollgateError, keyof implemented.TollgateError> = true;

const client = declared.connect({ tenantId: "acme", sessionUrl: "/session", token: async () => "jwt" });
client.addEventListener("waiting", ({ detail }) => {
  const ahead: number | undefined = detail.ahead;
  const at: string | undefined = detail.retryAt?.toISOString();
});
client.addEventListener("state", ({ detail }) => detail.state === "closed" && detail.reason === "suspended");
const queued: Promise<{ id: string }> = client.send({ hello: ["world", 1, null] });
const answered: Promise<{ id: string; reply: any }> = client.send("hello", { reply: true, action: "SiloSQS" });
const socket: declared.Options = { tenantId: "acme", WebSocket };

// @ts-expect-error tenantId is missing
declared.connect({ sessionUrl: "/session" });
// @ts-expect-error there is no such state
client.addEventListener("state", ({ detail }) => detail.state === "idle");
// @ts-expect-error there is no such event
client.addEventListener("opened", ({ detail }) => detail.state);
// @ts-expect-error a function is no JSON
client.send(() => {});
// @ts-expect-error there is no reply unless the promise waits for it
client.send(1).then(({ reply }) => reply);
