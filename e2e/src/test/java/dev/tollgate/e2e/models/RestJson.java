package dev.tollgate.e2e.models;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.models.ServiceModel.Operation;
import dev.tollgate.local.endpoint.Exchange;
import java.net.URLDecoder;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The REST protocol: members are in the path, the query, headers, the status and the body.
 *
 * @see <a href="https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html">AWS REST JSON 1.0
 *     protocol</a>
 */
record RestJson(ServiceModel model) implements ServiceModels.Protocol {
  private static final Pattern LABEL = Pattern.compile("\\{([^}]+)}");

  /** The stage of a WebSocket API, before the paths of the model. */
  private static final Pattern BEFORE_CONNECTIONS = Pattern.compile("^/.*(?=/@connections/)");

  @Override
  public Optional<Operation> operation(Exchange exchange) {
    return model
        .operations()
        .filter(operation -> operation.method().equals(exchange.call().method()))
        .filter(operation -> path(operation).matcher(path(exchange)).matches())
        .findFirst();
  }

  private static Pattern path(Operation operation) {
    return Pattern.compile(LABEL.matcher(operation.path()).replaceAll("([^/]+)") + "/?");
  }

  private static String path(Exchange exchange) {
    String path = exchange.target().replaceAll("[?].*", "");
    return BEFORE_CONNECTIONS.matcher(path).replaceFirst("");
  }

  @Override
  public ObjectNode request(Exchange exchange, Operation operation, List<Violation> violations) {
    JsonNode input = model.shapes().shape(operation.input().orElse(""));
    ObjectNode request = body(input, exchange.call().body(), violations);
    Matcher path = path(operation).matcher(path(exchange));
    List<String> labels =
        LABEL.matcher(operation.path()).results().map(label -> label.group(1)).toList();
    for (int i = 0; path.matches() && i < labels.size(); i++) {
      request.put(labels.get(i), URLDecoder.decode(path.group(i + 1).replace("+", "%2B"), UTF_8));
    }
    addQuery(request, operation, exchange.target(), violations);
    addHeaders(request, input, exchange.headers());
    return request;
  }

  @Override
  public ObjectNode answer(Exchange exchange, Operation operation, List<Violation> violations) {
    JsonNode output = model.shapes().shape(operation.output().orElse(""));
    ObjectNode answer = body(output, exchange.answer().orElse(""), violations);
    addHeaders(answer, output, exchange.answerHeaders());
    boolean anyStatus = false;
    for (Map.Entry<String, JsonNode> member : output.path("members").properties()) {
      if (location(member.getValue()).equals("statusCode")) {
        answer.put(Shapes.wireName(member), exchange.status());
        anyStatus = true;
      }
    }
    if (!anyStatus && exchange.status() != operation.status()) {
      violations.add(new Violation("status", "" + exchange.status(), "" + operation.status()));
    }
    return answer;
  }

  @Override
  public String error(Exchange exchange) {
    return exchange.answerHeaders().getOrDefault("x-amzn-ErrorType", "").replaceAll(":.*", "");
  }

  /** The members of a body, or the one member that is the body. */
  private ObjectNode body(JsonNode structure, String body, List<Violation> violations) {
    if (structure.has("payload")) {
      String bytes = Base64.getEncoder().encodeToString(body.getBytes(UTF_8));
      return JsonNodeFactory.instance.objectNode().put(structure.path("payload").asText(), bytes);
    }
    return body.isEmpty()
        ? JsonNodeFactory.instance.objectNode()
        : ServiceModels.object("body", body, violations);
  }

  private void addQuery(
      ObjectNode request, Operation operation, String target, List<Violation> violations) {
    JsonNode input = model.shapes().shape(operation.input().orElse(""));
    int query = target.indexOf('?');
    if (query < 0) {
      return;
    }
    for (String pair : target.substring(query + 1).split("&", -1)) {
      String name = URLDecoder.decode(pair.replaceAll("=.*", ""), UTF_8);
      String text = URLDecoder.decode(pair.replaceAll("^[^=]*=?", ""), UTF_8);
      Optional<JsonNode> member =
          input.path("members").properties().stream()
              .filter(one -> location(one.getValue()).equals("querystring"))
              .filter(one -> Shapes.wireName(one).equals(name))
              .map(Map.Entry::getValue)
              .findFirst();
      if (member.isEmpty()) {
        violations.add(new Violation("query " + name, text, "a parameter of " + operation.name()));
        continue;
      }
      String shape = member.get().path("shape").asText();
      JsonNode list = model.shapes().shape(shape);
      if (list.path("type").asText().equals("list")) {
        String element = list.path("member").path("shape").asText();
        request.withArray("/" + name).add(model.shapes().typed(element, text));
      } else {
        request.set(name, model.shapes().typed(shape, text));
      }
    }
  }

  private void addHeaders(ObjectNode members, JsonNode structure, Map<String, String> headers) {
    for (Map.Entry<String, JsonNode> member : structure.path("members").properties()) {
      String name = Shapes.wireName(member);
      if (location(member.getValue()).equals("header") && headers.containsKey(name)) {
        String shape = member.getValue().path("shape").asText();
        members.set(name, model.shapes().typed(shape, headers.getOrDefault(name, "")));
      }
    }
  }

  private static String location(JsonNode member) {
    return member.path("location").asText();
  }
}
