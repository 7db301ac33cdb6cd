package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.lambda.Invocation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads a table's stream: each shard in order, a shard after the one that it follows, and nothing
 * more of a shard while a batch of it waits to be tried again.
 *
 * <p>It looks when it is woken, and every second, since rows that expire are deleted without
 * anyone's call. Batches are tried again after a second of the clock, then two, four, and so on up
 * to a minute.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html">Using AWS Lambda with
 *     Amazon DynamoDB</a>
 */
final class StreamReader implements Reader {
  private static final int MAX_RECORDS = 1_000;
  private static final Duration MAX_BACKOFF = Duration.ofMinutes(1);

  private final Surroundings around;
  private final boolean fromStart;
  private volatile Mapping mapping;
  private boolean running;
  private boolean woken;
  private boolean stopped;

  // What follows is of the one thread that runs.
  private final Map<String, Shard> shards = new LinkedHashMap<>();
  private boolean discovered;
  private @Nullable ServiceClient client;

  /**
   * Something to read the stream of a mapping with.
   *
   * @param isNew whether the mapping is new, so that its starting position counts; else all that
   *     the stream holds is read, some of it perhaps again
   */
  StreamReader(Surroundings around, Mapping mapping, boolean isNew) {
    this.around = around;
    this.mapping = mapping;
    this.fromStart = !isNew || !mapping.startsWithLatest();
  }

  @Override
  public synchronized void wake() {
    woken = true;
    if (!running && mayRead()) {
      running = true;
      around.activity().begin();
      around.waiters().execute(this::run);
    }
  }

  @Override
  public void look() {
    wake();
  }

  @Override
  public synchronized void change(Mapping definition) {
    mapping = definition;
    wake();
  }

  @Override
  public synchronized void stop() {
    stopped = true;
  }

  @Override
  public synchronized boolean isIdle() {
    return !running;
  }

  private synchronized boolean mayRead() {
    return !stopped && mapping.enabled() && around.functions().exists(mapping.functionArn());
  }

  private void run() {
    boolean goOn = true;
    while (goOn) {
      synchronized (this) {
        woken = false;
      }
      boolean progress = false;
      try {
        progress = mayRead() && pass();
      } catch (RuntimeException e) {
        around.log().accept(mapping.sourceArn() + ": " + e);
      }
      synchronized (this) {
        goOn = mayRead() && (progress || woken);
        running = goOn;
      }
    }
    around.activity().end();
  }

  /** Goes once through all shards; true if there may be more to do at once. */
  private boolean pass() {
    if (!discovered) {
      discover();
    }
    boolean progress = false;
    for (Shard shard : List.copyOf(shards.values())) {
      Shard parent = shards.get(shard.parent);
      boolean open = !shard.finished && (parent == null || parent.finished);
      if (open && mayRead()) {
        progress |= shard.pending.isEmpty() ? read(shard) : deliver(shard);
      }
    }
    return progress;
  }

  private void discover() {
    String last = "";
    do {
      ObjectNode request = stream();
      if (!last.isEmpty()) {
        request.put("ExclusiveStartShardId", last);
      }
      JsonNode description = call("DescribeStream", request).path("StreamDescription");
      for (JsonNode found : description.path("Shards")) {
        String id = found.path("ShardId").asText();
        boolean fromLatest = !fromStart && shards.isEmpty();
        shards.computeIfAbsent(
            id, name -> new Shard(name, found.path("ParentShardId").asText(), fromLatest));
      }
      last = description.path("LastEvaluatedShardId").asText("");
    } while (!last.isEmpty());
    discovered = true;
  }

