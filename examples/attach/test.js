// Chats in the workspace acme, whose tenant admits four connections a minute: node --experimental-websocket test.js WEB_SOCKET_URL
const assert = require("node:assert/strict");
const http = require("node:http");

const url = process.argv[2];

/** A socket, and a promise of its next frame. */
async function open(query) {
  const socket = new WebSocket(`${url}?${query}`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`${query} was refused`));
  });
  return { socket, next: () => new Promise((resolve) => { socket.onmessage = ({ data }) => resolve(data); }) };
}

/** The status of a handshake, whose socket is closed at once. */
const status = (query) => new Promise((resolve, reject) => {
  const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" };
  const request = http.get(`${url.replace("ws", "http")}?${query}`, { headers });
  request.on("response", (response) => { response.resume(); resolve(response.statusCode); });
  request.on("upgrade", (response, socket) => { socket.destroy(); resolve(response.statusCode); });
  request.on("error", reject);
});

async function chat() {
  const ann = await open("workspace=acme&name=ann");
  const bob = await open("workspace=acme&name=bob");
  const heard = bob.next();
  ann.socket.send(JSON.stringify({ action: "say", text: "Hello, Bob" }));
  assert.equal(JSON.parse(await heard).text, "Hello, Bob");

  assert.equal(await status("workspace=globex&name=eve"), 403, "nobody onboarded globex");
  assert.equal(await status("workspace=acme&name=b4d"), 403, "the application refuses names with digits, and the token is put back");
  const statuses = [];
  for (const name of ["carl", "dora", "emil", "fred"]) {
    statuses.push(await status(`workspace=acme&name=${name}`));
  }
  assert.deepEqual(statuses.filter((one) => one === 101).length, 2, String(statuses));
  assert.deepEqual(statuses.filter((one) => one === 429).length, 2, String(statuses));
  ann.socket.close();
  bob.socket.close();
}

chat().then(() => process.exit(0), (failed) => {
  console.error(failed);
  process.exit(1);
});
