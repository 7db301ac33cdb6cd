package dev.tollgate.local.xray;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.RestApi;
import dev.tollgate.local.threads.DaemonThreads;
import dev.tollgate.local.xray.Segments.Kept;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * AWS X-Ray: a daemon that receives segment documents as datagrams, which is started when its
 * address is first used, and the operations {@code GetTraceSummaries} and {@code BatchGetTraces}.
 * Only the newest segments are kept. Every trace is sampled.
 *
 * @see <a href="https://docs.aws.amazon.com/xray/latest/api/API_Operations.html">X-Ray API
 *     Reference</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html#xray-api-daemon">Sending
 *     segment documents to the X-Ray daemon</a>
 */
public final class XRay extends RestApi implements AutoCloseable {
  private static final String HEADER = "{\"format\": \"json\", \"version\": 1}";
  private static final int LARGEST_DATAGRAM = 65_507;
  private static final int LARGEST_DOCUMENT = 64 * 1_024;

  /** Characters of a refusal in the log. */
  private static final int MOST_SHOWN = 200;

  /** See the limit of {@code TraceIds} in the API Reference. */
  private static final int MOST_TRACES = 5;

  private static final Pattern FILTER =
      Pattern.compile("\\s*annotation\\.(\\w+)\\s*=\\s*\"([^\"]*)\"\\s*");
  private static final Set<String> SUPPORTED =
      Set.of("StartTime", "EndTime", "FilterExpression", "NextToken");

  private final Segments segments = new Segments();
  private final Map<String, CountDownLatch> markers = new ConcurrentHashMap<>();
  private final Consumer<String> log;
  private @Nullable DatagramSocket socket;

  /**
   * X-Ray without traces.
   *
   * @param log receives a line for each document that is refused
   */
  public XRay(Consumer<String> log) {
    this.log = log;
  }

