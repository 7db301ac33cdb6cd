package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.resources.ResourceFamily;
import dev.tollgate.local.resources.ResourceType;
import dev.tollgate.local.resources.Stack;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The integrations of APIs and their responses. */
public final class Integrations implements ResourceFamily {
  private static final Pattern SERVICE_URI =
      Pattern.compile("arn:[^:]+:apigateway:[^:]+:([^:]+):path/(.+)");

  private static final int MIN_TIMEOUT_MILLIS = 50;

  /** "Quotas for configuring and running a WebSocket API". */
  private static final int MAX_MILLIS_OF_WEB_SOCKETS = 29_000;

  /** "Quotas for configuring and running an HTTP API". */
  private static final int MAX_MILLIS_OF_HTTP = 30_000;

  @Override
  public Map<String, ResourceType> types() {
    return Map.of(
        "AWS::ApiGatewayV2::Integration", Integrations::integration,
        "AWS::ApiGatewayV2::IntegrationResponse", Integrations::response);
  }

  private static CreatedResource integration(
      String logicalName, Properties properties, Stack stack) {
    Duration timeout = timeout(properties, Apis.of(properties, stack).webSocket);
    properties.ignore("ConnectionType", "Description");
    Integration integration =
        switch (properties.oneOf("IntegrationType", "AWS_PROXY", "AWS", "MOCK")) {
          case "AWS_PROXY" -> functionIntegration(properties, timeout);
          case "AWS" -> serviceIntegration(properties, timeout);
          default -> mockIntegration(properties);
        };
    stack.add(Integration.class, logicalName, integration);
    return CreatedResource.of(logicalName);
  }

  /** How long API Gateway waits for an integration; by default as long as it may. */
  private static Duration timeout(Properties properties, boolean webSocket) {
    int most = webSocket ? MAX_MILLIS_OF_WEB_SOCKETS : MAX_MILLIS_OF_HTTP;
    int millis = properties.integer("TimeoutInMillis").orElse(most);
    if (millis < MIN_TIMEOUT_MILLIS || millis > most) {
      throw properties.error(
          "TimeoutInMillis", millis + " (expected: " + MIN_TIMEOUT_MILLIS + " to " + most + ")");
    }
    return Duration.ofMillis(millis);
  }

  private static CreatedResource response(String logicalName, Properties properties, Stack stack) {
    Integration integration =
        stack.required(
            Integration.class,
            found -> !(found instanceof Integration.Function),
            properties,
            "IntegrationId",
            "an integration of the template without proxy");
    properties.ignore("ApiId");
    integration
        .responses()
        .add(
            new Integration.Response(
                properties.text("IntegrationResponseKey"),
                template(properties, "ResponseTemplates")));
    return CreatedResource.of(logicalName);
  }

  /**
   * The function's ARN in {@code
   * arn:aws:apigateway:REGION:lambda:path/2015-03-31/functions/ARN/invocations}.
   */
  static String functionArn(String uri) {
    return uri.replaceFirst("^arn:[^:]+:apigateway:.*/functions/", "")
        .replaceFirst("/invocations$", "");
  }

  private static Integration functionIntegration(Properties properties, Duration timeout) {
    if (properties.optionalText("PayloadFormatVersion").isPresent()) {
      properties.oneOf("PayloadFormatVersion", "2.0");
    }
    properties.ignore("IntegrationMethod");
    return new Integration.Function(functionArn(properties.text("IntegrationUri")), timeout);
  }

  private static Integration serviceIntegration(Properties properties, Duration timeout) {
    String uri = properties.text("IntegrationUri");
    Matcher service = SERVICE_URI.matcher(uri);
    if (!service.matches()) {
      throw properties.error(
          "IntegrationUri", uri + " (expected: arn:aws:apigateway:REGION:SERVICE:path/PATH)");
    }
    // The template applies to all messages, so none is passed through.
    properties.ignore("PassthroughBehavior");
    return new Integration.Service(
        properties.text("CredentialsArn"),
        service.group(1),
        properties.text("IntegrationMethod"),
        "/" + service.group(2),
        properties.textMap("RequestParameters"),
        requestTemplate(properties),
        timeout,
        new ArrayList<>());
  }

  private static Integration mockIntegration(Properties properties) {
    properties.ignore("IntegrationUri", "PassthroughBehavior");
    return new Integration.Mock(requestTemplate(properties), new ArrayList<>());
  }

  private static String requestTemplate(Properties properties) {
    return template(properties, "RequestTemplates")
        .orElseThrow(() -> properties.error("RequestTemplates", "absent (expected: a template)"));
  }

  /** The only template of an integration or response, {@code $default}. */
  private static Optional<String> template(Properties properties, String name) {
    Map<String, String> templates = properties.textMap(name);
    if (templates.isEmpty()) {
      return Optional.empty();
    }
    if (!templates.keySet().equals(Set.of("$default"))) {
      throw properties.error(name, templates.keySet() + " (expected: $default)");
    }
    properties.oneOf("TemplateSelectionExpression", "\\$default");
    return Optional.ofNullable(templates.get("$default"));
  }
}
