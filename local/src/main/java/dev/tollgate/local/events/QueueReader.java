package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.template.Environment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads a queue.
 *
 * <p>A worker receives a batch, invokes the function with it, deletes the messages that the
 * function processed, and starts again; it ends when it receives nothing. A worker that received
 * something starts another one, up to the mapping's concurrency. So a FIFO queue has as many
 * batches under way as it has groups, because the queue holds back the other messages of a group.
 * The last worker that ends checks whether the queue holds messages that are delayed, in flight or
 * behind one in flight. If so, {@link #look()} reads again, every second; otherwise only {@link
 * #wake()} does.
 *
 * <p>If the mapping has a batching window, the messages wait in flight until the batch is full or
 * the window ends. Lambda may take up to 20 s longer; this reader does not.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html">Using Lambda with
 *     Amazon SQS</a>
 */
final class QueueReader extends SourceReader {
  private static final int MAX_RECEIVED = 10;
  private static final int MAX_BATCH_CHARACTERS = 5_000_000;

  private final String queueUrl;
  private final List<ObjectNode> gathered = new ArrayList<>();
  private Instant windowEnd = Instant.MIN;
  private volatile boolean watched;
  private int workers;
  private boolean woken;

  QueueReader(EventSources sources, Mapping mapping) {
    super(sources, mapping);
    this.queueUrl = Environment.queueUrl(mapping.sourceArn());
  }

  @Override
  synchronized void wake() {
    woken = true;
    if (workers == 0 && mayRead()) {
      addWorker();
    }
  }

  @Override
  void look() {
    if (hasJustChanged() || watched) {
      wake();
    }
  }

  private void addWorker() {
    workers++;
    sources.work.begin();
    sources.pool.execute(this::work);
  }

  private void work() {
    synchronized (this) {
      woken = false;
      if (!mayRead()) {
        leave(false);
        return;
      }
    }
    List<ObjectNode> received;
    try {
      received = receive(mapping());
    } catch (RuntimeException e) {
      sources.log.accept(queueUrl + ": " + e);
      leave(true);
      return;
    }
    synchronized (this) {
      if (!received.isEmpty() && workers < mapping().concurrency()) {
        addWorker();
      }
    }
    List<ObjectNode> batch = nextBatch(filtered(received));
    if (batch.isEmpty()) {
      if (received.isEmpty()) {
        leave(true);
      } else {
        sources.pool.execute(this::work);
      }
      return;
    }
    sources.work.invoked();
    var unused =
        sources
            .functions
            .start(
                mapping().functionArn(),
                Json.bytes(
                    Json.object(
                        "Records", Json.array().addAll(batch.stream().map(this::record).toList()))))
            .whenCompleteAsync((invocation, never) -> finish(batch, invocation), sources.pool);
  }

  private void finish(List<ObjectNode> batch, InvocationResult invocation) {
    try {
      if (invocation instanceof InvocationResult.Success success) {
        List<String> ids =
            batch.stream().map(message -> message.path("MessageId").asText()).toList();
        Set<String> failed =
            mapping().reportsFailures() ? BatchResponse.failures(success.payload(), ids) : Set.of();
        delete(
            batch.stream()
                .filter(message -> !failed.contains(message.path("MessageId").asText()))
                .toList());
      }
    } catch (RuntimeException e) {
      sources.log.accept(queueUrl + ": " + e);
    }
    if (invocation instanceof InvocationResult.Throttled) {
      // The messages become visible again. Receiving more would only return more of them.
      leave(true);
    } else {
      work();
    }
  }

  /**
   * Ends a worker, unless the queue must be read again.
   *
   * @param mayHoldMore whether the queue may hold messages that are not available yet
   */
  private void leave(boolean mayHoldMore) {
    synchronized (this) {
      if (workers > 1) {
        workers--;
        sources.work.end();
        return;
      }
    }
    boolean holdsMore = mayHoldMore && holdsMore();
    synchronized (this) {
      watched = holdsMore;
      if (woken && mayRead()) {
        sources.pool.execute(this::work);
        return;
      }
      workers--;
    }
    sources.work.end();
  }

  /** Adds messages to the batch. Returns the batch if it is full or its window has ended. */
  private synchronized List<ObjectNode> nextBatch(List<ObjectNode> messages) {
    Instant now = sources.clock.instant();
    if (gathered.isEmpty()) {
      windowEnd = now.plus(mapping().batchingWindow());
    }
    gathered.addAll(messages);
    int characters =
        gathered.stream().mapToInt(message -> message.path("Body").asText().length()).sum();
    if (gathered.size() < mapping().batchSize()
        && characters < MAX_BATCH_CHARACTERS
        && now.isBefore(windowEnd)) {
      return List.of();
    }
    List<ObjectNode> first = gathered.subList(0, Math.min(gathered.size(), mapping().batchSize()));
    List<ObjectNode> batch = List.copyOf(first);
    first.clear();
    windowEnd = now.plus(mapping().batchingWindow());
    return batch;
  }

  private List<ObjectNode> receive(Mapping mapping) {
    List<ObjectNode> batch = new ArrayList<>();
    int characters = 0;
    int wanted;
    int got;
    do {
      wanted = Math.min(MAX_RECEIVED, mapping.batchSize() - batch.size());
      ObjectNode request = request();
      request.put("MaxNumberOfMessages", wanted);
      request.putArray("AttributeNames").add("All");
      request.putArray("MessageAttributeNames").add("All");
      JsonNode messages = call("ReceiveMessage", request).path("Messages");
      got = messages.size();
      for (JsonNode message : messages) {
        characters += message.path("Body").asText().length();
        batch.add((ObjectNode) message);
      }
    } while (got == wanted
        && batch.size() < mapping.batchSize()
        && characters < MAX_BATCH_CHARACTERS);
    return batch;
  }

  /** The messages that pass a filter. The others are deleted. */
  private List<ObjectNode> filtered(List<ObjectNode> messages) {
    Map<Boolean, List<ObjectNode>> passed =
        messages.stream()
            .collect(Collectors.partitioningBy(message -> mapping().accepts(record(message))));
    delete(passed.getOrDefault(false, List.of()));
    return passed.getOrDefault(true, List.of());
  }

  private void delete(List<ObjectNode> messages) {
    for (int i = 0; i < messages.size(); i += MAX_RECEIVED) {
      ObjectNode request = request();
      ArrayNode entries = request.putArray("Entries");
      for (ObjectNode message : messages.subList(i, Math.min(i + MAX_RECEIVED, messages.size()))) {
        entries
            .addObject()
            .put("Id", Integer.toString(entries.size()))
            .put("ReceiptHandle", message.path("ReceiptHandle").asText());
      }
      call("DeleteMessageBatch", request);
    }
  }

  private boolean holdsMore() {
    ObjectNode request = request();
    request.putArray("AttributeNames").add("All");
    try {
      JsonNode attributes = call("GetQueueAttributes", request).path("Attributes");
      return attributes.path("ApproximateNumberOfMessages").asInt()
              + attributes.path("ApproximateNumberOfMessagesNotVisible").asInt()
              + attributes.path("ApproximateNumberOfMessagesDelayed").asInt()
          > 0;
    } catch (RuntimeException e) {
      // The queue does not exist. A message to it wakes this reader later.
      return false;
    }
  }

  private ObjectNode record(ObjectNode message) {
    ObjectNode record = Json.object();
    record.set("messageId", message.path("MessageId"));
    record.set("receiptHandle", message.path("ReceiptHandle"));
    record.set("body", message.path("Body"));
    ObjectNode attributes = record.putObject("attributes");
    for (Map.Entry<String, JsonNode> attribute : message.path("Attributes").properties()) {
      attributes.put(attribute.getKey(), attribute.getValue().asText());
    }
    ObjectNode messageAttributes = record.putObject("messageAttributes");
    for (Map.Entry<String, JsonNode> given : message.path("MessageAttributes").properties()) {
      ObjectNode attribute = messageAttributes.putObject(given.getKey());
      copy(given.getValue(), "StringValue", attribute, "stringValue");
      copy(given.getValue(), "BinaryValue", attribute, "binaryValue");
      attribute.putArray("stringListValues");
      attribute.putArray("binaryListValues");
      copy(given.getValue(), "DataType", attribute, "dataType");
    }
    record.set("md5OfBody", message.path("MD5OfBody"));
    copy(message, "MD5OfMessageAttributes", record, "md5OfMessageAttributes");
    record.put("eventSource", "aws:sqs");
    record.put("eventSourceARN", mapping().sourceArn());
    record.put("awsRegion", mapping().sourceArn().split(":", -1)[3]);
    return record;
  }

  private static void copy(JsonNode from, String name, ObjectNode to, String newName) {
    if (from.hasNonNull(name)) {
      to.set(newName, from.get(name));
    }
  }

  private ObjectNode request() {
    return Json.object().put("QueueUrl", queueUrl);
  }

  private ObjectNode call(String operation, ObjectNode request) {
    return call("sqs", "AmazonSQS." + operation, request);
  }
}
