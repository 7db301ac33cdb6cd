package dev.tollgate.aws.tracing;

import static dev.tollgate.core.JsonText.quoted;

import dev.tollgate.core.tracing.Segment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A segment until it is closed, with its AWS requests as subsegments. Thread-safe.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html">X-Ray
 *     segment documents</a>
 */
final class OpenSegment implements Segment {
  /**
   * More requests are not recorded. A document has at most 64 kB, and a subsegment takes some 300
   * bytes.
   */
  static final int MAX_REQUESTS = 100;

  private final XRayTracing tracing;
  private final String name;
  private final TraceHeader parent;
  private final boolean recordsRequests;
  private final String id;
  private final String start;
  private final Map<String, String> annotations = new LinkedHashMap<>();
  private final List<RequestSubsegment> requests = new ArrayList<>();
  private String flags = Flags.FAULT;
  private boolean closed;

  /**
   * A segment that begins now.
   *
   * @param recordsRequests whether AWS requests are recorded in it
   */
  OpenSegment(XRayTracing tracing, String name, TraceHeader parent, boolean recordsRequests) {
    this.tracing = tracing;
    this.name = name;
    this.parent = parent;
    this.recordsRequests = recordsRequests;
    this.id = tracing.newId();
    this.start = tracing.now();
  }

  String traceId() {
    return parent.root();
  }

  boolean recordsRequests() {
    return recordsRequests;
  }

  @Override
  public String header() {
    return parent.continuing(id).text();
  }

  @Override
  public synchronized void annotate(String key, String value) {
    annotations.put(key, value);
  }

  @Override
  public synchronized void outcome(String outcome, int status) {
    annotations.put("outcome", outcome);
    flags = Flags.ofStatus(status);
  }

  synchronized void add(RequestSubsegment request) {
    if (!closed && requests.size() < MAX_REQUESTS) {
      requests.add(request);
    }
  }

  @Override
  public void close() {
    String document;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      document = document();
    }
    tracing.close(this, document);
  }

  private String document() {
    StringBuilder json = new StringBuilder("{\"name\":").append(quoted(name));
    json.append(",\"id\":\"").append(id);
    json.append("\",\"trace_id\":\"").append(parent.root());
    json.append("\",\"parent_id\":\"").append(parent.parent());
    json.append("\",\"start_time\":").append(start);
    json.append(",\"end_time\":").append(tracing.now()).append(flags);
    if (!annotations.isEmpty()) {
      json.append(
          annotations.entrySet().stream()
              .map(entry -> quoted(entry.getKey()) + ":" + quoted(entry.getValue()))
              .collect(Collectors.joining(",", ",\"annotations\":{", "}")));
    }
    if (!requests.isEmpty()) {
      json.append(
          requests.stream()
              .map(RequestSubsegment::json)
              .collect(Collectors.joining(",", ",\"subsegments\":[", "]")));
    }
    return json.append('}').toString();
  }
}