  private boolean read(Shard shard) {
    String iterator = shard.iterator;
    if (iterator.isEmpty()) {
      iterator = iterator(shard);
    }
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    request.put("ShardIterator", iterator);
    request.put("Limit", Math.min(MAX_RECORDS, mapping.batchSize()));
    ServiceClient.Answer answer = client().call("dynamodb", target("GetRecords"), request);
    if (!answer.succeeded()) {
      // An iterator lives for a quarter of an hour, and a record for a day.
      shard.iterator = "";
      shard.trimmed = answer.errorCode().equals("TrimmedDataAccessException");
      discovered = false;
      return false;
    }
    shard.trimmed = false;
    shard.iterator = answer.body().path("NextShardIterator").asText("");
    List<JsonNode> records = new ArrayList<>();
    List<Pattern> filters = mapping.filters();
    JsonNode got = answer.body().path("Records");
    for (JsonNode record : got) {
      ObjectNode told = StreamRecords.record(record, mapping.sourceArn());
      if (filters.isEmpty() || filters.stream().anyMatch(filter -> filter.matches(told))) {
        records.add(told);
      }
      shard.last = StreamRecords.sequenceNumber(record);
    }
    if (!records.isEmpty()) {
      Instant now = around.clock().instant();
      shard.pending.add(new Batch(records, 0, now, now));
    }
    if (shard.iterator.isEmpty()) {
      shard.finished = true;
      discovered = false;
      return true;
    }
    return !got.isEmpty();
  }

  private String iterator(Shard shard) {
    ObjectNode request = stream().put("ShardId", shard.id);
    if (!shard.last.isEmpty() && !shard.trimmed) {
      request.put("ShardIteratorType", "AFTER_SEQUENCE_NUMBER").put("SequenceNumber", shard.last);
    } else {
      request.put("ShardIteratorType", shard.fromLatest ? "LATEST" : "TRIM_HORIZON");
    }
    return call("GetShardIterator", request).path("ShardIterator").asText();
  }

  /** Hands the first batch to the function if it is due; true if it was. */
  private boolean deliver(Shard shard) {
    Batch batch = shard.pending.element();
    Instant now = around.clock().instant();
    if (batch.due().isAfter(now)) {
      return false;
    }
    shard.pending.remove();
    int maxAge = mapping.maxAgeSeconds();
    if (maxAge >= 0 && now.isAfter(batch.seen().plusSeconds(maxAge))) {
      giveUp(shard, batch, "RecordAgeExceeded");
      return true;
    }
    around.activity().invoked();
    Invocation invocation =
        around.functions().invoke(mapping.functionArn(), StreamRecords.event(batch.records()));
    int done = done(batch, invocation);
    if (done == batch.records().size()) {
      if (around.replays().test(mapping.sourceName())) {
        shard.pending.addFirst(batch);
      }
      return true;
    }
    boolean ran = !(invocation instanceof Invocation.Throttled);
    retry(shard, batch, done, ran);
    return true;
  }

  /** How many records, from the first on, need not be tried again. */
  private int done(Batch batch, Invocation invocation) {
    if (!(invocation instanceof Invocation.Success success)) {
      return 0;
    }
    if (!mapping.reportsFailures()) {
      return batch.records().size();
    }
    List<String> numbers = batch.records().stream().map(StreamRecords::sequenceNumber).toList();
    Set<String> failures = BatchResponse.failures(success.payload(), numbers);
    int first = 0;
    while (first < numbers.size() && !failures.contains(numbers.get(first))) {
      first++;
    }
    return first;
  }

  private void retry(Shard shard, Batch batch, int done, boolean ran) {
    List<JsonNode> rest = batch.records().subList(done, batch.records().size());
    if (done == 0 && ran && mapping.bisects() && rest.size() > 1) {
      // Halves are tried at once, and this does not count as an attempt.
      int half = rest.size() / 2;
      Instant due = batch.due();
      shard.pending.addFirst(
          new Batch(rest.subList(half, rest.size()), batch.attempts(), batch.seen(), due));
      shard.pending.addFirst(new Batch(rest.subList(0, half), batch.attempts(), batch.seen(), due));
      return;
    }
    int attempts = done > 0 ? 1 : batch.attempts() + (ran ? 1 : 0);
    Instant now = around.clock().instant();
    Batch again = new Batch(rest, attempts, batch.seen(), now.plus(backoff(Math.max(1, attempts))));
    if (mapping.retries() >= 0 && attempts > mapping.retries()) {
      giveUp(shard, again, "RetryAttemptsExhausted");
    } else {
      shard.pending.addFirst(again);
    }
  }

