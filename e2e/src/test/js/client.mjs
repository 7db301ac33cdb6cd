// A client that a test controls: a line on standard input is a message to send, a line on standard output an event.
// Arguments: the client's module, and the options as JSON.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [module, options] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(module));
const tell = (type, detail) => console.log(JSON.stringify({ type, ...detail }));

const tollgate = connect(JSON.parse(options));
for (const type of ["state", "waiting", "session", "message", "push", "refused"]) {
  tollgate.addEventListener(type, ({ detail }) => tell(type, detail));
}
for await (const line of createInterface({ input: process.stdin })) {
  const { message, ...how } = JSON.parse(line);
  tollgate.send(message, how).then(
    (answer) => tell("answer", answer),
    ({ code, id }) => tell("failure", { code, id }));
}
await tollgate.close({ endSession: true });
