package dev.tollgate.local.gateway;

import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A route of an HTTP API. */
public final class HttpRoute {
  /** Decides who may call a route. */
  @FunctionalInterface
  public interface Authorizer {
    /** Admits every request. */
    Authorizer NONE = header -> new Decision.Admitted(Json.object());

    /**
     * Decides on a request.
     *
     * @param header its header {@code Authorization}
     */
    Decision decide(Optional<String> header);

    /**
     * Authorization by IAM. It admits every request, and the event names the account's root user as
     * the caller.
     */
    static Authorizer iam(String accountId) {
      return header ->
          new Decision.Admitted(
              Json.object(
                  "iam",
                  Json.object()
                      .put("accountId", accountId)
                      .put("callerId", accountId)
                      .put("userArn", "arn:aws:iam::" + accountId + ":root")
                      .put("userId", accountId)));
    }
  }

  private static final Pattern VARIABLE = Pattern.compile("\\{(.*?)(\\+?)}");

  final String routeKey;
  final Integration.Function integration;
  final Authorizer authorizer;

  /**
   * Orders the routes of an API: literal segments match first, then variables, then greedy
   * variables.
   */
  final String precedence;

  private final String method;
  private final Pattern path;
  private final List<String> variables = new ArrayList<>();

  /**
   * A route.
   *
   * @param routeKey {@code METHOD /path}, where METHOD may be ANY and a segment of the path {@code
   *     {name}} or, at the end, {@code {name+}}; or {@code $default}
   * @param integration the function that answers
   * @param authorizer decides who may call it
   */
  public HttpRoute(String routeKey, Integration.Function integration, Authorizer authorizer) {
    if (!routeKey.matches("\\$default|[A-Z]+ /\\S*")) {
      throw new IllegalArgumentException(
          "routeKey: " + routeKey + " (expected: METHOD /path or $default)");
    }
    this.routeKey = routeKey;
    this.integration = integration;
    this.authorizer = authorizer;
    boolean isDefault = routeKey.equals("$default");
    String[] key = (isDefault ? "ANY /{$default+}" : routeKey).split(" /", 2);
    this.method = key[0];
    StringBuilder order = new StringBuilder();
    StringBuilder regex = new StringBuilder();
    for (String segment : key[1].split("/", -1)) {
      Matcher variable = VARIABLE.matcher(segment);
      if (!variable.matches()) {
        order.append('0');
        regex.append('/').append(Pattern.quote(segment));
      } else {
        boolean greedy = !variable.group(2).isEmpty();
        order.append(greedy ? '2' : '1');
        regex.append(greedy ? "/(.*)" : "/([^/]+)");
        variables.add(variable.group(1));
      }
    }
    this.path = Pattern.compile(regex.toString(), Pattern.DOTALL);
    this.precedence = order.append(isDefault ? '4' : method.equals("ANY") ? '3' : '2').toString();
  }

  /** The route's key. */
  public String routeKey() {
    return routeKey;
  }

  /**
   * The values of the variables, if this route matches.
   *
   * @param routed the path, decoded once; the values are decoded once more
   */
  Optional<Map<String, String>> match(String requestMethod, String routed) {
    Matcher matcher = path.matcher(routed);
    if (!(method.equals("ANY") || method.equals(requestMethod)) || !matcher.matches()) {
      return Optional.empty();
    }
    Map<String, String> values = new TreeMap<>();
    for (int i = 0; i < variables.size(); i++) {
      values.put(variables.get(i), Requests.decode(matcher.group(i + 1)));
    }
    values.remove("$default");
    return Optional.of(values);
  }
}
