package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Request;
import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.TokenQueue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;

/**
 * Makes the ports of the product cost what they cost on AWS: each call sends the requests that the
 * adapter sends, and then asks the in-memory port.
 */
final class MeteredPorts {
  private static final int PARALLEL_BATCHES = 8;
  private static final long LONG_POLL = SimulatedTime.SECOND;

  /** Calls that the use cases send while their own tasks run. */
  private static final Set<String> CONCURRENT =
      Set.of("AdmissionFactsReader.read", "TokenQueue.settle", "Buckets.due");

  private static final Request LIMIT_READ = Request.read(Service.LIMIT_READS, 1);
  private static final Request LIMIT_WRITE = Request.write(Service.LIMIT_WRITES);
  private static final Request SESSION_READ = Request.read(Service.SESSION_READS, 1);
  private static final Request SESSION_WRITE = Request.write(Service.SESSION_WRITES);
  private static final Request TENANT_READ = Request.read(Service.TENANT_READS, 1);
  private static final Request QUEUE = Request.queue(Service.SQS, 3);

  private static final Map<String, Request> REQUESTS =
      Map.ofEntries(
          Map.entry("Buckets.find", LIMIT_READ),
          Map.entry("Buckets.list", LIMIT_READ),
          Map.entry("Buckets.due", Request.read(Service.LIMIT_READS, 2)),
          Map.entry("Buckets.open", LIMIT_WRITE),
          Map.entry("Buckets.replace", LIMIT_WRITE),
          Map.entry("Buckets.rememberEmpty", LIMIT_WRITE),
          Map.entry("Buckets.forgetEmpty", LIMIT_WRITE),
          Map.entry("Buckets.changeLine", LIMIT_WRITE),
          Map.entry("Buckets.takePlaces", LIMIT_WRITE),
          Map.entry("Buckets.clearLine", LIMIT_WRITE),
          Map.entry("Buckets.freePlace", LIMIT_WRITE),
          Map.entry("Buckets.takeFreed", LIMIT_WRITE),
          Map.entry("Buckets.takeSpare", LIMIT_WRITE),
          Map.entry("Sessions.acquireCreation", LIMIT_WRITE),
          Map.entry("Sessions.create", SESSION_WRITE),
          Map.entry("Sessions.find", SESSION_READ),
          Map.entry("Sessions.moveEnd", SESSION_WRITE),
          Map.entry("Sessions.moveEndIfEnded", SESSION_WRITE),
          Map.entry("Sessions.takeConnections", SESSION_WRITE),
          Map.entry("Sessions.remove", SESSION_WRITE),
          Map.entry("Sessions.renew", SESSION_WRITE),
          Map.entry("Sessions.keepPlace", SESSION_WRITE),
          Map.entry("Connections.join", SESSION_WRITE),
          Map.entry("Connections.leave", SESSION_WRITE),
          Map.entry("Connections.countUp", LIMIT_WRITE),
          Map.entry("Connections.countDown", LIMIT_WRITE),
          Map.entry("Connections.countWithoutToken", LIMIT_WRITE),
          Map.entry("Connections.undoCountUp", LIMIT_WRITE),
          Map.entry("Connections.correct", LIMIT_WRITE),
          Map.entry("Connections.readCount", LIMIT_READ),
          Map.entry("LiveTenants.list", Request.read(Service.LIMIT_READS, 6)),
          Map.entry("LiveTenants.nextArrival", LIMIT_READ),
          Map.entry("LiveTenants.remove", LIMIT_WRITE),
          Map.entry("Activity.addRefused", LIMIT_WRITE),
          Map.entry("Activity.of", LIMIT_READ),
          Map.entry("Tenants.find", TENANT_READ),
          Map.entry("Tenants.inTier", Request.read(Service.TENANT_READS, 100)),
          Map.entry("Tenants.replace", Request.write(Service.TENANT_WRITES)),
          Map.entry("Tenants.markObserved", Request.write(Service.TENANT_WRITES)),
          Map.entry("TokenQueue.countTokens", Request.queue(Service.SQS_COUNTS, 3)),
          Map.entry("TokenQueue.reserve", Request.queue(Service.SQS, 1)),
          Map.entry("Sockets.isOpen", Request.free(Service.REQUESTS)),
          Map.entry("Sockets.close", Request.free(Service.REQUESTS)));

  private final SimulatedTime time;
  private final Aws aws;
  private Runnable onFill = () -> {};

  MeteredPorts(SimulatedTime time, Aws aws) {
    this.time = time;
    this.aws = aws;
  }

  /** Runs this whenever a fill has counted the tokens of its bucket. */
  void onFill(Runnable listener) {
    onFill = listener;
  }

  /** The port, with what its requests cost. */
  <T> T metered(Class<T> port, T target) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> call(port, target, method, arguments)));
  }

  private Object call(Class<?> port, Object target, Method method, Object[] arguments)
      throws Throwable {
    String name = port.getSimpleName() + "." + method.getName();
    if (!CONCURRENT.contains(name)) {
      time.join();
    }
    if (port == TokenQueue.class && arguments.length > 1 && arguments[1] instanceof List<?> items) {
      batches(items.size());
      return invoked(target, method, arguments);
    }
    if (name.equals("AdmissionFactsReader.read")) {
      aws.send(Request.read(Service.LIMIT_READS, 2));
      // The same BatchGetItem reads the rows of the tenant and of the session.
      aws.quota(Service.TENANT_READS).take(time.now(), 1);
      aws.quota(Service.SESSION_READS).take(time.now(), 1);
      aws.charge("dynamodb-read-unit", 2);
      return invoked(target, method, arguments);
    }
    Request request = REQUESTS.get(name);
    if (request != null) {
      aws.send(request);
      if (request.service() == Service.LIMIT_WRITES) {
        tenant(arguments).ifPresent(id -> aws.countRowWrite(id.value().hashCode()));
      }
    }
    Object result = invoked(target, method, arguments);
    if (name.equals("TokenQueue.reserve")
        && result instanceof List<?> found
        && found.isEmpty()
        && List.of(arguments).contains(TokenQueue.Search.LONG)) {
      time.pass(LONG_POLL);
      result = invoked(target, method, arguments);
    }
    if (name.equals("TokenQueue.countTokens")) {
      onFill.run();
    }
    if (name.equals("Sessions.page") && result instanceof Page<?> page) {
      aws.send(Request.read(Service.SESSION_READS, Math.max(1, page.items().size() / 16)));
    }
    return result;
  }

  private static Optional<TenantId> tenant(Object[] arguments) {
    Object first = arguments == null || arguments.length == 0 ? "" : arguments[0];
    return first instanceof TenantId id
        ? Optional.of(id)
        : first instanceof BucketId bucket ? Optional.of(bucket.tenant()) : Optional.empty();
  }

  /** Requests for batches of ten, eight at a time. */
  private void batches(int items) {
    int batches = (items + TokenQueue.BATCH - 1) / TokenQueue.BATCH;
    if (batches == 1) {
      aws.send(QUEUE);
      return;
    }
    ExecutorService threads = time.executor(PARALLEL_BATCHES);
    for (int i = 0; i < batches; i++) {
      threads.execute(() -> aws.send(QUEUE));
    }
    time.join();
  }

  private static Object invoked(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }
}
