package dev.tollgate.aws.tracing;

import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * Traces of AWS X-Ray. Each segment is one document, which is sent when the segment is closed.
 *
 * <p>Lambda runs one invocation at a time in an execution environment, so the open segments are
 * those of the invocation under way. A task may outlive its invocation, which gives up at its time
 * limit. It must not appear in the next invocation's traces, which may belong to another tenant. So
 * executors are {@linkplain #bound bound}: their tasks' requests are recorded in the segments of
 * the invocation that submitted them, or not at all. A request that is sent while no segment is
 * open, such as a rehearsed one, is not recorded.
 */
public final class XRayTracing implements Tracing {
  private final Consumer<String> documents;
  private final InstantSource clock;
  private final LongSupplier random;

  /** The invocation of the task that a thread of a bound executor runs. */
  private final ThreadLocal<Invocation> ofTask = new ThreadLocal<>();

  /** The latest invocation with a segment. */
  private volatile Invocation latest = new Invocation();

  /** The open segments of an invocation. */
  private static final class Invocation {
    private final List<OpenSegment> open = new CopyOnWriteArrayList<>();
  }

  /**
   * Tracing with random ids.
   *
   * @param documents receives each segment document
   */
  XRayTracing(Consumer<String> documents, InstantSource clock, LongSupplier random) {
    this.documents = documents;
    this.clock = clock;
    this.random = random;
  }

  /**
   * The tracing that a function's environment variables describe: {@code TRACING} is {@code on},
   * and Lambda sets {@code AWS_XRAY_DAEMON_ADDRESS}. Empty if either is missing.
   */
  public static Optional<XRayTracing> of(Map<String, String> environment, InstantSource clock) {
    String daemon = environment.getOrDefault("AWS_XRAY_DAEMON_ADDRESS", "");
    return environment.getOrDefault("TRACING", "").equals("on") && !daemon.isEmpty()
        // Lambda seeds this generator again after it has restored a snapshot.
        ? Optional.of(new XRayTracing(new XRayDaemon(daemon), clock, new SecureRandom()::nextLong))
        : Optional.empty();
  }

  @Override
  public Segment begin(String name, Supplier<String> header) {
    Optional<TraceHeader> sampled = TraceHeader.sampled(header.get());
    if (sampled.isEmpty()) {
      return Segment.NONE;
    }
    TraceHeader parent = sampled.get();
    if (latest.open.isEmpty()) {
      latest = new Invocation();
    }
    List<OpenSegment> open = latest.open;
    boolean first = open.stream().noneMatch(segment -> segment.traceId().equals(parent.root()));
    OpenSegment segment = new OpenSegment(this, name, parent, first);
    open.add(segment);
    return segment;
  }

  /** The same executor, whose tasks belong to the invocation that submits them. */
  public Executor bound(Executor executor) {
    return task -> {
      Invocation submitting = invocation();
      executor.execute(() -> run(task, submitting));
    };
  }

  private void run(Runnable task, Invocation invocation) {
    Invocation before = ofTask.get();
    ofTask.set(invocation);
    try {
      task.run();
    } finally {
      ofTask.set(before);
    }
  }

  private Invocation invocation() {
    Invocation bound = ofTask.get();
    return bound == null ? latest : bound;
  }

  /** Records the AWS requests of SDK clients. */
  public ExecutionInterceptor interceptor() {
    return new RequestInterceptor(this);
  }

  /** The segments in which a request that this thread begins now is recorded. */
  List<OpenSegment> recording() {
    return invocation().open.stream().filter(OpenSegment::recordsRequests).toList();
  }

  void close(OpenSegment segment, String document) {
    latest.open.remove(segment);
    documents.accept(document);
  }

  String newId() {
    return HexFormat.of().toHexDigits(random.getAsLong());
  }

  /** The time in seconds, as documents contain it. */
  String now() {
    return EpochSeconds.of(clock.instant());
  }
}
