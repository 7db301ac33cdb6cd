package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.template.Environment;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Reads the stream of a table. The records of a shard are delivered in order, after those of the
 * parent shard. A batch that waits for a retry blocks its shard.
 *
 * <p>It reads when it is woken, and every second, because rows also expire without a call. Batches
 * are retried after one second of the clock, then two, four, and so on up to a minute. If the
 * mapping has a batching window, records are gathered until the batch is full or the window ends.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html">Using AWS Lambda with
 *     Amazon DynamoDB</a>
 */
final class StreamReader extends SourceReader {
  private static final String NAME_SPACE = "DynamoDBStreams_20120810.";
  private static final String CREATED = "ApproximateCreationDateTime";
  private static final int MAX_RECORDS = 1_000;
  private static final Duration MAX_BACKOFF = Duration.ofMinutes(1);

  private final boolean fromStart;
  private boolean running;
  private boolean woken;

  // The following fields are used by the running thread only.
  private final Map<String, Shard> shards = new LinkedHashMap<>();
  private boolean discovered;

  /**
   * A reader for the stream of a mapping.
   *
   * @param isNew whether the mapping is new, so that its starting position applies; otherwise the
   *     whole stream is read, perhaps some records again
   */
  StreamReader(EventSources sources, Mapping mapping, boolean isNew) {
    super(sources, mapping);
    this.fromStart = !isNew || !mapping.startsWithLatest();
  }

