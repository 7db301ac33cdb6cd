// Lambda's runtime for functions in Node: loads a handler, and serves one invocation after another.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER, AWS_LAMBDA_FUNCTION_NAME, AWS_LAMBDA_FUNCTION_MEMORY_SIZE } = process.env;
const [host, port] = AWS_LAMBDA_RUNTIME_API.split(":");

/** A request to the Runtime API; resolves to `{headers, body}`. `fetch` would give up after five minutes without an event. */
const call = (method, name, body) => new Promise((resolve, reject) => {
  const request = http.request({ host, port, method, path: `/2018-06-01/runtime/${name}` }, (response) => {
    const parts = [];
    response.on("data", (part) => parts.push(part));
    response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(parts).toString() }));
    response.on("error", reject);
  });
  request.on("error", reject);
  request.end(body);
});

function errorOf(thrown) {
  try {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    console.error(error.stack);
    return JSON.stringify({ errorType: error.name, errorMessage: error.message, stackTrace: error.stack.split("\n").slice(1).map((line) => line.trim()) });
  } catch {
    // The name is that of Lambda's runtime. A value without a prototype, for example, has no text.
    return JSON.stringify({ errorType: "handled", errorMessage: "The function threw a value whose name, message or stack cannot be read", stackTrace: [] });
  }
}

/** The function of a handler such as `src/index.handler`. */
async function load() {
  const at = _HANDLER.indexOf(".", _HANDLER.lastIndexOf("/"));
  const file = path.join(LAMBDA_TASK_ROOT, _HANDLER.slice(0, at));
  const found = [".js", ".mjs", ".cjs", ""].map((end) => file + end).find((name) => fs.existsSync(name) && fs.statSync(name).isFile());
  if (!found) {
    throw Object.assign(new Error(`Cannot find module '${_HANDLER.slice(0, at)}'`), { name: "Runtime.ImportModuleError" });
  }
  const module = await import(pathToFileURL(found));
  const handler = _HANDLER.slice(at + 1).split(".").reduce((value, key) => value?.[key] ?? value?.default?.[key], module);
  if (typeof handler !== "function") {
    throw Object.assign(new Error(`${_HANDLER} is undefined or not exported`), { name: "Runtime.HandlerNotFound" });
  }
  return handler;
}

/** The answer of a handler that is asynchronous, or calls back. */
const answerOf = (handler, event, context) => new Promise((resolve, reject) => {
  const result = handler(event, context, (error, answer) => (error ? reject(error) : resolve(answer)));
  if (typeof result?.then === "function") {
    result.then(resolve, reject);
  } else if (handler.length < 3) {
    resolve(result);
  }
});

async function serve(handler) {
  const { headers, body } = await call("GET", "invocation/next");
  const id = headers["lambda-runtime-aws-request-id"];
  const context = {
    awsRequestId: id,
    callbackWaitsForEmptyEventLoop: true,
    functionName: AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: "$LATEST",
    invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
    memoryLimitInMB: AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: `/aws/lambda/${AWS_LAMBDA_FUNCTION_NAME}`,
    logStreamName: "local",
    getRemainingTimeInMillis: () => Number(headers["lambda-runtime-deadline-ms"]) - Date.now(),
  };
  try {
    const answer = await answerOf(handler, JSON.parse(body), context);
    await call("POST", `invocation/${id}/response`, JSON.stringify(answer ?? null));
  } catch (thrown) {
    await call("POST", `invocation/${id}/error`, errorOf(thrown));
  }
}

let handler;
try {
  handler = await load();
} catch (thrown) {
  await call("POST", "init/error", errorOf(thrown));
  process.exit(1);
}
try {
  for (;;) {
    await serve(handler);
  }
} catch {
  // The Runtime API has closed: the function is not needed any more.
  process.exit(0);
}
