package dev.tollgate.local.gateway.mapping;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Executes integrations whose templates render the request and the frame. */
public final class MappedIntegrations {
  private static final String BODY = "route.request.body.";
  private static final Pattern PATH_PARAMETER = Pattern.compile("\\{([^}]+)}");

  private final ServiceCalls services;
  private final Map<String, String> stageVariables;

  /**
   * Integrations of one API.
   *
   * @param stageVariables the variables for mapping templates
   */
  public MappedIntegrations(ServiceCalls services, Map<String, String> stageVariables) {
    this.services = services;
    this.stageVariables = stageVariables;
  }

  /**
   * Sends a request, or mocks its answer, and renders the frame of the answer.
   *
   * @param event the event that a function would receive for the message
   * @throws RuntimeException if there is no answer in time, a template cannot be rendered, or there
   *     is no response for the answer's status
   */
  public String answer(Integration integration, ObjectNode event) {
    try {
      if (integration instanceof Integration.Service service) {
        ServiceCalls.Answer answer = call(service, event);
        return frame(service, answer.status(), answer.body(), event);
      }
      String mocked = render(((Integration.Mock) integration).template(), body(event), event);
      int status = Json.read(mocked).path("statusCode").asInt();
      return frame(integration, status, mocked, event);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ServiceCalls.Answer call(Integration.Service integration, ObjectNode event)
      throws IOException {
    Map<String, String> path = new HashMap<>();
    Map<String, String> headers = new HashMap<>();
    StringJoiner query = new StringJoiner("&", "?", "").setEmptyValue("");
    integration
        .parameters()
        .forEach(
            (parameter, expression) -> {
              String[] name = parameter.split("\\.", 4);
              value(expression, event)
                  .ifPresent(
                      value -> {
                        switch (name[2]) {
                          case "path" -> path.put(name[3], value);
                          case "header" -> headers.put(name[3], value);
                          default -> query.add(encoded(name[3]) + "=" + encoded(value));
                        }
                      });
            });
    Matcher parameters = PATH_PARAMETER.matcher(integration.path());
    String target = parameters.replaceAll(found -> segment(found, path)) + query;
    String body = render(integration.template(), body(event), event);
    return services.call(integration, target, headers, body);
  }

  private String frame(Integration integration, int status, String body, ObjectNode event) {
    Integration.Response response =
        Stream.of(Integer.toString(status), Integration.Response.DEFAULT)
            .flatMap(key -> integration.responses().stream().filter(each -> each.isFor(key)))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("no response for status " + status));
    return response.template().map(template -> render(template, body, event)).orElse(body);
  }

  private String render(String template, String body, ObjectNode event) {
    return MappingTemplate.render(template, body, event.path("requestContext"), stageVariables);
  }

  private Optional<String> value(String expression, ObjectNode event) {
    if (expression.startsWith("'")) {
      return Optional.of(expression.substring(1, expression.length() - 1));
    }
    if (expression.startsWith(BODY)) {
      String path = "$." + expression.substring(BODY.length());
      return Optional.ofNullable(new MappingTemplate.Input(body(event)).path(path))
          .map(String::valueOf);
    }
    String name = expression.substring(expression.indexOf('.') + 1);
    if (expression.startsWith("stageVariables.")) {
      return Optional.ofNullable(stageVariables.get(name));
    }
    JsonNode value = event.path("requestContext").at("/" + name.replace('.', '/'));
    return value.isValueNode() ? Optional.of(value.asText()) : Optional.empty();
  }

  private static String segment(MatchResult found, Map<String, String> parameters) {
    String value = parameters.get(found.group(1));
    if (value == null) {
      throw new IllegalStateException("no value for " + found.group() + " in the path");
    }
    return Matcher.quoteReplacement(encoded(value));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String body(ObjectNode event) {
    return event.path("body").asText();
  }
}
