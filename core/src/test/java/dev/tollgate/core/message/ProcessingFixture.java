package dev.tollgate.core.message;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.ReturnSlots;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.InMemoryMessageFacts;
import dev.tollgate.core.testing.memory.InMemoryMessageLog;
import dev.tollgate.core.testing.memory.RecordingSockets;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/** Message processing wired to in-memory ports, with a scripted application. */
final class ProcessingFixture {
  private final AdmissionFixture ports;
  private final RecordingSockets sockets = new RecordingSockets();
  private final InMemoryMessageLog log = new InMemoryMessageLog();
  private final InMemoryMessageFacts facts;
  private final List<IncomingMessage> handled = Collections.synchronizedList(new ArrayList<>());
  private final List<String> counted = Collections.synchronizedList(new ArrayList<>());
  private final AtomicLong nanos = new AtomicLong();
  private final Map<String, Duration> delays = new ConcurrentHashMap<>();
  private final Map<String, CountDownLatch> latches = new ConcurrentHashMap<>();
  private final List<String> attempts = Collections.synchronizedList(new ArrayList<>());
  private final Sockets slowed = new SlowedSockets();
  private Application application = (message, json) -> List.of(json);
  private MessageFactsReader reader;
  private final MessageProcessing process;

  ProcessingFixture() {
    this(new AdmissionFixture());
  }

  /** Creates message processing for the tenants of an {@link AdmissionFixture}. */
  ProcessingFixture(AdmissionFixture ports) {
    this.ports = ports;
    facts =
        new InMemoryMessageFacts(
            ports.tenants(), ports.sessions(), ports.buckets(), log, ports.time());
    reader = facts;
    process = processing(Runnable::run);
  }

  AdmissionFixture ports() {
    return ports;
  }

  RecordingSockets sockets() {
    return sockets;
  }

  /** Makes each frame to a socket take this time. */
  void delay(String connectionId, Duration by) {
    delays.put(connectionId, by);
  }

  /** Makes frames to a socket wait for the latch. */
  void hang(String connectionId, CountDownLatch until) {
    latches.put(connectionId, until);
  }

  /** The sockets of all attempted frames, in order. */
  List<String> attempts() {
    return List.copyOf(attempts);
  }

  InMemoryMessageLog log() {
    return log;
  }

  InMemoryMessageFacts facts() {
    return facts;
  }

  /** The messages passed to the application, in order. */
  List<IncomingMessage> handled() {
    return List.copyOf(handled);
  }

  /** The ids of the messages passed to the application. */
  List<String> handledIds() {
    return handled().stream().map(IncomingMessage::id).toList();
  }

  /** Replaces the application. */
  void application(Application replacement) {
    application = replacement;
  }

  /** Replaces the reader of facts. */
  void reads(MessageFactsReader instead) {
    reader = instead;
  }

  /** The requests to queues and rows, except the read of a batch, in order. */
  List<String> counted() {
    return counted;
  }

