package dev.tollgate.local.lambda;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaRuntime;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import com.amazonaws.services.lambda.runtime.events.SQSBatchResponse;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import com.amazonaws.services.lambda.runtime.events.StreamsEventResponse;
import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.SdkBytes;

/** Handlers that are put into a jar and loaded from there; nothing else refers to them. */
public final class SampleHandlers {

  private SampleHandlers() {}

  /** Answers what it was constructed with, and which instance it is. */
  public static final class Introspector
      implements RequestHandler<Map<String, Object>, Map<String, Object>> {

    private static final AtomicInteger INSTANCES = new AtomicInteger();

    private final Map<String, String> environment;
    private final InstantSource clock;
    private final int instance = INSTANCES.incrementAndGet();

    public Introspector(Map<String, String> environment, InstantSource clock) {
      this.environment = environment;
      this.clock = clock;
    }

    public Introspector() {
      this(Map.of("constructor", "no-arg"), InstantSource.system());
    }

    @Override
    public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
      context.getLogger().log("hello");
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("event", event);
      answer.put("environment", environment);
      answer.put("millis", clock.millis());
      answer.put("instance", instance);
      answer.put("loader", getClass().getClassLoader().getClass().getSimpleName());
      answer.put("function", context.getFunctionName());
      answer.put("arn", context.getInvokedFunctionArn());
      answer.put("memory", context.getMemoryLimitInMB());
      answer.put("remaining", context.getRemainingTimeInMillis());
      answer.put("host", canLoad("io.undertow.Undertow"));
      return answer;
    }