  @Override
  synchronized void wake() {
    woken = true;
    if (!running && mayRead()) {
      running = true;
      sources.work.begin();
      sources.waiters.execute(this::run);
    }
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
        sources.log.accept(mapping().sourceArn() + ": " + e);
      }
      synchronized (this) {
        goOn = mayRead() && (progress || woken);
        running = goOn;
      }
    }
    sources.work.end();
  }

  /** Reads or delivers once for each shard; true if there may be more to do now. */
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
    ObjectNode request = Json.object();
    request.put("ShardIterator", iterator);
    int missing = Math.max(1, mapping().batchSize() - shard.gathered.size());
    request.put("Limit", Math.min(MAX_RECORDS, missing));
    ServiceClient.Answer answer = tryCall("dynamodb", NAME_SPACE + "GetRecords", request);
    if (!answer.succeeded()) {
      // The iterator has expired after 15 minutes, or the record after a day.
      shard.iterator = "";
      shard.trimmed = answer.errorCode().equals("TrimmedDataAccessException");
      discovered = false;
      return false;
    }
    shard.trimmed = false;
    shard.iterator = answer.body().path("NextShardIterator").asText("");
    Instant now = sources.clock.instant();
    Instant read = InstantSource.system().instant();
    Duration ahead = Duration.between(read, now);
    JsonNode got = answer.body().path("Records");
    for (JsonNode record : got) {
      ObjectNode event = event(record, mapping().sourceArn(), read, ahead);
      if (mapping().accepts(event)) {
        shard.gather(event, now.plus(mapping().batchingWindow()));
      }
      shard.last = sequenceNumber(record);
    }
    if (!shard.gathered.isEmpty()
        && (shard.gathered.size() >= mapping().batchSize()
            || shard.iterator.isEmpty()
            || !now.isBefore(shard.windowEnd))) {
      shard.pending.add(new Batch(List.copyOf(shard.gathered), 0, now, now));
      shard.gathered.clear();
    }
    if (shard.iterator.isEmpty()) {
      shard.finished = true;
      discovered = false;
      return true;
    }
    return !(got.isEmpty() && shard.pending.isEmpty());
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

  /** Invokes the function with the first batch if it is due; true if it was. */
  private boolean deliver(Shard shard) {
    Batch batch = shard.pending.element();
    Instant now = sources.clock.instant();
    if (batch.due().isAfter(now)) {
      return false;
    }
    shard.pending.remove();
    int maxAge = mapping().maxAgeSeconds();
    if (maxAge >= 0 && now.isAfter(batch.seen().plusSeconds(maxAge))) {
      giveUp(shard, batch, "RecordAgeExceeded");
      return true;
    }
    sources.work.invoked();
    sources.functions.measured(
        mapping().functionName(),
        "IteratorAge",
        now,
        Math.max(0, Duration.between(batch.seen(), now).toMillis()));
    InvocationResult invocation =
        sources.functions.invoke(
            mapping().functionArn(),
            Json.bytes(Json.object("Records", Json.array().addAll(batch.records()))));
    int done = done(batch, invocation);
    if (done == batch.records().size()) {
      if (sources.replays.test(mapping().sourceName())) {
        shard.pending.addFirst(batch);
      }
      return true;
    }
    boolean ran = !(invocation instanceof InvocationResult.Throttled);
    retry(shard, batch, done, ran);
    return true;
  }

  /** How many records at the beginning need not be retried. */
  private int done(Batch batch, InvocationResult invocation) {
    if (!(invocation instanceof InvocationResult.Success success)) {
      return 0;
    }
    if (!mapping().reportsFailures()) {
      return batch.records().size();
    }
    List<String> numbers = batch.records().stream().map(StreamReader::sequenceNumber).toList();
    Set<String> failures = BatchResponse.failures(success.payload(), numbers);
    int first = 0;
    while (first < numbers.size() && !failures.contains(numbers.get(first))) {
      first++;
    }
    return first;
  }

  private void retry(Shard shard, Batch batch, int done, boolean ran) {
    List<JsonNode> rest = batch.records().subList(done, batch.records().size());
    if (done == 0 && ran && mapping().bisects() && rest.size() > 1) {
      // The halves are delivered at once. Splitting does not count as an attempt.
      int half = rest.size() / 2;
      Instant due = batch.due();
      shard.pending.addFirst(
          new Batch(rest.subList(half, rest.size()), batch.attempts(), batch.seen(), due));
      shard.pending.addFirst(new Batch(rest.subList(0, half), batch.attempts(), batch.seen(), due));
      return;
    }
    int attempts = done > 0 ? 1 : batch.attempts() + (ran ? 1 : 0);
    Instant now = sources.clock.instant();
    Batch again = new Batch(rest, attempts, batch.seen(), now.plus(backoff(Math.max(1, attempts))));
    if (mapping().retries() >= 0 && attempts > mapping().retries()) {
      giveUp(shard, again, "RetryAttemptsExhausted");
    } else {
      shard.pending.addFirst(again);
    }
  }

  private static Duration backoff(int attempts) {
    Duration doubled = Duration.ofSeconds(1L << Math.min(6, attempts - 1));
    return doubled.compareTo(MAX_BACKOFF) < 0 ? doubled : MAX_BACKOFF;
  }

  /** Gives a batch up, and sends a notice to the failure queue. */
  private void giveUp(Shard shard, Batch batch, String condition) {
    sources.log.accept(
        "%s: %s discards %d records: %s"
            .formatted(
                mapping().sourceArn(),
                mapping().functionName(),
                batch.records().size(),
                condition));
    Optional<String> destination = mapping().onFailure();
    if (destination.isEmpty()) {
      return;
    }
    ObjectNode request = Json.object();
    request.put("QueueUrl", Environment.queueUrl(destination.get()));
    request.put("MessageBody", notice(shard, batch, condition).toString());
    ServiceClient.Answer answer = tryCall("sqs", "AmazonSQS.SendMessage", request);
    if (!answer.succeeded()) {
      sources.log.accept(destination.get() + ": " + answer.body());
    }
  }

  private ObjectNode notice(Shard shard, Batch batch, String condition) {
    ObjectNode notice = Json.object();
    notice
        .putObject("requestContext")
        .put("requestId", UUID.randomUUID().toString())
        .put("functionArn", mapping().functionArn())
        .put("condition", condition)
        .put("approximateInvokeCount", batch.attempts());
    notice
        .putObject("responseContext")
        .put("statusCode", 200)
        .put("executedVersion", "$LATEST")
        .put("functionError", "Unhandled");
    notice.put("version", "1.0").put("timestamp", sources.clock.instant().toString());
    JsonNode first = batch.records().get(0);
    JsonNode last = batch.records().get(batch.records().size() - 1);
    notice
        .putObject("DDBStreamBatchInfo")
        .put("shardId", shard.id)
        .put("startSequenceNumber", sequenceNumber(first))
        .put("endSequenceNumber", sequenceNumber(last))
        .put("approximateArrivalOfFirstRecord", created(first).toString())
        .put("approximateArrivalOfLastRecord", created(last).toString())
        .put("batchSize", batch.records().size())
        .put("streamArn", mapping().sourceArn());
    return notice;
  }

  /**
   * The record that {@code GetRecords} gave, as functions and filters receive it.
   *
   * <p>DynamoDB rounds the time of creation down to a second, and DynamoDB Local to a minute. So
   * the record gets the time at which it was read, unless that is in a later minute.
   *
   * @param read when it was read, by the engine's clock, which is the system's
   * @param ahead how far the clock is ahead of the engine's
   */
  static ObjectNode event(JsonNode given, String streamArn, Instant read, Duration ahead) {
    ObjectNode record = given.deepCopy();
    Instant minute = created(given);
    Instant last = minute.plusSeconds(60).minusNanos(1);
    Instant created = read.isBefore(minute) ? minute : read.isAfter(last) ? last : read;
    ((ObjectNode) record.path("dynamodb")).put(CREATED, created.plus(ahead).getEpochSecond());
    JsonNode user = record.remove("userIdentity");
    if (user != null && !user.isNull()) {
      record
          .putObject("userIdentity")
          .put("type", user.path("Type").asText())
          .put("principalId", user.path("PrincipalId").asText());
    }
    record.put("eventSourceARN", streamArn);
    return record;
  }

  private static String sequenceNumber(JsonNode record) {
    return record.at("/dynamodb/SequenceNumber").asText();
  }

  private static Instant created(JsonNode record) {
    return Instant.ofEpochSecond(record.path("dynamodb").path(CREATED).asLong());
  }

  private ObjectNode stream() {
    return Json.object().put("StreamArn", mapping().sourceArn());
  }

  private ObjectNode call(String operation, ObjectNode request) {
    return call("dynamodb", NAME_SPACE + operation, request);
  }

  /** The position of the reader in a shard. */
  private static final class Shard {
    private final String id;
    private final String parent;
    private final boolean fromLatest;
    private final Deque<Batch> pending = new ArrayDeque<>();
    private final List<JsonNode> gathered = new ArrayList<>();
    private Instant windowEnd = Instant.MIN;
    private String iterator = "";
    private String last = "";
    private boolean trimmed;
    private boolean finished;

    private Shard(String id, String parent, boolean fromLatest) {
      this.id = id;
      this.parent = parent;
      this.fromLatest = fromLatest;
    }

    /** Adds a record to the batch, whose window begins with its first record. */
    private void gather(JsonNode record, Instant end) {
      if (gathered.isEmpty()) {
        windowEnd = end;
      }
      gathered.add(record);
    }
  }

  /**
   * Records that are delivered together.
   *
   * @param attempts how often the function was invoked with the first of them
   * @param seen when they were read
   * @param due when they are to be delivered
   */
  private record Batch(List<JsonNode> records, int attempts, Instant seen, Instant due) {}
}
