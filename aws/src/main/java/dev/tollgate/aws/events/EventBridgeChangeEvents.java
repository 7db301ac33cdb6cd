package dev.tollgate.aws.events;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.ChangeEvents;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.protocols.jsoncore.JsonWriter;
import software.amazon.awssdk.services.eventbridge.EventBridgeClient;
import software.amazon.awssdk.services.eventbridge.model.PutEventsRequestEntry;
import software.amazon.awssdk.services.eventbridge.model.PutEventsResultEntry;

/**
 * Events in the account's default bus: source {@code tollgate}, the kind of the change as
 * detail-type, and the entry as detail.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html">PutEvents</a>
 */
public final class EventBridgeChangeEvents implements ChangeEvents {
  private static final String SOURCE = "tollgate";

  private final EventBridgeClient once;
  private final String deployment;

  /**
   * Events of a deployment.
   *
   * @param once never repeats a request: the stream repeats what failed
   * @param deployment the name of the stack, which each detail has
   */
  public EventBridgeChangeEvents(EventBridgeClient once, String deployment) {
    this.once = once;
    this.deployment = deployment;
  }

  @Override
  public Set<String> publish(List<AuditEntry> entries) {
    InvalidValue.inRange("entries", entries.size(), 1, MAX);
    List<PutEventsRequestEntry> events = entries.stream().map(this::event).toList();
    List<PutEventsResultEntry> results =
        ask(
            "EventBridge PutEvents",
            () -> once.putEvents(request -> request.entries(events)).entries());
    if (results.size() != entries.size()) {
      throw new Unavailable("EventBridge PutEvents: an answer with " + results.size() + " results");
    }
    Set<String> refused = new HashSet<>();
    for (int i = 0; i < results.size(); i++) {
      if (isRefused(results.get(i))) {
        refused.add(entries.get(i).id());
      }
    }
    return refused;
  }

  private static boolean isRefused(PutEventsResultEntry result) {
    return result.errorCode() != null || result.eventId() == null || result.eventId().isEmpty();
  }

  private PutEventsRequestEntry event(AuditEntry entry) {
    return PutEventsRequestEntry.builder()
        .source(SOURCE)
        .detailType(entry.what().label())
        .detail(detail(entry))
        .time(entry.at())
        .build();
  }

  private String detail(AuditEntry entry) {
    JsonWriter json = JsonWriter.create();
    json.writeStartObject();
    json.writeFieldName("id").writeValue(entry.id());
    json.writeFieldName("deployment").writeValue(deployment);
    json.writeFieldName("at").writeValue(entry.at().toString());
    json.writeFieldName("subject").writeValue(entry.subject().value());
    json.writeFieldName("what").writeValue(entry.what().label());
    json.writeFieldName("by").writeValue(entry.author().who());
    json.writeFieldName("request").writeValue(entry.author().request());
    write(json, "from", entry.from());
    write(json, "to", entry.to());
    return new String(json.writeEndObject().getBytes(), StandardCharsets.UTF_8);
  }

  private static void write(JsonWriter json, String name, Map<String, String> fields) {
    json.writeFieldName(name).writeStartObject();
    fields.forEach((field, value) -> json.writeFieldName(field).writeValue(value));
    json.writeEndObject();
  }
}