    private static boolean canLoad(String type) {
      try {
        Class.forName(type);
        return true;
      } catch (ClassNotFoundException e) {
        return false;
      }
    }
  }

  /** Answers how often its class was invoked, and which class of the SDK it has. */
  public static final class Static implements RequestHandler<Object, List<Integer>> {
    /** In the process of the test. */
    public Static(Map<String, String> environment, InstantSource clock) {}

    private static final AtomicInteger INVOCATIONS = new AtomicInteger();

    @Override
    public List<Integer> handleRequest(Object event, Context context) {
      return List.of(INVOCATIONS.incrementAndGet(), System.identityHashCode(SdkBytes.class));
    }
  }

  /** Waits as many milliseconds as it is told, on the instance that it says. */
  public static final class Sleeper implements RequestHandler<Integer, Integer> {
    /** In the process of the test. */
    public Sleeper(Map<String, String> environment, InstantSource clock) {}

    private static final AtomicInteger INSTANCES = new AtomicInteger();

    private final int instance = INSTANCES.incrementAndGet();

    @Override
    public Integer handleRequest(Integer millis, Context context) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return instance;
    }
  }

  /** Goes on for a second whatever happens. */
  public static final class Stubborn implements RequestHandler<Object, String> {
    /** In the process of the test. */
    public Stubborn(Map<String, String> environment, InstantSource clock) {}

    @Override
    public String handleRequest(Object event, Context context) {
      long end = System.nanoTime() + 1_000_000_000L;
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      return "late";
    }
  }

  /** Logs in a thread of its own. */
  public static final class Threaded implements RequestHandler<Object, String> {
    /** In the process of the test. */
    public Threaded(Map<String, String> environment, InstantSource clock) {}

    @Override
    public String handleRequest(Object event, Context context) {
      Thread thread = new Thread(() -> LambdaRuntime.getLogger().log("from a thread"));
      thread.start();
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return "";
    }
  }

  /** Fails as it is told. */
  public static final class Failing implements RequestHandler<String, String> {
    /** In the process of the test. */
    public Failing(Map<String, String> environment, InstantSource clock) {}

    @Override
    public String handleRequest(String message, Context context) {
      throw new IllegalArgumentException(message);
    }
  }

  /** Cannot be constructed. */
  public static final class Unborn implements RequestHandler<String, String> {

    public Unborn() {
      throw new IllegalStateException("TABLE is not set");
    }

    @Override
    public String handleRequest(String event, Context context) {
      return event;
    }
  }

  /** Turns letters into capitals. */
  public static final class Capitals implements RequestStreamHandler {
    /** In the process of the test. */
    public Capitals(Map<String, String> environment, InstantSource clock) {}

    @Override
    public void handleRequest(InputStream event, OutputStream answer, Context context)
        throws IOException {
      for (int c = event.read(); c >= 0; c = event.read()) {
        answer.write(Character.toUpperCase(c));
      }
    }
  }

  /** A plain object. */
  public static final class Greeting {

    private String name = "";

    public String getName() {
      return name;
    }

    public void setName(String name) {
      this.name = name;
    }
  }

  /** Is constructed only after an interrupt. */
  public static final class Late implements RequestHandler<Object, String> {
    /** The property of the system that holds a latch: its construction has begun. */
    static final String BEGUN = "tollgate.test.late";

    public Late(Map<String, String> environment, InstantSource clock) {
      ((CountDownLatch) System.getProperties().get(BEGUN)).countDown();
      while (!Thread.interrupted()) {
        Thread.onSpinWait();
      }
    }

    @Override
    public String handleRequest(Object event, Context context) {
      return "late";
    }
  }

  /** Leaves its types to a subclass. */
  public abstract static class Polite<T> implements RequestHandler<T, Greeting> {}

  /** Its event type is known through its superclass only. */
  public static final class Greeter extends Polite<Greeting> {
    /** In the process of the test. */
    public Greeter(Map<String, String> environment, InstantSource clock) {}

    @Override
    public Greeting handleRequest(Greeting event, Context context) {
      event.setName("Dear " + event.getName());
      return event;
    }
  }

  /** Takes an event that only the runtime's own serializers understand. */
  public static final class Consumer implements RequestHandler<SQSEvent, List<String>> {
    /** In the process of the test. */
    public Consumer(Map<String, String> environment, InstantSource clock) {}

    @Override
    public List<String> handleRequest(SQSEvent event, Context context) {
      return event.getRecords().stream()
          .map(message -> message.getBody() + " from " + message.getEventSourceArn())
          .toList();
    }
  }

  /**
   * Logs each message and does as its body says: {@code fail} reports it, {@code fail once} reports
   * it when it comes for the first time, {@code throw} fails the whole batch, {@code wait} takes
   * until it is interrupted.
   */
  public static final class Batches implements RequestHandler<SQSEvent, SQSBatchResponse> {
    /** In the process of the test. */
    public Batches(Map<String, String> environment, InstantSource clock) {}

    @Override
    public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
      List<SQSBatchResponse.BatchItemFailure> failures = new ArrayList<>();
      context.getLogger().log("batch of " + event.getRecords().size());
      for (SQSEvent.SQSMessage message : event.getRecords()) {
        String body = message.getBody();
        Map<String, String> attributes = message.getAttributes();
        context
            .getLogger()
            .log(
                "took %s of %s with %s, %s"
                    .formatted(
                        body,
                        attributes.get("MessageGroupId"),
                        message.getMessageAttributes().keySet(),
                        attributes.get("ApproximateReceiveCount")));
        boolean first = "1".equals(attributes.get("ApproximateReceiveCount"));
        if (body.equals("throw")) {
          throw new IllegalStateException("told so");
        }
        if (body.equals("wait")) {
          try {
            new CountDownLatch(1).await(); // until it is stopped
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        }
        if (body.equals("fail") || (body.equals("fail once") && first)) {
          failures.add(new SQSBatchResponse.BatchItemFailure(message.getMessageId()));
        }
      }
      return new SQSBatchResponse(failures);
    }
  }

  /** Logs its event as it came. */
  public static final class Recorder implements RequestStreamHandler {
    /** In the process of the test. */
    public Recorder(Map<String, String> environment, InstantSource clock) {}

    @Override
    public void handleRequest(InputStream event, OutputStream answer, Context context)
        throws IOException {
      context.getLogger().log("event " + new String(event.readAllBytes(), StandardCharsets.UTF_8));
      answer.write("null".getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Logs each change of an item, and fails at those whose key begins with {@code poison}. */
  public static final class Changes implements RequestHandler<DynamodbEvent, StreamsEventResponse> {
    /** In the process of the test. */
    public Changes(Map<String, String> environment, InstantSource clock) {}

    @Override
    public StreamsEventResponse handleRequest(DynamodbEvent event, Context context) {
      List<StreamsEventResponse.BatchItemFailure> failures = new ArrayList<>();
      for (DynamodbEvent.DynamodbStreamRecord change : event.getRecords()) {
        String key = key(change);
        context
            .getLogger()
            .log(
                "%s %s from %s to %s by %s at %tY of %s"
                    .formatted(
                        change.getEventName(),
                        key,
                        change.getDynamodb().getOldImage(),
                        change.getDynamodb().getNewImage(),
                        change.getUserIdentity(),
                        change.getDynamodb().getApproximateCreationDateTime(),
                        change.getEventSourceARN()));
        if (key.startsWith("poison")) {
          failures.add(
              new StreamsEventResponse.BatchItemFailure(change.getDynamodb().getSequenceNumber()));
        }
      }
      return new StreamsEventResponse(failures);
    }

    private static String key(DynamodbEvent.DynamodbStreamRecord change) {
      return Optional.ofNullable(change.getDynamodb().getKeys().get("id"))
          .map(AttributeValue::getS)
          .orElseThrow();
    }
  }

  /** Logs the keys that it is given, and throws at those that begin with {@code poison}. */
  public static final class Keys implements RequestHandler<DynamodbEvent, String> {
    /** In the process of the test. */
    public Keys(Map<String, String> environment, InstantSource clock) {}

    @Override
    public String handleRequest(DynamodbEvent event, Context context) {
      List<String> keys = event.getRecords().stream().map(Changes::key).toList();
      context.getLogger().log("keys " + keys);
      if (keys.stream().anyMatch(key -> key.startsWith("poison"))) {
        throw new IllegalStateException("poison");
      }
      return "";
    }
  }
}