  private static Duration backoff(int attempts) {
    Duration doubled = Duration.ofSeconds(1L << Math.min(6, attempts - 1));
    return doubled.compareTo(MAX_BACKOFF) < 0 ? doubled : MAX_BACKOFF;
  }

  /** Passes a batch over, and tells the failure queue so. */
  private void giveUp(Shard shard, Batch batch, String condition) {
    around
        .log()
        .accept(
            "%s: %s gives %d records up: %s"
                .formatted(
                    mapping.sourceArn(),
                    mapping.functionName(),
                    batch.records().size(),
                    condition));
    Optional<String> destination = mapping.onFailure();
    if (destination.isEmpty()) {
      return;
    }
    String[] arn = destination.get().split(":", -1);
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    request.put("QueueUrl", "https://sqs.%s.amazonaws.com/%s/%s".formatted(arn[3], arn[4], arn[5]));
    request.put("MessageBody", notice(shard, batch, condition).toString());
    ServiceClient.Answer answer = client().call("sqs", "AmazonSQS.SendMessage", request);
    if (!answer.succeeded()) {
      around.log().accept(destination.get() + ": " + answer.body());
    }
  }

  private ObjectNode notice(Shard shard, Batch batch, String condition) {
    ObjectNode notice = JsonNodeFactory.instance.objectNode();
    notice
        .putObject("requestContext")
        .put("requestId", UUID.randomUUID().toString())
        .put("functionArn", mapping.functionArn())
        .put("condition", condition)
        .put("approximateInvokeCount", batch.attempts());
    notice
        .putObject("responseContext")
        .put("statusCode", 200)
        .put("executedVersion", "$LATEST")
        .put("functionError", "Unhandled");
    notice.put("version", "1.0").put("timestamp", around.clock().instant().toString());
    JsonNode first = batch.records().get(0);
    JsonNode last = batch.records().get(batch.records().size() - 1);
    notice
        .putObject("DDBStreamBatchInfo")
        .put("shardId", shard.id)
        .put("startSequenceNumber", StreamRecords.sequenceNumber(first))
        .put("endSequenceNumber", StreamRecords.sequenceNumber(last))
        .put("approximateArrivalOfFirstRecord", StreamRecords.created(first).toString())
        .put("approximateArrivalOfLastRecord", StreamRecords.created(last).toString())
        .put("batchSize", batch.records().size())
        .put("streamArn", mapping.sourceArn());
    return notice;
  }

  private ObjectNode stream() {
    return JsonNodeFactory.instance.objectNode().put("StreamArn", mapping.sourceArn());
  }

  private ObjectNode call(String operation, ObjectNode request) {
    ServiceClient.Answer answer = client().call("dynamodb", target(operation), request);
    if (!answer.succeeded()) {
      throw new IllegalStateException(operation + ": " + answer.body());
    }
    return answer.body();
  }

  private static String target(String operation) {
    return "DynamoDBStreams_20120810." + operation;
  }

  private ServiceClient client() {
    ServiceClient made = client;
    if (made == null) {
      made = around.client(mapping);
      client = made;
    }
    return made;
  }

  /** How far a shard was read. */
  private static final class Shard {
    private final String id;
    private final String parent;
    private final boolean fromLatest;
    private final Deque<Batch> pending = new ArrayDeque<>();
    private String iterator = "";
    private String last = "";
    private boolean trimmed;
    private boolean finished;

    private Shard(String id, String parent, boolean fromLatest) {
      this.id = id;
      this.parent = parent;
      this.fromLatest = fromLatest;
    }
  }

  /**
   * Records that go to the function together.
   *
   * @param attempts how often the function was tried with the first of them
   * @param seen when they were read
   * @param due when they are to be handed over
   */
  private record Batch(List<JsonNode> records, int attempts, Instant seen, Instant due) {}
}