  /**
   * The address of the daemon, for {@code AWS_XRAY_DAEMON_ADDRESS}.
   *
   * @throws UncheckedIOException if it does not start
   */
  public synchronized String daemonAddress() {
    DatagramSocket opened = socket;
    if (opened == null) {
      try {
        opened = new DatagramSocket(0, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      socket = opened;
      DatagramSocket received = opened;
      new DaemonThreads("xray").newThread(() -> receive(received)).start();
    }
    return opened.getLocalAddress().getHostAddress() + ":" + opened.getLocalPort();
  }

  @Override
  public synchronized void close() {
    if (socket != null) {
      socket.close();
    }
  }

  private void receive(DatagramSocket from) {
    DatagramPacket packet = new DatagramPacket(new byte[LARGEST_DATAGRAM], LARGEST_DATAGRAM);
    while (!from.isClosed()) {
      try {
        from.receive(packet);
        String datagram =
            new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8);
        CountDownLatch marker = markers.remove(datagram);
        if (marker == null) {
          add(datagram);
        } else {
          marker.countDown();
        }
      } catch (IOException e) {
        // The socket is closed, or the next datagram may be received.
      } catch (IllegalArgumentException e) {
        log.accept("X-Ray refused a segment: " + shown(String.valueOf(e.getMessage())));
      }
      packet.setLength(LARGEST_DATAGRAM);
    }
  }

  /**
   * Waits until the datagrams that were sent before are added, so that a reader finds the segments
   * of all invocations that have ended. A datagram of its own tells, because they arrive in order.
   */
  private void awaitSent() {
    DatagramSocket daemon;
    synchronized (this) {
      daemon = socket;
    }
    if (daemon == null) {
      return;
    }
    String name = UUID.randomUUID().toString();
    CountDownLatch marker = new CountDownLatch(1);
    markers.put(name, marker);
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    try {
      daemon.send(new DatagramPacket(bytes, bytes.length, daemon.getLocalSocketAddress()));
      marker.await(1, TimeUnit.SECONDS);
    } catch (IOException e) {
      // The socket is closed: nothing arrives any more.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      markers.remove(name);
    }
  }

  /** The beginning of a message that contains what a function has sent, in one line. */
  private static String shown(String message) {
    String cut = message.length() <= MOST_SHOWN ? message : message.substring(0, MOST_SHOWN) + "…";
    return new String(JsonStringEncoder.getInstance().quoteAsString(cut));
  }

  /**
   * Adds a datagram's segment.
   *
   * @throws IllegalArgumentException if the datagram or its document is malformed
   */
  void add(String datagram) {
    String[] parts = datagram.split("\n", 2);
    if (parts.length < 2 || !parts[0].strip().equals(HEADER)) {
      throw new IllegalArgumentException("header: " + parts[0] + " (expected: " + HEADER + ")");
    }
    int size = parts[1].getBytes(StandardCharsets.UTF_8).length;
    if (size > LARGEST_DOCUMENT) {
      throw new IllegalArgumentException(
          size + " bytes (expected: up to " + LARGEST_DOCUMENT + ")");
    }
    segments.add(parts[1]);
  }

  @Override
  protected Answer answer(String operation, Request request) {
    awaitSent();
    return switch (operation) {
      case "BatchGetTraces" -> Answer.ok(traces(request.body()));
      case "GetTraceSummaries" -> Answer.ok(summaries(request.body()));
      default -> throw unknownOperation();
    };
  }

  @Override
  protected ApiException unreadable() {
    return invalid("The request body is not a JSON object.");
  }

  @Override
  protected ObjectNode error(ApiException refused) {
    return Json.object().put("Message", refused.text());
  }

  private static ApiException invalid(String message) {
    return new ApiException(400, "InvalidRequestException", message);
  }

  private ObjectNode traces(ObjectNode request) {
    List<String> ids = request.path("TraceIds").valueStream().map(JsonNode::asText).toList();
    if (ids.isEmpty() || ids.size() > MOST_TRACES) {
      throw invalid("TraceIds: " + ids.size() + " (expected: 1 to " + MOST_TRACES + ")");
    }
    Map<String, List<Kept>> known = segments.byTrace();
    ArrayNode traces = Json.array();
    for (String id : ids) {
      List<Kept> found = known.getOrDefault(id, List.of());
      if (!found.isEmpty()) {
        ObjectNode trace =
            traces.addObject().put("Id", id).put("Duration", duration(members(found)));
        trace.put("LimitExceeded", false);
        ArrayNode documents = trace.putArray("Segments");
        found.forEach(
            segment ->
                documents
                    .addObject()
                    .put("Id", segment.members().path("id").asText())
                    .put("Document", segment.document()));
      }
    }
    ObjectNode answer = Json.object("Traces", traces);
    answer.putArray("UnprocessedTraceIds");
    return answer;
  }

  private ObjectNode summaries(ObjectNode request) {
    request
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!SUPPORTED.contains(name)) {
                throw invalid(name + " (expected: none, this local cloud does not support it)");
              }
            });
    BigDecimal from = time(request, "StartTime");
    BigDecimal to = time(request, "EndTime");
    Predicate<JsonNode> filter = filter(request.path("FilterExpression").asText());
    ArrayNode summaries = Json.array();
    Map<String, List<Kept>> known = segments.byTrace();
    known.forEach(
        (id, kept) -> {
          List<ObjectNode> trace = members(kept);
          BigDecimal start = BigDecimal.valueOf(Long.parseLong(id.substring(2, 10), 16));
          if (start.compareTo(from) >= 0
              && start.compareTo(to) <= 0
              && trace.stream().anyMatch(filter)) {
            summaries.add(summary(id, trace));
          }
        });
    ObjectNode answer = Json.object("TraceSummaries", summaries);
    answer.put("TracesProcessedCount", known.size());
    return answer.put("ApproximateTime", to);
  }

  private static List<ObjectNode> members(List<Kept> segments) {
    return segments.stream().map(Kept::members).toList();
  }

  private static BigDecimal time(ObjectNode request, String member) {
    if (!EpochSeconds.isValid(request.path(member))) {
      throw invalid(
          member
              + ": "
              + request.path(member)
              + " (expected: seconds since 1970, up to the year 9999)");
    }
    return request.path(member).decimalValue();
  }

  private static Predicate<JsonNode> filter(String expression) {
    if (expression.isEmpty()) {
      return segment -> true;
    }
    Matcher filter = FILTER.matcher(expression);
    if (!filter.matches()) {
      throw invalid(
          "FilterExpression: "
              + expression
              + " (expected: annotation.NAME = \"VALUE\", this local cloud supports no other)");
    }
    String name = filter.group(1);
    String value = filter.group(2);
    return segment -> segment.path("annotations").path(name).asText().equals(value);
  }

  private static ObjectNode summary(String id, List<ObjectNode> trace) {
    ObjectNode summary = Json.object().put("Id", id).put("Duration", duration(trace));
    summary.put("IsPartial", false);
    summary.put("HasError", has(trace, "error"));
    summary.put("HasFault", has(trace, "fault"));
    summary.put("HasThrottle", has(trace, "throttle"));
    ObjectNode annotations = summary.putObject("Annotations");
    for (String name : names(trace)) {
      ArrayNode values = annotations.putArray(name);
      trace.stream()
          .map(segment -> segment.path("annotations").path(name))
          .filter(JsonNode::isTextual)
          .distinct()
          .forEach(
              value -> values.addObject().putObject("AnnotationValue").set("StringValue", value));
    }
    return summary;
  }

  private static Set<String> names(List<ObjectNode> trace) {
    Set<String> names = new TreeSet<>();
    trace.forEach(segment -> segment.path("annotations").fieldNames().forEachRemaining(names::add));
    return names;
  }

  private static boolean has(List<ObjectNode> trace, String flag) {
    return trace.stream().anyMatch(segment -> segment.path(flag).asBoolean());
  }

  /** The seconds from the first start to the last end. */
  private static BigDecimal duration(List<ObjectNode> trace) {
    BigDecimal start = trace.get(0).path("start_time").decimalValue();
    BigDecimal end = start;
    for (JsonNode segment : trace) {
      start = start.min(segment.path("start_time").decimalValue());
      end = end.max(segment.path("end_time").decimalValue());
    }
    return end.subtract(start);
  }
}
