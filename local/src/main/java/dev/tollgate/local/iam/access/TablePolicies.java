package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.TemplateException;
import io.undertow.server.HttpHandler;
import io.undertow.util.Headers;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The resource policies of tables, which the engine does not have. They apply from the answer on;
 * on AWS, after up to a minute.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetResourcePolicy.html">GetResourcePolicy</a>
 */
public final class TablePolicies {
  private final Policies policies;
  private final Map<String, Document> documents = new ConcurrentHashMap<>();
  private final AtomicLong revisions = new AtomicLong();

  /** A policy as it was written, with the number of the write. */
  private record Document(String text, long revision) {}

  /**
   * No policies yet.
   *
   * @param policies receives the policies and enforces them
   */
  public TablePolicies(Policies policies) {
    this.policies = policies;
  }

  /**
   * Sets the policy of a table.
   *
   * @param place where the policy stands, for errors
   * @throws TemplateException if it has an element that is not supported
   */
  public void put(String tableArn, JsonNode document, String place) {
    put(tableArn, Policy.of(document, place), document.toString());
  }

  private Document put(String tableArn, Policy policy, String text) {
    policies.setResourcePolicy(tableArn, policy);
    Document document = new Document(text, revisions.incrementAndGet());
    documents.put(tableArn, document);
    return document;
  }

  /** Serves the operations on policies, and passes all others to the engine. */
  public HttpHandler before(HttpHandler engine) {
    return exchange -> {
      Call call = Call.of(exchange);
      if (!call.operation().endsWith("ResourcePolicy")) {
        engine.handleRequest(exchange);
        return;
      }
      ObjectNode answer = answer(call.operation(), Json.readObject(call.body()));
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/x-amz-json-1.0");
      exchange.getResponseSender().send(answer.toString());
    };
  }

  private ObjectNode answer(String operation, ObjectNode request) {
    String arn = request.path("ResourceArn").asText();
    return switch (operation) {
      case "GetResourcePolicy" -> {
        Document document = documents.get(arn);
        if (document == null) {
          throw new ApiException(
              400, "PolicyNotFoundException", "Resource-based policy not found for: " + arn);
        }
        yield revision(document).put("Policy", document.text());
      }
      case "PutResourcePolicy" -> {
        String text = request.path("Policy").asText();
        yield revision(put(arn, policy(text), text));
      }
      case "DeleteResourcePolicy" -> {
        policies.setResourcePolicy(arn, Policy.NONE);
        Document document = documents.remove(arn);
        yield document == null ? Json.object() : revision(document);
      }
      default -> throw new ApiException(400, "UnknownOperationException", "");
    };
  }

  private static Policy policy(String text) {
    try {
      return Policy.of(Json.readOrMissing(text), "Policy");
    } catch (TemplateException unsupported) {
      throw ApiException.validation(String.valueOf(unsupported.getMessage()));
    }
  }

  private static ObjectNode revision(Document document) {
    return Json.object().put("RevisionId", Long.toString(document.revision()));
  }
}
