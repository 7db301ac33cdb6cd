package dev.tollgate.local.gateway.mapping;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** The integration of a route of a WebSocket API. */
public sealed interface Integration {
  /** The integration responses. While a stack is created, they are added one by one. */
  List<Response> responses();

  /**
   * Invokes a function with the message (AWS_PROXY).
   *
   * @param arn ARN of the function
   * @param timeout how long API Gateway waits for it
   */
  record Function(String arn, Duration timeout) implements Integration {
    @Override
    public List<Response> responses() {
      return List.of();
    }
  }

  /**
   * Sends a request to an AWS service (AWS).
   *
   * @param roleArn the role whose rights the request has
   * @param service the service, such as {@code sqs}
   * @param path path of the request, with {@code {name}} as placeholders of parameters
   * @param parameters {@code integration.request.header.NAME}, {@code .path.NAME} or {@code
   *     .querystring.NAME} to {@code 'text'}, {@code context.NAME}, {@code stageVariables.NAME} or
   *     {@code route.request.body.PATH}
   * @param template the template of the request's body
   */
  record Service(
      String roleArn,
      String service,
      String method,
      String path,
      Map<String, String> parameters,
      String template,
      Duration timeout,
      List<Response> responses)
      implements Integration {
    private static final Pattern NAME =
        Pattern.compile("integration\\.request\\.(header|path|querystring)\\.[\\w.$-]+");
    private static final Pattern VALUE =
        Pattern.compile("'[^']*'|(context|stageVariables|route\\.request\\.body)\\..+");

    /** Refuses malformed parameters. */
    public Service {
      parameters = Map.copyOf(parameters);
      parameters.forEach(
          (name, value) -> {
            if (!NAME.matcher(name).matches() || !VALUE.matcher(value).matches()) {
              throw new IllegalArgumentException(
                  "parameters: %s = %s (expected: integration.request.… = '…' or context.…)"
                      .formatted(name, value));
            }
          });
    }
  }

  /**
   * Returns a response without a service (MOCK).
   *
   * @param template the template of {@code {"statusCode": …}}, which selects a response
   */
  record Mock(String template, List<Response> responses) implements Integration {}

  /**
   * Turns an answer into a frame (API Gateway Developer Guide, "Set up WebSocket API integration
   * responses").
   *
   * @param key {@code /regular expression/} over the status, or {@code $default} for all others
   * @param template the template of the frame; without it the frame is the answer's body
   */
  record Response(String key, Optional<String> template) {
    static final String DEFAULT = "$default";

    /** Refuses a malformed key. */
    public Response {
      if (!key.equals(DEFAULT) && !key.matches("/.+/")) {
        throw new IllegalArgumentException(
            "key: " + key + " (expected: $default or /regular expression/)");
      }
    }

    /** Whether this is the response for a status, or, given {@code $default}, for all others. */
    boolean isFor(String status) {
      return key.equals(DEFAULT)
          ? status.equals(DEFAULT)
          : status.matches(key.substring(1, key.length() - 1));
    }
  }
}
