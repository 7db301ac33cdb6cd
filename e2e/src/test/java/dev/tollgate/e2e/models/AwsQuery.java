package dev.tollgate.e2e.models;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.models.ServiceModel.Operation;
import dev.tollgate.local.endpoint.Exchange;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/**
 * The query protocol: requests are forms, answers are XML or, for API Gateway, JSON.
 *
 * <p>Elements of a list are numbered after the list's name and {@code member}. The lists of SQS are
 * flattened: they have the name of their elements instead, as in {@code
 * SendMessageBatchRequestEntry.1.Id}.
 *
 * @see <a href="https://smithy.io/2.0/aws/protocols/aws-query-protocol.html">AWS query protocol</a>
 */
record AwsQuery(ServiceModel model) implements ServiceModels.Protocol {
  private static final Set<String> ENVELOPE = Set.of("Action", "Version");

  /**
   * Errors of SQS that have another name in its model, whose names are those of the JSON protocol.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html#API_SendMessageBatch_Errors">SendMessageBatch,
   *     errors</a>
   */
  private static final Map<String, String> RENAMED =
      Map.of(
          "InvalidParameterValue", "InvalidParameterValueException",
          "NonExistentQueue", "QueueDoesNotExist");

  @Override
  public Optional<Operation> operation(Exchange exchange) {
    return model.operation(exchange.call().form().getOrDefault("Action", ""));
  }

  @Override
  public ObjectNode request(Exchange exchange, Operation operation, List<Violation> violations) {
    Map<String, String> form = new TreeMap<>(exchange.call().form());
    String version = form.getOrDefault("Version", "absent");
    if (!version.equals(model.property("apiVersion"))) {
      violations.add(new Violation("Version", version, model.property("apiVersion")));
    }
    Set<String> unknown = new HashSet<>(form.keySet());
    unknown.removeAll(ENVELOPE);
    ObjectNode request = structure(operation.input().orElse(""), "", form, unknown);
    unknown.forEach(
        name ->
            violations.add(
                new Violation(
                    name, form.getOrDefault(name, ""), "a parameter of " + operation.name())));
    if (exchange.call().service().equals("sqs") && exchange.call().path().length() > 1) {
      // A form may name its queue by the path alone.
      request.put("QueueUrl", exchange.call().path());
    }
    return request;
  }

  private ObjectNode structure(
      String shape, String prefix, Map<String, String> form, Set<String> unknown) {
    ObjectNode members = JsonNodeFactory.instance.objectNode();
    for (Map.Entry<String, JsonNode> member :
        model.shapes().shape(shape).path("members").properties()) {
      String of = member.getValue().path("shape").asText();
      value(of, prefix + member.getKey(), form, unknown)
          .ifPresent(value -> members.set(member.getKey(), value));
    }
    return members;
  }

  private Optional<JsonNode> value(
      String name, String at, Map<String, String> form, Set<String> unknown) {
    JsonNode shape = model.shapes().shape(name);
    return switch (shape.path("type").asText()) {
      case "structure" ->
          hasAny(form, at + ".")
              ? Optional.of(structure(name, at + ".", form, unknown))
              : Optional.empty();
      case "list" -> list(shape, at, form, unknown);
      case "map" -> map(shape, at, form, unknown);
      default -> {
        unknown.remove(at);
        yield Optional.ofNullable(form.get(at)).map(text -> model.shapes().typed(name, text));
      }
    };
  }

  private Optional<JsonNode> list(
      JsonNode shape, String at, Map<String, String> form, Set<String> unknown) {
    String element = shape.path("member").path("shape").asText();
    String prefix = at + ".member.";
    if (shape.path("flattened").asBoolean()) {
      boolean structures = model.shapes().shape(element).path("type").asText().equals("structure");
      prefix = (structures ? element : singular(at)) + ".";
    }
    ArrayNode list = JsonNodeFactory.instance.arrayNode();
    if (form.getOrDefault(at, "absent").isEmpty()) {
      unknown.remove(at);
      return Optional.of(list); // A list without elements has no numbers.
    }
    for (int i = 1; has(form, prefix + i); i++) {
      value(element, prefix + i, form, unknown).ifPresent(list::add);
    }
    return list.isEmpty() ? Optional.empty() : Optional.of(list);
  }

