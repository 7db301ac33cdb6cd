package dev.tollgate.local.lambda;

import dev.tollgate.local.lambda.Invocation.FunctionError;
import dev.tollgate.local.lambda.Invocation.NotFound;
import dev.tollgate.local.lambda.Invocation.Success;
import dev.tollgate.local.lambda.Invocation.Throttled;
import dev.tollgate.local.lambda.Invocation.TimedOut;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Hosts functions in this process as AWS Lambda would.
 *
 * <p>Each function has a class loader over its jar, and one handler instance per concurrent
 * invocation. An instance is constructed when an invocation finds none idle, and reused as long as
 * the process lives. An invocation that outlasts the function's time-out is interrupted and its
 * instance discarded; the init phase does not count. Time-outs are of this machine's time, whatever
 * the clock says that the functions are given.
 *
 * <p>Concurrency is limited as in an AWS account: 1,000 for all functions, of which a function may
 * reserve a part, as long as 100 are left to the others (AWS Lambda Developer Guide, "Understanding
 * Lambda function scaling", "Configuring reserved concurrency").
 */
public final class Functions implements Invoker, AutoCloseable {

  private static final int ACCOUNT_CONCURRENCY = 1_000;
  private static final int LEAST_UNRESERVED = 100;
  private static final String FUNCTION = ":function:";

  /** Synchronous request and response, each (Developer Guide, "Lambda quotas"). */
  static final int MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

  private final InstantSource clock;
  private final Consumer<LogLine> log;
  private final Map<String, Hosted> byNameOrArn = new ConcurrentHashMap<>();
  private final Semaphore unreserved = new Semaphore(ACCOUNT_CONCURRENCY);

  /** On AWS an instance has a processor of its own to start on; here they share. */
  private final Semaphore processors = new Semaphore(Runtime.getRuntime().availableProcessors());

  /** Unbounded, since the semaphores bound what runs here. */
  private final ExecutorService invocations = Executors.newCachedThreadPool(daemons("lambda"));

  private final ScheduledThreadPoolExecutor timeouts =
      new ScheduledThreadPoolExecutor(1, daemons("lambda-timeouts"));

  /**
   * A host without functions.
   *
   * @param clock given to every handler that takes one
   * @param log receives what functions log and how they fail; called from many threads
   */
  public Functions(InstantSource clock, Consumer<LogLine> log) {
    this.clock = clock;
    this.log = log;
    timeouts.setRemoveOnCancelPolicy(true);
  }

  /**
   * Creates a function. Its jar is opened; its handler is loaded when it is first invoked.
   *
   * @throws IllegalArgumentException if a function has the same name or ARN already, or too much
   *     concurrency would be reserved
   */
  public synchronized void define(FunctionSpec spec) {
    Set<String> names = namesOf(spec);
    for (String name : names) {
      if (byNameOrArn.containsKey(name)) {
        throw new IllegalArgumentException(name + " is defined already");
      }
    }
    int reserved = spec.reservedConcurrency().orElse(0);
    if (unreserved.availablePermits() - reserved < LEAST_UNRESERVED
        || !unreserved.tryAcquire(reserved)) {
      throw new IllegalArgumentException(
          "reservedConcurrency: " + reserved + " (expected: to leave 100 unreserved)");
    }
    Semaphore permits =
        spec.reservedConcurrency().isPresent() ? new Semaphore(reserved) : unreserved;
    try {
      Hosted function =
          new Hosted(
              spec, new FunctionClassLoader(spec.jar()), permits, new ConcurrentLinkedDeque<>());
      names.forEach(name -> byNameOrArn.put(name, function));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Invokes a function and waits for its end.
   *
   * @param function name or ARN, with or without a qualifier ({@code name:alias})
   * @param payload the event, JSON
   */
  public Invocation invoke(String function, byte[] payload) {
    return start(function, payload).join();
  }

  @Override
  public CompletableFuture<Invocation> start(String function, byte[] payload) {
    Hosted hosted = byNameOrArn.get(function);
    if (hosted == null) {
      return CompletableFuture.completedFuture(new NotFound(function));
    }
    if (!hosted.permits.tryAcquire()) {
      return CompletableFuture.completedFuture(new Throttled(hosted.throttleReason()));
    }
    CompletableFuture<Invocation> result = new CompletableFuture<>();
    invocations.execute(() -> run(hosted, hosted.arn(function), payload, result));
    return result;
  }

  /** Frees the class loaders after interrupting what still runs. */
  @Override
  public void close() {
    timeouts.shutdownNow();
    invocations.shutdownNow();
    try {
      if (!invocations.awaitTermination(2, TimeUnit.SECONDS)) {
        return; // a handler that ignores interrupts still needs its classes
      }
      for (Hosted function : new HashSet<>(byNameOrArn.values())) {
        function.loader.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void run(
      Hosted function, String arn, byte[] payload, CompletableFuture<Invocation> result) {
    String requestId = UUID.randomUUID().toString();
    Thread.currentThread().setContextClassLoader(function.loader);
    ExecutionEnvironment environment;
    try {
      environment = function.environment(clock, processors);
    } catch (Throwable e) {
      end(function, result, failed(function, requestId, e));
      return;
    }
    Duration timeout = function.spec.timeout();
    InvocationContext context =
        new InvocationContext(
            function.spec,
            arn,
            requestId,
            System.nanoTime() + timeout.toNanos(),
            System::nanoTime,
            message -> log(function, requestId, message));
    FutureTask<Invocation> task =
        new FutureTask<>(() -> serve(function, environment, payload, context));
    ScheduledFuture<?> kill =
        timeouts.schedule(
            () -> {
              if (task.cancel(true)) {
                TimedOut timedOut = new TimedOut(requestId, timeout);
                log(function, requestId, timedOut.message());
                end(function, result, timedOut);
              }
            },
            timeout.toNanos(),
            TimeUnit.NANOSECONDS);
    task.run();
    kill.cancel(false);
    if (task.isCancelled()) {
      return;
    }
    function.idle.push(environment);
    try {
      end(function, result, task.get());
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException("a task that is done and catches everything", e);
    }
  }

  private Invocation serve(
      Hosted function,
      ExecutionEnvironment environment,
      byte[] payload,
      InvocationContext context) {
    try {
      byte[] answer = environment.handle(payload, context);
      return answer.length <= MAX_PAYLOAD_BYTES
          ? new Success(answer)
          : new FunctionError(
              "Function.ResponseSizeTooLarge",
              "Response payload size (%d bytes) exceeded maximum allowed payload size (%d bytes)."
                  .formatted(answer.length, MAX_PAYLOAD_BYTES),
              List.of());
    } catch (Throwable e) {
      return failed(function, context.requestId(), e);
    }
  }

  private FunctionError failed(Hosted function, String requestId, Throwable thrown) {
    StringWriter trace = new StringWriter();
    thrown.printStackTrace(new PrintWriter(trace));
    log(function, requestId, trace.toString());
    return FunctionError.of(thrown);
  }

  /** The permit is back before anyone learns of the end, so that the next invocation finds it. */
  private static void end(
      Hosted function, CompletableFuture<Invocation> result, Invocation invocation) {
    function.permits.release();
    result.complete(invocation);
  }

  private void log(Hosted function, String requestId, String message) {
    log.accept(new LogLine(clock.instant(), function.spec.name(), requestId, message));
  }

  /** By ARN, and by the part of an ARN that follows {@code :function:}. */
  private static Set<String> namesOf(FunctionSpec spec) {
    Set<String> names = new HashSet<>(spec.arns());
    names.add(spec.name());
    for (String arn : spec.arns()) {
      names.add(arn.substring(arn.indexOf(FUNCTION) + FUNCTION.length()));
    }
    return names;
  }

  private static ThreadFactory daemons(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** A function, its classes, and the instances that are not serving anyone. */
  private record Hosted(
      FunctionSpec spec,
      FunctionClassLoader loader,
      Semaphore permits,
      Deque<ExecutionEnvironment> idle) {

    /**
     * An idle instance, or one that is made as soon as {@code processors} allow, unless one falls
     * idle first.
     */
    ExecutionEnvironment environment(InstantSource clock, Semaphore processors) throws Throwable {
      ExecutionEnvironment environment = idle.poll();
      if (environment != null) {
        return environment;
      }
      processors.acquire();
      try {
        environment = idle.poll();
        return environment == null ? ExecutionEnvironment.init(spec, loader, clock) : environment;
      } finally {
        processors.release();
      }
    }

    String throttleReason() {
      return spec.reservedConcurrency().isPresent()
          ? "ReservedFunctionConcurrentInvocationLimitExceeded"
          : "ConcurrentInvocationLimitExceeded";
    }

    /** The ARN by which it was invoked. */
    String arn(String nameOrArn) {
      return spec.arns().stream()
          .filter(arn -> arn.endsWith(FUNCTION + nameOrArn) || arn.equals(nameOrArn))
          .findFirst()
          .orElse(spec.arns().get(0));
    }
  }
}
