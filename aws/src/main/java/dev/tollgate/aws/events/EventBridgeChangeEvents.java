package dev.tollgate.aws.events;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.ChangeEvents;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.protocols.jsoncore.JsonNodeParser;
import software.amazon.awssdk.protocols.jsoncore.JsonWriter;

/**
 * Events in the account's default bus: source {@code tollgate}, the kind of the change as
 * detail-type, and the entry as detail.
 *
 * <p>{@code PutEvents} is the only operation, so the request is written and signed here, without
 * the SDK's client of EventBridge. It is sent once: the stream repeats what failed.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html">PutEvents</a>
 */
public final class EventBridgeChangeEvents implements ChangeEvents {
  private static final String SOURCE = "tollgate";
  private static final String CONTENT_TYPE = "application/x-amz-json-1.1";

  private final SdkHttpClient http;
  private final URI endpoint;
  private final String region;
  private final AwsCredentialsProvider credentials;
  private final String deployment;

  /**
   * Events of a deployment.
   *
   * @param endpoint the address of EventBridge
   * @param deployment the name of the stack, which each detail has
   */
  public EventBridgeChangeEvents(
      SdkHttpClient http,
      URI endpoint,
      String region,
      AwsCredentialsProvider credentials,
      String deployment) {
    this.http = http;
    this.endpoint = endpoint;
    this.region = region;
    this.credentials = credentials;
    this.deployment = deployment;
  }

  @Override
  public Set<String> publish(List<AuditEntry> entries) {
    InvalidValue.inRange("entries", entries.size(), 1, MAX);
    List<JsonNode> results = results(send(body(entries)));
    if (results.size() != entries.size()) {
      throw new Unavailable("EventBridge PutEvents: an answer with " + results.size() + " results");
    }
    Set<String> refused = new HashSet<>();
    for (int i = 0; i < results.size(); i++) {
      if (results.get(i).field("EventId").isEmpty()) {
        refused.add(entries.get(i).id());
      }
    }
    return refused;
  }

  private byte[] body(List<AuditEntry> entries) {
    JsonWriter json = JsonWriter.create();
    json.writeStartObject().writeFieldName("Entries").writeStartArray();
    entries.forEach(
        entry -> {
          json.writeStartObject();
          json.writeFieldName("Source").writeValue(SOURCE);
          json.writeFieldName("DetailType").writeValue(entry.what().label());
          json.writeFieldName("Detail")
              .writeValue(new String(detail(entry), StandardCharsets.UTF_8));
          json.writeFieldName("Time").writeNumber(Long.toString(entry.at().getEpochSecond()));
          json.writeEndObject();
        });
    return json.writeEndArray().writeEndObject().getBytes();
  }

  private byte[] detail(AuditEntry entry) {
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
    return json.writeEndObject().getBytes();
  }

  private static void write(JsonWriter json, String name, Map<String, String> fields) {
    json.writeFieldName(name).writeStartObject();
    fields.forEach((field, value) -> json.writeFieldName(field).writeValue(value));
    json.writeEndObject();
  }

  /** The body of the answer. */
  private String send(byte[] body) {
    ContentStreamProvider content = () -> new ByteArrayInputStream(body);
    SdkHttpRequest request =
        SdkHttpRequest.builder()
            .method(SdkHttpMethod.POST)
            .uri(endpoint)
            .encodedPath("/")
            .putHeader("Content-Type", CONTENT_TYPE)
            .putHeader("Content-Length", Integer.toString(body.length))
            .putHeader("X-Amz-Target", "AWSEvents.PutEvents")
            .build();
    try {
      SdkHttpRequest signed =
          AwsV4HttpSigner.create()
              .sign(
                  parameters ->
                      parameters
                          .identity(credentials.resolveCredentials())
                          .request(request)
                          .payload(content)
                          .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "events")
                          .putProperty(AwsV4HttpSigner.REGION_NAME, region))
              .request();
      HttpExecuteResponse answer =
          http.prepareRequest(
                  HttpExecuteRequest.builder()
                      .request(signed)
                      .contentStreamProvider(content)
                      .build())
              .call();
      String text = "";
      if (answer.responseBody().isPresent()) {
        text = new String(answer.responseBody().get().readAllBytes(), StandardCharsets.UTF_8);
      }
      if (!answer.httpResponse().isSuccessful()) {
        throw new Unavailable(
            "EventBridge PutEvents: status " + answer.httpResponse().statusCode() + " " + text);
      }
      return text;
    } catch (IOException | SdkException failure) {
      throw new Unavailable("EventBridge PutEvents", failure);
    }
  }

  private static List<JsonNode> results(String answer) {
    try {
      return JsonNodeParser.create()
          .parse(answer)
          .field("Entries")
          .map(JsonNode::asArray)
          .orElse(List.of());
    } catch (RuntimeException malformed) {
      throw new Unavailable("EventBridge PutEvents", malformed);
    }
  }
}