  private Optional<JsonNode> map(
      JsonNode shape, String at, Map<String, String> form, Set<String> unknown) {
    ObjectNode map = JsonNodeFactory.instance.objectNode();
    for (int i = 1; hasAny(form, singular(at) + "." + i + "."); i++) {
      String prefix = singular(at) + "." + i + ".";
      unknown.remove(prefix + "Name");
      String key = form.getOrDefault(prefix + "Name", "");
      value(shape.path("value").path("shape").asText(), prefix + "Value", form, unknown)
          .ifPresent(value -> map.set(key, value));
    }
    return map.isEmpty() ? Optional.empty() : Optional.of(map);
  }

  private static String singular(String name) {
    return name.replaceAll("s$", "");
  }

  private static boolean has(Map<String, String> form, String name) {
    return form.containsKey(name) || hasAny(form, name + ".");
  }

  private static boolean hasAny(Map<String, String> form, String prefix) {
    return form.keySet().stream().anyMatch(name -> name.startsWith(prefix));
  }

  @Override
  public ObjectNode answer(Exchange exchange, Operation operation, List<Violation> violations) {
    String body = exchange.answer().orElse("");
    if (isJson(exchange)) {
      JsonNode result =
          ServiceModels.object("body", body, violations)
              .path(operation.name() + "Response")
              .path(operation.name() + "Result");
      return result instanceof ObjectNode object
          ? object
          : ServiceModels.object("result", result.toString(), violations);
    }
    return child(root(body, violations), operation.name() + "Result")
        .map(result -> fromXml(operation.output().orElse(""), result, violations))
        .orElseGet(() -> ServiceModels.object("body", body, violations));
  }

  private ObjectNode fromXml(String shape, Element element, List<Violation> violations) {
    ObjectNode members = JsonNodeFactory.instance.objectNode();
    JsonNode known = model.shapes().shape(shape).path("members");
    for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element member) {
        String name = member.getTagName();
        String of = known.path(name).path("shape").asText();
        String type = model.shapes().shape(of).path("type").asText();
        members.set(
            name,
            type.equals("structure")
                ? fromXml(of, member, violations)
                : model.shapes().typed(of, member.getTextContent()));
      }
    }
    return members;
  }

  @Override
  public String error(Exchange exchange) {
    String body = exchange.answer().orElse("");
    String code =
        isJson(exchange)
            ? ServiceModels.object("body", body, new ArrayList<>())
                .path("Error")
                .path("Code")
                .asText()
            : child(root(body, new ArrayList<>()), "Error")
                .flatMap(error -> child(error, "Code"))
                .map(Element::getTextContent)
                .orElse("");
    String name = code.substring(code.lastIndexOf('.') + 1);
    return RENAMED.getOrDefault(name, name);
  }

  private static boolean isJson(Exchange exchange) {
    return exchange.answerHeaders().getOrDefault("Content-Type", "").contains("json");
  }

  private static Optional<Element> child(Element parent, String name) {
    for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
      if (node instanceof Element child && child.getTagName().equals(name)) {
        return Optional.of(child);
      }
    }
    return Optional.empty();
  }

  private static Element root(String xml, List<Violation> violations) {
    try {
      var builder = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
      try {
        return builder.parse(new ByteArrayInputStream(xml.getBytes(UTF_8))).getDocumentElement();
      } catch (SAXException e) {
        violations.add(new Violation("body", xml, "XML"));
        return builder.newDocument().createElement("none");
      }
    } catch (IOException | ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }
}
