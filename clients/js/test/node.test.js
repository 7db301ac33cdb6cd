import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { connect } from "../tollgate.js";

/** A server that admits sockets, and then neither reads nor answers. */
async function deafServer() {
  const server = createServer();
  server.on("upgrade", ({ headers }, connection) => {
    const accept = createHash("sha1")
      .update(`${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    connection.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    connection.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const PROGRAM = `
  import { connect } from ${JSON.stringify(new URL("../tollgate.js", import.meta.url).href)};
  const client = connect({ tenantId: "acme", sessionId: "s", webSocketUrl: process.argv[1] });
  client.addEventListener("state", ({ detail }) => detail.state === "open" && client.close());
`;

test("a Node program ends after close() although the server never answers the close frame", { timeout: 60_000 }, async () => {
  const server = await deafServer();
  const program = spawn(process.execPath, [
    "--experimental-websocket", "--no-warnings", "--input-type=module", "--eval", PROGRAM,
    `ws://127.0.0.1:${server.address().port}/production`,
  ], { stdio: "inherit", timeout: 30_000 });
  const [code, signal] = await once(program, "exit");
  server.closeAllConnections();
  server.close();
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
});

test("a Retry-After beyond the longest timer does not make the client ask at once", { timeout: 60_000 }, async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    response.writeHead(503, { "retry-after": "2592000", "content-type": "application/problem+json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { setTimeout: original } = globalThis;
  const longest = await new Promise((resolve) => {
    globalThis.setTimeout = (action, millis, ...rest) => {
      if (millis > 3_600_000) {
        resolve(millis);
      }
      return original(action, millis, ...rest);
    };
    const client = connect({
      tenantId: "acme",
      sessionUrl: `http://127.0.0.1:${server.address().port}/session`,
      WebSocket: class extends EventTarget {},
    });
    server.on("close", () => client.close());
  });
  globalThis.setTimeout = original;
  server.closeAllConnections();
  server.close();
  assert.equal(longest, 2 ** 31 - 1);
  assert.equal(requests, 1);
});