  /** Wraps a port to record its requests. */
  private <T> T counting(Class<T> port, T counting) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              counted.add(method.getName());
              try {
                return method.invoke(counting, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            }));
  }

  /** The claims to the buckets. */
  Claims claims() {
    return new Claims(
        counting(Buckets.class, ports.buckets()),
        counting(TokenQueue.class, ports.queue()),
        ports.fillRequests(),
        Runnable::run,
        pause -> {},
        ports.time());
  }

  /** Replaces the process by a new one, without knowledge of slow or closed sockets. */
  MessageProcessing processing(Executor executor) {
    return new MessageProcessing(
        new MessageProcessing.Rows(
            ports.facts(),
            (tenant, of, messages) -> reader.read(tenant, of, messages),
            counting(Sessions.class, ports.sessions()),
            counting(MessageLog.class, log)),
        claims(),
        new ReturnSlots(counting(Buckets.class, ports.buckets()), ports.time()),
        ports.enforcement(),
        new MessageProcessing.Clients(
            slowed,
            new Disconnection(counting(Connections.class, ports.sessions())),
            new PlainFrames()),
        (message, json) -> {
          handled.add(message);
          return application.handle(message, json);
        },
        new MessageProcessing.Timing(executor, ports.time(), nanos::get));
  }

  List<MessageOutcome> process(IncomingMessage... batch) {
    return outcomes(List.of(batch));
  }

  List<MessageOutcome> outcomes(List<IncomingMessage> batch) {
    return results(batch).stream().map(Result::outcome).toList();
  }

  List<Result> results(List<IncomingMessage> batch) {
    return process.process(batch, Duration.ofSeconds(10));
  }

  /** Opens a session with these sockets, all counted. */
  SessionId session(Tenant tenant, String... connectionIds) {
    SessionId session = ports.open(tenant);
    for (String connectionId : connectionIds) {
      join(tenant, session, connectionId);
    }
    return session;
  }

  /** Adds a socket to a session and counts it. */
  void join(Tenant tenant, SessionId session, String connectionId) {
    ports
        .sessions()
        .join(
            tenant.id(),
            session,
            connectionId,
            1_000,
            Gcra.perMinute(60_000),
            Optional.empty(),
            ports.time().instant(),
            ports.time().instant());
    ports.sessions().countUp(tenant.id(), 1_000);
  }

  /** The bucket that pays for a tenant's messages. */
  static BucketId messages(Tenant tenant) {
    return new BucketId(tenant.id(), Action.MESSAGE);
  }

  /** The number of tokens that a tenant has for messages. */
  long tokens(Tenant tenant) {
    return ports.queue().available(messages(tenant));
  }

  static IncomingMessage message(Tenant tenant, SessionId session, String from, String id) {
    return message(tenant, session, from, id, Optional.empty());
  }

  /** A message with a client's name, which the queue delivers under its own id. */
  static IncomingMessage named(
      Tenant tenant, SessionId session, String from, String queueId, String clientId) {
    return message(tenant, session, from, queueId, Optional.of(clientId));
  }

  private static IncomingMessage message(
      Tenant tenant, SessionId session, String from, String queueId, Optional<String> clientId) {
    String json = "\"" + clientId.orElse(queueId) + "\"";
    return new IncomingMessage(
        tenant.id(), session, from, queueId, clientId, false, new IncomingMessage.Message(json));
  }

  static IncomingMessage unreadable(Tenant tenant, SessionId session, String from, String id) {
    return new IncomingMessage(
        tenant.id(),
        session,
        from,
        id,
        Optional.empty(),
        false,
        new IncomingMessage.Unreadable("flaw"));
  }

  /** The message as a dead letter that an operator moved back. */
  static IncomingMessage redriven(IncomingMessage message) {
    return new IncomingMessage(
        message.tenant(),
        message.session(),
        message.connectionId(),
        message.queueId(),
        message.clientId(),
        true,
        message.content());
  }

  /** Sockets with scripted delays. */
  private final class SlowedSockets implements Sockets {
    @Override
    public CloseResult close(String connectionId) {
      counted.add("close");
      return sockets.close(connectionId);
    }

    @Override
    public boolean isOpen(String connectionId) {
      return sockets.isOpen(connectionId);
    }

    @Override
    public PostResult post(String connectionId, String frame) {
      attempts.add(connectionId);
      Duration delay = delays.getOrDefault(connectionId, Duration.ZERO);
      nanos.addAndGet(delay.toNanos());
      ports.clock().advance(delay);
      Optional.ofNullable(latches.get(connectionId)).ifPresent(SlowedSockets::awaitQuietly);
      return sockets.post(connectionId, frame);
    }

    private static void awaitQuietly(CountDownLatch latch) {
      try {
        latch.await();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Renders frames in a short form for assertions. */
  private static final class PlainFrames implements Frames {
    @Override
    public String message(String id, String json) {
      return "message " + id + " " + json;
    }

    @Override
    public String reply(String id, String json) {
      InvalidValue.unless(!json.isEmpty(), "reply", json, "a JSON text");
      return "reply " + id + " " + json;
    }

    @Override
    public String throttled(String id, Duration retryAfter) {
      return "throttled " + id + " " + retryAfter.toSeconds();
    }

    @Override
    public String suspended(String id) {
      return "suspended " + id;
    }

    @Override
    public String badFrame(String id, String flaw) {
      return "badFrame " + id + " " + flaw;
    }
  }
}
