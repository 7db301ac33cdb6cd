package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The accesses of requests to Lambda. The creator of a function also passes its role and must be
 * allowed to read its code. Event source mappings have no resource name in policies; their function
 * is a condition key.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_awslambda.html">Actions
 *     of Lambda</a>
 */
final class FunctionAccesses {
  private static final String SERVICE = "lambda.amazonaws.com";
  private static final String FUNCTION_ARN = "lambda:FunctionArn";

  private final Environment environment;
  private final Function<String, Optional<String>> functionOfMapping;

  /**
   * @param functionOfMapping the ARN of an event source mapping's function, by the mapping's id
   */
  FunctionAccesses(Environment environment, Function<String, Optional<String>> functionOfMapping) {
    this.environment = environment;
    this.functionOfMapping = functionOfMapping;
  }

  List<Access> of(Call call) {
    JsonNode body = Json.readOrMissing(call.body());
    String name = nameIn(call.path());
    return switch (call.operation()) {
      case "ListEventSourceMappings", "ListFunctions" ->
          List.of(Access.to("lambda:" + call.operation(), "*"));
      case "CreateEventSourceMapping" ->
          List.of(
              new Access(
                  "lambda:CreateEventSourceMapping",
                  "*",
                  ofFunction(function(body.path("FunctionName").asText(), Optional.empty()))));
      case "GetEventSourceMapping", "UpdateEventSourceMapping", "DeleteEventSourceMapping" ->
          ofMapping(call.operation(), name, body);
      case "Invoke" ->
          List.of(Access.to("lambda:InvokeFunction", function(name, call.query("Qualifier"))));
      default -> ofFunction(call, name, body);
    };
  }

  private List<Access> ofMapping(String operation, String id, JsonNode body) {
    String arn = environment.arn("lambda", "event-source-mapping:" + id);
    Context now = functionOfMapping.apply(id).map(this::ofFunction).orElse(Context.EMPTY);
    List<Access> accesses = new ArrayList<>();
    accesses.add(new Access("lambda:" + operation, arn, now));
    if (body.has("FunctionName")) {
      String then = function(body.path("FunctionName").asText(), Optional.empty());
      accesses.add(new Access("lambda:" + operation, arn, ofFunction(then)));
    }
    return accesses;
  }

  private List<Access> ofFunction(Call call, String name, JsonNode body) {
    String function = name.isEmpty() ? body.path("FunctionName").asText() : name;
    List<Access> accesses = new ArrayList<>();
    accesses.add(
        Access.to("lambda:" + call.operation(), function(function, call.query("Qualifier"))));
    if (body.has("Role")) {
      accesses.add(RoleAccesses.pass(body.path("Role").asText(), SERVICE));
    }
    JsonNode code = body.has("Code") ? body.path("Code") : body;
    if (code.has("S3Bucket")) {
      accesses.add(
          Access.to(
              "s3:GetObject",
              "arn:aws:s3:::"
                  + code.path("S3Bucket").asText()
                  + "/"
                  + code.path("S3Key").asText()));
    }
    return accesses;
  }

  private Context ofFunction(String arn) {
    return Context.EMPTY.with(FUNCTION_ARN, arn);
  }

  /** The third segment of {@code /2015-03-31/functions/name/…}. */
  private static String nameIn(String path) {
    String[] segments = path.split("/", -1);
    return segments.length > 3 ? segments[3] : "";
  }

  /** The ARN of what may be a name, a part of an ARN, or an ARN. */
  private String function(String name, Optional<String> qualifier) {
    String unqualified =
        name.startsWith("arn:")
            ? name
            : environment.arn("lambda", "function:" + name.replaceFirst("^.*function:", ""));
    return qualifier.map(q -> unqualified + ":" + q).orElse(unqualified);
  }
}
