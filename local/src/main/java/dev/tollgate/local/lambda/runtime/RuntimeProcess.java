package dev.tollgate.local.lambda.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.amazonaws.services.lambda.runtime.Context;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.threads.DaemonThreads;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A function in a process of its own, to which this is the Runtime API. It has the environment
 * variables of the function and no others, and the time of this machine.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html">Using the Lambda
 *     runtime API</a>
 */
final class RuntimeProcess implements ExecutionEnvironment {
  private static final String PATH = "/2018-06-01/runtime/";

  /** How long to wait for the last lines of a process that has ended. */
  private static final Duration OUTPUT = Duration.ofSeconds(1);

  private final HttpServer api;
  private final ExecutorService threads =
      Executors.newCachedThreadPool(new DaemonThreads("lambda-runtime"));
  private final Process process;
  private final Consumer<String> log;

  /** The invocations that the process has not asked for. It may end without asking for one. */
  private final LinkedBlockingQueue<Invocation> next = new LinkedBlockingQueue<>();

  /** Completed when the function first asks for an event. */
  private final CompletableFuture<byte[]> ready = new CompletableFuture<>();

  /** Completes when the output ends, or the wait for it. */
  private final CompletableFuture<Boolean> printed = new CompletableFuture<>();

  private volatile Optional<Invocation> running = Optional.empty();

  private record Invocation(Context context, byte[] event, CompletableFuture<byte[]> answer) {}

  /**
   * Starts the process and waits until it asks for its first event.
   *
   * @param command the command line of the runtime
   * @param variables its environment variables, but for the address of this API
   * @param log receives the lines that it prints outside of invocations
   * @param limit how long the function may take to ask for its first event
   * @throws FunctionError if the function cannot be loaded, or not in time
   */
  RuntimeProcess(
      List<String> command, Map<String, String> variables, Consumer<String> log, Duration limit)
      throws Exception {
    this.log = log;
    // First, because an invalid variable throws, and the server would keep running.
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().putAll(variables);
    api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext(PATH, this::serve);
    api.setExecutor(threads);
    api.start();
    InetSocketAddress address = api.getAddress();
    builder
        .environment()
        .put(
            "AWS_LAMBDA_RUNTIME_API",
            address.getAddress().getHostAddress() + ":" + address.getPort());
    try {
      process = builder.start();
    } catch (IOException e) {
      stopApi();
      throw e;
    }
    threads.execute(this::follow);
    process
        .onExit()
        .thenCompose(
            ended -> printed.completeOnTimeout(false, OUTPUT.toMillis(), TimeUnit.MILLISECONDS))
        .thenRun(this::ended);
    // Without this limit the caller keeps a processor for ever, and other functions cannot start.
    CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS, Runnable::run)
        .execute(() -> ready.completeExceptionally(late(limit)));
    try {
      await(ready);
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /**
   * Logs what the process prints. A child process can keep the output open after the end of the
   * process, so the end is noticed without this method.
   */
  private void follow() {
    try (BufferedReader lines = process.inputReader(UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String printed = line;
        running.ifPresentOrElse(
            one -> one.context().getLogger().log(printed), () -> log.accept(printed));
      }
    } catch (IOException ended) {
      // The process was ended.
    }
    printed.complete(true);
  }

  private void ended() {
    FunctionError error = exited(process.exitValue());
    ready.completeExceptionally(error);
    running.ifPresent(one -> one.answer().completeExceptionally(error));
  }

  private static FunctionError exited(int value) {
    return new FunctionError(
        "Runtime.ExitError", "Runtime exited with error: exit status " + value, List.of());
  }

  private static FunctionError late(Duration limit) {
    return new FunctionError(
        "Sandbox.Timedout",
        "The init phase timed out after %d seconds".formatted(limit.toSeconds()),
        List.of());
  }

  @Override
  public byte[] handle(byte[] event, Context context) throws Exception {
    Invocation invocation = new Invocation(context, event, new CompletableFuture<>());
    running = Optional.of(invocation);
    try {
      if (!process.isAlive()) {
        throw exited(process.exitValue());
      }
      next.put(invocation);
      return await(invocation.answer());
    } finally {
      running = Optional.empty();
    }
  }

  private static byte[] await(CompletableFuture<byte[]> answer) throws Exception {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof FunctionError error ? error : e;
    }
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public void close() {
    // First, because child processes of a process that has ended are not known.
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    stopApi();
  }

  private void stopApi() {
    api.stop(0);
    threads.shutdownNow();
  }

  private void serve(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath().substring(PATH.length());
    byte[] body = exchange.getRequestBody().readNBytes(MAX_PAYLOAD_BYTES);
    // The rest is counted, not kept: a function must not use up the memory of this process.
    long rest = exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
    if (path.equals("invocation/next")) {
      ready.complete(new byte[0]);
      next(exchange);
      return;
    }
    if (path.equals("init/error")) {
      ready.completeExceptionally(error(body));
    } else if (path.endsWith("/response")) {
      running(path)
          .ifPresent(
              one -> {
                if (rest > 0) {
                  one.answer()
                      .completeExceptionally(FunctionError.tooLarge(MAX_PAYLOAD_BYTES + rest));
                } else {
                  one.answer().complete(body);
                }
              });
    } else if (path.endsWith("/error")) {
      running(path).ifPresent(one -> one.answer().completeExceptionally(error(body)));
    }
    exchange.sendResponseHeaders(202, -1);
    exchange.close();
  }

  private Optional<Invocation> running(String path) {
    return running.filter(one -> path.contains(one.context().getAwsRequestId()));
  }

  private void next(HttpExchange exchange) throws IOException {
    Invocation invocation;
    try {
      invocation = next.take();
    } catch (InterruptedException closing) {
      exchange.close();
      return;
    }
    Context context = invocation.context();
    Headers headers = exchange.getResponseHeaders();
    headers.set("Lambda-Runtime-Aws-Request-Id", context.getAwsRequestId());
    headers.set("Lambda-Runtime-Invoked-Function-Arn", context.getInvokedFunctionArn());
    headers.set(
        "Lambda-Runtime-Deadline-Ms",
        Long.toString(System.currentTimeMillis() + context.getRemainingTimeInMillis()));
    headers.set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, invocation.event().length);
    exchange.getResponseBody().write(invocation.event());
    exchange.close();
  }

  private static FunctionError error(byte[] body) {
    JsonNode error = Json.readOrMissing(new String(body, UTF_8));
    List<String> trace = new ArrayList<>();
    error.path("stackTrace").forEach(frame -> trace.add(frame.asText()));
    return new FunctionError(
        error.path("errorType").asText(), error.path("errorMessage").asText(), trace);
  }
}
