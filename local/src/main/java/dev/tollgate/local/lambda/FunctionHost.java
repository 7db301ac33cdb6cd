package dev.tollgate.local.lambda;

import dev.tollgate.local.cloudwatch.Metric;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.NotFound;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.InvocationResult.Throttled;
import dev.tollgate.local.lambda.runtime.ExecutionEnvironment;
import dev.tollgate.local.lambda.runtime.FunctionClassLoader;
import dev.tollgate.local.lambda.runtime.FunctionError;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import dev.tollgate.local.lambda.runtime.InvocationContext;
import dev.tollgate.local.threads.DaemonThreads;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Hosts functions as AWS Lambda would, in this process or in processes of their own.
 *
 * <p>Each function has a class loader over its jar, and one handler instance per concurrent
 * invocation. An instance is constructed when an invocation finds none idle, and reused until the
 * function is replaced or killed, or is idle while many others are in use. An invocation that
 * exceeds the function's time-out is interrupted and its instance discarded; the init phase does
 * not count. Time-outs are measured in real time, not by the clock that functions are given.
 *
 * <p>Concurrency is limited as in an AWS account: 1,000 for all functions, unless {@link #setQuota}
 * says otherwise. A function may reserve a part of it as long as 100 remain unreserved (AWS Lambda
 * Developer Guide, "Understanding Lambda function scaling", "Configuring reserved concurrency").
 */
public final class FunctionHost implements Invoker, AutoCloseable {

  /** The most invocations of all functions at once, a metric with a quota of the account. */
  public static final Metric CONCURRENT_EXECUTIONS =
      new Metric("AWS/Lambda", "ConcurrentExecutions", Map.of());

  private static final int DEFAULT_QUOTA = 1_000;
  private static final int LEAST_UNRESERVED = 100;
  private static final String FUNCTION = ":function:";

  /**
   * How many functions may have their classes loaded. Beyond that, the function that was idle
   * longest is unloaded.
   */
  private static final int MOST_LOADED = 32;

  private final InstantSource clock;
  private final AccessKeys accessKeys;
  private final Consumer<LogLine> log;
  private final Map<String, Hosted> byNameOrArn = new ConcurrentHashMap<>();

  /** The other versions of functions, by name. */
  private final Map<String, Hosted> others = new ConcurrentHashMap<>();

  private final Set<String> throttled = ConcurrentHashMap.newKeySet();
  private volatile DoubleSupplier otherPart = () -> 0;
  private volatile Metric.Recorder metrics = (metric, at, value) -> {};

  /** The functions whose classes may be loaded; the one that was used last is the last. */
  private final Set<Hosted> lastUsed = new LinkedHashSet<>();

  private volatile int quota = DEFAULT_QUOTA;
  private final Semaphore unreserved = new Semaphore(DEFAULT_QUOTA);
  private final AtomicInteger concurrent = new AtomicInteger();

  /** Instances share the processors of this machine while they start. */
  private final Semaphore processors = new Semaphore(Runtime.getRuntime().availableProcessors());

  /** Unbounded, because the semaphores limit the number of invocations. */
  private final ExecutorService invocations =
      Executors.newCachedThreadPool(new DaemonThreads("lambda"));

  private final ScheduledThreadPoolExecutor timeouts =
      new ScheduledThreadPoolExecutor(1, new DaemonThreads("lambda-timeouts"));

  /**
   * A host without functions.
   *
   * @param clock given to every handler that takes one
   * @param accessKeys gives each instance the credentials of its function's role
   * @param log receives what functions log and how they fail; called from many threads
   */
  public FunctionHost(InstantSource clock, AccessKeys accessKeys, Consumer<LogLine> log) {
    this.clock = clock;
    this.accessKeys = accessKeys;
    this.log = log;
    timeouts.setRemoveOnCancelPolicy(true);
    // After the host is closed, invocations that are under way end without a time-out.
    timeouts.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
  }

  /** Records the metrics of invocations from now on. */
  public void measure(Metric.Recorder recorder) {
    metrics = recorder;
  }

  /** How many invocations the account may run at once. */
  public int quota() {
    return quota;
  }

  /**
   * Changes how many invocations the account may run at once. Waits until so few run unreserved.
   *
   * @param executions at least the reserved ones
   */
  public synchronized void setQuota(int executions) {
    unreserved.acquireUninterruptibly(Math.max(0, quota - executions));
    unreserved.release(Math.max(0, executions - quota));
    quota = executions;
  }

  /** Records a metric of a function that the service which invokes it measures. */
  public void measured(String function, String name, Instant at, double value) {
    metrics.record(new Metric("AWS/Lambda", name, Map.of("FunctionName", function)), at, value);
  }

  /**
   * Creates a function, or replaces it for new invocations. Its handler is loaded when it is first
   * invoked. Invocations under way continue with the function that was replaced.
   *
   * @throws IllegalArgumentException if too much concurrency would be reserved
   */
  public synchronized void put(FunctionSpec spec) {
    Hosted old = byNameOrArn.get(spec.name());
    Hosted function = new Hosted(spec, old == null ? reserve(spec) : old.permits);
    namesOf(spec).forEach(name -> byNameOrArn.put(name, function));
    if (old != null) {
      retire(old);
    }
  }

  private Semaphore reserve(FunctionSpec spec) {
    int reserved = spec.reservedConcurrency().orElse(0);
    if (unreserved.availablePermits() - reserved < LEAST_UNRESERVED
        || !unreserved.tryAcquire(reserved)) {
      throw new IllegalArgumentException(
          "reservedConcurrency: " + reserved + " (expected: to leave 100 unreserved)");
    }
    return spec.reservedConcurrency().isPresent() ? new Semaphore(reserved) : unreserved;
  }

  /**
   * Serves a part of each function's invocations with another version of it, like an alias that
   * routes to two versions. Functions that are created or replaced later have one version.
   *
   * @param other the other version of a function, with the same name and ARNs
   * @param part the other version's part, from 0 to 1; asked at each invocation
   */
  public synchronized void putBeside(UnaryOperator<FunctionSpec> other, DoubleSupplier part) {
    otherPart = part;
    for (Hosted function : Set.copyOf(byNameOrArn.values())) {
      others.put(function.spec.name(), new Hosted(other.apply(function.spec), function.permits));
    }
  }

  /** Deletes a function if it exists. Invocations under way continue. */
  public synchronized void remove(String name) {
    Hosted function = byNameOrArn.get(name);
    if (function != null) {
      namesOf(function.spec).forEach(byNameOrArn::remove);
      function.spec.reservedConcurrency().ifPresent(unreserved::release);
      retire(function);
    }
  }

  /** Whether a function, version or alias exists. */
  public boolean exists(String nameOrArn) {
    return byNameOrArn.containsKey(nameOrArn);
  }

  /** Refuses all invocations of a function as if its concurrency were used up, or ends that. */
  public void throttle(String name, boolean refuses) {
    if (refuses) {
      throttled.add(name);
    } else {
      throttled.remove(name);
    }
  }

  /**
   * Ends a function's invocations as if its processes had crashed. The callers get a function
   * error, the instances are discarded, and AWS calls of threads that still run are refused.
   *
   * @throws IllegalArgumentException if there is no such function
   */
  public void kill(String nameOrArn) {
    Hosted function = byNameOrArn.get(nameOrArn);
    if (function == null) {
      throw new IllegalArgumentException(nameOrArn + " is not defined");
    }
    renew(function);
    for (Running running : List.copyOf(function.running)) {
      running.abort(
          new Failure(
              "Runtime.ExitError",
              "RequestId: "
                  + running.requestId
                  + " Error: Runtime exited with error: signal: killed",
              List.of()));
    }
  }

  /**
   * Invokes a function and waits for the result.
   *
   * @param function name or ARN, with or without a qualifier ({@code name:alias})
   * @param payload the event, JSON
   */
  public InvocationResult invoke(String function, byte[] payload) {
    return start(function, payload).join();
  }

  @Override
  public CompletableFuture<InvocationResult> start(String function, byte[] payload) {
    Optional<Hosted> entered = enter(function);
    if (entered.isEmpty()) {
      return CompletableFuture.completedFuture(new NotFound(function));
    }
    Hosted hosted = entered.get();
    if (throttled.contains(hosted.spec.name()) || !hosted.permits.tryAcquire()) {
      hosted.leave();
      hosted.measure(clock.instant(), "Throttles", 1);
      return CompletableFuture.completedFuture(new Throttled(hosted.throttleReason()));
    }
    Running running = new Running(hosted);
    invocations.execute(() -> run(running, hosted.arn(function), payload));
    return running.result;
  }

  /** Finds a function and enters it; the invocation must leave it when it ends. */
  private Optional<Hosted> enter(String function) {
    boolean other = ThreadLocalRandom.current().nextDouble() < otherPart.getAsDouble();
    Hosted hosted = find(function, other);
    while (hosted != null && !hosted.enter()) {
      hosted = find(function, other); // which replaced the one that was retired
    }
    return Optional.ofNullable(hosted);
  }

  private @Nullable Hosted find(String function, boolean other) {
    Hosted hosted = byNameOrArn.get(function);
    return hosted != null && other ? others.getOrDefault(hosted.spec.name(), hosted) : hosted;
  }

  /** Interrupts all invocations and closes the class loaders. */
  @Override
  public void close() {
    timeouts.shutdownNow();
    invocations.shutdownNow();
    try {
      if (!invocations.awaitTermination(2, TimeUnit.SECONDS)) {
        return; // a handler that ignores interrupts still needs its classes
      }
      new HashSet<>(byNameOrArn.values()).forEach(Hosted::retire);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(Running running, String arn, byte[] payload) {
    Hosted function = running.function;
    running.begin();
    try {
      use(function);
      Thread.currentThread().setContextClassLoader(function.loader);
      Instance instance;
      try {
        instance = function.take();
      } catch (Throwable e) {
        Failure error = failed(function, running.requestId, e);
        if (running.claim()) {
          running.end(error);
        }
        return;
      }
      if (!running.serveWith(instance)) {
        instance.discard();
        return;
      }
      InvocationResult invocation = serve(running, instance, arn, payload);
      if (running.claim()) {
        if (instance.environment.isAlive()) {
          function.idle.push(instance);
        } else {
          instance.discard();
        }
        running.end(invocation);
      }
    } finally {
      // Clears a late interrupt, so that it does not hit the next invocation on this thread.
      Thread.interrupted();
      function.leave();
    }
  }

  private InvocationResult serve(Running running, Instance instance, String arn, byte[] payload) {
    Hosted function = running.function;
    String requestId = running.requestId;
    Duration timeout = function.spec.timeout();
    InvocationContext context =
        new InvocationContext(
            function.spec,
            arn,
            requestId,
            function.spec.traced() ? Optional.of(traceHeader()) : Optional.empty(),
            System.nanoTime() + timeout.toNanos(),
            message -> log(function, requestId, message));
    ScheduledFuture<?> end =
        timeouts.schedule(
            () -> running.abort(Failure.timedOut(requestId, timeout)),
            timeout.toNanos(),
            TimeUnit.NANOSECONDS);
    try {
      byte[] answer = instance.environment.handle(payload, context);
      if (answer.length > ExecutionEnvironment.MAX_PAYLOAD_BYTES) {
        throw FunctionError.tooLarge(answer.length);
      }
      return new Success(answer);
    } catch (Throwable e) {
      return failed(function, requestId, e);
    } finally {
      end.cancel(false);
    }
  }

  /** The header of a new trace, which is sampled. */
  private String traceHeader() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return "Root=1-%08x-%08x%016x;Parent=%016x;Sampled=1"
        .formatted(
            clock.instant().getEpochSecond(),
            random.nextInt(),
            random.nextLong(),
            random.nextLong());
  }

  private Failure failed(Hosted function, String requestId, Throwable thrown) {
    StringWriter trace = new StringWriter();
    thrown.printStackTrace(new PrintWriter(trace));
    log(function, requestId, trace.toString());
    return Failure.of(thrown);
  }

  private void log(Hosted function, String requestId, String message) {
    log.accept(new LogLine(clock.instant(), function.spec.name(), requestId, message));
  }

  /**
   * Records the use of a function, and unloads the function that was idle longest if there are too
   * many.
   */
  private synchronized void use(Hosted function) {
    lastUsed.remove(function);
    lastUsed.add(function);
    if (lastUsed.size() > MOST_LOADED) {
      lastUsed.stream()
          .filter(hosted -> hosted.running.isEmpty())
          .findFirst()
          .ifPresent(this::renew);
    }
  }

  /** Replaces a function by itself, without its classes and instances. */
  private synchronized void renew(Hosted old) {
    Hosted function = new Hosted(old.spec, old.permits);
    byNameOrArn.replaceAll((name, hosted) -> hosted.equals(old) ? function : hosted);
    others.replaceAll((name, hosted) -> hosted.equals(old) ? function : hosted);
    retire(old);
  }

  private synchronized void retire(Hosted function) {
    lastUsed.remove(function);
    function.retire();
  }

  /** The ARNs of a function, and their parts after {@code :function:}. */
  private static Set<String> namesOf(FunctionSpec spec) {
    Set<String> names = new HashSet<>(spec.arns());
    names.add(spec.name());
    for (String arn : spec.arns()) {
      names.add(arn.substring(arn.indexOf(FUNCTION) + FUNCTION.length()));
    }
    return names;
  }

  /**
   * A function: its classes, the instances of its handler, and its invocations. When it is retired,
   * each instance is discarded at the end of its invocation.
   */
  private final class Hosted {
    private final FunctionSpec spec;
    private final Semaphore permits;
    private final FunctionClassLoader loader;
    private final Deque<Instance> idle = new ConcurrentLinkedDeque<>();
    private final Set<Running> running = ConcurrentHashMap.newKeySet();
    private int users;
    private boolean retired;

    private Hosted(FunctionSpec spec, Semaphore permits) {
      this.spec = spec;
      this.permits = permits;
      try {
        this.loader = new FunctionClassLoader(spec.code(), line -> log(this, "", line));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void measure(Instant at, String name, double value) {
      metrics.record(
          new Metric("AWS/Lambda", name, Map.of("FunctionName", spec.name())), at, value);
    }

    private String throttleReason() {
      return spec.reservedConcurrency().isPresent()
          ? "ReservedFunctionConcurrentInvocationLimitExceeded"
          : "ConcurrentInvocationLimitExceeded";
    }

    /** The ARN by which it was invoked. */
    private String arn(String nameOrArn) {
      return spec.arns().stream()
          .filter(arn -> arn.endsWith(FUNCTION + nameOrArn) || arn.equals(nameOrArn))
          .findFirst()
          .orElse(spec.arns().get(0));
    }

    private synchronized boolean enter() {
      if (!retired) {
        users++;
      }
      return !retired;
    }

    private synchronized void leave() {
      users--;
      disposeIfUnused();
    }

    private synchronized void retire() {
      retired = true;
      disposeIfUnused();
    }

    private void disposeIfUnused() {
      if (!retired || users > 0) {
        return;
      }
      idle.forEach(Instance::discard);
      idle.clear();
      try {
        loader.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * An idle instance, or a new one that is created when a processor is free, unless another
     * becomes idle first.
     */
    private Instance take() throws Throwable {
      Instance found = idle.poll();
      if (found != null) {
        return found;
      }
      processors.acquire();
      try {
        found = idle.poll();
        return found == null ? make() : found;
      } finally {
        processors.release();
      }
    }

    private Instance make() throws Throwable {
      AccessKey issued = accessKeys.issue(Principal.of(spec.name(), spec.roleArn()));
      Map<String, String> environment = new HashMap<>(spec.environment());
      environment.putAll(issued.environment());
      try {
        return new Instance(
            ExecutionEnvironment.init(
                spec, Map.copyOf(environment), loader, clock, line -> log(this, "", line)),
            accessKeys,
            issued);
      } catch (Throwable e) {
        accessKeys.revoke(issued.accessKeyId());
        throw e;
      }
    }
  }

  /** An instance of the handler with credentials of its own. */
  private record Instance(
      ExecutionEnvironment environment, AccessKeys accessKeys, AccessKey credentials) {
    void discard() {
      environment.close();
      accessKeys.revoke(credentials.accessKeyId());
    }
  }

  /** An invocation. The first thread that claims its end completes it. */
  private final class Running {
    private final Hosted function;
    private final String requestId = UUID.randomUUID().toString();
    private final CompletableFuture<InvocationResult> result = new CompletableFuture<>();
    private final Instant started = clock.instant();
    private long servedSince = System.nanoTime();
    private boolean claimed;
    private @Nullable Thread thread;
    private @Nullable Instance instance;

    private Running(Hosted function) {
      this.function = function;
      function.running.add(this);
      function.measure(started, "Invocations", 1);
      metrics.record(CONCURRENT_EXECUTIONS, started, concurrent.incrementAndGet());
    }

    private synchronized void begin() {
      thread = Thread.currentThread();
    }

    /** Takes the instance; false if the invocation has ended already. */
    private synchronized boolean serveWith(Instance taken) {
      instance = taken;
      servedSince = System.nanoTime();
      return !claimed;
    }

    private synchronized boolean claim() {
      boolean first = !claimed;
      claimed = true;
      thread = null;
      return first;
    }

    /** Ends the invocation before its handler does. */
    private void abort(Failure failure) {
      Instance abandoned;
      synchronized (this) {
        if (claimed) {
          return;
        }
        claimed = true;
        abandoned = instance;
        if (thread != null) {
          thread.interrupt();
        }
      }
      if (abandoned != null) {
        abandoned.discard();
      }
      log(function, requestId, failure.message());
      end(failure);
    }

    /**
     * Releases the permit before the result is visible, so that a following invocation finds it.
     */
    private void end(InvocationResult invocation) {
      function.running.remove(this);
      concurrent.decrementAndGet();
      function.measure(started, "Errors", invocation instanceof Failure ? 1 : 0);
      function.measure(started, "Duration", (System.nanoTime() - servedSince) / 1e6);
      function.permits.release();
      result.complete(invocation);
    }
  }
}
